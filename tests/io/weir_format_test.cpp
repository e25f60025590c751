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

std::string weir_bytes(const Edges& edges, const std::vector<VertexId>& vertices,
                       bool has_weights) {
  const TemporaryFolder folder;
  GraphHeader header;
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
  const std::string bytes = weir_bytes({{1, 2, 0.5}, {2, 9, 0.25}}, {}, true);
  for (std::size_t size = 0; size < bytes.size(); size += 3) {
    EXPECT_TRUE(error_in("g.weir", bytes.substr(0, size), weighted).starts_with("input: g.weir"))
        << size;
  }
  EXPECT_NE(error_in("g.weir", bytes + "x", weighted), "");
}

TEST(Weir, notices_every_flipped_bit) {
  const std::string bytes = weir_bytes({{1, 2, 0.5}, {2, 9, 0.25}}, {}, true);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    std::string damaged = bytes;
    damaged[i] = static_cast<char>(damaged[i] ^ (1 << (i % 8)));
    EXPECT_TRUE(error_in("g.weir", damaged, weighted).starts_with("input: g.weir")) << i;
  }
}

TEST(Weir, refuses_a_newer_version_in_words) {
  std::string bytes = weir_bytes({{1, 2, 0.5}}, {}, true);
  bytes[8] = 2;
  EXPECT_EQ(error_in("g.weir", bytes),
            "input: g.weir: found format version 2; expected at most 1 (written by a newer weir)");
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
  const Loaded loaded = load("g.weir", weir_bytes(edges, {}, true), weighted);
  sort_edges(edges);
  EXPECT_EQ(loaded.edges, edges);
  EXPECT_EQ(loaded.header.num_edges, edges.size());
}

}  // namespace
}  // namespace weir::io::test
