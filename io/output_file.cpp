// SPDX-License-Identifier: Apache-2.0
#include <weir/io/output_file.hpp>

#include <weir/engine/model/check.hpp>
#include <weir/io/compression.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

namespace weir::io {
namespace {

constexpr std::size_t buffer_bytes = std::size_t{1} << 17;

[[noreturn]] void fail(const std::string& path, const char* action, const char* reason) {
  throw Error(ErrorCode::output, path + ": " + action + ": " + reason);
}

[[noreturn]] void fail_with_errno(const std::string& path, const char* action) {
  fail(path, action, std::strerror(errno));
}

}  // namespace

struct OutputFile::State {
  std::string path;       ///< As the caller named it.
  std::string target;     ///< The name after commit.
  std::string temporary;  ///< The name before it; empty if the target is written directly.
  int descriptor = -1;
  bool is_borrowed = false;
  std::string buffer;
  Compression compression = Compression::none;
  z_stream zlib{};
  ZSTD_CStream* zstd = nullptr;

  explicit State(std::string name) : path(std::move(name)) { start_compression(); }
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State();

  void start_compression();
  void create();
  void create_temporary(const struct stat* existing);
  void flush(bool is_last);
  void compress_gzip(bool is_last);
  void compress_zstd(bool is_last);
  void write_all(const char* bytes, std::size_t size);
};

OutputFile::State::~State() {
  if (compression == Compression::gzip) deflateEnd(&zlib);
  ZSTD_freeCStream(zstd);
  if (descriptor >= 0 && !is_borrowed) ::close(descriptor);
  if (!temporary.empty()) ::unlink(temporary.c_str());
}

void OutputFile::State::start_compression() {
  compression = compression_by_name(path);
  constexpr int window_and_gzip = 15 + 16;
  constexpr int memory_level = 8;
  if (compression == Compression::gzip &&
      deflateInit2(&zlib, Z_DEFAULT_COMPRESSION, Z_DEFLATED, window_and_gzip, memory_level,
                   Z_DEFAULT_STRATEGY) != Z_OK) {
    compression = Compression::none;
    fail(path, "cannot compress", "zlib does not start");
  }
  if (compression == Compression::zstd) {
    zstd = ZSTD_createCStream();
    if (zstd == nullptr) fail(path, "cannot compress", "zstd does not start");
  }
}

void OutputFile::State::create() {
  struct stat existing {};
  const bool exists = ::stat(path.c_str(), &existing) == 0;
  if (!exists && errno != ENOENT) fail_with_errno(path, "cannot create");
  if (!exists || S_ISREG(existing.st_mode)) {
    create_temporary(exists ? &existing : nullptr);
    return;
  }
  descriptor = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
  if (descriptor < 0) fail_with_errno(path, "cannot open");
}

void OutputFile::State::create_temporary(const struct stat* existing) {
  target = output_target(path);
  const std::string stem = target + ".weir-" + std::to_string(::getpid()) + '-';
  for (int attempt = 0; descriptor < 0; ++attempt) {
    const std::string name = stem + std::to_string(attempt);
    descriptor = ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor >= 0) temporary = name;
    if (descriptor < 0 && errno != EEXIST) fail_with_errno(path, "cannot create");
  }
  if (existing != nullptr) (void)::fchmod(descriptor, existing->st_mode & 07777);
}

void OutputFile::State::write_all(const char* bytes, std::size_t size) {
  while (size > 0) {
    const ssize_t count = ::write(descriptor, bytes, size);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail_with_errno(path, "cannot write");
    bytes += count;
    size -= static_cast<std::size_t>(count);
  }
}

void OutputFile::State::flush(bool is_last) {
  switch (compression) {
    case Compression::none: write_all(buffer.data(), buffer.size()); break;
    case Compression::gzip: compress_gzip(is_last); break;
    case Compression::zstd: compress_zstd(is_last); break;
  }
  buffer.clear();
}

void OutputFile::State::compress_gzip(bool is_last) {
  std::string out(buffer_bytes, '\0');
  std::size_t done = 0;
  int status = Z_OK;
  do {
    const std::size_t given = std::min<std::size_t>(buffer.size() - done, UINT_MAX);
    zlib.next_in = reinterpret_cast<Bytef*>(buffer.data() + done);
    zlib.avail_in = static_cast<uInt>(given);
    zlib.next_out = reinterpret_cast<Bytef*>(out.data());
    zlib.avail_out = static_cast<uInt>(out.size());
    const bool is_end = is_last && done + given == buffer.size();
    status = deflate(&zlib, is_end ? Z_FINISH : Z_NO_FLUSH);
    done += given - zlib.avail_in;
    write_all(out.data(), out.size() - zlib.avail_out);
  } while (done < buffer.size() || (is_last && status != Z_STREAM_END));
}

void OutputFile::State::compress_zstd(bool is_last) {
  std::string out(ZSTD_CStreamOutSize(), '\0');
  ZSTD_inBuffer input{buffer.data(), buffer.size(), 0};
  std::size_t left = 0;
  do {
    ZSTD_outBuffer output{out.data(), out.size(), 0};
    left = ZSTD_compressStream2(zstd, &output, &input, is_last ? ZSTD_e_end : ZSTD_e_continue);
    if (ZSTD_isError(left)) fail(path, "cannot compress", ZSTD_getErrorName(left));
    write_all(out.data(), output.pos);
  } while (input.pos < input.size || (is_last && left > 0));
}

std::string output_target(const std::string& path) {
  constexpr int max_links = 40;  // as many as the kernel follows
  std::filesystem::path target = path;
  std::error_code error;
  for (int i = 0; i < max_links; ++i) {
    const auto next = std::filesystem::read_symlink(target, error);
    if (error) break;  // no link
    target = target.parent_path() / next;
  }
  return target.string();
}

OutputFile::OutputFile(const std::string& path) : state_(std::make_unique<State>(path)) {
  state_->create();
}

OutputFile::OutputFile(int descriptor, std::string name)
    : state_(std::make_unique<State>(std::move(name))) {
  state_->descriptor = descriptor;
  state_->is_borrowed = true;
}

OutputFile::OutputFile(OutputFile&&) noexcept = default;
OutputFile& OutputFile::operator=(OutputFile&&) noexcept = default;
OutputFile::~OutputFile() = default;

void OutputFile::write(std::string_view bytes) {
  state_->buffer.append(bytes);
  if (state_->buffer.size() >= buffer_bytes) state_->flush(false);
}

void OutputFile::commit() {
  State& file = *state_;
  file.flush(true);
  if (file.is_borrowed) return;
  const int closed = ::close(std::exchange(file.descriptor, -1));
  if (closed != 0) fail_with_errno(file.path, "cannot close");
  if (file.temporary.empty()) return;
  if (std::rename(file.temporary.c_str(), file.target.c_str()) != 0) {
    fail_with_errno(file.path, "cannot rename the finished file");
  }
  file.temporary.clear();
}

}  // namespace weir::io
