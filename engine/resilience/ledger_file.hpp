// SPDX-License-Identifier: Apache-2.0
// Ledgers as files: docs/formats.md says what the bytes are, docs/guide/ledger.md what they are
// for.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <weir/engine/model/ids.hpp>
#include <weir/engine/resilience/digest.hpp>
#include <weir/engine/resilience/merkle_tree.hpp>

namespace weir {

/// What a ledger is of. Two runs of which these are equal must have equal ledgers.
struct LedgerIdentity {
  std::uint64_t num_shards = 0;
  /// `name value` pairs in the order they were given; names are single words, values single lines.
  std::vector<std::pair<std::string, std::string>> configuration{};

  std::string text() const;  ///< one pair a line
  friend bool operator==(const LedgerIdentity&, const LedgerIdentity&) = default;
};

/// What is said of a superstep as a whole.
struct LedgerHeader {
  Superstep superstep = 0;  ///< the last that was run: -1 before the first
  std::uint64_t phase = 0;
  std::uint64_t num_unhalted = 0;
  std::uint64_t num_scattered = 0;
  std::uint64_t num_sent = 0;
  Hash agreed{};  ///< of aggregates and the master's state
  Hash root{};    ///< of the tree over the shards

  /// Of this header after the one with the hash `previous`.
  Hash hash(const Hash& previous) const;
  friend bool operator==(const LedgerHeader&, const LedgerHeader&) = default;
};

/// A shard of which a superstep changed what a ledger says.
struct ShardChange {
  std::uint32_t shard = 0;
  ShardDigests digests{};
};

/// Writes a ledger, record by record; what was appended survives the process.
///
/// The chain begins with a hash of the identity; the header of each record takes in the hash of the
/// one before. A record stores only the shards that changed.
class LedgerWriter {
 public:
  /// Begins a file anew. Throws Error{output}.
  LedgerWriter(std::string path, const LedgerIdentity& identity);
  /// Goes on behind the record of `last`; later records are cut off. Nothing if the file is not
  /// there, not of this identity, not whole up to that record, or says other things of it.
  static std::optional<LedgerWriter> resume(const std::string& path, const LedgerIdentity& identity,
                                            Superstep last, std::span<const ShardChange> expected);
  ~LedgerWriter();
  LedgerWriter(LedgerWriter&&) noexcept;
  LedgerWriter& operator=(LedgerWriter&&) noexcept;

  /// Appends a record; `header.root` is set here. `changes`: ascending by shard; what is as before
  /// may be among them, the first record names every shard. Throws Error{output}.
  void append(LedgerHeader header, std::span<const ShardChange> changes);

 private:
  struct State;
  explicit LedgerWriter(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

/// Reads a ledger front to back and believes nothing: every hash is computed again.
class LedgerReader {
 public:
  /// Throws Error{input} unless it begins as a ledger.
  explicit LedgerReader(std::string path);
  ~LedgerReader();
  LedgerReader(const LedgerReader&) = delete;
  LedgerReader& operator=(const LedgerReader&) = delete;

  const std::string& path() const;
  const LedgerIdentity& identity() const;

  /// Takes the next record; false at the end of the file. Throws Error{input}, naming the superstep
  /// and what does not fit, when the file is cut off, the chain broken, or a root is not that of
  /// the shards.
  bool next();

  // Of the record taken last.
  const LedgerHeader& header() const;
  const Hash& previous() const;  ///< hash of the header before it
  const Hash& hash() const;      ///< of its header
  std::uint64_t offset() const;  ///< where it ends in the file
  MerkleTree& tree();            ///< of all shards

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// That a shard was in this state after this superstep: to be checked without the ledger.
struct LedgerProof {
  std::uint64_t num_shards = 0;
  std::uint32_t shard = 0;
  ShardDigests digests{};
  std::vector<Hash> path{};  ///< from the shard's leaf up
  LedgerHeader header{};
  Hash previous{};
  Hash hash{};  ///< of the header, as the chain goes on with it
};

/// What is wrong with a proof, or nothing. A proof that holds says: a ledger whose header of this
/// superstep has this hash has these digests of this shard.
std::string fault_of(const LedgerProof& proof);

}  // namespace weir
