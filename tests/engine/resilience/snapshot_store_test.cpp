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
    manifest.files.push_back(store.write_file(number, 0, first));
    manifest.files.push_back(store.write_file(number, 1, second));
    store.write_manifest(number, manifest);
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
  constexpr std::size_t header = 32, entry = 32;
  const std::size_t table = whole.str().size() - 2 * entry;
  // Of the second entry: key, offset, size, hash.
  for (const std::size_t field : {0, 1, 2}) {
    for (const std::uint64_t lie :
         {std::uint64_t{0}, std::uint64_t{1} << 40U, ~std::uint64_t{0}, std::uint64_t{0} - 40}) {
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
