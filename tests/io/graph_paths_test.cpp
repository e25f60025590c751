// SPDX-License-Identifier: Apache-2.0
#include <weir/io/graph_paths.hpp>

#include <weir/tests/io/loading.hpp>

namespace weir::io::test {
namespace {

const GraphFileOptions weighted{.weighted = true};
using Ids = std::vector<VertexId>;

TEST(Graphalytics, reads_vertices_and_edges) {
  const TemporaryFolder folder;
  const std::string v =
      folder.write("x.v", "1\n2 a long data column of any length whatsoever\n9\n");
  const std::string e = folder.write("x.e", "1 2 0.5\n2 1 0.25\n");
  const Loaded both = load_files({v, e}, weighted);
  EXPECT_EQ(both.vertices, (Ids{1, 2, 9}));  // D16
  EXPECT_EQ(both.edges, (Edges{{1, 2, 0.5}, {2, 1, 0.25}}));
  EXPECT_FALSE(both.header.directed.has_value());
  EXPECT_EQ(load_files({folder / "x"}).vertices, (Ids{1, 2, 9}));
  const Loaded lone = load_files({e});  // D12, D16
  EXPECT_FALSE(lone.header.has_vertices);
  EXPECT_EQ(lone.edges.size(), 2u);
  EXPECT_NE(error_of([&] { load_files({v}); }), "");
}

TEST(Graphalytics, takes_direction_and_parameters_from_the_properties) {
  const TemporaryFolder folder;
  const std::string e = folder.write("my.graph-1.e", "1 2\n");
  folder.write("my.graph-1.v", "1\n2\n");
  const std::string p = folder.write("my.graph-1.properties",
                                     "# comment\n! too\n\ngraph.my.graph-1.directed = false\n"
                                     "graph.my.graph-1.bfs.source-vertex = 1\nother = 3\n");
  const Loaded loaded = load_files({e});
  EXPECT_EQ(loaded.header.directed, false);
  EXPECT_EQ(loaded.header.properties.at("bfs.source-vertex"), "1");
  EXPECT_EQ(loaded.header.properties.size(), 2u);
  EXPECT_EQ(load_files({p}).vertices, (Ids{1, 2}));
  folder.write("my.graph-1.properties", "graph.my.graph-1.directed = perhaps\n");
  EXPECT_EQ(error_of([&] { load_files({e}); }),
            "input: " + p + ":1: found \"perhaps\"; expected true or false");
}

TEST(Graphalytics, finds_the_files_that_the_properties_name) {
  const TemporaryFolder folder;
  folder.write("vertices.v", "1\n2\n3\n");
  folder.write("edges.e", "1 2\n");
  const std::string p =
      folder.write("p.properties", "graph.p.vertex-file = vertices.v\ngraph.p.edge-file=edges.e\n");
  EXPECT_EQ(load_files({p}).vertices, (Ids{1, 2, 3}));
}

TEST(Graphalytics, keeps_sparse_ids_and_skips_a_header_line) {  // D15
  const TemporaryFolder folder;
  const std::string v = folder.write("x.v", "10\n20\n6597075841739\n");
  const std::string e = folder.write("x.e", "src,dst,weight\n10,6597075841739,0.5\n");
  const Loaded loaded = load_files({v, e}, {.skip_header = true, .weighted = true});
  EXPECT_EQ(loaded.vertices, (Ids{10, 20, 6597075841739}));
  EXPECT_EQ(loaded.edges, (Edges{{10, 6597075841739, 0.5}}));
  EXPECT_NE(error_of([&] { load_files({v, e}); }), "");
}

TEST(Graphalytics, reads_names) {
  const TemporaryFolder folder;
  const std::string v = folder.write("x.v", "a\nb\nlonely\n");
  const std::string e = folder.write("x.e", "a b\n");
  const Loaded loaded = load_files({v, e}, {.string_ids = true});
  EXPECT_EQ(loaded.names, (std::vector<std::string>{"a", "b", "lonely"}));
  EXPECT_EQ(loaded.named_edges.size(), 1u);
}

struct PublicGraph {
  const char* name;
  std::uint64_t num_edges;
  bool directed;
};

TEST(Graphalytics, reads_the_public_graphs) {
  WEIR_NEED_DATA(data);
  const PublicGraph graphs[] = {
      {"example-directed", 17, true},      {"example-undirected", 12, false},
      {"test-bfs-directed", 0, true},      {"test-cdlp-undirected", 0, false},
      {"test-lcc-directed", 0, true},      {"test-pr-undirected", 113, false},
      {"test-sssp-undirected", 14, false}, {"test-wcc-directed", 0, true}};
  for (const PublicGraph& graph : graphs) {
    const std::string stem = data + "graphalytics/" + graph.name;
    const Loaded loaded = load_files({stem + ".properties"});
    EXPECT_EQ(loaded.header.directed, graph.directed) << graph.name;
    EXPECT_EQ(std::to_string(loaded.vertices.size()), loaded.header.properties.at("meta.vertices"));
    EXPECT_EQ(std::to_string(loaded.edges.size()), loaded.header.properties.at("meta.edges"));
    if (graph.num_edges > 0) {
      EXPECT_EQ(loaded.edges.size(), graph.num_edges) << graph.name;
    }
    EXPECT_EQ(load_files({stem}).edges, loaded.edges);
    EXPECT_EQ(load_files({stem + ".v", stem + ".e"}).vertices, loaded.vertices);
  }
  const Loaded p2p =
      load_files({data + "p2p-31/p2p-31.v", data + "p2p-31/p2p-31.e"}, {.weighted = true});
  EXPECT_EQ(p2p.vertices.size(), 62586u);
  EXPECT_EQ(p2p.edges.size(), 147892u);
  EXPECT_EQ(load_files({data + "reference/rome99-directed"}, {.weighted = true}).edges.size(),
            8859u);
}

}  // namespace
}  // namespace weir::io::test
