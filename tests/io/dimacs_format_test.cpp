// SPDX-License-Identifier: Apache-2.0
#include <weir/io/dimacs_format.hpp>

#include <weir/tests/io/loading.hpp>

namespace weir::io::test {
namespace {

const GraphFileOptions weighted{.weighted = true};

TEST(Dimacs, reads_arcs) {
  const std::string text = "c hello\n\np sp 4 2\nc arcs\na 1 2 5\na 2 3 -7\n";
  const Loaded loaded = load("g.gr", text, weighted);
  EXPECT_EQ(loaded.edges, (Edges{{1, 2, 5}, {2, 3, -7}}));
  EXPECT_EQ(loaded.vertices, (std::vector<VertexId>{1, 2, 3, 4}));
  EXPECT_EQ(loaded.header.directed, true);
  EXPECT_EQ(loaded.header.num_edges, 2u);
  EXPECT_EQ(load("g.txt", text).header.format, Format::dimacs);  // by its first line
}

TEST(Dimacs, refuses_what_breaks_the_header) {
  EXPECT_EQ(error_in("g.gr", "a 1 2 5\n"),
            "input: g.gr:1: found \"a 1 2 5\"; expected p sp VERTICES ARCS");
  EXPECT_EQ(error_in("g.gr", "c only\n"),
            "input: g.gr:1: found no problem line; expected p sp "
            "VERTICES ARCS");
  EXPECT_EQ(error_in("g.gr", "p sp 2 1\na 1 3 5\n"),
            "input: g.gr:2: found \"3\"; expected an id from 1 to 2");
  EXPECT_EQ(error_in("g.gr", "p sp 2 2\na 1 2 5\n"),
            "input: g.gr: found 1 entries; expected 2 as the header says");
  EXPECT_NE(error_in("g.gr", "p sp 2 1\na 1 2 5 6\n"), "");
  EXPECT_NE(error_in("g.gr", "p sp 2 1\ne 1 2\n"), "");
  EXPECT_NE(error_in("g.gr", "p max 2 1\na 1 2 5\n"), "");
  EXPECT_NE(error_in("g.gr", "p sp 2 1\na 1 2\n", weighted), "");
  EXPECT_EQ(error_in("g.gr", "p sp 2 1\na 1 2\n"), "");
}

TEST(Dimacs, reads_the_public_file_as_its_twins) {
  WEIR_NEED_DATA(data);
  const std::string folder = data + "gapbs-one-graph-five-formats/";
  const Loaded gr = load_files({folder + "4.gr"}, weighted);
  const Loaded mtx = load_files({folder + "4w.mtx"}, weighted);
  Loaded wel = load_files({folder + "4.wel"}, weighted);
  for (Edge<double>& edge : wel.edges) {  // the same graph, counted from 0
    ++edge.source;
    ++edge.target;
  }
  EXPECT_EQ(gr.edges.size(), 256u);
  EXPECT_EQ(gr.vertices.size(), 14u);
  EXPECT_EQ(gr.edges, mtx.edges);
  EXPECT_EQ(gr.edges, wel.edges);
}

}  // namespace
}  // namespace weir::io::test
