// SPDX-License-Identifier: Apache-2.0
#include <weir/engine/resilience/merkle_tree.hpp>

#include <algorithm>
#include <utility>

namespace weir {

namespace {

constexpr std::byte mark_of_leaf{0};
constexpr std::byte mark_of_node{1};

Hash hash_leaf(Sha256& sha256, const ShardDigests& digests) {
  return sha256({std::span(&mark_of_leaf, 1), digests.state, digests.messages});
}
Hash hash_node(Sha256& sha256, const Hash& left, const Hash& right) {
  return sha256({std::span(&mark_of_node, 1), left, right});
}

}  // namespace

MerkleTree::MerkleTree(std::size_t num_shards) : leaves_(num_shards) {
  for (std::size_t size = num_shards;; size = (size + 1) / 2) {
    levels_.emplace_back(size);
    if (size <= 1) break;
  }
  for (std::size_t shard = 0; shard < num_shards; ++shard) changed_.push_back(shard);
  if (num_shards == 0) levels_.front().push_back(sha256_({}));
}

void MerkleTree::set(std::size_t shard, const ShardDigests& digests) {
  leaves_[shard] = digests;
  changed_.push_back(shard);
}

const Hash& MerkleTree::root() {
  std::vector<std::size_t> places = std::exchange(changed_, {});
  std::sort(places.begin(), places.end());
  const auto drop_repeats = [&] {
    places.erase(std::unique(places.begin(), places.end()), places.end());
  };
  drop_repeats();
  for (const std::size_t shard : places) levels_[0][shard] = hash_leaf(sha256_, leaves_[shard]);
  for (std::size_t above = 1; above < levels_.size(); ++above) {
    const std::vector<Hash>& below = levels_[above - 1];
    for (std::size_t& place : places) place /= 2;
    drop_repeats();
    for (const std::size_t place : places) {
      levels_[above][place] = 2 * place + 1 < below.size()
                                  ? hash_node(sha256_, below[2 * place], below[2 * place + 1])
                                  : below[2 * place];
    }
  }
  return levels_.back().front();
}

std::vector<Hash> MerkleTree::path(std::size_t shard) {
  root();
  std::vector<Hash> path;
  for (std::size_t level = 0; level + 1 < levels_.size(); ++level, shard /= 2) {
    const std::size_t beside = shard ^ 1U;
    if (beside < levels_[level].size()) path.push_back(levels_[level][beside]);
  }
  return path;
}

std::optional<Hash> MerkleTree::root_by_path(const ShardDigests& digests, std::size_t shard,
                                             std::size_t num_shards, std::span<const Hash> path) {
  if (shard >= num_shards) return std::nullopt;
  Sha256 sha256;
  Hash hash = hash_leaf(sha256, digests);
  for (std::size_t size = num_shards; size > 1; size = (size + 1) / 2, shard /= 2) {
    if ((shard ^ 1U) >= size) continue;
    if (path.empty()) return std::nullopt;
    hash = shard % 2 == 0 ? hash_node(sha256, hash, path.front())
                          : hash_node(sha256, path.front(), hash);
    path = path.subspan(1);
  }
  return path.empty() ? std::optional(hash) : std::nullopt;
}

}  // namespace weir
