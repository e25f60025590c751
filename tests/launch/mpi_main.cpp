// SPDX-License-Identifier: Apache-2.0
// Main of the tests that run under mpirun: every rank runs every test, rank 0 prints, the others
// print what failed, and the program fails on all ranks when a test failed on any.
#include <cstdio>
#include <exception>
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include <weir/engine/runtime/mpi/mpi_comm.hpp>
#include <weir/tests/launch/mpi_world.hpp>

namespace weir::test {

namespace {

MpiSession* session = nullptr;

/// Prints failures alone, with the rank.
class FailurePrinter final : public testing::EmptyTestEventListener {
 public:
  explicit FailurePrinter(Rank rank) : rank_(rank) {}

  void OnTestStart(const testing::TestInfo& test) override {
    test_ = std::string(test.test_suite_name()) + "." + test.name();
  }

  void OnTestPartResult(const testing::TestPartResult& result) override {
    if (!result.failed()) return;
    std::fprintf(stderr, "[rank %d] %s %s:%d\n%s\n", rank_, test_.c_str(),
                 result.file_name() ? result.file_name() : "", result.line_number(),
                 result.message());
  }

 private:
  Rank rank_;
  std::string test_;
};

void print_on_root_only(Rank rank) {
  if (rank == 0) return;
  auto& listeners = testing::UnitTest::GetInstance()->listeners();
  const std::unique_ptr<testing::TestEventListener> printer(
      listeners.Release(listeners.default_result_printer()));
  listeners.Append(new FailurePrinter(rank));  // gtest deletes it
}

int run(int& argc, char**& argv) {
  MpiSession own(argc, argv);
  session = &own;
  testing::InitGoogleTest(&argc, argv);
  print_on_root_only(own.rank());
  int has_failed = RUN_ALL_TESTS() == 0 ? 0 : 1;
  if (const std::string warning = own.warning(); !warning.empty()) {
    std::fprintf(stderr, "%s\n", warning.c_str());
    has_failed = 1;
  }
  int has_any_failed = has_failed;
  MPI_Allreduce(&has_failed, &has_any_failed, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  return has_any_failed;
}

}  // namespace

MpiSession& mpi_session() { return *session; }

}  // namespace weir::test

int main(int argc, char** argv) {
  try {
    return weir::test::run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
