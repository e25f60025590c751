// SPDX-License-Identifier: Apache-2.0
// Snapshots as files: what is written is read back, and what is not as it was written is refused.
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <weir/engine/model/error.hpp>
#include <weir/engine/resilience/snapshot_store.hpp>

namespace weir {
namespace {

namespace fs = std::filesystem;

class SnapshotStoreTest : public testing::Test {
 protected:
  SnapshotStoreTest() {
    std::string name = fs::temp_directory_path() / "weir-store-XXXXXX";
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
    folder_ = name;
  }
  ~SnapshotStoreTest() override { fs::remove_all(folder_); }

  static SnapshotRecord record(std::uint64_t key, const std::string& text) {
    const auto bytes = std::as_bytes(std::span(text));
    return {key, Bytes(bytes.begin(), bytes.end())};
  }
  static std::string text_of(const Bytes& bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }

  /// Three shards in two files, and what is shared.
  SnapshotManifest write(const SnapshotStore& store, std::uint64_t number) const {
    store.create();
    SnapshotManifest manifest;
    manifest.job = 1;
    manifest.program = 2;
    manifest.graph = 3;
    manifest.name = "two\nlines";
    manifest.superstep = 17;
    manifest.num_shards = 3;
    const std::vector<SnapshotRecord> first{record(0, "zero"), record(3, "shared")};
    const std::vector<SnapshotRecord> second{record(1, ""), record(2, "two")};
    manifest.files.push_back(store.write_file(number, 0, first).file);
    manifest.files.push_back(store.write_file(number, 1, second).file);
    store.write_manifest(number, manifest);
    return manifest;
  }

  /// Of a snapshot in one file.
  static SnapshotManifest manifest_of(std::uint64_t num_shards, const SnapshotFile& file) {
    SnapshotManifest manifest;
    manifest.job = 1;
    manifest.program = 2;
    manifest.num_shards = num_shards;
    manifest.files = {file};
    return manifest;
  }

  static std::string error_of(const std::function<void()>& body) {
    try {
      body();
    } catch (const Error& error) {
      return std::string(name_of(error.code())) + ": " + error.what();
    }
    return "no error";
  }
  /// What reading a snapshot with this manifest ends with.
  static std::string error_with(const SnapshotStore& store, const SnapshotManifest& manifest) {
    store.write_manifest(1, manifest);
    return error_of([&] { SnapshotReader(store, 1, store.read_manifest(1)); });
  }

