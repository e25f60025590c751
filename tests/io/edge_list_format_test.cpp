// SPDX-License-Identifier: Apache-2.0
#include <weir/io/edge_list_format.hpp>

#include <clocale>

#include <weir/tests/io/loading.hpp>

namespace weir::io::test {
namespace {

const GraphFileOptions weighted{.weighted = true};
const GraphFileOptions named{.string_ids = true};
const GraphFileOptions headed{.skip_header = true};
const GraphFileOptions headed_names{.skip_header = true, .string_ids = true};

TEST(EdgeList, skips_blank_lines_and_comments) {  // D01, D02, D08
  EXPECT_EQ(load("g.txt", "1 2\n\n2 3\n\n").edges, plain({{1, 2}, {2, 3}}));
  EXPECT_EQ(load("g.txt", "0 1\n\n# x\n0 1 ").edges, plain({{0, 1}, {0, 1}}));
  EXPECT_EQ(load("g.txt", "0 1\n \n\t\n% x\n// y\n  # z\n1 2\n").edges, plain({{0, 1}, {1, 2}}));
}

TEST(EdgeList, an_empty_file_is_an_empty_graph) {
  EXPECT_TRUE(load("g.txt", "").edges.empty());
  EXPECT_TRUE(load("g.txt", "\n# nothing\n").edges.empty());
  EXPECT_FALSE(load("g.txt", "").header.has_vertices);
}

TEST(EdgeList, splits_at_runs_of_blanks_and_tabs) {  // D03
  EXPECT_EQ(load("g.tsv", "1    2\n3 \t 4\n\t5 6\n").edges, plain({{1, 2}, {3, 4}, {5, 6}}));
}

TEST(EdgeList, accepts_crlf_and_a_missing_last_line_end) {
  EXPECT_EQ(load("g.txt", "1 2\r\n2 3\r\n").edges, plain({{1, 2}, {2, 3}}));
  EXPECT_EQ(load("g.txt", "1 2\r\n2 3\r").edges, plain({{1, 2}, {2, 3}}));
  EXPECT_EQ(load("g.txt",
                 "\xef\xbb\xbf"
                 "1 2\n2 3")
                .edges,
            plain({{1, 2}, {2, 3}}));
}

TEST(EdgeList, refuses_a_lone_carriage_return) {  // D10
  const std::string text =
      "input: g.txt:1: found a carriage return inside the line; expected lines that end in \\n or "
      "\\r\\n";
  EXPECT_EQ(error_in("g.txt", "1 2\r2 3\r"), text);
  EXPECT_EQ(error_in("g.txt", "# old\r1 2\r2 3\r"), text);
  EXPECT_EQ(error_in("g.txt", "1 2 0.5\r2 3 0.5\r"), text);
}

TEST(EdgeList, names_the_line_and_the_option_for_a_name) {
  EXPECT_EQ(error_in("g.txt", "1 2\n2 3\nalice 4\n"),
            "input: g.txt:3: found \"alice\"; expected an integer id (use --ids string for names)");
  EXPECT_EQ(error_in("g.txt", "from to\n1 2\n"),
            "input: g.txt:1: found \"from\"; expected an integer id (use --ids string for names, "
            "--header if line 1 is not data)");
  EXPECT_EQ(error_in("g.txt", "1\n"),
            "input: g.txt:1: found \"1\"; expected two ids split at "
            "blanks (use --header if line 1 is not data)");
  EXPECT_EQ(error_in("g.txt", "1 2\n3\n"),
            "input: g.txt:2: found \"3\"; expected two ids split at blanks");
  EXPECT_EQ(load("g.txt", "from to\n1 2\n", headed).edges, plain({{1, 2}}));
}

TEST(EdgeList, keeps_64_bit_ids) {  // D28, D29
  const Edges edges = load("g.txt",
                           "4294967295 4294967296\n9007199254740993 9223372036854775806\n"
                           "-9223372036854775808 2147483648\n+7 -1\n")
                          .edges;
  EXPECT_EQ(edges, plain({{4294967295, 4294967296},
                          {9007199254740993, 9223372036854775806},
                          {INT64_MIN, 2147483648},
                          {7, -1}}));
  EXPECT_NE(error_in("g.txt", "1 9223372036854775808\n"), "");
  EXPECT_NE(error_in("g.txt", "1 +-2\n"), "");
  EXPECT_NE(error_in("g.txt", "1 2.0\n"), "");
}

TEST(EdgeList, refuses_ids_outside_the_declared_range) {  // D25
  GraphFileOptions options{.num_vertices = 65535};
  EXPECT_EQ(error_in("g.txt", "0 1\n1 65535\n", options),
            "input: g.txt:2: found id 65535; expected an id in [0,65535)");
  EXPECT_NE(error_in("g.txt", "0 -1\n", options), "");
  options.num_vertices = 5;
  EXPECT_EQ(load("g.txt", "0 1\n", options).vertices, (std::vector<VertexId>{0, 1, 2, 3, 4}));
}

TEST(EdgeList, reads_weights_only_when_asked) {
  const std::string text = "1 2 0.5\n2 3 nan\n";
  EXPECT_EQ(load("g.txt", text).edges, plain({{1, 2}, {2, 3}}));
  EXPECT_TRUE(load("g.txt", text).header.has_weights);
  EXPECT_FALSE(load("g.txt", "1 2\n").header.has_weights);
  EXPECT_EQ(load("g.txt", "1 2 +0.5\n2 3 -1e-3\n3 4 .5 1234567\n", weighted).edges,
            (Edges{{1, 2, 0.5}, {2, 3, -1e-3}, {3, 4, 0.5}}));
}

TEST(EdgeList, refuses_values_that_are_no_finite_numbers) {  // D07, D27, D41, D60
  EXPECT_EQ(error_in("g.tsv", "1\t2\t4\n3\t1\t\n", weighted),
            "input: g.tsv:2: found no edge value; expected a weight after the two ids");
  EXPECT_EQ(error_in("g.txt", "1 2\n", weighted),
            "input: g.txt:1: found no edge value; expected a weight after the two ids");
  for (const char* value : {"nan", "-nan", "NaN", "inf", "-inf", "infinity", "0,5", "1e999",
                            "0x1p3", "1.5.2", "--1", "+-1", "1e"}) {
    EXPECT_EQ(
        error_in("g.txt", "3 4 1\n1 2 " + std::string(value) + "\n", weighted),
        "input: g.txt:2: found \"" + std::string(value) + "\"; expected a finite decimal weight");
  }
}

TEST(EdgeList, reads_numbers_without_the_locale) {  // D27
  const std::string before = std::setlocale(LC_NUMERIC, nullptr);
  for (const char* locale : {"de_DE.UTF-8", "de_DE", "fr_FR.UTF-8"}) {
    if (std::setlocale(LC_NUMERIC, locale) != nullptr) break;
  }
  EXPECT_EQ(load("g.txt", "1 2 0.5\n", weighted).edges, (Edges{{1, 2, 0.5}}));
  std::setlocale(LC_NUMERIC, before.c_str());
}

TEST(EdgeList, refuses_a_fifth_column) {
  EXPECT_EQ(load("g.txt", "1 2 3 4\n").edges, plain({{1, 2}}));
  EXPECT_EQ(error_in("g.txt", "1 2 3 4 5\n"),
            "input: g.txt:1: found \"5\" in column 5; expected at most source, target, weight and "
            "time");
}

TEST(EdgeList, refuses_binary_content) {  // D26
  EXPECT_EQ(error_in("g.txt", std::string_view("1 2\n\0\1\2", 7)),
            "input: g.txt:2: found byte 0x00; expected text");
  EXPECT_NE(error_in("g.bin", std::string_view("\0\0\0\1\0\0\0\2", 8)), "");
}

TEST(EdgeList, shortens_what_it_found) {
  EXPECT_EQ(error_in("g.txt", "1 2\n" + std::string(100, 'x') + " 4\n"),
            "input: g.txt:2: found \"" + std::string(40, 'x') +
                "...\"; expected an integer id (use --ids string for names)");
}

TEST(EdgeList, reads_names) {
  const Loaded loaded =
      load("g.txt", "bob alice 3\nalice carol 4\n", {.string_ids = true, .weighted = true});
  EXPECT_EQ(loaded.named_edges,
            (std::vector<NamedEdge<double>>{{"alice", "carol", 4}, {"bob", "alice", 3}}));
  EXPECT_EQ(error_in("g.txt", "bob\n", named),
            "input: g.txt:1: found \"bob\"; expected two ids split at blanks (use --header if line "
            "1 is not data)");
  EXPECT_NE(error_in("g.txt", std::string(5000, '#') + "\nbob al\x01ice\n", named), "");
  EXPECT_NE(error_in("g.txt", "bob alice\n", {.string_ids = true, .num_vertices = 3}), "");
}

TEST(Csv, splits_at_commas) {  // D04
  EXPECT_EQ(load("g.csv", "0, 1").edges, plain({{0, 1}}));
  EXPECT_EQ(load("g.csv", " 0 ,1 , 0.5\n1,2,3,4,5,6\n", weighted).edges,
            (Edges{{0, 1, 0.5}, {1, 2, 3}}));
  EXPECT_EQ(load("g.txt", "0, 1\n").header.format, Format::csv);
  EXPECT_EQ(load("g.csv", "a,b c\n", named).named_edges,
            (std::vector<NamedEdge<double>>{{"a", "b c", 1}}));
  EXPECT_NE(error_in("g.csv", "\"a\",b\n", named), "");
  EXPECT_EQ(load("g.csv", "src,dst\n0,1\n", headed).edges, plain({{0, 1}}));
}

TEST(Csv, names_the_separator_and_the_missing_value) {  // D07, D13
  EXPECT_EQ(error_in("g.csv", "1|2|0.5\n"),
            "input: g.csv:1: found \"1|2|0.5\"; expected two ids split at commas (use --header if "
            "line 1 is not data)");
  EXPECT_EQ(error_in("g.csv", "1,2,4\n3,1,\n", weighted),
            "input: g.csv:2: found no edge value; expected a weight after the two ids");
  EXPECT_EQ(error_in("g.csv", "1,2\n1,,3\n"),
            "input: g.csv:2: found no id; expected an integer id (use --ids string for names)");
}

TEST(Csv, is_an_edge_list_where_its_first_line_has_blanks_only) {
  EXPECT_EQ(load("g.csv", "1 0 1.0\n2 0 1.0\n").header.format, Format::edges);
  EXPECT_NE(error_in("g.csv", "1 0 1.0\n", {.format = Format::csv}), "");
}

TEST(GapEdgeList, has_all_vertices_up_to_the_largest) {
  const Loaded loaded = load("g.el", "0 1\n5 1\n");
  EXPECT_EQ(loaded.vertices, (std::vector<VertexId>{0, 1, 2, 3, 4, 5}));
  EXPECT_FALSE(loaded.header.directed.has_value());
  EXPECT_EQ(load("g.wel", "0 1 7\n", weighted).edges, (Edges{{0, 1, 7}}));
  EXPECT_TRUE(load("g.el", "").vertices.empty());
  EXPECT_EQ(error_in("g.el", "0 -1\n"),
            "input: g.el:1: found id -1; expected ids from 0 to "
            "2147483647, the range of this format");
}

TEST(EdgeList, gives_unweighted_and_named_records_too) {
  GraphReader reader = GraphReader::from_memory("g.txt", "1 2 3\n");
  std::vector<Edge<NoValue>> edges;
  EXPECT_TRUE(reader.next(edges));
  EXPECT_EQ(edges, (std::vector<Edge<NoValue>>{{1, 2, {}}}));
  EXPECT_FALSE(reader.next(edges));
  GraphReader again = GraphReader::from_memory("g.txt", "1 2 3\n");
  std::vector<NamedEdge<NoValue>> named_edges;
  EXPECT_TRUE(again.next(named_edges));
  EXPECT_EQ(named_edges, (std::vector<NamedEdge<NoValue>>{{"1", "2", {}}}));
}

TEST(EdgeList, reads_several_files_as_one) {  // D31
  const TemporaryFolder folder;
  const std::string a = folder.write("a.txt", "1 2\n2 3\n");
  const std::string b = folder.write("b.txt", "3 4\n");
  EXPECT_EQ(load_files({a, b}).edges, plain({{1, 2}, {2, 3}, {3, 4}}));
}

TEST(EdgeList, reads_the_public_files) {
  WEIR_NEED_DATA(data);
  const std::string lists = data + "edge-lists/";
  EXPECT_EQ(error_of([&] { load_files({lists + "ca-GrQc.txt"}); }),
            "input: " + lists + "ca-GrQc.txt:1: found \"https://snap.stanford.edu/data/ca-GrQc.h" +
                "...\"; expected two ids split at blanks (use --header if line 1 is not data)");
  EXPECT_EQ(load_files({lists + "ca-GrQc.txt"}, headed).edges.size(), 28980u);
  EXPECT_EQ(load_files({lists + "as20graph.txt"}).edges.size(), 26467u);
  EXPECT_EQ(load_files({lists + "karate.csv"}, weighted).edges.size(), 156u);
  EXPECT_EQ(load_files({lists + "karate-disjoint.csv"}).edges.size(), 312u);
  EXPECT_EQ(load_files({lists + "karate_s_loop.csv"}).edges.size(), 160u);
  EXPECT_EQ(load_files({lists + "karate_multi_edge.csv"}).edges.size(), 160u);
  EXPECT_EQ(load_files({lists + "karate.edgelist"}).edges.size(), 78u);
  EXPECT_EQ(load_files({lists + "football.edgelist"}).edges.size(), 613u);
  EXPECT_EQ(load_files({lists + "small_sample.txt"}, weighted).edges.size(), 934u);
  EXPECT_EQ(load_files({lists + "negative-vertex-id.csv"}, weighted).edges,
            (Edges{{-2147483648, -1, 0.5}, {-1, -1, 1}, {2147483647, -2147483648, 0.25}}));
  EXPECT_EQ(load_files({lists + "spaceseparated_weighted.edgelist"}, weighted).edges,
            (Edges{{1, 2, 2}, {1, 3, 4}, {2, 3, 3}}));
}

TEST(EdgeList, headers_may_be_skipped_for_names) {
  EXPECT_EQ(load("g.csv", "src,dst\na,b\n", headed_names).named_edges.size(), 1u);
}

}  // namespace
}  // namespace weir::io::test
