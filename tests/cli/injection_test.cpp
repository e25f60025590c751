// SPDX-License-Identifier: Apache-2.0
#include <weir/cli/injection.hpp>

#include <string>

#include <gtest/gtest.h>

#include <weir/engine/model/error.hpp>
#include <weir/tests/cli/run_weir.hpp>

namespace weir::test {

namespace {

using cli::Injection;
using cli::RankFault;

Injection parsed(const std::string& text) { return cli::parse_injection("--inject", text); }

TEST(Injection, ReadsWhatRanksDo) {
  const Injection injection =
      parsed("rank2.slow=10,rank1.kill@superstep=7,rank0.kill*@barrier=0,rank3.pause=2.5s@send=12");
  EXPECT_EQ(injection.slowness.at(2), 10);
  EXPECT_FALSE(injection.has_link_faults);
  EXPECT_EQ(injection.highest_rank(), 3);
  ASSERT_EQ(injection.rank_faults.size(), 3u);
  const RankFault& kill = injection.rank_faults[0];
  EXPECT_EQ(kill.rank, 1);
  EXPECT_EQ(kill.act, RankFault::Act::kill);
  EXPECT_EQ(kill.point, RankFault::Point::superstep);
  EXPECT_EQ(kill.superstep, 7);
  EXPECT_FALSE(kill.is_repeated);
  EXPECT_TRUE(injection.rank_faults[1].is_repeated);
  EXPECT_EQ(injection.rank_faults[1].point, RankFault::Point::barrier);
  EXPECT_EQ(injection.rank_faults[2].act, RankFault::Act::pause);
  EXPECT_EQ(injection.rank_faults[2].point, RankFault::Point::send);
  EXPECT_EQ(injection.rank_faults[2].pause, std::chrono::milliseconds(2500));
}

TEST(Injection, ReadsPointsOfSnapshots) {
  const Injection injection = parsed(
      "rank1.kill@snapshot=7,rank0.crash@before-manifest=8,rank0.stop@after-manifest=9,"
      "rank2.kill*@resume=1");
  ASSERT_EQ(injection.rank_faults.size(), 4u);
  EXPECT_EQ(injection.rank_faults[0].point, RankFault::Point::snapshot);
  EXPECT_EQ(injection.rank_faults[1].point, RankFault::Point::before_manifest);
  EXPECT_EQ(injection.rank_faults[2].point, RankFault::Point::after_manifest);
  EXPECT_EQ(injection.rank_faults[3].point, RankFault::Point::resume);
  EXPECT_EQ(injection.rank_faults[3].superstep, 1);
}

TEST(Injection, ReadsPartitions) {
  const Injection injection = parsed("partition0+2/1+4=50ms@superstep=3,partition1/0*@superstep=5");
  ASSERT_EQ(injection.partitions.size(), 2u);
  const cli::Partition& first = injection.partitions[0];
  EXPECT_EQ(first.cut_from(0), (std::vector<Rank>{1, 4}));
  EXPECT_EQ(first.cut_from(4), (std::vector<Rank>{0, 2}));
  EXPECT_TRUE(first.cut_from(3).empty());
  EXPECT_EQ(first.superstep, 3);
  EXPECT_EQ(first.time, std::chrono::milliseconds(50));
  EXPECT_FALSE(first.is_repeated);
  EXPECT_FALSE(injection.partitions[1].time);
  EXPECT_TRUE(injection.partitions[1].is_repeated);
  EXPECT_EQ(injection.highest_rank(), 4);
}

TEST(Injection, ALinkHasWhatAllHaveAndItsOwn) {
  const Injection injection = parsed(
      "link0-1.bandwidth=100Mbit,link1-0.delay=2ms,link.drop=0.01,link.duplicate=0.25,"
      "link.reorder=1,seed=5");
  EXPECT_TRUE(injection.has_link_faults);
  EXPECT_EQ(injection.highest_rank(), 1);
  for (const Faults& own : {injection.link(0, 1), injection.link(1, 0)}) {
    EXPECT_EQ(own.bytes_per_second, 12.5e6);
    EXPECT_EQ(own.delay, std::chrono::milliseconds(2));
    EXPECT_EQ(own.drop_probability, 0.01);
    EXPECT_EQ(own.seed, 5u);
  }
  const Faults other = injection.link(2, 1);
  EXPECT_EQ(other.bytes_per_second, 0);
  EXPECT_EQ(other.delay.count(), 0);
  EXPECT_EQ(other.duplicate_probability, 0.25);
  EXPECT_EQ(other.reorder_probability, 1);
}

TEST(Injection, RefusesTheRestAndQuotesIt) {
  for (const std::string text : {"",
                                 "rank1",
                                 "rank.kill@superstep=1",
                                 "rankx.kill@superstep=1",
                                 "rank1.kil@superstep=1",
                                 "rank1.kill",
                                 "rank1.kill@",
                                 "rank1.kill@superstep",
                                 "rank1.kill@superstep=",
                                 "rank1.kill@superstep=-1",
                                 "rank1.kill@superstep=1x",
                                 "rank1.kill@end=1",
                                 "rank1.kill@before-manifest=3",
                                 "rank1.kill@manifest=3",
                                 "partition0",
                                 "partition0/",
                                 "partition0/1",
                                 "partition0/1@superstep",
                                 "partition0+1/1@superstep=2",
                                 "partition0/1=2@superstep=2",
                                 "partition0/1=2s@barrier=2",
                                 "partition/1@superstep=2",
                                 "rank1.slow=0.5",
                                 "rank1.slow=x",
                                 "rank1.slow=2x",
                                 "rank1.pause@superstep=1",
                                 "rank1.pause=2@superstep=1",
                                 "rank1.pause=-2s@superstep=1",
                                 "link.drop=1.5",
                                 "link.drop=",
                                 "link.drop=0.1x",
                                 "link.bandwidth=0Mbit",
                                 "link.bandwidth=10MB",
                                 "link0.drop=0.1",
                                 "link0-0.drop=0.1",
                                 "link0-1drop=0.1",
                                 "link.loss=0.1",
                                 "link.delay=2",
                                 "seed=x",
                                 "seed=-1",
                                 "seed=",
                                 "slow=2",
                                 "link.drop=0.1,,seed=1",
                                 "rank99999999999.kill@superstep=1"}) {
    try {
      parsed(text);
      ADD_FAILURE() << text << " was taken";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::usage) << text;
      EXPECT_TRUE(error.text().starts_with("--inject: found ")) << error.text();
    }
  }
}

class InjectTest : public Workplace {};

TEST_F(InjectTest, LinksChangeNoBit) {
  const std::string line =
      "run pagerank,wcc,sssp --weighted rmat:scale=8,seed=5,weights=9 --source 1 --digest --quiet";
  const auto plain = weir(line);
  ASSERT_EQ(plain.code, 0) << plain.err;
  for (const std::string spec :
       {"link.drop=0.2", "link.duplicate=0.3", "link.reorder=1", "link.delay=500us",
        "link.bandwidth=50Mbit", "link0-1.bandwidth=20Mbit,link1-2.delay=1ms",
        "link.drop=0.1,link.duplicate=0.1,link.reorder=0.5,link0-2.delay=200us,seed=9"}) {
    const auto run = weir(line + " --ranks 3 --inject " + spec);
    EXPECT_EQ(run.code, 0) << spec << "\n" << run.err;
    EXPECT_EQ(run.out, plain.out) << spec;
  }
}

TEST_F(InjectTest, SlowAndPausedRanksChangeNoBit) {
  const std::string line = "run pagerank rmat:scale=8,seed=5 --digest --quiet";
  const auto plain = weir(line);
  const auto run = weir(
      line + " --ranks 3 --inject rank2.slow=10,rank0.pause=20ms@send=3,rank1.pause=5ms@barrier=4");
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_EQ(run.out, plain.out);
}

TEST_F(InjectTest, EveryPointIsReached) {
  for (const std::string point : {"superstep", "send", "barrier"}) {
    const auto run =
        weir("run pagerank rmat:scale=8,seed=5 --ranks 2 --inject rank1.kill@" + point + "=3");
    EXPECT_EQ(run.code, 128 + SIGKILL) << point << "\n" << run.err;
  }
  for (const std::string fault : {"rank1.kill@snapshot=6", "rank0.kill@before-manifest=6",
                                  "rank0.kill@after-manifest=6", "rank1.kill@resume=0"}) {
    const auto run = weir(
        "run pagerank rmat:scale=8,seed=5 --iterations 200 --ranks 2 --snapshots kept "
        "--snapshot-every 3 --inject link.delay=1ms," +
        fault + (fault.find("resume") == std::string::npos ? "" : " --resume"));
    EXPECT_EQ(run.code, 128 + SIGKILL) << fault << "\n" << run.err;
    // What the kill left: the half of a file, a manifest without its name, a whole snapshot.
    const bool is_of_manifest = fault.find("before") != std::string::npos;
    EXPECT_EQ(files_with("manifest.part").size(), is_of_manifest ? 1u : 0u) << fault;
    if (fault.find("snapshot") != std::string::npos) {
      EXPECT_EQ(files_with("rank-1.part").size(), 1u);
    }
  }
  // One rank alone has a barrier too.
  EXPECT_EQ(weir("run pagerank rmat:scale=8,seed=5 --inject rank0.kill@barrier=3").code,
            128 + SIGKILL);
}

TEST_F(InjectTest, APartitionThatHealsChangesNoBit) {
  const std::string line =
      "run pagerank,sssp --weighted rmat:scale=8,seed=5,weights=9 --source 1 --digest --quiet";
  const auto plain = weir(line);
  const auto run = weir(line + " --ranks 4 --inject partition0+1/2+3=50ms@superstep=2");
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_EQ(run.out, plain.out);
  EXPECT_GE(run.seconds, 0.05);
}

TEST_F(InjectTest, APartitionForEverEndsAtTheDeadlineAndNamesWhoIsMissing) {
  const auto run = weir(
      "run pagerank rmat:scale=8,seed=5 --ranks 3 --quiet --deadline 3 --inject "
      "partition0+1/2@superstep=4");
  EXPECT_EQ(run.code, 1);
  EXPECT_NE(run.err.find("weir: rank "), std::string::npos) << run.err;
  EXPECT_NE(run.err.find("superstep 4) for rank "), std::string::npos) << run.err;
}

TEST_F(InjectTest, ARankThatIsNotThereIsRefused) {
  const auto run = weir("run wcc path:9 --ranks 2 --inject rank2.kill@superstep=1");
  EXPECT_EQ(run.code, 2);
  EXPECT_EQ(run.err, "weir: --inject: found rank 2; expected one below 2\n");
}

}  // namespace

}  // namespace weir::test
