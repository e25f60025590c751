// SPDX-License-Identifier: Apache-2.0
#include <weir/io/graph_reader.hpp>

#include <sys/stat.h>

#include <thread>

#include <weir/io/output_file.hpp>

#include <weir/tests/io/loading.hpp>

namespace weir::io::test {
namespace {

std::string packed(const TemporaryFolder& folder, const std::string& name, std::string_view text) {
  OutputFile file(folder / name);
  file.write(text);
  file.commit();
  return folder / name;
}

TEST(GraphReader, reads_compressed_files_like_plain_ones) {  // D11
  const TemporaryFolder folder;
  std::string text;
  for (int i = 0; i < 100'000; ++i) text += std::to_string(i) + ' ' + std::to_string(i + 1) + '\n';
  const Edges edges = load("g.txt", text).edges;
  EXPECT_EQ(edges.size(), 100'000u);
  EXPECT_EQ(load_files({packed(folder, "g.txt.gz", text)}).edges, edges);
  EXPECT_EQ(load_files({packed(folder, "g.txt.zst", text)}).edges, edges);
  std::filesystem::rename(folder / "g.txt.gz", folder / "g.txt");  // told by content, not by name
  EXPECT_EQ(load_files({folder / "g.txt"}).edges, edges);
  EXPECT_EQ(load_files({packed(folder, "g.el.gz", "0 1\n5 2\n")}).vertices.size(), 6u);
  EXPECT_EQ(load_files({packed(folder, "g.metis.gz", "3 2\n2\n1 3\n2\n")}).edges,
            plain({{1, 2}, {2, 3}}));
  const std::string twice = contents_of(packed(folder, "a.txt.gz", "1 2\n"));
  EXPECT_EQ(load("g.txt.gz", twice + twice).edges, plain({{1, 2}, {1, 2}}));
}

TEST(GraphReader, refuses_damaged_and_unknown_compression) {
  const TemporaryFolder folder;
  for (const char* name : {"g.txt.gz", "g.txt.zst"}) {
    const std::string bytes = contents_of(packed(folder, name, "1 2\n2 3\n3 4\n"));
    for (std::size_t size = 5; size < bytes.size(); ++size) {
      EXPECT_NE(error_in(name, bytes.substr(0, size)), "") << name << size;
    }
  }
  EXPECT_EQ(error_in("g.txt", "BZh91AY&SYxxxx"),
            "input: g.txt: compressed input of kind bz2 is not supported");
  EXPECT_EQ(error_in("g.txt", "BZh"),
            "input: g.txt:1: found \"BZh\"; expected two ids split at blanks (use --header if line "
            "1 is not data)");
  EXPECT_EQ(error_in("g.txt", std::string_view("\xfd"
                                               "7zXZ\0xx",
                                               8)),
            "input: g.txt: compressed input of kind xz is not supported");
}

TEST(GraphReader, reads_the_public_compressed_files) {
  WEIR_NEED_DATA(data);
  EXPECT_EQ(
      error_of([&] { GraphReader({data + "mapreduce/read3.bz2"}); }),
      "input: " + data + "mapreduce/read3.bz2: compressed input of kind bz2 is not supported");
  EXPECT_NE(error_of([&] { load_files({data + "mapreduce/read1.gz"}); }), "");  // one column
}

TEST(GraphReader, names_a_file_that_it_cannot_open) {
  EXPECT_EQ(error_of([] { GraphReader({"/nowhere/g.txt"}); }),
            "input: /nowhere/g.txt: cannot open: No such file or directory");
  EXPECT_EQ(error_of([] { GraphReader({"/"}); }), "input: /: found a directory; expected a file");
  EXPECT_NE(error_of([] { GraphReader(std::vector<std::string>{}); }), "");
}

TEST(GraphReader, takes_one_file_of_the_formats_with_a_header) {
  const TemporaryFolder folder;
  const std::string a = folder.write("a.metis", "1 0\n\n");
  const std::string b = folder.write("b.metis", "1 0\n\n");
  EXPECT_EQ(error_of([&] {
              GraphReader({a, b});
            }),
            "input: " + b + ": found a second file; expected one file of this format");
}

TEST(GraphReader, reads_a_pipe_in_part_0_alone) {
  const TemporaryFolder folder;
  const std::string pipe = folder / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  std::thread writer([&] { std::ofstream(pipe) << "1 2\n2 3\n"; });
  GraphReader first({pipe}, {}, {0, 2});
  writer.join();
  GraphReader second({pipe}, {}, {1, 2});
  Edges edges;
  drain(first, edges);
  drain(second, edges);
  EXPECT_EQ(edges, plain({{1, 2}, {2, 3}}));
  const std::string text = folder.write("g.txt", "1 2\n");
  EXPECT_NE(error_of([&] { GraphReader({text, pipe}, {}, {1, 3}); }), "");
}

// The kernel says that they have 0 bytes, or 4096.
TEST(GraphReader, reads_files_whose_size_says_nothing) {
  for (const char* path :
       {"/proc/sys/kernel/ostype", "/sys/kernel/mm/transparent_hugepage/enabled"}) {
    if (!std::filesystem::exists(path)) continue;
    const std::string error = error_of([&] { load_files({path}, {.format = Format::csv}); });
    EXPECT_NE(error.find(std::string(path) + ":1: found"), std::string::npos) << error;
  }
  const TemporaryFolder folder;
  EXPECT_TRUE(load_files({folder.write("g.txt", "")}).edges.empty());
}

TEST(GraphReader, knows_the_names_of_the_formats) {
  EXPECT_EQ(format_named("mtx"), Format::matrix_market);
  EXPECT_EQ(format_named("auto"), Format::automatic);
  EXPECT_FALSE(format_named("MTX").has_value());
  for (const Format format : {Format::edges, Format::csv, Format::graphalytics, Format::metis,
                              Format::dimacs, Format::gap, Format::adjacency, Format::weir}) {
    EXPECT_EQ(format_named(name_of(format)), format);
  }
  EXPECT_TRUE(holds_vertices(Format::weir));
  EXPECT_FALSE(holds_vertices(Format::csv));
}

TEST(GraphReader, counts_in_64_bits) {  // D70
  Tally tally;
  tally.num_entries = 3'738'733'648;
  tally += tally;
  EXPECT_EQ(tally.num_entries, 7'477'467'296u);
}

TEST(GraphReader, obeys_the_format_that_it_is_told) {
  EXPECT_EQ(load("noname", "3 2\n2\n1 3\n2\n", {.format = Format::metis}).vertices.size(), 3u);
  EXPECT_EQ(load("g.graph", "3 2\n", {.format = Format::edges}).edges, plain({{3, 2}}));
  EXPECT_NE(error_in("g.txt", "1 2\n", {.format = Format::weir}), "");
  EXPECT_NE(error_in("g.txt", "1 2\n", {.format = Format::dimacs}), "");
  EXPECT_NE(error_in("g.txt", "1 2\n", {.format = Format::matrix_market}), "");
}

}  // namespace
}  // namespace weir::io::test
