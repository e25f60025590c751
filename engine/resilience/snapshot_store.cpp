// SPDX-License-Identifier: Apache-2.0
#include <weir/engine/resilience/snapshot_store.hpp>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>
#include <xxhash.h>
#include <zstd.h>

#include <weir/engine/model/check.hpp>

namespace weir {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view magic = "weirsnp2";
constexpr std::string_view manifest_name = "manifest";
constexpr std::string_view run_prefix = "run-";
constexpr std::string_view temporary_ending = ".part";
constexpr std::uint64_t longest_manifest = std::uint64_t{1} << 26;

/// Numbers are those of the machine; the manifest and the files have to agree on them.
constexpr std::uint64_t byte_order = 0x0102030405060708;

struct FileHeader {
  char magic[8];
  std::uint64_t byte_order;
  std::uint64_t job;
  std::uint64_t file;
};
static_assert(sizeof(SnapshotPlace) == 8 * sizeof(std::uint64_t), "written as it is");

/// Snapshots back to which a record is not written again; a manifest can name 64.
constexpr std::uint64_t most_snapshots_back = 16;

std::string hexadecimal(std::uint64_t number) {
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(number));
  return text;
}

fs::path folder_of_job(const std::string& directory, std::uint64_t job) {
  return fs::path(directory) / ("job-" + hexadecimal(job));
}

[[noreturn]] void fail_to_write(const std::string& path, const char* action) {
  throw Error(ErrorCode::output, path + ": " + action + ": " + std::strerror(errno));
}
[[noreturn]] void refuse(const std::string& path, const std::string& text) {
  throw Error(ErrorCode::input, path + ": " + text);
}

/// An open file, closed at the end.
class Descriptor {
 public:
  Descriptor(const std::string& path, int flags) : number_(::open(path.c_str(), flags, 0666)) {}
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  bool is_open() const { return number_ >= 0; }
  int number() const { return number_; }

 private:
  int number_;
};

void sync_folder(const std::string& path) {
  const Descriptor folder(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (!folder.is_open() || ::fsync(folder.number()) != 0) fail_to_write(path, "cannot sync");
}

/// Writes a file under a temporary name, then gives it its own.
class NewFile {
 public:
  explicit NewFile(std::string path)
      : path_(std::move(path)),
        temporary_(path_ + std::string(temporary_ending)),
        file_(temporary_, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC) {
    if (!file_.is_open()) fail_to_write(path_, "cannot create");
  }
  ~NewFile() {
    if (!is_kept_) ::unlink(temporary_.c_str());
  }
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  void write(std::span<const std::byte> bytes) {
    // Pieces that many writers can share the disk by.
    constexpr std::size_t piece = std::size_t{1} << 22;
    while (!bytes.empty()) {
      const ssize_t count =
          ::write(file_.number(), bytes.data(), std::min<std::size_t>(bytes.size(), piece));
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) fail_to_write(path_, "cannot write");
      bytes = bytes.subspan(static_cast<std::size_t>(count));
    }
  }
  void keep() {
    if (::fsync(file_.number()) != 0) fail_to_write(path_, "cannot sync");
    if (std::rename(temporary_.c_str(), path_.c_str()) != 0) fail_to_write(path_, "cannot rename");
    is_kept_ = true;
    sync_folder(fs::path(path_).parent_path().string());
  }

 private:
  std::string path_;
  std::string temporary_;
  Descriptor file_;
  bool is_kept_ = false;
};

/// Compresses records where that pays.
class Compressor {
 public:
  /// What to store of the record: itself, or fewer bytes, which the next call overwrites.
  std::span<const std::byte> shorten(std::span<const std::byte> record) {
    // Records of one program are alike: after one that did not shrink most are not tried.
    constexpr std::uint64_t tries_every = 16;
    if (record.empty() || (!has_paid_ && ++num_passed_ % tries_every != 1)) return record;
    buffer_.resize(ZSTD_compressBound(record.size()) + skipped_header);
    const std::size_t size = ZSTD_compressCCtx(context_.get(), buffer_.data(), buffer_.size(),
                                               record.data(), record.size(), level);
    has_paid_ = ZSTD_isError(size) == 0 && size < record.size() - record.size() / 8;
    if (!has_paid_) return record;
    return pad(size, record.size() / SnapshotStore::most_expansion + 1);
  }

