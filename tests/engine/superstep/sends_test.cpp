// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <map>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <weir/engine/superstep/fold.hpp>
#include <weir/engine/superstep/sends.hpp>
#include <weir/tests/engine/graph/graph_cases.hpp>
#include <weir/tests/reference/random_graph.hpp>

namespace weir {
namespace {

/// One call of `send`.
template <class M>
struct Call {
  ShardIndex shard = 0;
  VertexId target = 0;
  M message{};
};

/// The calls of all shards, shard by shard, in the order in which they are made.
template <class M>
using Calls = std::vector<Call<M>>;

/// What arrives, by a stable sort of the calls; with a combiner folded as docs/semantics.md says.
template <class M, class C>
std::map<VertexId, std::vector<M>> expected_of(const Calls<M>& calls,
                                               std::span<const VertexId> ids) {
  std::map<VertexId, std::vector<M>> all;
  for (const auto& call : calls) {
    if (std::binary_search(ids.begin(), ids.end(), call.target))
      all[call.target].push_back(call.message);
  }
  if constexpr (!std::is_void_v<C>) {
    for (auto& [id, messages] : all)
      messages = {fold(C{}, 0, messages.size(), [&](std::uint64_t i) { return messages[i]; })};
  }
  return all;
}

template <class M, class C>
std::string text_of_messages(const std::map<VertexId, std::vector<M>>& all) {
  std::string text;
  for (const auto& [id, messages] : all) {
    text += std::to_string(id) + ":";
    for (const M& message : messages) text += " " + cases::text_of(message);
    text += "\n";
  }
  return text;
}

/// Vertices of a graph without edges, in 50 shards, and calls to them and to nobody.
template <class M, class C, class Make>
void expect_delivery(const std::vector<VertexId>& ids, std::size_t num_calls, std::uint64_t seed,
                     const Make& make) {
  reference::Dice dice(seed);
  constexpr ShardIndex num_shards = 50;
  Calls<M> calls;
  for (std::size_t i = 0; i < num_calls; ++i) {
    const bool is_to_anybody = dice.below(20) != 0;
    // A few get most.
    const std::uint64_t range =
        dice.below(3) == 0 ? ids.size() : std::min<std::size_t>(ids.size(), 3);
    const VertexId target = is_to_anybody
                                ? ids[dice.below(range)]
                                : ids[dice.below(ids.size())] + 1 - 2 * VertexId(dice.below(2));
    calls.push_back({static_cast<ShardIndex>(i * num_shards / num_calls), target, make(dice)});
  }
  const auto expected = expected_of<M, C>(calls, ids);
  const auto num_lost =
      static_cast<std::uint64_t>(std::count_if(calls.begin(), calls.end(), [&](const auto& call) {
        return !std::binary_search(ids.begin(), ids.end(), call.target);
      }));
  for (const Rank ranks : cases::rank_counts) {
    cases::Input<NoValue> input{.edges = {}, .vertices = ids};
    input.options.num_shards = num_shards;
    const auto texts = cases::on_ranks(ranks, ranks <= 2 ? 3 : 1, [&](Context& context) {
      const Graph<NoValue> graph = cases::build(context, input);
      const Vertices& vertices = *graph.vertices();
      const SendBins bins(graph.shards(), graph.num_vertices());
      SentInbox<M, C> inbox;
      SendStreams<M> streams;
      streams.bind(bins);
      std::uint64_t num_dropped = 0;
      std::string text;
      for (int round = 0; round < 2; ++round) {  // memory is used again
        std::vector<Sends<M>> by_shard(vertices.shards().size());
        std::vector<const Sends<M>*> sending;
        streams.clear();
        for (auto& sends : by_shard) sends.use(streams);
        const ShardIndex first_shard = vertices.shards().begin;
        context.parallel_for(by_shard.size(), [&](std::size_t i) {
          for (const auto& call : calls) {
            if (call.shard == first_shard + i) by_shard[i].add(call.target, call.message);
          }
          by_shard[i].end();
        });
        for (auto& sends : by_shard) {
          if (!sends.empty()) sending.push_back(&sends);
        }
        num_dropped = deliver_sends(context, bins, vertices,
                                    std::span<const Sends<M>* const>(sending), inbox);
        num_dropped = all_fold(context, Sum<std::uint64_t>{}, num_dropped);
        std::map<VertexId, std::vector<M>> own;
        std::uint64_t num_rows = 0;
        inbox.for_each_row(0, vertices.size(), [&](Row row, const auto& messages) {
          for (const auto& cell : messages) own[vertices.id(row)].push_back(cell.value);
          ++num_rows;
        });
        EXPECT_EQ(num_rows, inbox.num_rows());
        EXPECT_TRUE(!inbox.empty() || num_rows == 0);
        for (Row row = 0; row < vertices.size(); ++row)
          EXPECT_EQ(inbox.of(row).empty(), own.find(vertices.id(row)) == own.end());
        text = cases::gather_text(context, text_of_messages<M, C>(own));
      }
      EXPECT_EQ(num_dropped, num_lost) << ranks << " ranks";
      return text;
    });
    EXPECT_EQ(texts[0], (text_of_messages<M, C>(expected)))
        << ranks << " ranks, " << num_calls << " calls, seed " << seed;
  }
}

std::vector<VertexId> dense_ids(std::size_t count) {
  std::vector<VertexId> ids(count);
  std::iota(ids.begin(), ids.end(), VertexId{7});
  return ids;
}
/// Ids all over the range, most of them far apart.
std::vector<VertexId> sparse_ids(std::size_t count, std::uint64_t seed) {
  reference::Dice dice(seed);
  std::vector<VertexId> ids;
  for (std::size_t i = 0; i < count; ++i) {
    const auto id = static_cast<VertexId>(dice.below(std::uint64_t{1} << 62));
    ids.push_back(i % 5 == 0 ? id : static_cast<VertexId>(1'000'000 + i));
  }
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  return ids;
}

/// Sizes from a handful to many of one vertex, so that folds have several blocks.
template <class M, class C, class Make>
void expect_delivery_of_all_sizes(const Make& make) {
  std::uint64_t seed = 1;
  for (const std::size_t num_calls : {0, 1, 200, 6000}) {
    expect_delivery<M, C>(dense_ids(60), num_calls, ++seed, make);
    expect_delivery<M, C>(sparse_ids(1000, num_calls), num_calls, ++seed, make);
  }
  expect_delivery<M, C>(dense_ids(40'000), 10'000, ++seed, make);  // in several bins
}

double fraction(reference::Dice& dice) { return static_cast<double>(dice.below(1'000'000)) / 7; }

TEST(Sends, ArriveInTheOrderOfAStableSort) { expect_delivery_of_all_sizes<double, void>(fraction); }

TEST(Sends, ThatAreNoPlainValuesArriveInTheSameOrder) {
  expect_delivery_of_all_sizes<std::string, void>([](reference::Dice& dice) {
    return std::to_string(dice.below(100'000)) + " of many letters";
  });
}

/// A plain value that is not made without an argument.
struct Tagged {
  explicit Tagged(std::uint32_t t) : tag(t) {}
  std::uint32_t tag;
  friend std::ostream& operator<<(std::ostream& out, const Tagged& tagged) {
    return out << tagged.tag;
  }
  Tagged operator+() const { return *this; }
};

TEST(Sends, NeedNoDefaultConstructor) {
  expect_delivery_of_all_sizes<Tagged, void>(
      [](reference::Dice& dice) { return Tagged(static_cast<std::uint32_t>(dice.below(1000))); });
}

TEST(Sends, AreFoldedInTheOrderOfTheFold) {
  expect_delivery_of_all_sizes<double, Sum<double>>(fraction);
}

TEST(Sends, AreFoldedAtTheSenderWhereTheOrderDoesNotMatter) {
  expect_delivery_of_all_sizes<std::int64_t, Min<std::int64_t>>(
      [](reference::Dice& dice) { return static_cast<std::int64_t>(dice.below(1'000'000)); });
  expect_delivery_of_all_sizes<bool, Any>([](reference::Dice& dice) { return dice.below(2) == 0; });
}

TEST(SendBins, HoldEachIdWithItsShardAndRank) {
  for (const std::size_t count : {0, 1, 60, 9000, 100'000}) {
    for (const auto& ids : {dense_ids(count), sparse_ids(count, 5)}) {
      for (const Rank ranks : {1, 3}) {
        cases::Input<NoValue> input{.edges = {}, .vertices = ids};
        cases::on_ranks(ranks, [&](Context& context) {
          const Graph<NoValue> graph = cases::build(context, input);
          const ShardMap& shards = graph.shards();
          const SendBins bins(shards, graph.num_vertices());
          EXPECT_EQ(bins.first_of(0), 0U);
          EXPECT_EQ(bins.first_of(ranks), bins.size());
          const auto expect_right = [&](VertexId id) {
            const std::uint32_t bin = bins.of(id);
            const ShardIndex shard = shards.shard_of(id);
            EXPECT_LE(bins.shards(bin).begin, shard) << id;
            EXPECT_LT(shard, bins.shards(bin).end) << id;
            const Rank owner = shards.owner_of(id);
            EXPECT_LE(bins.first_of(owner), bin) << id;
            EXPECT_LT(bin, bins.first_of(owner + 1)) << id;
          };
          for (const VertexId id : ids) {
            expect_right(id);
            expect_right(id - 1);
            expect_right(id + 1);
          }
          expect_right(std::numeric_limits<VertexId>::min());
          expect_right(std::numeric_limits<VertexId>::max());
          return 0;
        });
      }
    }
  }
}

}  // namespace
}  // namespace weir
