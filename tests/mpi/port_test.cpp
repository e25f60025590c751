// SPDX-License-Identifier: Apache-2.0
// ranks: 1 2 3 4
#include <chrono>
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include <weir/engine/runtime/mpi/mpi_comm.hpp>
#include <weir/tests/engine/runtime/transport_cases.hpp>
#include <weir/tests/launch/mpi_world.hpp>

namespace weir::test {
namespace {

ContextOptions watched() {
  ContextOptions options;
  options.deadline = std::chrono::seconds(20);
  return options;
}

ContextOptions small_pieces() {
  ContextOptions options = watched();
  options.max_piece_bytes = 1000;
  return options;
}

TEST(MpiPort, HasTheRanksOfTheWorld) {
  const auto port = mpi_session().world_port();
  EXPECT_EQ(port->rank(), mpi_session().rank());
  EXPECT_EQ(port->size(), mpi_session().size());
  EXPECT_FALSE(mpi_session().library_version().empty());
  EXPECT_EQ(mpi_session().warning(), "");
}

TEST(MpiPort, FoldsInRankOrder) {
  Context context(mpi_session().world_port(), watched());
  fold_in_rank_order(context);
  EXPECT_EQ(context.ranks_on_host(), context.size());
}

TEST(MpiPort, ExchangesInOrder) {
  Context context(mpi_session().world_port(), watched());
  for (int i = 0; i < 20; ++i) exchange_in_order(context);
  exchange_with_next(context);
}

TEST(MpiPort, SplitsAndJoins) {
  Context context(mpi_session().world_port(), small_pieces());
  exchange_lengths(context);
}

TEST(MpiPort, MovesManyAndLarge) {
  Context context(mpi_session().world_port(), watched());
  exchange_lengths(context, 5);
  Exchange delivery(context, "large");
  for (Rank to = 0; to < context.size(); ++to) {
    delivery.send(to, payload(context.rank(), to, 0, 20000000));
    for (std::size_t i = 1; i < 1000; ++i) delivery.send(to, payload(context.rank(), to, i, 100));
  }
  const auto batches = delivery.close();
  ASSERT_EQ(batches.size(), 1000 * index(context.size()));
  for (std::size_t i = 0; i < batches.size(); ++i) {
    const std::size_t length = i % 1000 == 0 ? 20000000 : 100;
    ASSERT_TRUE(batches[i].bytes == payload(batches[i].source, context.rank(), i % 1000, length));
  }
}

TEST(MpiPort, SurvivesFaults) {
  Faults faults;
  faults.drop_probability = 0.05;
  faults.duplicate_probability = 0.1;
  faults.delay = std::chrono::microseconds(50);
  faults.reorder_probability = 1;
  Context context(make_faulty_port(mpi_session().world_port(), faults), small_pieces());
  exchange_in_order(context);
  exchange_lengths(context);
  fold_in_rank_order(context);
}

TEST(MpiPort, Agrees) {
  Context context(mpi_session().world_port(), watched());
  agree_on_lowest(context);
}

// Over a port that is not the session's: the session would not finalise MPI after a failure.
TEST(MpiPort, TellsAFailure) {
  if (mpi_session().size() == 1) GTEST_SKIP() << "one rank";
  Context context(mpi_port(MPI_COMM_WORLD), watched());
  fail_alone(context);
}

TEST(MpiPort, NoticesWhoLeft) {
  if (mpi_session().size() == 1) GTEST_SKIP() << "one rank";
  Context context(mpi_port(MPI_COMM_WORLD), watched());
  if (context.rank() == 0) {
    fold_in_rank_order(context);
    return;
  }
  // A rank may hear of it while it is still in the first folds.
  EXPECT_THROW(
      {
        fold_in_rank_order(context);
        fold_in_rank_order(context);
      },
      Error);
}

// The application's communicator, twice, and again after the contexts ended (D83).
TEST(MpiPort, WorksOnASubCommunicator) {
  const int colour = mpi_session().rank() % 2;
  MPI_Comm half = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, colour, -mpi_session().rank(), &half);
  for (int i = 0; i < 10; ++i) {
    Context first(mpi_port(half), watched());
    Context second(mpi_port(half), small_pieces());
    int size = 0;
    MPI_Comm_size(half, &size);
    ASSERT_EQ(first.size(), size);
    fold_in_rank_order(first);
    exchange_in_order(second);
    exchange_lengths(first);
    exchange_lengths(second);
    agree_on_lowest(second);
  }
  MPI_Comm_free(&half);
}

TEST(MpiPort, RefusesWhatIsNoCommunicator) {
  try {
    mpi_port(MPI_COMM_NULL);
    ADD_FAILURE() << "a port over nothing";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::usage);
  }
  const char other_mpi[3] = {};
  EXPECT_THROW(detail::make_mpi_port(other_mpi, sizeof(other_mpi)), Error);
}

}  // namespace
}  // namespace weir::test
