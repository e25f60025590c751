// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>

#include <gtest/gtest.h>

#include <weir/engine/model/error.hpp>
#include <weir/engine/resilience/ledger_file.hpp>

namespace weir {
namespace {

namespace fs = std::filesystem;

class LedgerFileTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = fs::temp_directory_path() / "weir-ledger-XXXXXX";
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string path(const std::string& name = "run.ledger") const { return folder_ / name; }
  std::string bytes(const std::string& name = "run.ledger") const {
    std::ifstream in(path(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  void write(const std::string& text, const std::string& name = "run.ledger") const {
    std::ofstream(path(name), std::ios::binary) << text;
  }

  fs::path folder_;
};

constexpr std::uint32_t num_shards = 5;

LedgerIdentity identity() { return {num_shards, {{"program", "ranks of pages"}, {"seed", "1"}}}; }
ShardDigests digests(Superstep step, std::uint32_t shard) {
  ShardDigests made;
  made.state[0] = static_cast<std::byte>(step + 1);
  made.state[1] = static_cast<std::byte>(shard);
  return made;
}
std::vector<ShardChange> all_shards(Superstep step) {
  std::vector<ShardChange> changes;
  for (std::uint32_t shard = 0; shard < num_shards; ++shard)
    changes.push_back({shard, digests(step, shard)});
  return changes;
}
/// Supersteps 0 to `last`; of an odd one only shard 3 changed.
void append_steps(LedgerWriter& writer, Superstep first, Superstep last) {
  for (Superstep step = first; step <= last; ++step) {
    const LedgerHeader header{.superstep = step, .num_unhalted = 7};
    if (step % 2 != 0) {
      const ShardChange change{3, digests(step, 3)};
      writer.append(header, std::span(&change, 1));
    } else {
      writer.append(header, all_shards(step));
    }
  }
}
void write_ledger(const std::string& path, Superstep last) {
  LedgerWriter writer(path, identity());
  writer.append({.superstep = -1}, all_shards(-1));
  append_steps(writer, 0, last);
}

std::string fault_in(const std::string& path) {
  try {
    LedgerReader reader(path);
    while (reader.next()) {
    }
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::input) << error.what();
    return error.what();
  }
  return "";
}

TEST_F(LedgerFileTest, WhatWasWrittenIsRead) {
  write_ledger(path(), 4);
  LedgerReader reader(path());
  EXPECT_EQ(reader.identity(), identity());
  Hash previous{};
  for (Superstep step = -1; step <= 4; ++step) {
    ASSERT_TRUE(reader.next());
    EXPECT_EQ(reader.header().superstep, step);
    if (step >= 0) {
      EXPECT_EQ(reader.previous(), previous);
    }
    EXPECT_EQ(reader.header().hash(reader.previous()), reader.hash());
    previous = reader.hash();
    const Superstep last_dense = step % 2 != 0 && step > 0 ? step - 1 : step;
    EXPECT_EQ(reader.tree().leaf(3), digests(step, 3));
    EXPECT_EQ(reader.tree().leaf(4), digests(last_dense, 4));
  }
  EXPECT_FALSE(reader.next());
  EXPECT_EQ(reader.offset(), bytes().size());
}

TEST_F(LedgerFileTest, OnlyChangedShardsAreStored) {
  write_ledger(path(), 0);
  const std::size_t before = bytes().size();
  write_ledger(path(), 1);
  EXPECT_EQ(bytes().size() - before, 144 + 36);
}

TEST_F(LedgerFileTest, EveryFlippedBitAndEveryCutIsFound) {
  write_ledger(path(), 3);
  const std::string whole = bytes();
  ASSERT_EQ(fault_in(path()), "");
  for (std::size_t bit = 0; bit < 8 * whole.size(); ++bit) {
    std::string damaged = whole;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << bit % 8));
    write(damaged);
    ASSERT_NE(fault_in(path()), "") << "bit " << bit;
  }
  std::size_t num_whole = 0;  // a chain that ends early is a chain: its last hash tells
  for (std::size_t size = 0; size < whole.size(); ++size) {
    write(whole.substr(0, size));
    if (fault_in(path()).empty()) ++num_whole;
  }
  EXPECT_EQ(num_whole, 5u);
}

TEST_F(LedgerFileTest, SaysWhereTheChainBreaks) {
  write_ledger(path(), 3);
  const std::string whole = bytes();
  write_ledger(path(), 1);
  const std::size_t end = bytes().size();  // of superstep 1
  std::string damaged = whole;
  damaged[end + 144 + 4] ^= 1;  // the first shard of superstep 2
  write(damaged);
  EXPECT_NE(fault_in(path()).find("superstep 2: its root is not that of its shards; whole up to "
                                  "superstep 1"),
            std::string::npos)
      << fault_in(path());
  damaged = whole;
  damaged[end + 16] ^= 1;  // num_unhalted
  write(damaged);
  EXPECT_NE(fault_in(path()).find("superstep 2: its header is not what the chain says"),
            std::string::npos)
      << fault_in(path());
  write(whole.substr(0, end + 150));
  EXPECT_NE(fault_in(path()).find("is cut off; whole up to superstep 1"), std::string::npos)
      << fault_in(path());
}

TEST_F(LedgerFileTest, HostileFilesAreRefusedWithoutTheirMemory) {
  write_ledger(path(), 0);
  const std::string whole = bytes();
  const auto with_number = [&](std::size_t at, std::uint64_t number) {
    std::string text = whole;
    text.replace(at, 8, reinterpret_cast<const char*>(&number), 8);
    write(text);
    return fault_in(path());
  };
  for (const std::uint64_t number : {std::uint64_t{0}, std::uint64_t{1} << 31, ~std::uint64_t{0}}) {
    EXPECT_NE(with_number(8, number), "") << "shards " << number;
    EXPECT_NE(with_number(16, number), "") << "text " << number;
  }
  std::mt19937 random(3);
  for (int i = 0; i < 2000; ++i) {
    std::string text = whole;
    for (int k = 0; k < 8; ++k) text[random() % text.size()] = static_cast<char>(random());
    write(text);
    EXPECT_NE(fault_in(path()), "");
  }
  write("");
  EXPECT_NE(fault_in(path()).find("is no ledger"), std::string::npos);
  write("weirldg2" + whole.substr(8));
  EXPECT_NE(fault_in(path()).find("is no ledger"), std::string::npos);
  EXPECT_NE(fault_in(path("none")).find("cannot open"), std::string::npos);
  EXPECT_NE(fault_in(folder_).find("expected a regular file"), std::string::npos);
}

TEST_F(LedgerFileTest, GoesOnBehindARecordAsIfItHadNeverEnded) {
  write_ledger(path("whole"), 6);
  write_ledger(path(), 4);  // its last two are run again
  {
    auto writer = LedgerWriter::resume(path(), identity(), 2, all_shards(2));
    ASSERT_TRUE(writer);
    append_steps(*writer, 3, 6);
  }
  EXPECT_EQ(bytes(), bytes("whole"));
}

TEST_F(LedgerFileTest, GoesOnBehindNothingElse) {
  write_ledger(path(), 4);
  const std::string before = bytes();
  EXPECT_FALSE(LedgerWriter::resume(path("none"), identity(), 2, all_shards(2)));
  EXPECT_FALSE(LedgerWriter::resume(path(), identity(), 5, all_shards(5))) << "not so far";
  EXPECT_FALSE(LedgerWriter::resume(path(), identity(), 2, all_shards(3))) << "another state";
  LedgerIdentity other = identity();
  other.configuration.back().second = "2";
  EXPECT_FALSE(LedgerWriter::resume(path(), other, 2, all_shards(2))) << "another job";
  EXPECT_EQ(bytes(), before);
}

TEST_F(LedgerFileTest, ProofsHoldForWhatTheySayAlone) {
  write_ledger(path(), 3);
  LedgerReader reader(path());
  while (reader.next() && reader.header().superstep < 2) {
  }
  LedgerProof proof{num_shards,
                    4,
                    reader.tree().leaf(4),
                    reader.tree().path(4),
                    reader.header(),
                    reader.previous(),
                    reader.hash()};
  EXPECT_EQ(fault_of(proof), "");
  const auto broken = [&](const auto& change) {
    LedgerProof changed = proof;
    change(changed);
    return fault_of(changed);
  };
  EXPECT_NE(broken([](LedgerProof& p) { p.digests.state[5] ^= std::byte{1}; }), "");
  EXPECT_NE(broken([](LedgerProof& p) { p.shard = 3; }), "");
  EXPECT_NE(broken([](LedgerProof& p) { p.num_shards = 6; }), "");
  EXPECT_NE(broken([](LedgerProof& p) { p.path.pop_back(); }), "");
  EXPECT_NE(broken([](LedgerProof& p) { p.header.num_sent = 1; }), "");
  EXPECT_NE(broken([](LedgerProof& p) { p.previous[0] ^= std::byte{1}; }), "");
  EXPECT_NE(broken([](LedgerProof& p) { p.hash[0] ^= std::byte{1}; }), "");
}

}  // namespace
}  // namespace weir
