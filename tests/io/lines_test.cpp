// SPDX-License-Identifier: Apache-2.0
#include <weir/io/lines.hpp>

#include <weir/io/output_file.hpp>

#include <weir/tests/io/loading.hpp>

namespace weir::io::test {
namespace {

std::vector<std::string> lines_of(const Input& input, int num_parts) {
  std::vector<std::string> all;
  for (Part part{0, num_parts}; part.index < num_parts; ++part.index) {
    Lines lines(input, part);
    while (lines.next()) {
      all.push_back(std::to_string(lines.number()) + ':' + std::string(lines.text()));
    }
  }
  return all;
}

TEST(Lines, belong_to_the_part_in_which_they_start) {
  const Input input = Input::from_memory("x", "a\n\nbbbbbbbbbbbbbbbbbb\r\ncc");
  const std::vector<std::string> expected{"1:a", "2:", "3:bbbbbbbbbbbbbbbbbb", "4:cc"};
  for (int num_parts = 1; num_parts < 30; ++num_parts) {
    EXPECT_EQ(lines_of(input, num_parts), expected) << num_parts;
  }
}

TEST(Lines, of_a_packed_file_may_be_longer_than_its_pieces) {
  const TemporaryFolder folder;
  const std::string path = folder / "x.gz";
  const std::string long_line(1'000'000, 'x');
  OutputFile file(path);
  file.write("a\n" + long_line + "\nb\n" + long_line);
  file.commit();
  const Input input = Input::open(path, 0, {});
  const std::vector<std::string> expected{"1:a", "2:" + long_line, "3:b", "4:" + long_line};
  EXPECT_EQ(lines_of(input, 1), expected);
  EXPECT_EQ(lines_of(input, 3), expected);
}

TEST(Columns, split_at_blanks_or_commas) {
  const auto columns_of = [](std::string_view line, Separator separator) {
    std::vector<std::string> all;
    Columns columns(line, separator);
    for (std::string_view column; columns.next(column);) all.emplace_back(column);
    return all;
  };
  using Words = std::vector<std::string>;
  EXPECT_EQ(columns_of("  a \t b ", Separator::blanks), (Words{"a", "b"}));
  EXPECT_EQ(columns_of("a , b,,c,", Separator::comma), (Words{"a", "b", "", "c", ""}));
  EXPECT_EQ(columns_of(" ", Separator::comma), Words{});
}

}  // namespace
}  // namespace weir::io::test
