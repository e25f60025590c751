// SPDX-License-Identifier: Apache-2.0
#include <weir/io/matrix_market_format.hpp>

#include <weir/tests/io/loading.hpp>

namespace weir::io::test {
namespace {

const GraphFileOptions weighted{.weighted = true};

std::string banner(const std::string& words) { return "%%MatrixMarket matrix " + words + '\n'; }

TEST(MatrixMarket, accepts_blank_lines_and_comments) {  // D18
  const Loaded loaded = load("g.mtx", banner("coordinate integer general") +
                                          "% c\n\n%\n3 3 2\n\n% c\n1 2 5\n  \n2 3 7\n\n");
  EXPECT_EQ(loaded.edges, plain({{1, 2}, {2, 3}}));
  EXPECT_EQ(loaded.vertices, (std::vector<VertexId>{1, 2, 3}));
}

TEST(MatrixMarket, weighs_a_pattern_one) {  // D19, D20, D23
  const std::string text = banner("coordinate pattern symmetric") + "3 3 2\n2 1\n3 1\n";
  const Loaded loaded = load("g.mtx", text, weighted);
  EXPECT_EQ(loaded.edges, plain({{2, 1}, {3, 1}}));
  EXPECT_EQ(loaded.header.directed, false);
  EXPECT_FALSE(loaded.header.has_weights);
}

TEST(MatrixMarket, takes_each_entry_of_a_symmetric_matrix_for_one_edge) {  // D21
  const Loaded loaded = load("g.mtx",
                             banner("coordinate real symmetric") +
                                 "4 4 10\n1 1 1\n2 1 2\n2 2 3\n3 1 4\n3 2 5\n3 3 6\n4 1 7\n4 2 8\n"
                                 "4 3 9\n4 4 10\n",
                             weighted);
  const auto is_loop = [](const Edge<double>& edge) { return edge.source == edge.target; };
  EXPECT_EQ(loaded.edges.size(), 10u);
  EXPECT_EQ(std::count_if(loaded.edges.begin(), loaded.edges.end(), is_loop), 4);
  EXPECT_EQ(loaded.sum_of_weights(), 55);
  EXPECT_EQ(loaded.header.num_edges, 10u);
}

TEST(MatrixMarket, leads_from_row_to_column) {  // D22
  const Loaded loaded = load("g.mtx", banner("coordinate real general") + "3 3 2\n1 2 1\n2 3 1\n");
  EXPECT_EQ(loaded.edges, plain({{1, 2}, {2, 3}}));
  EXPECT_EQ(loaded.header.directed, true);
}

TEST(MatrixMarket, mirrors_a_skew_symmetric_matrix) {
  const std::string text = banner("coordinate integer skew-symmetric") + "3 3 1\n2 1 5\n";
  const Loaded loaded = load("g.mtx", text, weighted);
  EXPECT_EQ(loaded.edges, (Edges{{1, 2, -5}, {2, 1, 5}}));
  EXPECT_EQ(loaded.header.directed, true);
  EXPECT_EQ(loaded.header.num_edges, 2u);
  EXPECT_EQ(error_in("g.mtx", banner("coordinate integer skew-symmetric") + "3 3 1\n2 2 5\n"),
            "input: g.mtx:3: found an entry on the diagonal; expected none in a skew-symmetric "
            "matrix");
}

TEST(MatrixMarket, refuses_what_is_no_graph) {  // D24
  const auto error = [](const std::string& text) { return error_in("g.mtx", text); };
  EXPECT_EQ(error("1 2\n2 3\n"),
            "input: g.mtx:1: found \"1 2\"; expected %%MatrixMarket matrix coordinate ...");
  EXPECT_EQ(error("67 67 294\n1 1 1\n"),
            "input: g.mtx:1: found \"67 67 294\"; expected %%MatrixMarket matrix coordinate ...");
  EXPECT_NE(error(""), "");
  EXPECT_EQ(error(banner("array real general") + "2 2\n1\n2\n3\n4\n"),
            "input: g.mtx:1: found \"array\"; expected coordinate (a graph is a sparse matrix)");
  EXPECT_EQ(error(banner("coordinate complex general") + "1 1 1\n1 1 1 1\n"),
            "input: g.mtx:1: found \"complex\"; expected real, integer or pattern");
  EXPECT_NE(error(banner("coordinate real hermitian") + "1 1 1\n1 1 1\n"), "");
  EXPECT_EQ(error(banner("coordinate real general") + "3 4 0\n"),
            "input: g.mtx:2: found 3 rows and 4 columns; expected a square matrix");
}

TEST(MatrixMarket, refuses_entries_that_break_the_header) {
  const auto error = [](const std::string& text) {
    return error_in("g.mtx", banner("coordinate real general") + text);
  };
  EXPECT_EQ(error("2 2 1\n1 3 1\n"), "input: g.mtx:3: found \"3\"; expected an id from 1 to 2");
  EXPECT_NE(error("2 2 1\n0 1 1\n"), "");
  EXPECT_EQ(error("2 2 1\n1 2\n"),
            "input: g.mtx:3: found no value; expected row, column and value");
  EXPECT_NE(error("2 2 1\n1 2 3 4\n"), "");
  EXPECT_EQ(error("2 2 2\n1 2 3\n"),
            "input: g.mtx: found 1 entries; expected 2 as the header says");
  EXPECT_NE(error("2 2 1\n1 2 3\n2 1 3\n"), "");
  EXPECT_NE(error("2\n1 2 3\n"), "");
  EXPECT_NE(error("2 2 1 7\n1 2 3\n"), "");
  EXPECT_NE(error("-2 -2 1\n1 2 3\n"), "");
  EXPECT_NE(error("% only comments\n"), "");
}

TEST(MatrixMarket, refuses_values_that_are_not_finite_when_weighted) {
  const std::string text = banner("coordinate real general") + "2 2 1\n1 2 inf\n";
  EXPECT_EQ(load("g.mtx", text).edges, plain({{1, 2}}));
  EXPECT_EQ(error_in("g.mtx", text, weighted),
            "input: g.mtx:3: found \"inf\"; expected a finite decimal weight");
}

TEST(MatrixMarket, is_known_by_its_banner) {
  EXPECT_EQ(
      load("g.txt", "%%matrixmarket MATRIX Coordinate Pattern General\n1 1 1\n1 1\n").header.format,
      Format::matrix_market);
}

struct PublicFile {
  const char* name;
  std::uint64_t num_vertices;
  std::uint64_t num_edges;
};

TEST(MatrixMarket, reads_the_public_files) {
  WEIR_NEED_DATA(data);
  // The "GraphBLAS type" lines are comments, so the mangled_* files below that only contradict such
  // a line are right by the rules of the format.
  const PublicFile files[] = {{"A", 7, 15},
                              {"A2", 7, 15},
                              {"LFAT5", 14, 30},
                              {"LFAT5_hypersparse", 2000, 30},
                              {"comments_cover", 7, 12},
                              {"comments_west0067", 67, 295},
                              {"cover", 7, 12},
                              {"karate", 34, 78},
                              {"ldbc-directed-example", 10, 17},
                              {"ldbc-undirected-example", 9, 12},
                              {"ldbc-undirected-example-bool", 9, 12},
                              {"ldbc-wcc-example", 10, 15},
                              {"mangled_bool", 7, 12},
                              {"mangled_int16", 7, 12},
                              {"mangled_int32", 7, 12},
                              {"mangled_int8", 7, 12},
                              {"mangled_skew", 6, 20},
                              {"mangled_uint16", 7, 12},
                              {"mangled_uint32", 7, 12},
                              {"mangled_uint8", 7, 12},
                              {"matrix_bool", 7, 12},
                              {"matrix_fp32", 7, 12},
                              {"matrix_int64", 7, 12},
                              {"matrix_uint64", 7, 12},
                              {"msf1", 6, 8},
                              {"olm1000", 1000, 3996},
                              {"sample", 8, 12},
                              {"sample2", 8, 28},
                              {"skew_fp32", 6, 20},
                              {"structure", 7, 12},
                              {"test_BF", 7, 12},
                              {"test_FW_1000", 1000, 3996},
                              {"tree-example", 6, 5},
                              {"west0067", 67, 294},
                              {"west0067_jumbled", 67, 294}};
  for (const PublicFile& file : files) {
    const Loaded loaded = load_files({data + "matrix-market/" + file.name + ".mtx"});
    EXPECT_EQ(loaded.vertices.size(), file.num_vertices) << file.name;
    EXPECT_EQ(loaded.edges.size(), file.num_edges) << file.name;
  }
}

TEST(MatrixMarket, refuses_the_mangled_public_files) {
  WEIR_NEED_DATA(data);
  for (const char* name :
       {"mangled1", "mangled2", "mangled3", "mangled4", "mangled5", "mangled6", "mangled7",
        "mangled8", "mangled_format", "full", "full_symmetric", "full_noheader", "comments_full",
        "complex", "west0067_noheader", "empty", "lp_afiro", "sources_7"}) {
    const std::string path = data + "matrix-market/" + name + ".mtx";
    const std::string error = error_of([&] { load_files({path}); });
    EXPECT_TRUE(error.starts_with("input: " + path + ':')) << name << ": " << error;
  }
  for (const char* name : {"matrix_fp32", "matrix_fp64", "skew_fp32", "skew_fp64"}) {
    const std::string path = data + "matrix-market/" + name + ".mtx";
    EXPECT_NE(error_of([&] { load_files({path}, weighted); }), "") << name;  // infinite values
  }
}

}  // namespace
}  // namespace weir::io::test