 private:
  static constexpr int level = 1;
  static constexpr std::size_t skipped_header = 8;

  /// Zeros in a frame that decompression skips, so that a reader may bound what it allocates.
  std::span<const std::byte> pad(std::size_t size, std::size_t least) {
    if (size >= least) return std::span(buffer_).first(size);
    const std::size_t num_zeros = least - std::min(least, size + skipped_header);
    const std::uint32_t words[] = {ZSTD_MAGIC_SKIPPABLE_START,
                                   static_cast<std::uint32_t>(num_zeros)};
    buffer_.resize(size + skipped_header + num_zeros);
    std::memcpy(buffer_.data() + size, words, sizeof words);
    std::fill(buffer_.end() - static_cast<std::ptrdiff_t>(num_zeros), buffer_.end(), std::byte{0});
    return buffer_;
  }

  std::unique_ptr<ZSTD_CCtx, decltype(&ZSTD_freeCCtx)> context_{ZSTD_createCCtx(), &ZSTD_freeCCtx};
  Bytes buffer_;
  bool has_paid_ = false;
  std::uint64_t num_passed_ = 0;
};

void read_at(const Descriptor& file, const std::string& path, std::uint64_t offset,
             std::span<std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t count =
        ::pread(file.number(), bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) refuse(path, std::string("cannot be read: ") + std::strerror(errno));
    if (count == 0) refuse(path, "is shorter than it was");
    offset += static_cast<std::uint64_t>(count);
    bytes = bytes.subspan(static_cast<std::size_t>(count));
  }
}

std::uint64_t size_of(const Descriptor& file, const std::string& path) {
  if (!file.is_open()) refuse(path, std::string("cannot be read: ") + std::strerror(errno));
  struct stat status {};
  if (::fstat(file.number(), &status) != 0 || !S_ISREG(status.st_mode))
    refuse(path, "is no regular file");
  return static_cast<std::uint64_t>(status.st_size);
}

/// `KEY VALUE` lines, front to back.
class Lines {
 public:
  Lines(std::string_view text, const std::string& path) : rest_(text), path_(path) {}

  std::string_view text(std::string_view key) {
    const std::size_t end = rest_.find('\n');
    if (end == std::string_view::npos || !rest_.starts_with(key) || rest_.size() <= key.size() ||
        rest_[key.size()] != ' ')
      refuse(path_, "found no line '" + std::string(key) + "' where one is due");
    const std::string_view value = rest_.substr(key.size() + 1, end - key.size() - 1);
    rest_.remove_prefix(end + 1);
    return value;
  }
  std::vector<std::uint64_t> numbers(std::string_view key, std::size_t count, int radix = 10) {
    std::string_view words = text(key);
    std::vector<std::uint64_t> values;
    for (std::size_t i = 0; i < count; ++i) {
      const std::string_view word = words.substr(0, words.find(' '));
      std::uint64_t value = 0;
      const auto [end, error] =
          std::from_chars(word.data(), word.data() + word.size(), value, radix);
      if (word.empty() || error != std::errc{} || end != word.data() + word.size())
        refuse(path_, "found no number in line '" + std::string(key) + "'");
      values.push_back(value);
      words.remove_prefix(std::min(words.size(), word.size() + 1));
    }
    if (!words.empty()) refuse(path_, "found more than is due in line '" + std::string(key) + "'");
    return values;
  }
  std::uint64_t number(std::string_view key) { return numbers(key, 1).front(); }
  std::uint64_t hash(std::string_view key) { return numbers(key, 1, 16).front(); }
  bool is_at_end() const { return rest_.empty(); }

 private:
  std::string_view rest_;
  const std::string& path_;
};

std::string text_of(const SnapshotManifest& manifest) {
  std::string name = manifest.name;
  for (char& c : name) {
    if (c == '\n') c = ' ';
  }
  std::string text = "weir-snapshot 2\n";
  const auto add = [&](const char* key, const std::string& value) {
    text.append(key).append(" ").append(value).append("\n");
  };
  add("job", hexadecimal(manifest.job));
  add("program", hexadecimal(manifest.program));
  add("graph", hexadecimal(manifest.graph));
  add("name", name);
  add("superstep", std::to_string(manifest.superstep));
  add("shards", std::to_string(manifest.num_shards));
  add("files", std::to_string(manifest.files.size()));
  for (const SnapshotFile& file : manifest.files) {
    add("file", std::to_string(file.num_bytes) + ' ' + std::to_string(file.num_records) + ' ' +
                    std::to_string(file.hash_of_table) + ' ' + std::to_string(file.needs));
  }
  add("end", hexadecimal(hash_bytes(std::as_bytes(std::span(text)))));
  return text;
}

}  // namespace

