// SPDX-License-Identifier: Apache-2.0
#include <weir/io/weir_format.hpp>

#include <cstring>
#include <random>

#include <weir/io/graph_writer.hpp>
#include <weir/io/weir_layout.hpp>

#include <weir/tests/io/loading.hpp>

namespace weir::io::test {
namespace {

const GraphFileOptions weighted{.weighted = true};

std::string weir_bytes(const Edges& edges, const std::vector<VertexId>& vertices, bool has_weights,
                       bool is_directed = true) {
  const TemporaryFolder folder;
  GraphHeader header;
  header.directed = is_directed;
  header.has_weights = has_weights;
  GraphWriter writer(folder / "g.weir", Format::weir, header);
  writer.write(edges);
  writer.write_vertices(vertices);
  writer.commit();
  return contents_of(folder / "g.weir");
}

WeirHeader header_of(const std::string& bytes) {
  WeirHeader header;
  std::memcpy(&header, bytes.data(), sizeof header);
  return header;
}

TEST(Weir, stores_values_in_the_narrowest_type_that_holds_them) {
  const auto type_of = [](std::vector<double> values) {
    Edges edges;
    for (const double value : values) edges.push_back({0, 1, value});
    const std::string bytes = weir_bytes(edges, {}, true);
    Edges found = load("g.weir", bytes, weighted).edges;
    sort_edges(edges);
    EXPECT_EQ(found, edges);
    return header_of(bytes).weight_type;
  };
  EXPECT_EQ(type_of({0, 255}), WeightType::u8);
  EXPECT_EQ(type_of({0, 256}), WeightType::u16);
  EXPECT_EQ(type_of({65536}), WeightType::u32);
  EXPECT_EQ(type_of({-1}), WeightType::f32);
  EXPECT_EQ(type_of({-0.0}), WeightType::f32);
  EXPECT_EQ(type_of({0.5, -2.25}), WeightType::f32);
  EXPECT_EQ(type_of({4294967296}), WeightType::f32);
  EXPECT_EQ(type_of({4294967297}), WeightType::f64);
  EXPECT_EQ(type_of({0.1}), WeightType::f64);
}

TEST(Weir, keeps_any_ids) {
  const Edges edges{{INT64_MIN, INT64_MAX, 1}, {5, -7, 1}};
  const Loaded loaded = load("g.weir", weir_bytes(edges, {0}, false));
  EXPECT_EQ(loaded.edges, edges);
  EXPECT_EQ(loaded.vertices, (std::vector<VertexId>{INT64_MIN, -7, 0, 5, INT64_MAX}));
  const std::string dense = weir_bytes({{10, 12, 1}}, {11}, false);
  EXPECT_EQ(load("g.weir", dense).vertices, (std::vector<VertexId>{10, 11, 12}));
  EXPECT_EQ(header_of(dense).ids.num_bytes, 0u);
  EXPECT_TRUE(load("g.weir", weir_bytes({}, {}, false)).vertices.empty());
  EXPECT_EQ(load("g.weir", weir_bytes({}, {4}, false)).vertices, (std::vector<VertexId>{4}));
}

TEST(Weir, notices_every_truncation) {  // D30
  for (const bool is_directed : {true, false}) {
    const std::string bytes = weir_bytes({{1, 2, 0.5}, {2, 9, 0.25}}, {}, true, is_directed);
    for (std::size_t size = 0; size < bytes.size(); ++size) {
      EXPECT_TRUE(error_in("g.weir", bytes.substr(0, size), weighted).starts_with("input: g.weir"))
          << size;
    }
    EXPECT_NE(error_in("g.weir", bytes + "x", weighted), "");
  }
}

TEST(Weir, notices_every_flipped_bit) {
  for (const bool is_directed : {true, false}) {
    const std::string bytes = weir_bytes({{1, 2, 0.5}, {2, 9, 0.25}}, {}, true, is_directed);
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      std::string damaged = bytes;
      damaged[i] = static_cast<char>(damaged[i] ^ (1 << (i % 8)));
      EXPECT_TRUE(error_in("g.weir", damaged, weighted).starts_with("input: g.weir")) << i;
    }
  }
}

TEST(Weir, refuses_other_versions_in_words) {
  std::string bytes = weir_bytes({{1, 2, 0.5}}, {}, true);
  bytes[8] = 3;
  EXPECT_EQ(error_in("g.weir", bytes),
            "input: g.weir: found format version 3; expected 2 (written by a newer weir)");
  bytes[8] = 1;
  EXPECT_EQ(error_in("g.weir", bytes),
            "input: g.weir: found format version 1; expected 2 (written by an older weir; convert "
            "the graph again)");
}

TEST(Weir, lists_an_undirected_edge_at_both_ends_in_heat_order) {
  const std::string bytes = weir_bytes({{7, 5, 1}, {5, 9, 1}, {5, 5, 1}}, {}, false, false);
  const WeirHeader header = header_of(bytes);
  const auto column = [&](const WeirSection& section, auto element) {
    std::vector<decltype(element)> found(section.num_bytes / sizeof element);
    std::memcpy(found.data(), bytes.data() + section.offset, section.num_bytes);
    return found;
  };
  EXPECT_EQ(header.num_edges, 3u);
  EXPECT_EQ(column(header.ids, VertexId{}), (std::vector<VertexId>{5, 7, 9}));
  EXPECT_EQ(column(header.offsets, std::uint64_t{}), (std::vector<std::uint64_t>{0, 4, 5, 6}));
  EXPECT_EQ(column(header.order, std::uint32_t{}), (std::vector<std::uint32_t>{0, 1, 2}));
  EXPECT_EQ(column(header.neighbours, std::uint32_t{}),
            (std::vector<std::uint32_t>{0, 0, 1, 2, 0, 0}));
  EXPECT_EQ(load("g.weir", bytes).edges, (Edges{{5, 5, 1}, {5, 7, 1}, {5, 9, 1}}));
}

TEST(Weir, reads_in_place_from_any_address) {
  const std::string bytes = ' ' + weir_bytes({{1, 2, 0.5}}, {}, true);
  EXPECT_EQ(load("g.weir", std::string_view(bytes).substr(1), weighted).edges,
            (Edges{{1, 2, 0.5}}));
}

TEST(Weir, splits_a_large_graph) {
  std::mt19937 random(1);
  Edges edges;
  for (int i = 0; i < 400'000; ++i) {  // several blocks of checksums
    const auto id = [&] { return static_cast<VertexId>(random() % 5000 * 3); };
    const VertexId source = id();
    edges.push_back({source, id(), static_cast<double>(random() % 9)});
  }
  const auto load_as = [&](bool is_directed) {
    return load("g.weir", weir_bytes(edges, {}, true, is_directed), weighted);
  };
  const Loaded undirected = load_as(false);
  const Loaded directed = load_as(true);
  sort_edges(edges);
  EXPECT_EQ(directed.edges, edges);
  EXPECT_EQ(directed.header.num_edges, edges.size());
  for (Edge<double>& edge : edges) {
    if (edge.source > edge.target) std::swap(edge.source, edge.target);
  }
  sort_edges(edges);
  EXPECT_EQ(undirected.edges, edges);
}

}  // namespace
}  // namespace weir::io::test
