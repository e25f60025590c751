// SPDX-License-Identifier: Apache-2.0
#include <weir/engine/training/text_table.hpp>

#include <charconv>
#include <cmath>
#include <fstream>
#include <string_view>

#include <weir/engine/model/check.hpp>

namespace weir::training {

namespace {

std::vector<double> numbers_of(std::string_view line, const std::string& where) {
  std::vector<double> numbers;
  while (true) {
    const std::size_t comma = line.find(',');
    const std::string_view cell = line.substr(0, comma);
    double number = 0;
    const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), number);
    WEIR_EXPECT(error == std::errc() && end == cell.data() + cell.size() && std::isfinite(number),
                input, where + "found '" + std::string(cell) + "'; expected a number");
    numbers.push_back(number);
    if (comma == std::string_view::npos) return numbers;
    line.remove_prefix(comma + 1);
  }
}

}  // namespace

NumberTable read_number_table(const std::string& path, std::size_t num_columns) {
  std::ifstream file(path);
  WEIR_EXPECT(file.good(), input, path + ": cannot be opened");
  NumberTable table{path, {}, {}};
  std::string line;
  for (std::size_t number = 1; std::getline(file, line); ++number) {
    if (line.ends_with('\r')) line.pop_back();
    if (number == 1 || line.empty()) continue;
    const std::string where = path + ":" + std::to_string(number) + ": ";
    std::vector<double> row = numbers_of(line, where);
    WEIR_EXPECT(row.size() == num_columns, input,
                where + "found " + std::to_string(row.size()) + " columns; expected " +
                    std::to_string(num_columns));
    table.rows.push_back(std::move(row));
    table.lines.push_back(number);
  }
  return table;
}

}  // namespace weir::training