std::uint64_t hash_bytes(std::span<const std::byte> bytes, std::uint64_t seed) {
  return XXH3_64bits_withSeed(bytes.data(), bytes.size(), seed);
}

std::uint64_t hash_of_job(const std::string& job) {
  return hash_bytes(std::as_bytes(std::span(job)));
}

SnapshotStore::SnapshotStore(const std::string& directory, std::uint64_t job, std::uint64_t program,
                             std::function<void(SnapshotPoint)> observe)
    : folder_((folder_of_job(directory, job) / (std::string(run_prefix) + hexadecimal(program)))
                  .string()),
      job_(job),
      program_(program),
      observe_(std::move(observe)) {}

void SnapshotStore::observe(SnapshotPoint point) const {
  if (observe_) observe_(point);
}

void SnapshotStore::create() const {
  std::error_code error;
  fs::create_directories(folder_, error);
  if (error) throw Error(ErrorCode::output, folder_ + ": cannot create: " + error.message());
}

bool SnapshotStore::exists() const {
  std::error_code error;
  return fs::is_directory(folder_, error);
}

std::string SnapshotStore::path_of(std::uint64_t number) const {
  char text[24];
  std::snprintf(text, sizeof text, "%08llu", static_cast<unsigned long long>(number));
  return (fs::path(folder_) / text).string();
}
std::string SnapshotStore::path_of_file(std::uint64_t number, std::size_t file) const {
  return (fs::path(path_of(number)) / ("rank-" + std::to_string(file))).string();
}
std::string SnapshotStore::path_of_manifest(std::uint64_t number) const {
  return (fs::path(path_of(number)) / manifest_name).string();
}

std::vector<std::uint64_t> SnapshotStore::numbers() const {
  std::vector<std::uint64_t> found;
  std::error_code error;
  for (fs::directory_iterator at(folder_, error), end; !error && at != end; at.increment(error)) {
    const std::string name = at->path().filename().string();
    std::uint64_t number = 0;
    const auto [rest, fault] = std::from_chars(name.data(), name.data() + name.size(), number);
    if (fault == std::errc{} && rest == name.data() + name.size()) found.push_back(number);
  }
  std::sort(found.rbegin(), found.rend());
  return found;
}

std::vector<std::uint64_t> SnapshotStore::complete() const {
  std::vector<std::uint64_t> found = numbers();
  std::erase_if(found, [&](std::uint64_t number) {
    std::error_code error;
    return !fs::exists(path_of_manifest(number), error);
  });
  return found;
}

std::uint64_t SnapshotStore::next_number() const {
  const std::vector<std::uint64_t> found = numbers();
  return found.empty() ? 1 : found.front() + 1;
}

WrittenSnapshotFile SnapshotStore::write_file(std::uint64_t number, std::size_t file,
                                              std::span<const SnapshotRecord> records,
                                              std::span<const SnapshotPlace> before) const {
  std::error_code error;
  fs::create_directories(path_of(number), error);
  if (error) {
    throw Error(ErrorCode::output, path_of(number) + ": cannot create: " + error.message());
  }
  FileHeader header{{}, byte_order, job_, file};
  std::memcpy(header.magic, magic.data(), magic.size());
  Bytes checked;  // header and table, which the manifest vouches for
  append_plain(checked, header);
  NewFile out(path_of_file(number, file));
  out.write(checked);
  Compressor compressor;
  WrittenSnapshotFile written;
  std::uint64_t offset = sizeof(FileHeader);
  for (std::size_t i = 0; i < records.size(); ++i) {
    const SnapshotRecord& record = records[i];
    if (i == records.size() / 2) observe(SnapshotPoint::file);
    SnapshotPlace place{.key = record.key,
                        .snapshot = number,
                        .file = file,
                        .offset = offset,
                        .full_bytes = record.bytes.size(),
                        .full_hash = hash_bytes(record.bytes)};
    const SnapshotPlace* const old = i < before.size() ? &before[i] : nullptr;
    if (old != nullptr && old->key == record.key && old->full_bytes == place.full_bytes &&
        old->full_hash == place.full_hash && number - old->snapshot <= most_snapshots_back) {
      place = *old;
      written.file.needs |= std::uint64_t{1} << (number - old->snapshot);
    } else {
      const auto stored = compressor.shorten(record.bytes);
      place.num_bytes = stored.size();
      place.hash = hash_bytes(stored);
      out.write(stored);
      offset += stored.size();
    }
    append_plain(checked, place);
    written.places.push_back(place);
  }
  out.write(std::span(checked).subspan(sizeof(FileHeader)));
  out.keep();
  written.file.num_bytes = offset + checked.size() - sizeof(FileHeader);
  written.file.num_records = records.size();
  written.file.hash_of_table = hash_bytes(checked);
  return written;
}

