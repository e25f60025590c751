// SPDX-License-Identifier: Apache-2.0
#include <weir/engine/resilience/ledger_file.hpp>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <weir/engine/model/check.hpp>
#include <weir/engine/runtime/bytes.hpp>

namespace weir {

namespace {

constexpr std::string_view magic = "weirldg1";
constexpr std::string_view mark_of_chain = "weir ledger 1\n";
constexpr std::uint64_t longest_text = std::uint64_t{1} << 20;
constexpr std::uint64_t most_shards = std::uint64_t{1} << 32;

/// A record as it lies in the file, before its changed shards.
struct RecordHead {
  std::int64_t superstep;
  std::uint64_t phase;
  std::uint64_t num_unhalted;
  std::uint64_t num_scattered;
  std::uint64_t num_sent;
  std::uint64_t num_changes;
  Hash agreed;
  Hash root;
  Hash hash;
};
constexpr std::size_t bytes_of_change = sizeof(std::uint32_t) + sizeof(ShardDigests);
static_assert(sizeof(RecordHead) == 6 * 8 + 3 * 32 && bytes_of_change == 36);

[[noreturn]] void refuse(const std::string& path, const std::string& text) {
  throw Error(ErrorCode::input, path + ": " + text);
}

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

/// What the chain begins with.
Hash hash_of(const LedgerIdentity& identity) {
  Bytes count;
  append_plain(count, identity.num_shards);
  const std::string text = identity.text();
  return Sha256()({bytes_of(mark_of_chain), count, bytes_of(text)});
}

/// An open file, closed at the end.
class OpenFile {
 public:
  OpenFile(std::string path, int flags)
      : path_(std::move(path)), number_(::open(path_.c_str(), flags | O_CLOEXEC, 0666)) {}
  ~OpenFile() {
    if (number_ >= 0) ::close(number_);
  }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;

  const std::string& path() const { return path_; }
  bool is_open() const { return number_ >= 0; }
  std::uint64_t size() const {
    struct stat status {};
    if (::fstat(number_, &status) != 0 || !S_ISREG(status.st_mode))
      refuse(path_, "cannot be read; expected a regular file");
    return static_cast<std::uint64_t>(status.st_size);
  }
  /// Reads all of it or throws Error{input}.
  void read(std::span<std::byte> bytes) const {
    while (!bytes.empty()) {
      const ssize_t count = ::read(number_, bytes.data(), bytes.size());
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) refuse(path_, std::string("cannot be read: ") + std::strerror(errno));
      if (count == 0) refuse(path_, "became shorter while it was read");
      bytes = bytes.subspan(static_cast<std::size_t>(count));
    }
  }
  void write(std::span<const std::byte> bytes) const {
    while (!bytes.empty()) {
      const ssize_t count = ::write(number_, bytes.data(), bytes.size());
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) fail("cannot write");
      bytes = bytes.subspan(static_cast<std::size_t>(count));
    }
  }
  void cut(std::uint64_t size) const {
    if (::ftruncate(number_, static_cast<off_t>(size)) != 0 || ::lseek(number_, 0, SEEK_END) < 0)
      fail("cannot be cut");
  }
  [[noreturn]] void fail(const char* action) const {
    throw Error(ErrorCode::output, path_ + ": " + action + ": " + std::strerror(errno));
  }

 private:
  std::string path_;
  int number_;
};

LedgerIdentity parse_identity(const std::string& path, std::uint64_t num_shards,
                              std::string_view text) {
  LedgerIdentity identity{.num_shards = num_shards};
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const std::size_t blank = text.find(' ');
    if (end == std::string_view::npos || blank == std::string_view::npos || blank > end)
      refuse(path, "has a configuration that is not one `name value` a line");
    identity.configuration.emplace_back(text.substr(0, blank),
                                        text.substr(blank + 1, end - blank - 1));
    text.remove_prefix(end + 1);
  }
  return identity;
}

}  // namespace

std::string LedgerIdentity::text() const {
  std::string text;
  for (const auto& [name, value] : configuration) {
    text.append(name).append(" ");
    for (const char c : value) text += c == '\n' ? ' ' : c;
    text += '\n';
  }
  return text;
}

Hash LedgerHeader::hash(const Hash& previous) const {
  Bytes numbers;
  append_plain(numbers, superstep);
  append_plain(numbers, phase);
  append_plain(numbers, num_unhalted);
  append_plain(numbers, num_scattered);
  append_plain(numbers, num_sent);
  return Sha256()({previous, numbers, agreed, root});
}

