// SPDX-License-Identifier: Apache-2.0
// What runs say of themselves in a ledger, and what verification finds: docs/guide/ledger.md.
#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <weir/engine/resilience/ledger_file.hpp>
#include <weir/tests/engine/superstep/job.hpp>

namespace weir {
namespace {

namespace fs = std::filesystem;
using cases::Input;
using cases::on_ranks;

class Folder {
 public:
  Folder() {
    std::string name = fs::temp_directory_path() / "weir-ledgers-XXXXXX";
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
    path_ = name;
  }
  ~Folder() { fs::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  std::string file(const std::string& name) const { return path_ / name; }

 private:
  fs::path path_;
};

std::string bytes_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

Superstep last_superstep(const std::string& path) {
  LedgerReader reader(path);
  while (reader.next()) {
  }
  return reader.header().superstep;
}

/// A few hundred arcs with hubs and dangling vertices.
Input<double> tangled(bool is_directed, VertexId num_vertices = 120) {
  std::mt19937_64 random(7);
  Input<double> input{.edges = {}, .options = {.is_directed = is_directed}};
  for (VertexId v = 2; v <= num_vertices; ++v) {
    const auto near = static_cast<VertexId>(1 + random() % static_cast<std::uint64_t>(v - 1));
    input.edges.push_back({near, v, 0.1 + static_cast<double>(random() % 1000) / 7});
    if (v % 5 == 0) input.edges.push_back({v, v / 5, static_cast<double>(random() % 1000) / 3});
  }
  input.vertices = {num_vertices + 3};
  return input;
}

/// Ranks of pages in a fixed number of supersteps: every vertex scatters.
struct Ranks {
  using Value = double;
  using Message = double;
  using Combiner = Sum<double>;
  struct Total : Aggregator<Sum<double>> {
    static constexpr const char* name = "total";
  };
  using Aggregators = weir::Aggregators<Total>;
  Superstep last = 8;
  Value init(const VertexInfo&) const { return 1.0; }
  void compute(VertexHandle auto& v, const Inbox<Message>& inbox) const {
    if (v.superstep() > 0) v.value() = 0.15 + 0.85 * inbox.combined(Combiner{});
    v.aggregate(Total{}, v.value());
    if (v.superstep() == last) return v.vote_to_halt();
    v.scatter();
  }
  Message publish(const Value& value, const VertexInfo& info) const {
    return value / static_cast<double>(std::max<std::uint64_t>(1, info.out_degree));
  }
};

/// Distances: few vertices at a time, values of which not every byte says something.
struct Steps {
  struct Value {
    double distance = -1;
    bool is_new = false;
  };
  using Message = double;
  using Combiner = Min<double>;
  Value init(const VertexInfo& info) const { return {info.id == 1 ? 0.0 : -1.0, false}; }
  std::vector<VertexId> starts() const { return {1}; }
  void compute(VertexHandle auto& v, const Inbox<Message>& inbox) const {
    v.vote_to_halt();
    v.value().is_new = v.superstep() == 0 || v.value().distance < 0;
    if (!v.value().is_new) return;
    if (v.superstep() > 0) v.value().distance = inbox.combined(Combiner{});
    v.scatter();
  }
  Message publish(const Value& value, const VertexInfo&) const { return value.distance; }
  Message along(const Message& distance, const Arc<double>& arc) const {
    return distance + arc.value;
  }
};

/// Messages by send, folded at the sender; no vertex scatters.
struct Counting {
  using Value = std::int64_t;
  using Message = std::int64_t;
  using Combiner = Sum<std::int64_t>;
  Value init(const VertexInfo& info) const { return info.id; }
  void compute(VertexHandle auto& v, const Inbox<Message>& inbox) const {
    v.value() += inbox.combined(Combiner{});
    if (v.superstep() >= 5) return v.vote_to_halt();
    for (VertexId i = 1; i <= 3; ++i) v.send(1 + (v.id() * 7 * i) % 30, v.value() % 1000);
  }
};

/// The same without a combiner, in order, and with random numbers.
struct Telling {
  using Value = double;
  using Message = double;
  Value init(const VertexInfo& info) const { return static_cast<double>(info.id); }
  void compute(VertexHandle auto& v, const auto& inbox) const {
    for (const Message& m : inbox) v.value() = 0.7 * v.value() + m;
    if (v.superstep() >= 5) return v.vote_to_halt();
    v.send(1 + (v.id() * 7) % 30, static_cast<double>(v.random().next() % 97));
    if (v.id() % 3 == 0) v.scatter();
  }
};

/// Labels of neighbours, which stay readable.
struct Labels {
  using Value = VertexId;
  using Message = VertexId;
  static constexpr bool sticky = true;
  static constexpr Edges along_edges = Edges::both;
  Value init(const VertexInfo& info) const { return info.id; }
  void compute(VertexHandle auto& v, const auto& inbox) const {
    v.vote_to_halt();
    VertexId least = v.value();
    for (const Message& m : inbox) least = std::min(least, m);
    if (v.superstep() > 0 && least == v.value()) return;
    v.value() = least;
    v.scatter();
  }
};

/// Takes an edge away and adds one in every superstep.
struct Rewiring {
  using Value = std::int64_t;
  using Message = std::int64_t;
  using Combiner = Sum<std::int64_t>;
  static constexpr bool mutates_topology = true;
  Value init(const VertexInfo& info) const { return info.id; }
  void compute(VertexHandle auto& v, const Inbox<Message>& inbox) const {
    v.value() = v.value() * 3 % 1009 + inbox.combined(Combiner{});
    if (v.superstep() >= 4) return v.vote_to_halt();
    if (v.id() == v.superstep() + 2) v.add_edge(v.id() + 20, 1.5);
    if (v.id() == 40 + v.superstep()) v.remove();
    v.scatter();
  }
};

template <class E, class P>
void keep(const std::string& file, const Input<E>& input, const P& program, Rank ranks, int threads,
          RunOptions options) {
  options.ledger.file = file;
  on_ranks(ranks, threads, [&](Context& context) {
    Graph<E> graph = cases::build(context, input);
    run(graph, program, options);
    return 0;
  });
}

/// The ledger is the same at any number of ranks and threads, in any direction, verified or not.
template <class P>
void expect_equal_everywhere(const Input<double>& input, const P& program,
                             Superstep least_supersteps, RunOptions options = {}) {
  const Folder folder;
  const std::string first = folder.file("first");
  keep(first, input, program, 1, 1, options);
  EXPECT_GE(last_superstep(first), least_supersteps);
  const std::string expected = bytes_of(first);
  for (const Rank ranks : cases::rank_counts) {
    for (const auto direction : {Direction::automatic, Direction::push, Direction::pull}) {
      for (const bool is_verified : {false, true}) {
        for (const int threads : {1, 3}) {
          if (threads > 1 && (ranks > 2 || direction == Direction::pull)) continue;
          options.direction = direction;
          options.ledger.is_verified = is_verified;
          keep(folder.file("other"), input, program, ranks, threads, options);
          ASSERT_TRUE(bytes_of(folder.file("other")) == expected)
              << ranks << " ranks, " << threads << " threads, direction "
              << static_cast<int>(direction) << (is_verified ? ", verified" : "");
        }
      }
    }
  }
}

TEST(LedgerOfARun, IsTheSameEverywhereWhereEveryVertexScatters) {
  expect_equal_everywhere(tangled(true), Ranks{}, 8);
}
TEST(LedgerOfARun, IsTheSameEverywhereWithFewVerticesAndPaddedValues) {
  expect_equal_everywhere(tangled(true), Steps{}, 3);
}
TEST(LedgerOfARun, IsTheSameEverywhereWithSentMessages) {
  expect_equal_everywhere(tangled(false), Counting{}, 5);
  expect_equal_everywhere(tangled(true), Telling{}, 5);
}
TEST(LedgerOfARun, IsTheSameEverywhereForStickyPrograms) {
  expect_equal_everywhere(tangled(false), Labels{}, 3);
}
TEST(LedgerOfARun, IsTheSameEverywhereWhereTheTopologyChanges) {
  expect_equal_everywhere(tangled(true), Rewiring{}, 4);
}

TEST(LedgerOfARun, IsTheSameWhereRanksComputeShardsOfOthers) {
  const Folder folder;
  keep(folder.file("alone"), tangled(true), Ranks{}, 1, 1, {});
  for (const auto rule : {schedule::StragglerRule::off, schedule::StragglerRule::forced}) {
    RunOptions options;
    options.speculation.rule = rule;
    keep(folder.file("raced"), tangled(true), Ranks{}, 3, 1, options);
    EXPECT_TRUE(bytes_of(folder.file("raced")) == bytes_of(folder.file("alone")));
  }
}

/// The first superstep and shard in which two ledgers differ.
std::pair<Superstep, std::size_t> first_difference(const std::string& a, const std::string& b) {
  LedgerReader left(a), right(b);
  while (left.next() && right.next()) {
    for (std::size_t shard = 0; shard < left.identity().num_shards; ++shard) {
      if (left.tree().leaf(shard) != right.tree().leaf(shard))
        return {left.header().superstep, shard};
    }
  }
  return {-2, 0};
}

/// Ranks where one vertex errs once.
struct ErringRanks : Ranks {
  void compute(VertexHandle auto& v, const Inbox<Message>& inbox) const {
    Ranks::compute(v, inbox);
    if (v.id() == 77 && v.superstep() == 3) v.value() += 0x1p-50;
  }
};

TEST(LedgerOfARun, SaysWhereTwoRunsPart) {
  const Folder folder;
  keep(folder.file("a"), tangled(true), Ranks{}, 2, 1, {});
  keep(folder.file("b"), tangled(true), ErringRanks{}, 3, 1, {});
  const auto [superstep, shard] = first_difference(folder.file("a"), folder.file("b"));
  EXPECT_EQ(superstep, 3);
  on_ranks(1, [&](Context& context) {
    const auto graph = cases::build(context, tangled(true));
    EXPECT_EQ(graph.shards().shard_of(77), static_cast<ShardIndex>(shard));
    return 0;
  });
}

TEST(LedgerOfARun, ThatGoesOnFromASnapshotIsThatOfAWholeOne) {
  const Folder folder;
  keep(folder.file("whole"), tangled(true), Ranks{}, 2, 1, {});
  for (const Superstep stop_after : {0, 3, 6}) {
    RunOptions options;
    options.snapshots = {.directory = folder.file("snapshots"), .every = 1000};
    options.ledger.file = folder.file("ledger");
    options.after_superstep = [&, token = options.snapshots.stop](Superstep step) {
      if (step == stop_after) token.cancel();
    };
    EXPECT_THROW(keep(folder.file("ledger"), tangled(true), Ranks{}, 3, 1, options), Error);
    ASSERT_LT(last_superstep(folder.file("ledger")), 8);
    options.snapshots.stop = CancelToken();
    options.snapshots.resume = true;
    options.after_superstep = nullptr;
    keep(folder.file("ledger"), tangled(true), Ranks{}, 2, 1, options);
    EXPECT_TRUE(bytes_of(folder.file("ledger")) == bytes_of(folder.file("whole"))) << stop_after;
    fs::remove_all(folder.file("snapshots"));
  }
}

TEST(LedgerOfARun, ThatGoesOnWithoutItsLedgerBeginsWhereItGoesOn) {
  const Folder folder;
  RunOptions options;
  options.snapshots = {.directory = folder.file("snapshots"), .every = 1000};
  options.after_superstep = [token = options.snapshots.stop](Superstep step) {
    if (step == 3) token.cancel();
  };
  EXPECT_THROW(keep(folder.file("ledger"), tangled(true), Ranks{}, 3, 1, options), Error);
  fs::remove(folder.file("ledger"));
  options.snapshots.stop = CancelToken();
  options.snapshots.resume = true;
  options.after_superstep = nullptr;
  keep(folder.file("ledger"), tangled(true), Ranks{}, 2, 1, options);
  LedgerReader reader(folder.file("ledger"));
  ASSERT_TRUE(reader.next());
  EXPECT_EQ(reader.header().superstep, 4);  // asked in 3, it stops after the next barrier
  EXPECT_EQ(last_superstep(folder.file("ledger")), 8);
}

struct LeastNeighbour {
  using Value = VertexId;
  using Message = VertexId;
  using Combiner = Min<VertexId>;
  static constexpr bool monotone = true;
  static constexpr Edges along_edges = Edges::both;
  Value init(const VertexInfo& info) const { return info.id; }
  void compute(VertexHandle auto& v, const Inbox<Message>& inbox) const {
    v.vote_to_halt();
    const VertexId least = inbox.combined(Combiner{});
    if (!inbox.empty() && least >= v.value()) return;
    v.value() = std::min(v.value(), least);
    v.scatter();
  }
};

TEST(LedgerOfARun, OfAMonotoneProgramEndsInTheSameStateEverywhere) {
  const Folder folder;
  std::vector<ShardDigests> expected;
  for (const Rank ranks : cases::rank_counts) {
    keep(folder.file("ledger"), cases::path(200), LeastNeighbour{}, ranks, 2, {});
    LedgerReader reader(folder.file("ledger"));
    while (reader.next()) {
    }
    std::vector<ShardDigests> last;
    for (std::size_t shard = 0; shard < reader.identity().num_shards; ++shard)
      last.push_back(reader.tree().leaf(shard));
    if (expected.empty()) expected = last;
    EXPECT_TRUE(last == expected) << ranks;
  }
  RunOptions options;
  options.ledger.is_verified = true;
  expect_equal_everywhere(tangled(false), Labels{}, 3, options);
}

TEST(LedgerOfARun, ThatCannotBeWrittenIsAnErrorOnAllRanks) {
  RunOptions options;
  options.ledger.file = "/nowhere/ledger";
  const std::string error = cases::error_of(tangled(true), Ranks{}, 3, options);
  EXPECT_NE(error.find("/nowhere/ledger: cannot create"), std::string::npos) << error;
  EXPECT_EQ(error.substr(0, 6), "output");
}

}  // namespace
}  // namespace weir