void SnapshotStore::write_manifest(std::uint64_t number, const SnapshotManifest& manifest) const {
  NewFile out(path_of_manifest(number));
  const std::string text = text_of(manifest);
  out.write(std::as_bytes(std::span(text)));
  observe(SnapshotPoint::before_manifest);
  out.keep();
  observe(SnapshotPoint::after_manifest);
}

SnapshotManifest SnapshotStore::read_manifest(std::uint64_t number) const {
  const std::string path = path_of_manifest(number);
  const Descriptor file(path, O_RDONLY | O_CLOEXEC);
  const std::uint64_t size = size_of(file, path);
  if (size > longest_manifest) refuse(path, "is too long for a manifest");
  std::string text(size, '\0');
  read_at(file, path, 0, std::as_writable_bytes(std::span(text)));
  constexpr std::string_view last_key = "end ";
  constexpr std::size_t last_line = 4 + 16 + 1;
  if (size < last_line || text.compare(size - last_line, last_key.size(), last_key.data()) != 0 ||
      text.substr(size - last_line) !=
          "end " +
              hexadecimal(hash_bytes(std::as_bytes(std::span(text.data(), size - last_line)))) +
              "\n")
    refuse(path, "is not as it was written");

  Lines lines(std::string_view(text).substr(0, size - last_line), path);
  if (lines.number("weir-snapshot") != 2) refuse(path, "is of a version that is not known");
  SnapshotManifest manifest;
  manifest.job = lines.hash("job");
  manifest.program = lines.hash("program");
  if (manifest.job != job_ || manifest.program != program_) refuse(path, "is of another job");
  manifest.graph = lines.hash("graph");
  manifest.name = lines.text("name");
  manifest.superstep = static_cast<Superstep>(lines.number("superstep"));
  manifest.num_shards = lines.number("shards");
  const std::uint64_t num_files = lines.number("files");
  for (std::uint64_t i = 0; i < num_files; ++i) {
    const std::vector<std::uint64_t> numbers = lines.numbers("file", 4);
    manifest.files.push_back({numbers[0], numbers[1], numbers[2], numbers[3]});
  }
  if (!lines.is_at_end()) refuse(path, "has lines that are not known");
  return manifest;
}

std::vector<std::uint64_t> SnapshotStore::needed_by(std::uint64_t number) const {
  std::uint64_t needs = 0;
  try {
    for (const SnapshotFile& file : read_manifest(number).files) needs |= file.needs;
  } catch (const Error&) {
    return {};  // of no use, so it needs nothing
  }
  std::vector<std::uint64_t> found;
  for (std::uint64_t back = 1; back < 64 && back < number; ++back) {
    if ((needs >> back & 1U) != 0) found.push_back(number - back);
  }
  return found;
}

void SnapshotStore::keep_only(std::span<const std::uint64_t> kept) const noexcept {
  try {
    std::set<std::uint64_t> needed;
    for (const std::uint64_t number : kept) {
      for (const std::uint64_t other : needed_by(number)) needed.insert(other);
    }
    for (const std::uint64_t number : numbers()) {
      if (std::find(kept.begin(), kept.end(), number) != kept.end()) continue;
      // Without its manifest a snapshot that is half removed is none.
      std::error_code error;
      fs::remove(path_of_manifest(number), error);
      if (needed.count(number) == 0) fs::remove_all(path_of(number), error);
    }
  } catch (const std::exception&) {
    return;  // what is left is removed another time
  }
}

