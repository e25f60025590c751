// SPDX-License-Identifier: Apache-2.0
#include <weir/io/adjacency_format.hpp>

#include <weir/tests/io/loading.hpp>

namespace weir::io::test {
namespace {

const GraphFileOptions weighted{.weighted = true};
using Ids = std::vector<VertexId>;

TEST(Adjacency, reads_a_vertex_and_its_neighbors) {
  const Loaded loaded = load("g.adj", "# x\n1 2 3\n2\n\n3 1 9\n7");
  EXPECT_EQ(loaded.edges, plain({{1, 2}, {1, 3}, {3, 1}, {3, 9}}));
  EXPECT_EQ(loaded.vertices, (Ids{1, 2, 3, 7}));
  EXPECT_FALSE(loaded.header.directed.has_value());
}

TEST(Adjacency, reads_the_counted_form) {
  const Loaded loaded = load("g.adj", "1\t2 2 3\n2\t0\n3\t1 1\n");
  EXPECT_EQ(loaded.edges, plain({{1, 2}, {1, 3}, {3, 1}}));
  EXPECT_EQ(loaded.vertices, (Ids{1, 2, 3}));
  EXPECT_NE(error_in("g.adj", "1\t2 2 3\n2\t1\n"), "");
}

TEST(Adjacency, reads_the_json_form) {
  const std::string text = "[0,0,[[1,1],[3,3]]]\n[1, 0.5 , [ [0,2.5] ] ]\n[2,0,[]]\n";
  const Loaded loaded = load("g.json", text, weighted);
  EXPECT_EQ(loaded.edges, (Edges{{0, 1, 1}, {0, 3, 3}, {1, 0, 2.5}}));
  EXPECT_EQ(loaded.vertices, (Ids{0, 1, 2}));
  EXPECT_EQ(load("g.txt", text).header.format, Format::adjacency);
  for (const char* bad :
       {"[0,0,[[1,1]]", "[0,0,[[1,1],]]", "[0,0,[[1]]]", "[0,[]]", "[0,0,[]]x", "[\"a\",0,[]]",
        "[0,0,[[1,1][2,2]]]", "[0,0,[,[1,1]]]", "[0.5,0,[]]", "[", "[0,0,[[1,nan]]]", "0 1 2"}) {
    EXPECT_NE(error_in("g.json", "[5,0,[]]\n" + std::string(bad) + "\n"), "") << bad;
  }
}

TEST(Adjacency, refuses_lines_that_are_no_numbers) {
  EXPECT_NE(error_in("g.adj", "1 2\n2 x\n"), "");
  EXPECT_EQ(error_in("g.adj", "1 2\n", weighted),
            "input: g.adj: found no edge values; expected weights");
}

TEST(Adjacency, reads_the_public_file) {
  WEIR_NEED_DATA(data);
  const std::string folder = data + "pregel-examples/";
  const Loaded json = load_files({folder + "giraph-tiny.json"}, weighted);
  const Loaded listed = load_files({folder + "giraph-tiny.v", folder + "giraph-tiny.e"}, weighted);
  EXPECT_EQ(json.edges.size(), 12u);
  EXPECT_EQ(json.edges, listed.edges);
  EXPECT_EQ(json.vertices, listed.vertices);
}

}  // namespace
}  // namespace weir::io::test
