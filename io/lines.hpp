// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include <weir/io/input.hpp>

namespace weir::io {

/// A place between two lines of a file.
struct LineStart {
  std::uint64_t offset = 0;  ///< In bytes; of the unpacked text.
  std::uint64_t line = 0;    ///< Lines before it.
};

/// Walks the lines of one part of a text file, plain or compressed.
///
/// A line belongs to the part in which it starts, so no line is cut and none is read twice; a
/// compressed file is read whole by one part. Lines end in \n or \r\n; a lone \r is an error, the
/// last line needs no end, and a byte-order mark before the first is skipped.
class Lines {
 public:
  /// The lines of `part` that start at or after `body`; the input must outlive this.
  explicit Lines(const Input& input, Part part = {}, LineStart body = {});
  ~Lines();
  Lines(Lines&&) noexcept;
  Lines& operator=(Lines&&) noexcept;

  /// Steps to the next line; false at the end.
  bool next();

  /// The text ahead, as far as it is at hand: its first line starts at `begin`, lines that start
  /// at `stop` or later are not this part's, and it may end inside a line.
  struct Ahead {
    const char* begin;
    const char* stop;
    const char* end;
  };
  Ahead ahead() const { return {cursor_, packed_ ? end_ : stop_, end_}; }

  /// Goes on where a line of the text ahead starts, `num_lines` lines further.
  void step_over(const char* to, std::uint64_t num_lines);

  /// The line without its end; valid until the next step.
  std::string_view text() const { return text_; }

  /// Where the following line starts; of a walk that began at the top of the file.
  LineStart position() const;

  /// Number of the line in its file, from 1.
  std::uint64_t number() const;

  /// Throws Error{input} with the text `FILE:LINE: found ...; expected ...`.
  [[noreturn]] void fail(std::string_view found, std::string_view expected) const;

 private:
  bool read_more();

  const Input* input_;
  const char* cursor_ = nullptr;  ///< Start of the next line.
  const char* stop_ = nullptr;    ///< Lines that start here or later are not this part's.
  const char* end_ = nullptr;     ///< End of the text at hand.
  const char* kept_ = nullptr;    ///< The part's text before it is no longer held in memory.
  std::string_view text_;
  std::uint64_t num_lines_ = 0;  ///< Lines stepped over.
  std::uint64_t num_bytes_ = 0;  ///< Unpacked bytes before the buffer.
  std::unique_ptr<Decompressor> packed_;
  std::string buffer_;
};

/// How the columns of a line are told apart.
enum class Separator { blanks, comma };

/// Cuts the columns of a line off its front: at runs of blanks and tabs, or at single commas, with
/// blanks around a column ignored.
class Columns {
 public:
  Columns() = default;
  Columns(std::string_view line, Separator separator);

  /// Steps to the next column; false at the end of the line. Between commas a column may be empty.
  bool next(std::string_view& column);

 private:
  std::string_view rest_;
  Separator separator_ = Separator::blanks;
  bool is_at_end_ = true;
};

/// The line without blanks and tabs at either end.
std::string_view trimmed(std::string_view line);

/// Cuts the first run of characters that are neither blank nor tab off the front of a line.
std::string_view take_token(std::string_view& line);

}  // namespace weir::io
