// SPDX-License-Identifier: Apache-2.0
// Finding ids, string names, and values that outlive their graph.
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <weir/engine/graph/vertex_names.hpp>
#include <weir/engine/graph/vertex_values.hpp>
#include <weir/tests/engine/graph/graph_cases.hpp>

namespace weir {
namespace {

constexpr VertexId least = std::numeric_limits<VertexId>::min();
constexpr VertexId greatest = std::numeric_limits<VertexId>::max();

void expect_finds_exactly(const std::vector<VertexId>& ids, const std::vector<VertexId>& others) {
  const IdIndex index(ids);
  EXPECT_EQ(index.size(), ids.size());
  for (std::uint32_t i = 0; i < ids.size(); ++i) EXPECT_EQ(index.find(ids[i]), i) << ids[i];
  for (const VertexId id : others) EXPECT_EQ(index.find(id), std::nullopt) << id;
}

TEST(IdIndex, finds_ids_without_gaps) {
  expect_finds_exactly({-1, 0, 1, 2}, {-2, 3, least, greatest});
}
TEST(IdIndex, finds_ids_with_small_gaps) {
  expect_finds_exactly({-9, -7, -6, 0, 1, 5}, {-10, -8, -1, 2, 4, 6, least, greatest});
}
TEST(IdIndex, finds_ids_far_apart) {
  expect_finds_exactly({least, -5, 7, greatest}, {least + 1, -6, -4, 0, 8, greatest - 1});
}
TEST(IdIndex, finds_one_id_and_nothing_among_none) {
  expect_finds_exactly({greatest}, {0, least});
  expect_finds_exactly({least}, {0, greatest});
  expect_finds_exactly({}, {0, least, greatest});
}

TEST(VertexNames, names_and_ids_are_found_both_ways) {
  const VertexNames names(10, {"a", "b", "zebra"});
  EXPECT_EQ(names.name_of(12), "zebra");
  EXPECT_EQ(names.find("b"), 11);
  EXPECT_EQ(names.find("bb"), std::nullopt);
  EXPECT_EQ(names.find(""), std::nullopt);
  EXPECT_THROW(names.name_of(9), Error);
  EXPECT_THROW(names.name_of(13), Error);
}

/// Values that are f(id), on the vertices of a small graph.
template <class V, class F>
VertexValues<V> values_of(Context& context, const F& f) {
  const auto graph = cases::build<NoValue>(
      context, {.edges = {{1, 7, {}}, {7, -2, {}}, {7, 7, {}}}, .vertices = {100}});
  PlainVector<detail::Cell<V>> cells(graph.vertices()->size());
  for (Row row = 0; row < cells.size(); ++row) cells[row].value = f(graph.vertices()->id(row));
  return VertexValues<V>(context, graph.vertices(), graph.names(), std::move(cells));
}

template <class V, class F>
void expect_gathers(const F& f) {
  for (const Rank ranks : cases::rank_counts) {
    cases::on_ranks(ranks, [&](Context& context) {
      const auto all = values_of<V>(context, f).gather();
      EXPECT_EQ(all.size(), 4U);
      std::size_t i = 0;
      for (const VertexId id : {-2, 1, 7, 100}) {
        EXPECT_EQ(all.at(i).id, id);
        EXPECT_EQ(all.at(i++).value, f(id));
      }
      return 0;
    });
  }
}

TEST(VertexValues, gather_every_vertex_by_ascending_id_on_every_rank) {
  expect_gathers<double>([](VertexId id) { return static_cast<double>(id) / 3; });
}
TEST(VertexValues, gather_values_of_any_type_that_travels) {
  expect_gathers<std::string>([](VertexId id) { return "v" + std::to_string(id); });
  expect_gathers<bool>([](VertexId id) { return id > 1; });
  expect_gathers<std::vector<int>>(
      [](VertexId id) { return std::vector<int>(static_cast<std::size_t>(id + 2), 1); });
}

TEST(VertexValues, at_refuses_a_vertex_of_another_rank_and_of_no_rank) {
  const auto counts = cases::on_ranks(3, [](Context& context) {
    const auto values = values_of<int>(context, [](VertexId) { return 1; });
    int num_here = 0;
    for (const VertexId id : {-2, 1, 7, 100}) {
      if (values.find(id) != nullptr) {
        num_here += values.at(id);
      } else {
        EXPECT_THROW(values.at(id), Error);
      }
    }
    EXPECT_THROW(values.at(5), Error);
    EXPECT_EQ(values.size(), static_cast<std::size_t>(num_here));
    return num_here;
  });
  EXPECT_EQ(counts[0] + counts[1] + counts[2], 4);
}

TEST(VertexValues, digest_is_equal_at_any_number_of_ranks_and_differs_in_one_bit) {
  const auto digest = [](Rank ranks, double of_seven) {
    return cases::on_ranks(ranks, [&](Context& context) {
      return values_of<double>(context, [&](VertexId id) { return id == 7 ? of_seven : 0.5; })
          .digest();
    })[0];
  };
  const std::uint64_t expected = digest(1, 2.0);
  for (const Rank ranks : cases::rank_counts) EXPECT_EQ(digest(ranks, 2.0), expected);
  EXPECT_NE(digest(1, std::nextafter(2.0, 3.0)), expected);
  EXPECT_NE(digest(1, 0.0), digest(1, -0.0));
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(digest(1, nan), digest(1, -nan)) << "NaN has one form";
}

TEST(VertexValues, transform_keeps_the_vertices) {
  cases::on_ranks(2, [](Context& context) {
    const auto halves = values_of<int>(context, [](VertexId id) {
                          return static_cast<int>(id);
                        }).transform([](int value) { return value / 2.0; });
    for (const auto& [id, value] : halves.gather()) EXPECT_EQ(value, static_cast<double>(id) / 2);
    return 0;
  });
}

TEST(VertexValues, are_visited_by_ascending_id) {
  std::vector<VertexId> ids;
  Context context;
  values_of<int>(context, [](VertexId) { return 0; }).for_each([&](VertexId id, int) {
    ids.push_back(id);
  });
  EXPECT_EQ(ids, (std::vector<VertexId>{-2, 1, 7, 100}));
}

}  // namespace
}  // namespace weir
