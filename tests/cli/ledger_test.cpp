// SPDX-License-Identifier: Apache-2.0
// weir run --ledger, --ledger-check, and weir ledger.
#include <string>

#include <gtest/gtest.h>

#include <weir/tests/cli/run_weir.hpp>

namespace weir::test {
namespace {

class LedgerTest : public Workplace {
 protected:
  static bool has(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
  }
  /// 10 iterations on 1,024 vertices.
  void keep(const std::string& name, const std::string& more = "") const {
    const auto run =
        weir("run pagerank rmat:scale=10,seed=3 --iterations 10 --ledger " + name + more);
    ASSERT_EQ(run.code, 0) << run.err;
  }
};

TEST_F(LedgerTest, IsTheSameAtAnyNumberOfRanksAndWhole) {
  keep("a");
  keep("b", " --ranks 3 --threads 2 --direction push --ledger-check");
  EXPECT_TRUE(read("a") == read("b"));
  if (!launcher_path().empty()) {
    const auto run = finish(start(under_mpirun(
        2, "run pagerank rmat:scale=10,seed=3 --iterations 10 --ledger c --ledger-check")));
    ASSERT_EQ(run.code, 0) << run.err;
    EXPECT_TRUE(read("a") == read("c"));
  }
  const auto verified = weir("ledger verify a");
  EXPECT_EQ(verified.code, 0) << verified.err;
  EXPECT_TRUE(has(verified.out,
                  "whole: 12 states of 256 shards, the last after superstep 10; "
                  "last hash "))
      << verified.out;
  const std::string hash = verified.out.substr(verified.out.size() - 65, 64);
  EXPECT_EQ(weir("ledger verify a --hash " + hash).code, 0);
  const auto other = weir("ledger verify a --hash " + std::string(64, '0'));
  EXPECT_EQ(other.code, 1);
  EXPECT_TRUE(has(other.out, "its last hash is " + hash)) << other.out;
  const auto equal = weir("ledger diff a b");
  EXPECT_EQ(equal.code, 0) << equal.err;
  EXPECT_EQ(equal.out, "equal: 256 shards, the last after superstep 10\n");
}

TEST_F(LedgerTest, DiffTellsTheConfigurationThenWhereTheRunsPart) {
  keep("a");
  keep("b", " --damping 0.8");
  const auto differs = weir("ledger diff a b");
  EXPECT_EQ(differs.code, 1);
  EXPECT_TRUE(has(differs.out, "configuration: job is ")) << differs.out;
  EXPECT_TRUE(has(differs.out, "\ndifferent: first after superstep 1, in shard 0 (state); "))
      << differs.out;
  EXPECT_EQ(weir("run pagerank rmat:scale=10,seed=3 --iterations 7 --ledger c").code, 0);
  const auto shorter = weir("ledger diff a c");
  EXPECT_EQ(shorter.code, 1);
  EXPECT_TRUE(has(shorter.out, "after superstep 7")) << shorter.out;
  EXPECT_EQ(weir("run pagerank rmat:scale=10,seed=3 --shards 9 --ledger d").code, 0);
  const auto shards = weir("ledger diff a d");
  EXPECT_EQ(shards.code, 3);
  EXPECT_TRUE(has(shards.err, "a has 256 shards, d has 9")) << shards.err;
}

TEST_F(LedgerTest, ProofsAreCheckedWithoutTheLedger) {
  keep("a");
  const auto proved = weir("ledger prove a --superstep 7 --shard 13 --output proof.json");
  ASSERT_EQ(proved.code, 0) << proved.err;
  const std::string root = proved.out.substr(5, 64);
  const auto holds = weir("ledger check proof.json --root " + root);
  EXPECT_EQ(holds.code, 0) << holds.err;
  EXPECT_TRUE(has(holds.out, "holds: shard 13 after superstep 7 had state ")) << holds.out;
  EXPECT_TRUE(has(weir("ledger check proof.json").out, "compare its hash with one you trust"));
  const auto other = weir("ledger check proof.json --root " + std::string(64, 'a'));
  EXPECT_EQ(other.code, 1);
  EXPECT_TRUE(has(other.out, "does not hold: its root is " + root)) << other.out;

  const std::string proof = read("proof.json");
  std::string forged = proof;
  const std::size_t state = forged.find("\"state\": \"") + 10;
  forged[state] = forged[state] == '0' ? '1' : '0';
  write("forged.json", forged);
  const auto fails = weir("ledger check forged.json");
  EXPECT_EQ(fails.code, 1);
  EXPECT_EQ(fails.out, "does not hold: the path does not lead to the root\n");
  for (const std::string& text :
       {std::string("{}"), std::string("["), std::string(), std::string(100000, '['),
        std::string("{\"weir_ledger_proof\":1,\"num_shards\":-3}"), proof.substr(0, 200)}) {
    write("hostile.json", text);
    const auto refused = weir("ledger check hostile.json");
    EXPECT_EQ(refused.code, 3) << text.substr(0, 40);
    EXPECT_TRUE(has(refused.err, "hostile.json: is no proof of a ledger")) << refused.err;
  }
}

TEST_F(LedgerTest, DamagedFilesAreNamedWithTheSuperstep) {
  keep("a");
  std::string text = read("a");
  write("short", text.substr(0, text.size() - 10));
  const auto cut = weir("ledger verify short");
  EXPECT_EQ(cut.code, 3);
  EXPECT_TRUE(has(cut.err, "short: ") && has(cut.err, "is cut off; whole up to superstep 9"))
      << cut.err;
  text[text.size() - 100] = static_cast<char>(text[text.size() - 100] ^ 4);
  write("damaged", text);
  const auto damaged = weir("ledger verify damaged");
  EXPECT_EQ(damaged.code, 3);
  EXPECT_TRUE(has(damaged.err, "damaged: superstep 10: its root is not that of its shards"))
      << damaged.err;
  EXPECT_EQ(weir("ledger diff a damaged").code, 3);
  write("none", "1 2\n2 3\n");
  EXPECT_TRUE(has(weir("ledger verify none").err, "none: is no ledger"));
}

TEST_F(LedgerTest, WrongCommandLinesAreRefused) {
  for (const std::string line :
       {"ledger verify", "ledger look a", "ledger verify a b", "ledger diff a",
        "ledger prove a --superstep 1", "ledger verify a --shard 1", "ledger check a --root 12",
        "ledger verify a --root "
        "0000000000000000000000000000000000000000000000000000000000000000",
        "run pagerank path:9 --ledger -", "run pagerank path:9 --ledger r --output r"}) {
    const auto run = weir(line);
    EXPECT_EQ(run.code, 2) << line << ": " << run.err;
  }
  keep("a");
  const auto shard = weir("ledger prove a --superstep 1 --shard 256");
  EXPECT_EQ(shard.code, 2);
  EXPECT_TRUE(has(shard.err, "--shard: found 256; there are 256")) << shard.err;
  const auto superstep = weir("ledger prove a --superstep 11 --shard 0");
  EXPECT_EQ(superstep.code, 2);
  EXPECT_TRUE(has(superstep.err, "--superstep: found 11, which is not in a")) << superstep.err;
}

}  // namespace
}  // namespace weir::test
