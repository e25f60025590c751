// SPDX-License-Identifier: Apache-2.0
#include <weir/io/input.hpp>

#include <weir/engine/model/check.hpp>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <utility>

namespace weir::io {
namespace {

[[noreturn]] void fail_with_errno(const std::string& name, const char* action) {
  const int code = errno;
  throw Error(ErrorCode::input, name + ": " + action + ": " + std::strerror(code));
}

/// Closes what it opened; standard input stays open.
struct Descriptor {
  int value;
  ~Descriptor() {
    if (value > STDIN_FILENO) ::close(value);
  }
};

}  // namespace

Input Input::open(const std::string& path, int index, Part part) {
  Input input;
  input.name_ = path;
  input.index_ = index;
  struct stat status {};
  const bool is_stdin = path == "-";
  if (!is_stdin && ::stat(path.c_str(), &status) != 0) fail_with_errno(path, "cannot open");
  WEIR_EXPECT(is_stdin || !S_ISDIR(status.st_mode), input,
              path + ": found a directory; expected a file");
  input.is_pipe_ = is_stdin || !S_ISREG(status.st_mode);
  if (input.is_pipe_ && index % part.count != part.index) {
    input.is_absent_ = true;
    return input;
  }
  const Descriptor file{is_stdin ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  if (file.value < 0) fail_with_errno(path, "cannot open");
  if (input.is_pipe_) {
    input.read_all(file.value);
  } else {
    input.map(file.value, static_cast<std::size_t>(status.st_size));
  }
  input.compression_ = compression_of(input.bytes_, path);
  return input;
}

bool Input::is_pipe(const std::string& path) {
  struct stat status {};
  return path == "-" || (::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode) &&
                         !S_ISDIR(status.st_mode));
}

Input Input::from_memory(std::string name, std::string_view bytes) {
  Input input;
  input.compression_ = compression_of(bytes, name);
  input.name_ = std::move(name);
  input.bytes_ = bytes;
  return input;
}

void Input::read_all(int descriptor) {
  constexpr std::size_t piece_bytes = std::size_t{1} << 20;
  for (std::size_t size = 0;;) {
    owned_.resize(size + piece_bytes);
    const ssize_t count = ::read(descriptor, owned_.data() + size, piece_bytes);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail_with_errno(name_, "cannot read");
    size += static_cast<std::size_t>(count);
    if (count > 0) continue;
    owned_.resize(size);
    bytes_ = owned_;
    return;
  }
}

void Input::map(int descriptor, std::size_t size) {
  if (size == 0) return read_all(descriptor);  // files of /proc have bytes, but no size
  void* const address = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, descriptor, 0);
  if (address == MAP_FAILED && errno == ENODEV) return read_all(descriptor);  // those of /sys
  if (address == MAP_FAILED) fail_with_errno(name_, "cannot map");
  mapped_ = address;
  bytes_ = {static_cast<const char*>(address), size};
}

Input::Input(Input&& other) noexcept { *this = std::move(other); }

Input& Input::operator=(Input&& other) noexcept {
  std::swap(name_, other.name_);
  std::swap(mapped_, other.mapped_);
  std::swap(bytes_, other.bytes_);
  std::swap(index_, other.index_);
  std::swap(compression_, other.compression_);
  std::swap(is_pipe_, other.is_pipe_);
  std::swap(is_absent_, other.is_absent_);
  std::swap(owned_, other.owned_);
  if (!owned_.empty()) bytes_ = owned_;  // short strings move their characters
  if (!other.owned_.empty()) other.bytes_ = other.owned_;
  return *this;
}

Input::~Input() {
  if (mapped_ != nullptr) ::munmap(mapped_, bytes_.size());
}

void Input::forget(const char* begin, const char* end) const {
  if (mapped_ == nullptr || begin >= end) return;
  // Whole pages only; those at the ends may hold what a neighbour is reading.
  const auto page_bytes = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto first = (reinterpret_cast<std::uintptr_t>(begin) + page_bytes - 1) / page_bytes;
  const auto last = reinterpret_cast<std::uintptr_t>(end) / page_bytes;
  if (first >= last) return;
  // Advice: where it is not taken, the pages stay.
  ::madvise(reinterpret_cast<void*>(first * page_bytes), (last - first) * page_bytes,
            MADV_DONTNEED);
}

void Input::fail(const std::string& found, const std::string& expected) const {
  throw Error(ErrorCode::input, name_ + ": found " + found + "; expected " + expected);
}

}  // namespace weir::io