struct LedgerWriter::State {
  State(const std::string& path, int flags, std::size_t num_shards)
      : file(path, flags), tree(num_shards) {}
  OpenFile file;
  MerkleTree tree;
  Hash last{};
  bool is_first = true;
};

LedgerWriter::LedgerWriter(std::unique_ptr<State> state) : state_(std::move(state)) {}
LedgerWriter::~LedgerWriter() = default;
LedgerWriter::LedgerWriter(LedgerWriter&&) noexcept = default;
LedgerWriter& LedgerWriter::operator=(LedgerWriter&&) noexcept = default;

LedgerWriter::LedgerWriter(std::string path, const LedgerIdentity& identity)
    : state_(std::make_unique<State>(path, O_WRONLY | O_CREAT | O_TRUNC, identity.num_shards)) {
  if (!state_->file.is_open()) state_->file.fail("cannot create");
  const std::string text = identity.text();
  WEIR_EXPECT(text.size() <= longest_text, usage, path + ": found a configuration above 1 MiB");
  state_->last = hash_of(identity);
  Bytes out;
  const auto first = bytes_of(magic);
  out.assign(first.begin(), first.end());
  append_plain(out, identity.num_shards);
  append_plain(out, std::uint64_t{text.size()});
  const auto configuration = bytes_of(text);
  out.insert(out.end(), configuration.begin(), configuration.end());
  append_plain(out, state_->last);
  state_->file.write(out);
}

std::optional<LedgerWriter> LedgerWriter::resume(const std::string& path,
                                                 const LedgerIdentity& identity, Superstep last,
                                                 std::span<const ShardChange> expected) {
  try {
    LedgerReader reader(path);
    if (reader.identity() != identity) return std::nullopt;
    while (reader.next() && reader.header().superstep < last) {
    }
    if (reader.header().superstep != last) return std::nullopt;
    for (const ShardChange& change : expected) {
      if (reader.tree().leaf(change.shard) != change.digests) return std::nullopt;
    }
    auto state = std::make_unique<State>(path, O_WRONLY, identity.num_shards);
    if (!state->file.is_open()) return std::nullopt;
    for (std::size_t shard = 0; shard < identity.num_shards; ++shard)
      state->tree.set(shard, reader.tree().leaf(shard));
    state->last = reader.hash();
    state->is_first = false;
    state->file.cut(reader.offset());
    return LedgerWriter(std::move(state));
  } catch (const Error&) {
    return std::nullopt;
  }
}

void LedgerWriter::append(LedgerHeader header, std::span<const ShardChange> changes) {
  Bytes stored;
  std::uint64_t num_changes = 0;
  for (const ShardChange& change : changes) {
    if (!state_->is_first && state_->tree.leaf(change.shard) == change.digests) continue;
    state_->tree.set(change.shard, change.digests);
    append_plain(stored, change.shard);
    append_plain(stored, change.digests);
    ++num_changes;
  }
  state_->is_first = false;
  header.root = state_->tree.root();
  state_->last = header.hash(state_->last);
  Bytes out;
  append_plain(out,
               RecordHead{header.superstep, header.phase, header.num_unhalted, header.num_scattered,
                          header.num_sent, num_changes, header.agreed, header.root, state_->last});
  out.insert(out.end(), stored.begin(), stored.end());
  state_->file.write(out);
}

struct LedgerReader::State {
  explicit State(std::string path) : file(std::move(path), O_RDONLY) {
    if (!file.is_open()) refuse(file.path(), std::string("cannot open: ") + std::strerror(errno));
    size = file.size();
  }
  std::string last_whole() const {
    return num_records == 0 ? "; no record before it is whole"
                            : "; whole up to superstep " + std::to_string(header.superstep);
  }
  void take(std::span<std::byte> bytes) {
    if (bytes.size() > size - offset) refuse(file.path(), "is cut off" + last_whole());
    file.read(bytes);
    offset += bytes.size();
  }
  template <class T>
  T take() {
    T value;
    take(std::as_writable_bytes(std::span(&value, 1)));
    return value;
  }

