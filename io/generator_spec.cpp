// SPDX-License-Identifier: Apache-2.0
#include <weir/io/generator_spec.hpp>

#include <weir/engine/model/check.hpp>
#include <weir/io/number_text.hpp>

#include <charconv>
#include <utility>

namespace weir::io {

GeneratorSpec::GeneratorSpec(std::string_view text) {
  const std::size_t colon = text.find(':');
  WEIR_EXPECT(colon != std::string_view::npos, usage,
              "generator: found " + shown(text) + "; expected KIND:KEY=VALUE,...");
  kind_ = text.substr(0, colon);
  text.remove_prefix(colon + 1);
  while (!text.empty()) {
    const std::string_view item = text.substr(0, text.find(','));
    text.remove_prefix(item.size() < text.size() ? item.size() + 1 : item.size());
    const std::size_t equals = item.find('=');
    const bool has_key = equals != std::string_view::npos;
    const std::string key(has_key ? item.substr(0, equals) : std::string_view{});
    const std::string value(has_key ? item.substr(equals + 1) : item);
    if (has(key)) fail(key, "it twice", "it once");
    values_[key] = value;
  }
}

std::string GeneratorSpec::take_text(const std::string& key) {
  if (!has(key)) {
    const auto nameless = values_.find("");
    if (nameless == values_.end() || key.empty()) fail(key, "nothing", "a value");
    fail("", shown(nameless->second), kind_ + ':' + key + "=VALUE");
  }
  return std::move(values_.extract(key).mapped());
}

std::uint64_t GeneratorSpec::take_count(const std::string& key, std::uint64_t least,
                                        std::uint64_t most,
                                        std::optional<std::uint64_t> otherwise) {
  if (!has(key) && otherwise) return *otherwise;
  const std::string text = take_text(key);
  std::uint64_t count = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (error == std::errc{} && end == text.data() + text.size() && count >= least && count <= most) {
    return count;
  }
  fail(key, shown(text),
       "a whole number from " + std::to_string(least) + " to " + std::to_string(most));
}

double GeneratorSpec::take_real(const std::string& key, double least, double most,
                                double otherwise) {
  if (!has(key)) return otherwise;
  const std::string text = take_text(key);
  const auto value = parse_finite(text);
  if (value && *value >= least && *value <= most) return *value;
  std::string expected = "a number from ";
  append_number(expected, least);
  append_number(expected += " to ", most);
  fail(key, shown(text), expected);
}

void GeneratorSpec::expect_all_taken() const {
  if (values_.empty()) return;
  const auto& [key, value] = *values_.begin();
  fail(key, key.empty() ? shown(value) : "an unknown key", "only keys of this generator");
}

void GeneratorSpec::fail(const std::string& key, const std::string& found,
                         const std::string& expected) const {
  throw Error(ErrorCode::usage, kind_ + (key.empty() ? "" : ':' + key) + ": found " + found +
                                    "; expected " + expected);
}

}  // namespace weir::io