  fs::path folder_;
};

TEST_F(SnapshotStoreTest, what_is_written_is_read_back) {
  const SnapshotStore store(folder_.string(), 1, 2);
  EXPECT_EQ(store.next_number(), 1u);
  write(store, 1);
  EXPECT_EQ(store.complete(), std::vector<std::uint64_t>{1});
  EXPECT_EQ(store.next_number(), 2u);
  const SnapshotManifest manifest = store.read_manifest(1);
  EXPECT_EQ(manifest.graph, 3u);
  EXPECT_EQ(manifest.name, "two lines");
  EXPECT_EQ(manifest.superstep, 17);
  const SnapshotReader reader(store, 1, manifest);
  EXPECT_EQ(text_of(reader.read(0)), "zero");
  EXPECT_EQ(text_of(reader.read(1)), "");
  EXPECT_EQ(text_of(reader.read(2)), "two");
  EXPECT_EQ(text_of(reader.read(3)), "shared");
}

TEST_F(SnapshotStoreTest, only_what_is_whole_counts_and_the_rest_is_removed) {
  const SnapshotStore store(folder_.string(), 1, 2);
  for (std::uint64_t number = 1; number <= 4; ++number) write(store, number);
  const std::vector<SnapshotRecord> records{record(0, "half")};
  (void)store.write_file(5, 0, records);
  EXPECT_EQ(store.complete(), (std::vector<std::uint64_t>{4, 3, 2, 1}));
  store.remove_incomplete();
  EXPECT_FALSE(fs::exists(store.path_of(5)));
  const std::vector<std::uint64_t> kept{2, 4};
  store.keep_only(kept);
  EXPECT_EQ(store.complete(), (std::vector<std::uint64_t>{4, 2}));
  const SnapshotStore other(folder_.string(), hash_of_job("another"), 2);
  EXPECT_TRUE(other.complete().empty());
}

TEST_F(SnapshotStoreTest, a_job_removes_its_own_alone) {
  const SnapshotStore mine(folder_.string(), hash_of_job("mine"), 2);
  const SnapshotStore mine_too(folder_.string(), hash_of_job("mine"), 3);
  const SnapshotStore other(folder_.string(), hash_of_job("other"), 2);
  for (const SnapshotStore* store : {&mine, &mine_too, &other}) write(*store, 1);
  remove_snapshots(folder_.string(), "mine");
  EXPECT_FALSE(mine.exists());
  EXPECT_FALSE(mine_too.exists());
  EXPECT_EQ(other.complete().size(), 1u);
}

TEST_F(SnapshotStoreTest, of_another_job_or_program_is_refused) {
  const SnapshotStore store(folder_.string(), 1, 2);
  write(store, 1);
  const SnapshotStore other(folder_.string(), 1, 4);
  other.create();
  fs::copy(store.path_of(1), other.path_of(1));
  EXPECT_EQ(error_of([&] { (void)other.read_manifest(1); }),
            "input: " + other.path_of_manifest(1) + ": is of another job");
}

// Manifests and tables whose hashes are right, as someone with intent would write them.
TEST_F(SnapshotStoreTest, what_a_forged_manifest_says_is_compared_before_it_is_believed) {
  const SnapshotStore store(folder_.string(), 1, 2);
  const SnapshotManifest manifest = write(store, 1);
  const std::string first = "input: " + store.path_of_file(1, 0) + ": ";
  EXPECT_EQ(error_with(store, manifest), "no error");

  SnapshotManifest forged = manifest;
  forged.files[0].num_records = std::uint64_t{1} << 60U;
  EXPECT_EQ(error_with(store, forged), first + "is too short for its records");
  forged = manifest;
  forged.files[0].num_bytes = std::uint64_t{1} << 62U;
  EXPECT_EQ(error_with(store, forged).substr(0, first.size() + 4), first + "has ");
  forged = manifest;
  forged.files.resize(1);
  EXPECT_NE(error_with(store, forged).find("lacks records"), std::string::npos);
  forged = manifest;
  forged.files[1] = forged.files[0];
  EXPECT_NE(error_with(store, forged), "no error");
  forged = manifest;
  forged.num_shards = 2;
  EXPECT_NE(error_with(store, forged).find("that is not due"), std::string::npos);
  forged = manifest;
  forged.num_shards = std::uint64_t{1} << 60U;
  EXPECT_NE(error_with(store, forged).find("lacks records"), std::string::npos);
}

TEST_F(SnapshotStoreTest, what_a_forged_table_says_is_compared_before_it_is_believed) {
  const SnapshotStore store(folder_.string(), 1, 2);
  const SnapshotManifest manifest = write(store, 1);
  const std::string path = store.path_of_file(1, 0);
  std::ostringstream whole;
  whole << std::ifstream(path, std::ios::binary).rdbuf();
  constexpr std::size_t header = 32, entry = sizeof(SnapshotPlace);
  const std::size_t table = whole.str().size() - 2 * entry;
  // Of the second entry: all but the full size and the hashes.
  for (const std::size_t field : {0, 1, 2, 3, 4}) {
    for (const std::uint64_t lie :
         {std::uint64_t{9}, std::uint64_t{1} << 40U, ~std::uint64_t{0}, std::uint64_t{0} - 40}) {
      std::string bytes = whole.str();
      std::memcpy(bytes.data() + table + entry + 8 * field, &lie, sizeof lie);
      std::ofstream(path, std::ios::binary) << bytes;
      SnapshotManifest forged = manifest;
      const std::string checked = bytes.substr(0, header) + bytes.substr(table);
      forged.files[0].hash_of_table = hash_bytes(std::as_bytes(std::span(checked)));
      const std::string error = error_with(store, forged);
      EXPECT_EQ(error.substr(0, 7 + path.size()), "input: " + path)
          << "field " << field << " says " << lie << ": " << error;
    }
  }
}

/// Text that zstd makes much less of, and text that it does not.
std::string much_alike() {
  std::string text;
  for (int i = 0; i < 5000; ++i) text += "value " + std::to_string(i % 7) + '\n';
  return text;
}
std::string all_different() {
  std::string text;
  std::uint64_t state = 1;
  for (int i = 0; i < 5000; ++i) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    text += static_cast<char>(state >> 56U);
  }
  return text;
}

TEST_F(SnapshotStoreTest, records_are_compressed_where_that_pays) {
  const SnapshotStore store(folder_.string(), 1, 2);
  store.create();
  const std::string zeros(std::size_t{1} << 20U, '\0');
  const std::vector<SnapshotRecord> records{record(0, much_alike()), record(1, zeros),
                                            record(2, all_different()), record(3, "shared")};
  const WrittenSnapshotFile written = store.write_file(1, 0, records);
  store.write_manifest(1, manifest_of(3, written.file));
  EXPECT_LT(written.places[0].num_bytes, much_alike().size() / 4);
  EXPECT_LT(written.places[1].num_bytes, zeros.size() / 64);
  EXPECT_GT(written.places[1].num_bytes, zeros.size() / SnapshotStore::most_expansion)
      << "so little that a reader would have to believe any size";
  EXPECT_EQ(written.places[2].num_bytes, all_different().size());
  const SnapshotReader reader(store, 1, store.read_manifest(1));
  EXPECT_EQ(text_of(reader.read(0)), much_alike());
  EXPECT_EQ(text_of(reader.read(1)), zeros);
  EXPECT_EQ(text_of(reader.read(2)), all_different());
  EXPECT_EQ(text_of(reader.read(3)), "shared");
}

TEST_F(SnapshotStoreTest, what_did_not_change_is_not_written_again) {
  const SnapshotStore store(folder_.string(), 1, 2);
  store.create();
  const auto write_with = [&](std::uint64_t number, const std::string& changing,
                              std::span<const SnapshotPlace> before) {
    const std::vector<SnapshotRecord> records{record(0, all_different()), record(1, changing)};
    WrittenSnapshotFile written = store.write_file(number, 0, records, before);
    store.write_manifest(number, manifest_of(1, written.file));
    return written;
  };
  WrittenSnapshotFile last = write_with(1, "a", {});
  std::uint64_t num_whole = 0;
  for (std::uint64_t number = 2; number <= 60; ++number) {
    last = write_with(number, "b" + std::to_string(number), last.places);
    const bool is_whole = last.file.num_bytes > all_different().size();
    num_whole += is_whole ? 1 : 0;
    EXPECT_EQ(last.file.needs == 0, is_whole) << number;
    const std::uint64_t kept[] = {number};
    store.keep_only(kept);
    EXPECT_EQ(store.complete(), std::vector<std::uint64_t>{number});
    const SnapshotReader reader(store, number, store.read_manifest(number));
    EXPECT_EQ(text_of(reader.read(0)), all_different()) << number;
    EXPECT_EQ(text_of(reader.read(1)), "b" + std::to_string(number)) << number;
    std::size_t num_folders = 0;
    for ([[maybe_unused]] const auto& each : fs::directory_iterator(store.folder())) ++num_folders;
    EXPECT_EQ(num_folders, is_whole ? 1u : 2u) << "nothing but what is needed is left";
  }
  EXPECT_EQ(num_whole, 3u) << "now and then all is written, so that old folders go";
  // What it was written beside is damaged, or gone.
  const fs::path origin = store.path_of_file(last.places[0].snapshot, 0);
  ASSERT_NE(last.places[0].snapshot, 60u);
  const SnapshotReader reader(store, 60, store.read_manifest(60));
  std::fstream(origin, std::ios::binary | std::ios::in | std::ios::out).seekp(100).put('x');
  EXPECT_EQ(error_of([&] { (void)reader.read(0); }),
            "input: " + origin.string() + ": is not as it was written");
  fs::remove(origin);
  EXPECT_EQ(error_of([&] { (void)reader.read(0); }).substr(0, 7 + origin.string().size()),
            "input: " + origin.string());
}

TEST_F(SnapshotStoreTest, a_forged_size_of_a_compressed_record_is_not_believed) {
  const SnapshotStore store(folder_.string(), 1, 2);
  store.create();
  const std::vector<SnapshotRecord> records{record(0, much_alike()), record(1, "shared")};
  const WrittenSnapshotFile written = store.write_file(1, 0, records);
  const std::string path = store.path_of_file(1, 0);
  std::ostringstream whole;
  whole << std::ifstream(path, std::ios::binary).rdbuf();
  const std::size_t table = whole.str().size() - 2 * sizeof(SnapshotPlace);
  constexpr std::size_t full_bytes = 5 * sizeof(std::uint64_t);
  const std::uint64_t stored = written.places[0].num_bytes;
  for (const std::uint64_t lie : {std::uint64_t{1}, stored + 1, much_alike().size() + 1,
                                  stored * 100, std::uint64_t{1} << 40U, ~std::uint64_t{0}}) {
    std::string bytes = whole.str();
    std::memcpy(bytes.data() + table + full_bytes, &lie, sizeof lie);
    std::ofstream(path, std::ios::binary) << bytes;
    SnapshotFile file = written.file;
    const std::string checked = bytes.substr(0, 32) + bytes.substr(table);
    file.hash_of_table = hash_bytes(std::as_bytes(std::span(checked)));
    store.write_manifest(1, manifest_of(1, file));
    const std::string error = error_of([&] {
      const SnapshotReader reader(store, 1, store.read_manifest(1));
      (void)reader.read(0);
    });
    EXPECT_EQ(error.substr(0, 7 + path.size()), "input: " + path) << lie << ": " << error;
  }
}

TEST_F(SnapshotStoreTest, the_points_where_a_failure_may_strike_are_told) {
  std::vector<SnapshotPoint> points;
  std::vector<bool> is_whole;
  const SnapshotStore* told = nullptr;
  const SnapshotStore store(folder_.string(), 1, 2, [&](SnapshotPoint point) {
    points.push_back(point);
    is_whole.push_back(!told->complete().empty());
  });
  told = &store;
  write(store, 1);
  EXPECT_EQ(points, (std::vector<SnapshotPoint>{SnapshotPoint::file, SnapshotPoint::file,
                                                SnapshotPoint::before_manifest,
                                                SnapshotPoint::after_manifest}));
  EXPECT_EQ(is_whole, (std::vector<bool>{false, false, false, true}));
}

TEST_F(SnapshotStoreTest, a_folder_where_a_file_is_due_is_no_file) {
  const SnapshotStore store(folder_.string(), 1, 2);
  const SnapshotManifest manifest = write(store, 1);
  fs::remove(store.path_of_file(1, 1));
  EXPECT_NE(error_with(store, manifest).find("rank-1: cannot be read"), std::string::npos);
  fs::create_directory(store.path_of_file(1, 1));
  EXPECT_NE(error_with(store, manifest).find("rank-1: is no regular file"), std::string::npos);
}

}  // namespace
}  // namespace weir
