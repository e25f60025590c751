// SPDX-License-Identifier: Apache-2.0
#include <weir/cli/standard_output.hpp>

#include <cerrno>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

#include <weir/engine/model/check.hpp>
#include <weir/io/output_file.hpp>

namespace weir::cli {

namespace {

constexpr const char* shown_name = "standard output";

}  // namespace

void print(std::string_view text) {
  io::OutputFile out(STDOUT_FILENO, shown_name);
  out.write(text);
  out.commit();
}

bool is_standard_output(std::string_view path) {
  return path == "-" || path == "/dev/stdout" || path == "/dev/fd/1" || path == "/proc/self/fd/1";
}

StandardOutputPath::StandardOutputPath() {
  int ends[2] = {-1, -1};
  WEIR_EXPECT(::pipe2(ends, O_CLOEXEC) == 0, output, "standard output: no pipe can be made");
  read_end_ = ends[0];
  write_end_ = ends[1];
  copier_ = std::thread([this] { copy(); });
}

StandardOutputPath::~StandardOutputPath() { join(); }

void StandardOutputPath::copy() noexcept {
  try {
    io::OutputFile out(STDOUT_FILENO, shown_name);
    std::string buffer(std::size_t{1} << 16, '\0');
    for (;;) {
      const ssize_t count = ::read(read_end_, buffer.data(), buffer.size());
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) break;
      out.write(std::string_view(buffer).substr(0, static_cast<std::size_t>(count)));
    }
    out.commit();
  } catch (...) {
    failure_ = std::current_exception();
  }
  ::close(std::exchange(read_end_, -1));  // a writer that goes on gets an error
}

void StandardOutputPath::join() {
  if (write_end_ >= 0) ::close(std::exchange(write_end_, -1));
  if (copier_.joinable()) copier_.join();
}

void StandardOutputPath::finish() {
  join();
  if (failure_) std::rethrow_exception(failure_);
}

}  // namespace weir::cli