  OpenFile file;
  std::uint64_t size = 0;
  std::uint64_t offset = 0;
  LedgerIdentity identity;
  std::optional<MerkleTree> tree;
  std::uint64_t num_records = 0;
  LedgerHeader header;
  Hash previous{};
  Hash hash{};
};

LedgerReader::LedgerReader(std::string path) : state_(std::make_unique<State>(std::move(path))) {
  State& in = *state_;
  constexpr std::uint64_t least = 8 + 8 + 8 + 32;
  if (in.size < least) refuse(in.file.path(), "is no ledger: it is too short");
  std::array<char, 8> found{};
  in.take(std::as_writable_bytes(std::span(found)));
  if (std::string_view(found.data(), found.size()) != magic)
    refuse(in.file.path(), "is no ledger: it does not begin with " + std::string(magic));
  const auto num_shards = in.take<std::uint64_t>();
  const auto text_bytes = in.take<std::uint64_t>();
  if (text_bytes > longest_text || text_bytes > in.size - least)
    refuse(in.file.path(), "is cut off in its configuration");
  std::string text(text_bytes, '\0');
  in.take(std::as_writable_bytes(std::span(text)));
  in.hash = in.take<Hash>();
  in.identity = parse_identity(in.file.path(), num_shards, text);
  if (hash_of(in.identity) != in.hash)
    refuse(in.file.path(), "has a configuration that is not what its chain begins with");
  // The first record names every shard, so there cannot be more than the file has room for.
  const bool has_records = in.offset < in.size;
  if (num_shards == 0 || num_shards > most_shards ||
      (has_records && num_shards > (in.size - in.offset) / bytes_of_change))
    refuse(in.file.path(), "is cut off; its first record does not name every shard");
  in.tree.emplace(has_records ? num_shards : 1);
}

LedgerReader::~LedgerReader() = default;

const std::string& LedgerReader::path() const { return state_->file.path(); }
const LedgerIdentity& LedgerReader::identity() const { return state_->identity; }
const LedgerHeader& LedgerReader::header() const { return state_->header; }
const Hash& LedgerReader::previous() const { return state_->previous; }
const Hash& LedgerReader::hash() const { return state_->hash; }
std::uint64_t LedgerReader::offset() const { return state_->offset; }
MerkleTree& LedgerReader::tree() { return *state_->tree; }

bool LedgerReader::next() {
  State& in = *state_;
  if (in.offset == in.size) return false;
  const auto head = in.take<RecordHead>();
  const std::string where = "superstep " + std::to_string(head.superstep) + ": ";
  const auto expect = [&](bool holds, const std::string& text) {
    if (!holds) refuse(in.file.path(), where + text + in.last_whole());
  };
  expect(in.num_records == 0 ? head.superstep >= -1 : head.superstep == in.header.superstep + 1,
         "is not the superstep that follows");
  expect(in.num_records == 0 ? head.num_changes == in.identity.num_shards
                             : head.num_changes <= in.identity.num_shards,
         "names " + std::to_string(head.num_changes) + " shards; there are " +
             std::to_string(in.identity.num_shards));
  expect(head.num_changes <= (in.size - in.offset) / bytes_of_change, "is cut off");
  std::uint64_t next_shard = 0;
  for (std::uint64_t i = 0; i < head.num_changes; ++i) {
    const auto shard = in.take<std::uint32_t>();
    const auto digests = in.take<ShardDigests>();
    expect(shard >= next_shard && shard < in.identity.num_shards,
           "names shard " + std::to_string(shard) + " out of order");
    next_shard = std::uint64_t{shard} + 1;
    in.tree->set(shard, digests);
  }
  const LedgerHeader header{head.superstep, head.phase,  head.num_unhalted, head.num_scattered,
                            head.num_sent,  head.agreed, head.root};
  expect(header.hash(in.hash) == head.hash, "its header is not what the chain says");
  expect(in.tree->root() == head.root, "its root is not that of its shards");
  in.previous = std::exchange(in.hash, head.hash);
  in.header = header;
  ++in.num_records;
  return true;
}

std::string fault_of(const LedgerProof& proof) {
  const auto root =
      MerkleTree::root_by_path(proof.digests, proof.shard, proof.num_shards, proof.path);
  if (!root) return "the path does not fit shard and number of shards";
  if (*root != proof.header.root) return "the path does not lead to the root";
  if (proof.header.hash(proof.previous) != proof.hash) return "the hash is not that of the header";
  return "";
}

}  // namespace weir
