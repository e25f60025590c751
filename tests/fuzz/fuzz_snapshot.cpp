// SPDX-License-Identifier: Apache-2.0
// A file of a snapshot as someone with intent would write it: whatever it says of itself, its
// hashes are right. It is refused, or read within the bound on what it may make the reader
// allocate.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>

#include <unistd.h>

#include <weir/engine/model/error.hpp>
#include <weir/engine/resilience/snapshot_store.hpp>

namespace {

constexpr std::size_t header_bytes = 32;
constexpr std::uint64_t number = 9;
constexpr std::uint64_t num_shards = 2;

/// Makes the hashes right of what lies within the file, and returns the one of header and table.
std::uint64_t put_hashes(weir::Bytes& file, std::uint64_t num_records) {
  const std::size_t table_bytes = num_records * sizeof(weir::SnapshotPlace);
  if (file.size() < header_bytes + table_bytes) return 0;
  const std::size_t table = file.size() - table_bytes;
  for (std::uint64_t i = 0; i < num_records; ++i) {
    weir::SnapshotPlace place;
    std::byte* const at = file.data() + table + i * sizeof place;
    std::memcpy(&place, at, sizeof place);
    if (place.offset > table || place.num_bytes > table - place.offset) continue;
    place.hash = weir::hash_bytes(std::span(file).subspan(place.offset, place.num_bytes));
    if (place.full_bytes == place.num_bytes) place.full_hash = place.hash;
    std::memcpy(at, &place, sizeof place);
  }
  weir::Bytes checked(file.begin(), file.begin() + header_bytes);
  checked.insert(checked.end(), file.begin() + static_cast<std::ptrdiff_t>(table), file.end());
  return weir::hash_bytes(checked);
}

}  // namespace

/// The first bytes: how many records the manifest says there are, and which snapshots are needed.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::string folder =
      std::filesystem::temp_directory_path() / ("weir-fuzz-" + std::to_string(::getpid()));
  if (size < 2) return 0;
  const weir::SnapshotStore store(folder, 1, 2);
  store.create();
  std::filesystem::create_directories(store.path_of(number));
  const auto* const first = reinterpret_cast<const std::byte*>(data);
  weir::Bytes file(first + 2, first + size);
  weir::SnapshotManifest manifest;
  manifest.job = 1;
  manifest.program = 2;
  manifest.num_shards = num_shards;
  manifest.files.push_back({file.size(), data[0], put_hashes(file, data[0]), data[1]});
  std::ofstream(store.path_of_file(number, 0), std::ios::binary)
      .write(reinterpret_cast<const char*>(file.data()), static_cast<std::streamsize>(file.size()));
  try {
    const weir::SnapshotReader reader(store, number, manifest);
    for (std::uint64_t key = 0; key <= num_shards; ++key) {
      if (reader.read(key).size() > (file.size() + 1) * weir::SnapshotStore::most_expansion)
        std::abort();
    }
  } catch (const weir::Error&) {
    // Refused.
  }
  std::error_code ignored;
  std::filesystem::remove_all(folder, ignored);
  return 0;
}
