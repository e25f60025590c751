// SPDX-License-Identifier: Apache-2.0
#include <weir/io/value_reader.hpp>

#include <limits>

#include <weir/tests/io/loading.hpp>

namespace weir::io::test {
namespace {

using Values = std::vector<std::pair<VertexId, double>>;

Values read(std::string_view text, int num_parts = 1) {
  Values all;
  for (Part part{0, num_parts}; part.index < num_parts; ++part.index) {
    ValueReader reader = ValueReader::from_memory("v.txt", text, part);
    Values batch;
    while (reader.next(batch)) all.insert(all.end(), batch.begin(), batch.end());
  }
  return all;
}

TEST(ValueReader, reads_ids_and_values) {
  const std::string text = "1 3\n\n# x\n2\t-0.5\r\n7 infinity";
  const Values expected{{1, 3}, {2, -0.5}, {7, std::numeric_limits<double>::infinity()}};
  for (const int num_parts : {1, 2, 3, 7}) EXPECT_EQ(read(text, num_parts), expected);
}

TEST(ValueReader, names_the_line_at_fault) {
  EXPECT_EQ(error_of([] { read("1 3\nx 4\n"); }),
            "input: v.txt:2: found \"x\"; expected an integer id");
  EXPECT_EQ(error_of([] { read("1\n"); }), "input: v.txt:1: found no value; expected a number");
  EXPECT_NE(error_of([] { read("1 nan\n"); }), "");
  EXPECT_NE(error_of([] { read("1 2 3\n"); }), "");
  EXPECT_NE(error_of([] { ValueReader("/nowhere"); }), "");
}

}  // namespace
}  // namespace weir::io::test
