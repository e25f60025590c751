// SPDX-License-Identifier: Apache-2.0
#include <cstring>
#include <random>
#include <string_view>

#include <gtest/gtest.h>

#include <weir/engine/resilience/merkle_tree.hpp>

namespace weir {
namespace {

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

TEST(DigestTest, AreThePublishedFunctions) {
  // FIPS 180-4 examples, and the vector of xxhash's own documentation for the empty input.
  Sha256 sha256;
  EXPECT_EQ(hexadecimal(sha256({bytes_of("abc")})),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(hexadecimal(sha256({})),
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(hexadecimal(digest_of({bytes_of("")})), "99aa06d3014798d86001c324468d497f");
}

TEST(DigestTest, DoNotDependOnWherePartsEnd) {
  const std::string text(5000, 'w');
  const auto bytes = bytes_of(text);
  for (const std::size_t cut : {0, 1, 240, 241, 4999, 5000}) {
    EXPECT_EQ(digest_of({bytes.first(cut), bytes.subspan(cut)}), digest_of({bytes})) << cut;
    EXPECT_EQ(Sha256()({bytes.first(cut), bytes.subspan(cut)}), Sha256()({bytes})) << cut;
  }
}

TEST(DigestTest, HexadecimalReadsBack) {
  Hash hash = Sha256()({bytes_of("abc")});
  Hash found{};
  ASSERT_TRUE(parse_hexadecimal(hexadecimal(hash), found));
  EXPECT_EQ(found, hash);
  EXPECT_FALSE(parse_hexadecimal(hexadecimal(hash).substr(1), found));
  std::string wrong = hexadecimal(hash);
  wrong[7] = 'g';
  EXPECT_FALSE(parse_hexadecimal(wrong, found));
}

ShardDigests digests_of(int number) {
  ShardDigests digests;
  std::memcpy(digests.state.data(), &number, sizeof number);
  digests.messages[3] = std::byte{7};
  return digests;
}

/// RFC 6962, section 2.1, word for word.
Hash textbook_root(std::span<const ShardDigests> leaves) {
  constexpr std::byte zero{0}, one{1};
  if (leaves.empty()) return Sha256()({});
  if (leaves.size() == 1)
    return Sha256()({std::span(&zero, 1), leaves[0].state, leaves[0].messages});
  std::size_t k = 1;
  while (2 * k < leaves.size()) k *= 2;
  const Hash left = textbook_root(leaves.first(k)), right = textbook_root(leaves.subspan(k));
  return Sha256()({std::span(&one, 1), left, right});
}

TEST(MerkleTreeTest, HasTheRootOfRfc6962) {
  for (std::size_t n = 0; n <= 70; ++n) {
    MerkleTree tree(n);
    std::vector<ShardDigests> leaves;
    for (std::size_t i = 0; i < n; ++i) {
      leaves.push_back(digests_of(static_cast<int>(i)));
      tree.set(i, leaves.back());
    }
    EXPECT_EQ(hexadecimal(tree.root()), hexadecimal(textbook_root(leaves))) << n;
  }
}

TEST(MerkleTreeTest, ChangesOfSomeLeavesGiveTheRootOfAll) {
  std::mt19937 random(7);
  for (const std::size_t n : {1, 2, 3, 13, 64, 257}) {
    MerkleTree tree(n);
    std::vector<ShardDigests> leaves(n);
    for (int round = 0; round < 20; ++round) {
      for (int i = 0; i < 3; ++i) {
        const std::size_t shard = random() % n;
        leaves[shard] = digests_of(static_cast<int>(random() & 0xffff));
        tree.set(shard, leaves[shard]);
      }
      ASSERT_EQ(tree.root(), textbook_root(leaves)) << n << " leaves, round " << round;
    }
  }
}

TEST(MerkleTreeTest, PathsLeadToTheRootAndNothingElseDoes) {
  for (const std::size_t n : {1, 2, 3, 5, 7, 8, 33}) {
    MerkleTree tree(n);
    for (std::size_t i = 0; i < n; ++i) tree.set(i, digests_of(static_cast<int>(i)));
    const Hash root = tree.root();
    for (std::size_t shard = 0; shard < n; ++shard) {
      const std::vector<Hash> path = tree.path(shard);
      const ShardDigests leaf = tree.leaf(shard);
      EXPECT_EQ(MerkleTree::root_by_path(leaf, shard, n, path), root);
      EXPECT_NE(MerkleTree::root_by_path(digests_of(1000), shard, n, path), root);
      if (n > 1) {
        EXPECT_NE(MerkleTree::root_by_path(leaf, (shard + 1) % n, n, path), root);
      }
      EXPECT_FALSE(MerkleTree::root_by_path(leaf, n, n, path));
      std::vector<Hash> longer = path;
      longer.push_back(root);
      EXPECT_FALSE(MerkleTree::root_by_path(leaf, shard, n, longer));
      if (!path.empty()) {
        EXPECT_FALSE(
            MerkleTree::root_by_path(leaf, shard, n, std::span(path).first(path.size() - 1)));
      }
    }
  }
}

}  // namespace
}  // namespace weir
