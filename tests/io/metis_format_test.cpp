// SPDX-License-Identifier: Apache-2.0
#include <weir/io/metis_format.hpp>

#include <weir/tests/io/loading.hpp>

namespace weir::io::test {
namespace {

const GraphFileOptions weighted{.weighted = true};
const std::string path_of_3 = "2\n1 3\n2\n";

TEST(Metis, reads_line_i_as_the_neighbors_of_vertex_i) {
  const Loaded loaded = load("g.metis", "3 2\n" + path_of_3);
  EXPECT_EQ(loaded.edges, plain({{1, 2}, {2, 3}}));
  EXPECT_EQ(loaded.vertices, (std::vector<VertexId>{1, 2, 3}));
  EXPECT_EQ(loaded.header.directed, false);
  EXPECT_EQ(loaded.header.num_edges, 2u);
}

TEST(Metis, accepts_crlf_and_comments_anywhere) {  // D05, D06
  EXPECT_EQ(load("g.graph", "2 1\r\n2\r\n1\r\n").edges, plain({{1, 2}}));
  EXPECT_EQ(load("g.graph", "% a\n\n2 1\n% b\n2\n % c\n1\n% d\n% e\n% f\n").edges, plain({{1, 2}}));
}

TEST(Metis, knows_all_formats) {  // D17
  const Edges edges{{1, 2, 5}, {2, 3, 6}};
  EXPECT_EQ(load("g.metis", "3 2 0\n" + path_of_3).edges, plain({{1, 2}, {2, 3}}));
  EXPECT_EQ(load("g.metis", "3 2 1\n2 5\n1 5 3 6\n2 6\n", weighted).edges, edges);
  EXPECT_EQ(load("g.metis", "3 2 10\n9 2\n9 1 3\n9 2\n").edges, plain({{1, 2}, {2, 3}}));
  for (const char* header : {"3 2 11", "3 2 011", "3 2 011 1"}) {
    EXPECT_EQ(load("g.metis", std::string(header) + "\n9 2 5\n9 1 5 3 6\n9 2 6\n", weighted).edges,
              edges);
  }
  EXPECT_EQ(load("g.metis", "3 2 11 2\n9 8 2 5\n9 8 1 5 3 6\n9 8 2 6\n", weighted).edges, edges);
  EXPECT_EQ(load("g.metis", "3 2 110 2\n7 9 8 2\n7 9 8 1 3\n7 9 8 2\n").edges,
            plain({{1, 2}, {2, 3}}));
  EXPECT_EQ(load("g.metis", "3 2 101\n7 2 5\n7 1 5 3 6\n7 2 6\n", weighted).edges, edges);
  EXPECT_NE(error_in("g.metis", "3 2 2\n" + path_of_3), "");
  EXPECT_NE(error_in("g.metis", "3 2 0001\n" + path_of_3), "");
  EXPECT_NE(error_in("g.metis", "3 2 1\n" + path_of_3), "");
  EXPECT_NE(error_in("g.metis", "3 2 10\n" + path_of_3), "");
  EXPECT_NE(error_in("g.metis", "3 2 0 1 5\n" + path_of_3), "");
}

TEST(Metis, an_empty_line_is_a_vertex_without_neighbors) {
  const Loaded loaded = load("g.graph", "4 2\n2\n1 4\n\n2\n");
  EXPECT_EQ(loaded.edges, plain({{1, 2}, {2, 4}}));
  EXPECT_EQ(loaded.vertices.size(), 4u);
  EXPECT_EQ(load("g.graph", "3 1\n2\n1\n").vertices.size(), 3u);  // the last line may be lost
}

TEST(Metis, a_file_without_a_word_is_the_empty_graph) {
  EXPECT_TRUE(load("g.metis", " \n").vertices.empty());
  EXPECT_TRUE(load("g.metis", "0 0\n").vertices.empty());
}

TEST(Metis, pairs_the_two_entries_of_a_loop) {  // D32
  EXPECT_EQ(load("g.metis", "2 3\n1 2 1 1 1\n1\n").edges, plain({{1, 1}, {1, 1}, {1, 2}}));
  EXPECT_NE(error_in("g.metis", "2 2\n1 2\n1 2\n"), "");
}

TEST(Metis, refuses_edges_listed_once) {
  EXPECT_EQ(error_in("g.graph", "3 2\n2\n3\n\n"),
            "input: g.graph: found 2 neighbor entries (it seems to list each edge only once); "
            "expected 4: each of the 2 edges in the lists of both its end points");
}

TEST(Metis, refuses_lists_that_do_not_mirror) {
  EXPECT_EQ(error_in("g.graph", "3 2\n2\n1 3\n1\n"),
            "input: g.graph: found edges listed at one end point only, or with two weights; "
            "expected each of the 2 edges alike in the lists of both its end points");
  EXPECT_NE(error_in("g.graph", "2 1 1\n2 5\n1 6\n", weighted), "");
  EXPECT_EQ(error_in("g.graph", "2 1 1\n2 5\n1 6\n"), "");
  EXPECT_NE(error_in("g.graph", "2 5\n2\n1\n"), "");
}

TEST(Metis, refuses_broken_lines) {
  EXPECT_EQ(error_in("g.graph", "2 1\n3\n1\n"),
            "input: g.graph:2: found \"3\"; expected an id from 1 to 2");
  EXPECT_EQ(error_in("g.graph", "2 1\n2\n1\n1\n"),
            "input: g.graph:4: found a line after that of the last vertex; expected 2 vertices");
  EXPECT_NE(error_in("g.graph", "2 1\nx\n1\n"), "");
  EXPECT_NE(error_in("g.graph", "2\n2\n1\n"), "");
  EXPECT_NE(error_in("g.graph", "-2 1\n2\n1\n"), "");
  EXPECT_EQ(error_in("g.graph", "1000000000000 0\n"),
            "input: g.graph:1: found 1000000000000 vertices in a file of 16 bytes; expected a line "
            "for each vertex");
  EXPECT_EQ(error_in("g.graph", "2 1\n2\n1\n", weighted),
            "input: g.graph: found no edge values; expected weights");
  EXPECT_NE(error_in("g.graph", "2 1 1\n2 nan\n1 nan\n", weighted), "");
}

TEST(Metis, reads_rows_longer_than_a_batch) {
  constexpr int num_leaves = 70000;
  std::string text = "70001 70000\n";
  for (int i = 0; i < num_leaves; ++i) text += std::to_string(i + 2) + ' ';
  for (int i = 0; i < num_leaves; ++i) text += "\n1";
  const Loaded loaded = load("g.metis", text);
  EXPECT_EQ(loaded.edges.size(), std::size_t{num_leaves});
}

struct PublicFile {
  const char* name;
  std::uint64_t num_vertices;
  std::uint64_t num_edges;
};

TEST(Metis, reads_the_public_files) {
  WEIR_NEED_DATA(data);
  const PublicFile files[] = {{"airfoil1.graph", 4253, 12289},
                              {"jazz.graph", 198, 2742},
                              {"karate.graph", 34, 78},
                              {"tiny_01.graph", 7, 11},
                              {"tiny_02.graph", 7, 11},
                              {"tiny_03.graph", 7, 11},
                              {"empty.metis", 0, 0},
                              {"with_comments.metis", 2, 1},
                              {"unweighted_K3.metis", 3, 3},
                              {"vertex_weighted_K3.metis", 3, 3},
                              {"edge_weighted_K3.metis", 3, 3},
                              {"weighted_K3.metis", 3, 3},
                              {"edge_weighted_P2.metis", 3, 2},
                              {"weighted_P2.metis", 3, 2},
                              {"vertex_weighted_P2.metis", 3, 2}};
  for (const PublicFile& file : files) {
    const Loaded loaded = load_files({data + "metis/" + file.name});
    EXPECT_EQ(loaded.vertices.size(), file.num_vertices) << file.name;
    EXPECT_EQ(loaded.edges.size(), file.num_edges) << file.name;
  }
  EXPECT_EQ(load_files({data + "metis/weighted_P2.metis"}, weighted).edges,
            (Edges{{1, 2, 2}, {2, 3, 4}}));
}

TEST(Metis, refuses_the_public_files_that_list_edges_once) {
  WEIR_NEED_DATA(data);
  for (const char* name : {"4.graph", "4w.graph"}) {
    const std::string path = data + "gapbs-one-graph-five-formats/" + name;
    const std::string error = error_of([&] { load_files({path}); });
    EXPECT_NE(error.find("it seems to list each edge only once"), std::string::npos) << error;
  }
}

}  // namespace
}  // namespace weir::io::test
