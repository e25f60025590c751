// SPDX-License-Identifier: Apache-2.0
#include <weir/io/plain_edges.hpp>

#include <random>

#include <weir/tests/io/loading.hpp>

namespace weir::io::test {
namespace {

/// The same lines with a blank before each, which no plain line has, so that all are read with
/// care.
std::string with_blanks(const std::string& text) {
  std::string blanked;
  bool is_line_start = true;
  for (const char c : text) {
    if (is_line_start && c != '\n') blanked += ' ';
    blanked += c;
    is_line_start = c == '\n';
  }
  return blanked;
}

class Lottery {
 public:
  explicit Lottery(unsigned seed) : random_(seed) {}

  std::size_t below(std::size_t bound) { return random_() % bound; }
  std::string pick(std::initializer_list<const char*> words) {
    return words.begin()[below(words.size())];
  }
  std::string digits(std::size_t most) {
    std::string text;
    for (std::size_t n = 1 + below(most); text.size() < n;)
      text += static_cast<char>('0' + below(10));
    return text;
  }
  std::string id(bool may_fail) {
    if (below(20) != 0) return digits(below(4) == 0 ? 18 : 7);
    if (may_fail && below(4) == 0)
      return pick({"x", "1.0", "--1", "9223372036854775808", "1e3", "12345678901234567890123"});
    return pick({"-1", "+7", "000000000000000000000000042", "9223372036854775807", "12345678",
                 "123456789012345", "1234567890123456", "-9223372036854775808"});
  }
  std::string value(bool may_fail) {
    if (below(3) != 0) return digits(4);
    if (may_fail && below(8) == 0) return pick({"nan", "inf", "1e999", "x", "1.5.2", "0x1", "1:"});
    return pick({"0.5", "-2", "+3.25", "1e-3", "123456789012345678", ".5", "5.", "0.1", "1E+2",
                 "12345678.12345678", "999999999999999", "-0", "4.9e-324"});
  }
  std::string line(char separator, bool is_weighted, bool may_fail) {
    const std::string between =
        separator == ',' ? pick({",", ",", ",", ", ", " ,"}) : pick({" ", " ", "\t", "  ", " \t"});
    if (below(30) == 0) return pick({"", "# 1 2", "%", "// 3", "   "}) + "\n";
    std::string text = id(may_fail) + between + id(may_fail);
    if (is_weighted || below(3) == 0) text += between + value(may_fail);
    if (below(30) == 0) text += between + digits(3);
    if (may_fail && below(200) == 0) text += pick({"\r", "\r3", " 1 2 3 4", "x"});
    if (below(30) == 0) text += ' ';
    return text + (below(5) == 0 ? "\r\n" : "\n");
  }

 private:
  std::mt19937 random_;
};

void expect_alike(const std::string& name, const std::string& text,
                  const GraphFileOptions& options) {
  const auto read = [&](const std::string& bytes, Loaded& loaded) {
    return error_of([&] {
      loaded = load_parts(
          [&](Part part) { return GraphReader::from_memory(name, bytes, options, part); }, 1,
          false);
    });
  };
  Loaded plain, careful;
  EXPECT_EQ(read(text, plain), read(with_blanks(text), careful)) << text;
  EXPECT_EQ(plain.edges, careful.edges) << text;
  EXPECT_EQ(plain.vertices, careful.vertices);
}

TEST(PlainEdges, are_what_careful_reading_gives) {
  for (unsigned seed = 0; seed < 300; ++seed) {
    Lottery lottery(seed);
    const bool is_weighted = seed % 2 == 0;
    const bool may_fail = seed % 3 == 0;
    const bool is_csv = seed % 5 == 0;
    GraphFileOptions options{.format = is_csv ? Format::csv : Format::edges,
                             .weighted = is_weighted};
    if (seed % 7 == 0) options.num_vertices = 10'000'000;
    std::string text;
    for (int i = 0; i < 300; ++i) text += lottery.line(is_csv ? ',' : ' ', is_weighted, may_fail);
    if (seed % 11 == 0) text.pop_back();
    expect_alike("g.txt", text, options);
    if (!may_fail && seed % 7 != 0) load("g.txt", text, options);  // in parts
    options.format = Format::gap;
    options.num_vertices = {};
    expect_alike("g.el", text, options);
  }
}

TEST(PlainEdges, lines_of_every_length_end_anywhere_in_the_text) {
  for (std::size_t length = 1; length <= 19; ++length) {
    const std::string id(length, '1');
    for (std::size_t num_lines = 1; num_lines < 12; ++num_lines) {
      std::string text;
      for (std::size_t i = 0; i < num_lines; ++i) text += id + ' ' + id + '\n';
      const VertexId value = std::stoll(id);
      EXPECT_EQ(load("g.txt", text).edges, Edges(num_lines, {value, value, 1}));
      text.pop_back();
      EXPECT_EQ(load("g.txt", text).edges, Edges(num_lines, {value, value, 1}));
    }
  }
}

TEST(PlainEdges, numbers_of_lines_and_ids_out_of_range_are_told) {
  std::string text;
  for (int i = 0; i < 10'000; ++i) text += "1 2\n";
  const std::string rest(200, '\n');
  EXPECT_EQ(error_in("g.txt", text + "3 x\n" + rest),
            "input: g.txt:10001: found \"x\"; expected an integer id (use --ids string for names)");
  EXPECT_EQ(error_in("g.txt", text + "3 7\n" + rest, {.num_vertices = 7}),
            "input: g.txt:10001: found id 7; expected an id in [0,7)");
  EXPECT_EQ(error_in("g.el", text + "2147483648 7\n" + rest),
            "input: g.el:10001: found id 2147483648; expected ids from 0 to 2147483647, the range "
            "of this format");
  EXPECT_EQ(error_in("g.txt", "1 0\n" + rest, {.num_vertices = 0}),
            "input: g.txt:1: found id 1; expected an id in [0,0)");
}

TEST(PlainEdges, large_files_give_their_pages_back_and_are_read_all_the_same) {
  const TemporaryFolder folder;
  std::string text;
  for (int i = 0; text.size() < (std::size_t{10} << 20); ++i) text += std::to_string(i) + " 7\n";
  text += "8 x\n";
  const auto num_lines = static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
  const std::string path = folder.write("g.txt", text);
  EXPECT_EQ(error_of([&] {
              load_parts([&](Part part) { return GraphReader({path}, {}, part); }, 1, false);
            }),
            "input: " + path + ":" + std::to_string(num_lines) +
                ": found \"x\"; expected an integer id (use --ids string for names)");
}

}  // namespace
}  // namespace weir::io::test
