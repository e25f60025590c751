// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include <weir/io/compression.hpp>

namespace weir::io {

/// One of `count` equal shares of a reading.
struct Part {
  int index = 0;
  int count = 1;

  /// Where this share of `size` things begins; it ends where the next begins.
  std::uint64_t begin_of(std::uint64_t size) const { return at(index, size); }
  std::uint64_t end_of(std::uint64_t size) const { return at(index + 1, size); }

 private:
  std::uint64_t at(int i, std::uint64_t size) const {
    __extension__ using Wide = unsigned __int128;
    return static_cast<std::uint64_t>(Wide{size} * static_cast<unsigned>(i) /
                                      static_cast<unsigned>(count));
  }
};

/// The bytes of one file: mapped if it is regular, read into memory if it cannot be mapped, is a
/// pipe or `-` (standard input), or borrowed from the caller.
class Input {
 public:
  /// Opens a file as number `index` of a reading. A pipe is read by one part only; the others get
  /// an absent input. Throws Error{input}.
  static Input open(const std::string& path, int index, Part part);

  /// True for `-` and for what exists and is no regular file.
  static bool is_pipe(const std::string& path);

  /// The bytes must outlive the input; `name` is for errors and for telling the format.
  static Input from_memory(std::string name, std::string_view bytes);

  Input(Input&& other) noexcept;
  Input& operator=(Input&& other) noexcept;
  ~Input();

  const std::string& name() const { return name_; }

  /// As stored, that is, still compressed.
  std::string_view bytes() const { return bytes_; }
  Compression compression() const { return compression_; }

  /// Number of this file in its reading; part `index % count` reads what cannot be split.
  int index() const { return index_; }
  bool is_pipe() const { return is_pipe_; }

  /// A pipe that another part reads.
  bool is_absent() const { return is_absent_; }

  /// Gives back the memory behind a range of a mapped file. The bytes stay what they are; they are
  /// read from the file again when they are looked at.
  void forget(const char* begin, const char* end) const;

  [[noreturn]] void fail(const std::string& found, const std::string& expected) const;

 private:
  Input() = default;
  void read_all(int descriptor);
  void map(int descriptor, std::size_t size);

  std::string name_;
  std::string_view bytes_;
  std::string owned_;
  void* mapped_ = nullptr;
  int index_ = 0;
  Compression compression_ = Compression::none;
  bool is_pipe_ = false;
  bool is_absent_ = false;
};

}  // namespace weir::io
