// SPDX-License-Identifier: Apache-2.0
#include <weir/io/lines.hpp>

#include <weir/engine/model/check.hpp>

#include <algorithm>
#include <cstring>

namespace weir::io {
namespace {

constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";
constexpr std::size_t longest_packed_line_bytes = std::size_t{1} << 30;

const char* find(const char* begin, const char* end, char c) {
  if (begin == end) return nullptr;
  return static_cast<const char*>(std::memchr(begin, c, static_cast<std::size_t>(end - begin)));
}

bool is_blank(char c) { return c == ' ' || c == '\t'; }

}  // namespace

Lines::~Lines() = default;
Lines::Lines(Lines&&) noexcept = default;
Lines& Lines::operator=(Lines&&) noexcept = default;

Lines::Lines(const Input& input, Part part, LineStart body) : input_(&input) {
  if (input.compression() != Compression::none) {
    if (input.index() % part.count != part.index) return;
    packed_ = std::make_unique<Decompressor>(input.name(), input.compression(), input.bytes());
    for (std::uint64_t i = 0; i < body.line && next(); ++i) {
    }
    return;
  }
  const std::string_view bytes = input.bytes();
  const bool is_marked = body.offset == 0 && bytes.starts_with(byte_order_mark);
  const std::uint64_t offset = is_marked ? byte_order_mark.size() : body.offset;
  const std::uint64_t size = bytes.size() - offset;
  const char* const first = bytes.data() + offset;
  cursor_ = first + part.begin_of(size);
  stop_ = first + part.end_of(size);
  end_ = bytes.data() + bytes.size();
  kept_ = cursor_;
  if (cursor_ == first || cursor_[-1] == '\n') return;
  const char* const line_end = find(cursor_, stop_, '\n');
  cursor_ = line_end == nullptr ? stop_ : line_end + 1;
}

bool Lines::next() {
  const char* line_end = nullptr;
  for (;;) {
    if (cursor_ < end_) line_end = find(cursor_, end_, '\n');
    if (line_end != nullptr || packed_ == nullptr || !read_more()) break;
  }
  if (packed_ != nullptr) stop_ = end_;
  if (cursor_ >= stop_) return false;
  const char* const next_line = line_end == nullptr ? end_ : line_end + 1;
  const char* text_end = line_end == nullptr ? end_ : line_end;
  if (text_end > cursor_ && text_end[-1] == '\r') --text_end;
  text_ = {cursor_, static_cast<std::size_t>(text_end - cursor_)};
  cursor_ = next_line;
  ++num_lines_;
  if (find(text_.data(), text_end, '\r') != nullptr) {
    fail("a carriage return inside the line", "lines that end in \\n or \\r\\n");
  }
  return true;
}

void Lines::step_over(const char* to, std::uint64_t num_lines) {
  cursor_ = to;
  num_lines_ += num_lines;
  constexpr std::ptrdiff_t piece_bytes = std::ptrdiff_t{1} << 22;
  if (packed_ != nullptr || cursor_ - kept_ < piece_bytes) return;
  input_->forget(kept_, cursor_);
  kept_ = cursor_;
}

bool Lines::read_more() {
  const auto kept = static_cast<std::size_t>(end_ - cursor_);
  if (kept > longest_packed_line_bytes) fail("a line of over 1 GiB", "shorter lines");
  constexpr std::size_t piece_bytes = std::size_t{1} << 17;
  const bool is_first = buffer_.empty();
  if (!is_first) num_bytes_ += static_cast<std::size_t>(cursor_ - buffer_.data());
  if (kept > 0) std::memmove(buffer_.data(), cursor_, kept);
  buffer_.resize(std::max(buffer_.size(), kept + std::max(kept, piece_bytes)));
  const std::size_t count = packed_->read(buffer_.data() + kept, buffer_.size() - kept);
  cursor_ = buffer_.data();
  end_ = cursor_ + kept + count;
  if (is_first && std::string_view(cursor_, count).starts_with(byte_order_mark)) {
    cursor_ += byte_order_mark.size();
  }
  return count > 0;
}

LineStart Lines::position() const {
  const char* const origin = packed_ ? buffer_.data() : input_->bytes().data();
  const auto in_window = cursor_ == nullptr ? 0 : static_cast<std::uint64_t>(cursor_ - origin);
  return {num_bytes_ + in_window, num_lines_};
}

std::uint64_t Lines::number() const {
  if (packed_ != nullptr) return std::max<std::uint64_t>(num_lines_, 1);
  const std::string_view bytes = input_->bytes();
  const char* const line = text_.data() == nullptr ? bytes.data() : text_.data();
  return 1 + static_cast<std::uint64_t>(std::count(bytes.data(), line, '\n'));
}

void Lines::fail(std::string_view found, std::string_view expected) const {
  std::string text = input_->name() + ':' + std::to_string(number()) + ": found ";
  throw Error(ErrorCode::input, text.append(found).append("; expected ").append(expected));
}

Columns::Columns(std::string_view line, Separator separator)
    : rest_(trimmed(line)), separator_(separator), is_at_end_(rest_.empty()) {}

bool Columns::next(std::string_view& column) {
  if (separator_ == Separator::blanks) {
    column = take_token(rest_);
    return !column.empty();
  }
  if (is_at_end_) {
    column = {};
    return false;
  }
  const std::size_t comma = rest_.find(',');
  column = trimmed(rest_.substr(0, comma));
  is_at_end_ = comma == std::string_view::npos;
  rest_.remove_prefix(is_at_end_ ? rest_.size() : comma + 1);
  return true;
}

std::string_view trimmed(std::string_view line) {
  while (!line.empty() && is_blank(line.front())) line.remove_prefix(1);
  while (!line.empty() && is_blank(line.back())) line.remove_suffix(1);
  return line;
}

std::string_view take_token(std::string_view& line) {
  std::size_t begin = 0;
  while (begin < line.size() && is_blank(line[begin])) ++begin;
  std::size_t end = begin;
  while (end < line.size() && !is_blank(line[end])) ++end;
  const std::string_view token = line.substr(begin, end - begin);
  line.remove_prefix(end);
  return token;
}

}  // namespace weir::io
