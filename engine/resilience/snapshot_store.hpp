// SPDX-License-Identifier: Apache-2.0
// Snapshots as files: docs/guide/failures.md says what is promised.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include <weir/engine/model/ids.hpp>
#include <weir/engine/resilience/snapshot_point.hpp>
#include <weir/engine/runtime/bytes.hpp>

namespace weir {

/// 64-bit XXH3.
std::uint64_t hash_bytes(std::span<const std::byte> bytes, std::uint64_t seed = 0);

/// One piece of a snapshot: the state of a shard, or with key `num_shards` what all ranks share.
struct SnapshotRecord {
  std::uint64_t key = 0;
  Bytes bytes;
};

/// Where the bytes of a record lie, and what they are; an entry of a file's table.
struct SnapshotPlace {
  std::uint64_t key = 0;
  std::uint64_t snapshot = 0;  ///< the number of the snapshot, and the file there, that holds them
  std::uint64_t file = 0;
  std::uint64_t offset = 0;
  std::uint64_t num_bytes = 0;   ///< as they are stored
  std::uint64_t full_bytes = 0;  ///< as they are; more where they are compressed
  std::uint64_t hash = 0;        ///< of what is stored
  std::uint64_t full_hash = 0;
};

/// What the manifest says of one file.
struct SnapshotFile {
  std::uint64_t num_bytes = 0;
  std::uint64_t num_records = 0;
  std::uint64_t hash_of_table = 0;
  /// Bit i: some of its records lie in the snapshot with the number i less.
  std::uint64_t needs = 0;
};
/// A file that was written, and where its records lie.
struct WrittenSnapshotFile {
  SnapshotFile file;
  std::vector<SnapshotPlace> places;
};

/// What a snapshot is of, and its files. Written last: a snapshot is complete once it has one.
struct SnapshotManifest {
  std::uint64_t job = 0;      ///< hash of the caller's name of the job
  std::uint64_t program = 0;  ///< hash of what the engine sees of the program
  std::uint64_t graph = 0;    ///< hash of the topology
  std::string name;           ///< of the program; for people
  Superstep superstep = 0;    ///< the next one to run
  std::uint64_t num_shards = 0;
  std::vector<SnapshotFile> files;  ///< one per rank that wrote
};

/// The snapshots of one run in one folder, `DIRECTORY/job-HASH/run-HASH/`, one numbered folder
/// each, with a file `rank-R` per rank and a manifest. Numbers ascend; nothing is ever written
/// twice.
///
/// A file is a header, the records, and a table of where each lies and of its hashes. A record that
/// did not change since an earlier snapshot lies there alone, and the others are compressed (zstd,
/// level 1) where that pays. Every byte is hashed: of the header and the table by the manifest, of
/// a record by the table. Nothing read is believed before its hash was compared; what is allocated
/// is at most a file's size, and for a compressed record `most_expansion` times what it takes
/// there.
///
/// No function is collective; who calls which is the business of engine/superstep/snapshots.hpp.
class SnapshotStore {
 public:
  static constexpr std::uint64_t most_expansion = 128;

  /// `job`, `program`: hashes, as the manifest has them. `observe` is called on the way, on the
  /// thread that writes.
  SnapshotStore(const std::string& directory, std::uint64_t job, std::uint64_t program,
                std::function<void(SnapshotPoint)> observe = {});

  /// Makes the folder. Throws Error{output}.
  void create() const;
  bool exists() const;
  const std::string& folder() const { return folder_; }

  std::string path_of(std::uint64_t number) const;
  std::string path_of_file(std::uint64_t number, std::size_t file) const;
  std::string path_of_manifest(std::uint64_t number) const;

  /// Numbers of folders with a manifest, descending.
  std::vector<std::uint64_t> complete() const;
  /// One more than the greatest number there is.
  std::uint64_t next_number() const;

  /// Writes file `file` whole: temporary name, fsync, rename. Throws Error{output} and leaves no
  /// file behind. `before`: what an earlier snapshot that is whole holds of the same records, in
  /// the same order, or nothing; what is equal there is not written again.
  WrittenSnapshotFile write_file(std::uint64_t number, std::size_t file,
                                 std::span<const SnapshotRecord> records,
                                 std::span<const SnapshotPlace> before = {}) const;
  /// The same for the manifest.
  void write_manifest(std::uint64_t number, const SnapshotManifest& manifest) const;

  /// Throws Error{input} naming the file when it is missing, not whole, or of another job.
  SnapshotManifest read_manifest(std::uint64_t number) const;

  /// Removes all but these and what they need of others; as far as it can.
  void keep_only(std::span<const std::uint64_t> numbers) const noexcept;
  /// Removes what never got a manifest; no one may be writing.
  void remove_incomplete() const noexcept;

 private:
  std::vector<std::uint64_t> numbers() const;
  std::vector<std::uint64_t> needed_by(std::uint64_t number) const;
  void observe(SnapshotPoint point) const;

  std::string folder_;
  std::uint64_t job_;
  std::uint64_t program_;
  std::function<void(SnapshotPoint)> observe_;
};

/// Reads the records of one snapshot. Keeps a reference to the store.
class SnapshotReader {
 public:
  /// Checks sizes, headers and tables of all files. Throws Error{input} naming the file.
  SnapshotReader(const SnapshotStore& store, std::uint64_t number,
                 const SnapshotManifest& manifest);

  /// The bytes of a record, checked. Throws Error{input} naming the file.
  Bytes read(std::uint64_t key) const;

 private:
  const SnapshotStore& store_;
  std::map<std::uint64_t, SnapshotPlace> places_;
};

/// Removes the snapshots of all runs of a job that is over, as far as it can. Not collective: one
/// rank calls it.
void remove_snapshots(const std::string& directory, const std::string& job);

/// The hash by which snapshots are told from those of other jobs.
std::uint64_t hash_of_job(const std::string& job);

}  // namespace weir