void SnapshotStore::remove_incomplete() const noexcept {
  try {
    const std::vector<std::uint64_t> kept = complete();
    keep_only(kept);
  } catch (const std::exception&) {
    return;
  }
}

SnapshotReader::SnapshotReader(const SnapshotStore& store, std::uint64_t number,
                               const SnapshotManifest& manifest)
    : store_(store) {
  for (std::size_t f = 0; f < manifest.files.size(); ++f) {
    const SnapshotFile& said = manifest.files[f];
    const std::string path = store.path_of_file(number, f);
    const Descriptor file(path, O_RDONLY | O_CLOEXEC);
    const std::uint64_t size = size_of(file, path);
    if (size != said.num_bytes) {
      refuse(path,
             "has " + std::to_string(size) + " bytes; expected " + std::to_string(said.num_bytes));
    }
    if (size < sizeof(FileHeader) ||
        said.num_records > (size - sizeof(FileHeader)) / sizeof(SnapshotPlace))
      refuse(path, "is too short for its records");
    const std::uint64_t table_bytes = said.num_records * sizeof(SnapshotPlace);
    Bytes checked(sizeof(FileHeader) + table_bytes);
    read_at(file, path, 0, std::span(checked).first(sizeof(FileHeader)));
    read_at(file, path, size - table_bytes, std::span(checked).subspan(sizeof(FileHeader)));
    if (hash_bytes(checked) != said.hash_of_table) refuse(path, "is not as it was written");

    BytesView in(checked);
    const auto header = in.take<FileHeader>();
    if (std::string_view(header.magic, magic.size()) != magic || header.byte_order != byte_order ||
        header.job != manifest.job || header.file != f)
      refuse(path, "is no file of this snapshot");
    std::uint64_t offset = sizeof(FileHeader);
    for (std::uint64_t i = 0; i < said.num_records; ++i) {
      const auto place = in.take<SnapshotPlace>();
      const bool is_here = place.snapshot == number && place.file == f;
      const bool is_before = place.snapshot < number && number - place.snapshot < 64 &&
                             (said.needs >> (number - place.snapshot) & 1U) != 0;
      if ((!is_here && !is_before) || place.num_bytes > place.full_bytes ||
          place.full_bytes / SnapshotStore::most_expansion > place.num_bytes)
        refuse(path, "has a table that does not fit its records");
      if (is_here) {
        if (place.offset != offset || place.num_bytes > size - table_bytes - offset)
          refuse(path, "has a table that does not fit its records");
        offset += place.num_bytes;
      }
      const bool is_new = places_.emplace(place.key, place).second;
      if (!is_new || place.key > manifest.num_shards)
        refuse(path, "has a record " + std::to_string(place.key) + " that is not due");
    }
    if (offset != size - table_bytes) refuse(path, "has bytes that belong to no record");
  }
  if (places_.size() != manifest.num_shards + 1)
    refuse(store.path_of(number), "lacks records of shards");
}

Bytes SnapshotReader::read(std::uint64_t key) const {
  const SnapshotPlace& place = places_.at(key);
  const std::string path = store_.path_of_file(place.snapshot, place.file);
  const Descriptor file(path, O_RDONLY | O_CLOEXEC);
  const std::uint64_t size = size_of(file, path);
  if (place.offset > size || place.num_bytes > size - place.offset)
    refuse(path, "is shorter than it was");
  Bytes bytes(place.num_bytes);
  read_at(file, path, place.offset, bytes);
  if (hash_bytes(bytes) != place.hash) refuse(path, "is not as it was written");
  if (place.num_bytes == place.full_bytes) return bytes;
  Bytes full(place.full_bytes);
  const std::size_t count = ZSTD_decompress(full.data(), full.size(), bytes.data(), bytes.size());
  if (count != full.size() || hash_bytes(full) != place.full_hash)
    refuse(path, "has a record that cannot be decompressed");
  return full;
}

void remove_snapshots(const std::string& directory, const std::string& job) {
  const fs::path folder = folder_of_job(directory, hash_of_job(job));
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    if (at->path().filename().string().starts_with(run_prefix)) fs::remove_all(at->path(), error);
  }
  fs::remove(folder, error);  // unless there is something else in it
}

}  // namespace weir
