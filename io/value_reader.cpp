// SPDX-License-Identifier: Apache-2.0
#include <weir/io/value_reader.hpp>

#include <weir/io/formats.hpp>
#include <weir/io/lines.hpp>
#include <weir/io/number_text.hpp>

namespace weir::io {

ValueReader::ValueReader(const std::string& path, Part part)
    : ValueReader(std::make_unique<Input>(Input::open(path, 0, part)), part) {}

ValueReader ValueReader::from_memory(std::string name, std::string_view bytes, Part part) {
  return {std::make_unique<Input>(Input::from_memory(std::move(name), bytes)), part};
}

ValueReader::ValueReader(std::unique_ptr<Input> input, Part part) : input_(std::move(input)) {
  expect_text(*input_);
  if (input_->is_pipe()) part = {};  // whole, or absent and so empty
  lines_ = std::make_unique<Lines>(*input_, part);
}

ValueReader::ValueReader(ValueReader&&) noexcept = default;
ValueReader& ValueReader::operator=(ValueReader&&) noexcept = default;
ValueReader::~ValueReader() = default;

bool ValueReader::next(std::vector<std::pair<VertexId, double>>& batch) {
  batch.clear();
  while (batch.size() < batch_records && lines_->next()) {
    std::string_view rest = lines_->text();
    const std::string_view id_text = take_token(rest);
    if (id_text.empty() || id_text.front() == '#' || id_text.front() == '%') continue;
    const auto id = parse_integer(id_text);
    if (!id) lines_->fail(shown(id_text), "an integer id");
    const std::string_view value_text = take_token(rest);
    const auto value = parse_value(value_text);
    if (!value) lines_->fail(value_text.empty() ? "no value" : shown(value_text), "a number");
    if (const auto extra = take_token(rest); !extra.empty()) {
      lines_->fail(shown(extra), "an id and a value only");
    }
    batch.emplace_back(*id, *value);
  }
  return !batch.empty();
}

}  // namespace weir::io
