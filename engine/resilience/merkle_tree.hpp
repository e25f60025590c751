// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <weir/engine/resilience/digest.hpp>

namespace weir {

/// What a ledger says of one shard after a superstep.
struct ShardDigests {
  Digest state{};     ///< values and flags of its vertices
  Digest messages{};  ///< what they published, and what was sent to them; all zero: nothing
  friend bool operator==(const ShardDigests&, const ShardDigests&) = default;
};

/// Hash tree over the shards of a graph ([RFC6962 §2.1]): a leaf is SHA-256 of a zero byte and the
/// shard's digests, a node of a one byte and its two children, and n leaves split at the largest
/// power of two below n. That is `tree`, by which shards are folded everywhere
/// (docs/semantics.md, part 4).
class MerkleTree {
 public:
  explicit MerkleTree(std::size_t num_shards);

  std::size_t num_shards() const { return leaves_.size(); }
  const ShardDigests& leaf(std::size_t shard) const { return leaves_[shard]; }
  void set(std::size_t shard, const ShardDigests& digests);

  /// The hash at the top. Costs the hashes above what was set since the last call.
  const Hash& root();

  /// The hashes beside the way from a shard's leaf to the root, from below; ceil(log2 n) at most.
  std::vector<Hash> path(std::size_t shard);

  /// The root that a leaf and a path lead to; nothing where the path has a wrong length.
  static std::optional<Hash> root_by_path(const ShardDigests& digests, std::size_t shard,
                                          std::size_t num_shards, std::span<const Hash> path);

 private:
  Sha256 sha256_;
  std::vector<ShardDigests> leaves_;
  // Level by level from the leaves' hashes up: pairs have a parent each, a last one alone goes up
  // as it is, which is the split at powers of two.
  std::vector<std::vector<Hash>> levels_;
  std::vector<std::size_t> changed_;
};

}  // namespace weir
