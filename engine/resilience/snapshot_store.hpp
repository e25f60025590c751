// SPDX-License-Identifier: Apache-2.0
// Snapshots as files: docs/guide/failures.md says what is promised.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include <weir/engine/model/ids.hpp>
#include <weir/engine/runtime/bytes.hpp>

namespace weir {

/// 64-bit XXH3.
std::uint64_t hash_bytes(std::span<const std::byte> bytes, std::uint64_t seed = 0);

/// One piece of a snapshot: the state of a shard, or with key `num_shards` what all ranks share.
struct SnapshotRecord {
  std::uint64_t key = 0;
  Bytes bytes;
};

/// What the manifest says of one file.
struct SnapshotFile {
  std::uint64_t num_bytes = 0;
  std::uint64_t num_records = 0;
  std::uint64_t hash_of_table = 0;
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
/// A file is a header, the records, and a table with the size and hash of each. Every byte is
/// hashed: of the header and the table by the manifest, of a record by the table. Nothing read is
/// believed before its hash was compared, and nothing is allocated beyond the size of a file.
///
/// No function is collective; who calls which is the business of engine/superstep/snapshots.hpp.
class SnapshotStore {
 public:
  /// `job`, `program`: hashes, as the manifest has them.
  SnapshotStore(const std::string& directory, std::uint64_t job, std::uint64_t program);

  /// Makes the folder. Throws Error{output}.
  void create() const;
  bool exists() const;

  std::string path_of(std::uint64_t number) const;
  std::string path_of_file(std::uint64_t number, std::size_t file) const;
  std::string path_of_manifest(std::uint64_t number) const;

  /// Numbers of folders with a manifest, descending.
  std::vector<std::uint64_t> complete() const;
  /// One more than the greatest number there is.
  std::uint64_t next_number() const;

  /// Writes file `file` whole: temporary name, fsync, rename. Throws Error{output} and leaves no
  /// file behind.
  SnapshotFile write_file(std::uint64_t number, std::size_t file,
                          std::span<const SnapshotRecord> records) const;
  /// The same for the manifest.
  void write_manifest(std::uint64_t number, const SnapshotManifest& manifest) const;

  /// Throws Error{input} naming the file when it is missing, not whole, or of another job.
  SnapshotManifest read_manifest(std::uint64_t number) const;

  /// Removes all but these; as far as it can.
  void keep_only(std::span<const std::uint64_t> numbers) const noexcept;
  /// Removes what never got a manifest; no one may be writing.
  void remove_incomplete() const noexcept;

 private:
  std::vector<std::uint64_t> numbers() const;

  std::string folder_;
  std::uint64_t job_;
  std::uint64_t program_;
};

/// Reads the records of one snapshot.
class SnapshotReader {
 public:
  /// Checks sizes, headers and tables of all files. Throws Error{input} naming the file.
  SnapshotReader(const SnapshotStore& store, std::uint64_t number,
                 const SnapshotManifest& manifest);

  /// The bytes of a record, checked. Throws Error{input} naming the file.
  Bytes read(std::uint64_t key) const;

 private:
  struct Place {
    std::size_t file = 0;
    std::uint64_t offset = 0;
    std::uint64_t num_bytes = 0;
    std::uint64_t hash = 0;
  };
  std::vector<std::string> paths_;
  std::map<std::uint64_t, Place> places_;
};

/// Removes the snapshots of all runs of a job that is over, as far as it can. Not collective: one
/// rank calls it.
void remove_snapshots(const std::string& directory, const std::string& job);

/// The hash by which snapshots are told from those of other jobs.
std::uint64_t hash_of_job(const std::string& job);

}  // namespace weir
