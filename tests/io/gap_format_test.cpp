// SPDX-License-Identifier: Apache-2.0
#include <weir/io/gap_format.hpp>

#include <cstring>

#include <weir/tests/io/loading.hpp>

namespace weir::io::test {
namespace {

const GraphFileOptions weighted{.weighted = true};

template <class T>
void put(std::string& bytes, std::initializer_list<T> values) {
  for (const T value : values) {
    char raw[sizeof(T)];
    std::memcpy(raw, &value, sizeof(T));
    bytes.append(raw, sizeof(T));
  }
}

std::string serialized(bool directed, std::initializer_list<std::int64_t> offsets,
                       std::initializer_list<std::int32_t> neighbors, std::int64_t num_arcs) {
  std::string bytes(1, directed ? '\1' : '\0');
  put<std::int64_t>(bytes, {num_arcs, static_cast<std::int64_t>(offsets.size()) - 1});
  for (int side = 0; side < (directed ? 2 : 1); ++side) {
    put(bytes, offsets);
    put(bytes, neighbors);
  }
  return bytes;
}

TEST(Gap, reads_a_serialized_directed_graph) {
  const Loaded loaded = load("g.sg", serialized(true, {0, 2, 3, 3}, {1, 2, 0}, 3));
  EXPECT_EQ(loaded.edges, plain({{0, 1}, {0, 2}, {1, 0}}));
  EXPECT_EQ(loaded.vertices, (std::vector<VertexId>{0, 1, 2}));
  EXPECT_EQ(loaded.header.directed, true);
}

TEST(Gap, reads_each_edge_of_a_serialized_undirected_graph_once) {
  const Loaded loaded =
      load("g.wsg", serialized(false, {0, 1, 3, 4}, {1, 7, 0, 7, 2, 9, 1, 9}, 4), weighted);
  EXPECT_EQ(loaded.edges, (Edges{{0, 1, 7}, {1, 2, 9}}));
  EXPECT_EQ(loaded.header.directed, false);
  EXPECT_EQ(loaded.header.num_edges, 2u);
  EXPECT_EQ(load("g.sg", serialized(false, {0, 3, 4}, {0, 0, 1, 0}, 4)).edges,
            plain({{0, 0}, {0, 1}}));
  EXPECT_NE(error_in("g.sg", serialized(false, {0, 1, 2, 2}, {1, 2}, 2)), "");
}

TEST(Gap, checks_all_sizes_against_the_file) {
  const std::string good = serialized(true, {0, 2, 3, 3}, {1, 2, 0}, 3);
  for (std::size_t size = 0; size < good.size(); ++size) {
    EXPECT_NE(error_in("g.sg", good.substr(0, size)), "") << size;
  }
  EXPECT_NE(error_in("g.sg", good + 'x'), "");
  EXPECT_NE(error_in("g.sg", serialized(true, {0, 2, 3, 3}, {1, 3, 0}, 3)), "");
  EXPECT_NE(error_in("g.sg", serialized(true, {0, 2, 3, 3}, {1, -1, 0}, 3)), "");
  EXPECT_NE(error_in("g.sg", serialized(true, {0, 3, 2, 3}, {1, 2, 0}, 3)), "");
  EXPECT_NE(error_in("g.sg", serialized(true, {1, 2, 3, 3}, {1, 2, 0}, 3)), "");
  EXPECT_NE(error_in("g.sg", serialized(true, {0, 0}, {}, INT64_MAX)), "");
  EXPECT_NE(error_in("g.sg", serialized(true, {0, 0}, {}, -1)), "");
  EXPECT_NE(error_in("g.sg", "1 2\n2 3\n3 4\n5 6\n7 8\n9 10\n"), "");
  EXPECT_EQ(error_in("g.sg", good, weighted),
            "input: g.sg: found no edge values; expected weights");
}

}  // namespace
}  // namespace weir::io::test
