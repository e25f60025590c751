// SPDX-License-Identifier: Apache-2.0
// Runs that stop and go on from a snapshot: docs/guide/failures.md.
#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <mutex>
#include <random>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <sys/resource.h>

#include <gtest/gtest.h>

#include <weir/algorithms/betweenness.hpp>
#include <weir/algorithms/bipartite_matching.hpp>
#include <weir/algorithms/breadth_first_search.hpp>
#include <weir/algorithms/label_propagation.hpp>
#include <weir/algorithms/pagerank.hpp>
#include <weir/algorithms/shortest_paths.hpp>
#include <weir/engine/resilience/snapshot_store.hpp>
#include <weir/tests/engine/superstep/job.hpp>

namespace weir {
namespace {

namespace fs = std::filesystem;
using cases::Input;
using cases::on_ranks;

class Folder {
 public:
  Folder() {
    std::string name = fs::temp_directory_path() / "weir-snapshots-XXXXXX";
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
    path_ = name;
  }
  ~Folder() { fs::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  std::string path() const { return path_.string(); }
  /// Files whose path holds the text.
  std::vector<fs::path> files(const std::string& text = "") const {
    std::vector<fs::path> found;
    for (const auto& entry : fs::recursive_directory_iterator(path_)) {
      if (entry.is_regular_file() && entry.path().string().find(text) != std::string::npos)
        found.push_back(entry.path());
    }
    std::sort(found.begin(), found.end());
    return found;
  }

 private:
  fs::path path_;
};

/// Keeps what all ranks say of a level.
class Said final : public LogSink {
 public:
  explicit Said(LogLevel level) : level_(level) {}
  void write(LogLevel level, std::string_view text) override {
    if (level != level_) return;
    const std::lock_guard lock(mutex_);
    text_.append(text).append("\n");
  }
  std::string text() {
    const std::lock_guard lock(mutex_);
    return text_;
  }

 private:
  LogLevel level_;
  std::mutex mutex_;
  std::string text_;
};

/// A job on one rank: builds its graph, runs, and tells the outcome as text.
using JobBody = std::function<std::string(Context&, const RunOptions&)>;

std::string outcome_of(const JobBody& body, Rank ranks, const RunOptions& options,
                       LogSink* log = nullptr) {
  std::vector<std::string> texts(static_cast<std::size_t>(ranks));
  run_in_process(ranks, {.threads = 1, .deadline = std::chrono::seconds(30), .log = log},
                 [&](Context& context) {
                   std::string& text = texts[static_cast<std::size_t>(context.rank())];
                   try {
                     text = body(context, options);
                   } catch (const Error& error) {
                     text = std::string(name_of(error.code())) + ": " + error.what();
                   }
                 });
  for (const auto& text : texts) EXPECT_EQ(text, texts[0]) << "ranks differ among each other";
  return texts[0];
}

/// Stops in the `stop_at`-th superstep of the job with a snapshot.
std::string stop_in(const JobBody& body, Rank ranks, RunOptions options, int stop_at) {
  std::atomic<int> num_begun{0};
  options.before_superstep = [&, token = options.snapshots.stop, ranks](Superstep) {
    if (++num_begun == stop_at * ranks) token.cancel();
  };
  return outcome_of(body, ranks, options);
}

struct Resumed {
  std::string outcome;
  int num_supersteps = 0;  ///< of this attempt
  Superstep first = -1;
};
Resumed go_on(const JobBody& body, Rank ranks, RunOptions options, LogSink* log = nullptr) {
  Resumed resumed;
  std::mutex mutex;
  options.snapshots.stop = CancelToken();
  options.snapshots.resume = true;
  options.before_superstep = [&](Superstep step) {
    const std::lock_guard lock(mutex);
    if (resumed.num_supersteps++ == 0) resumed.first = step;
  };
  resumed.outcome = outcome_of(body, ranks, options, log);
  resumed.num_supersteps /= ranks;
  return resumed;
}

constexpr std::array<std::pair<Rank, Rank>, 5> moves = {{{4, 3}, {3, 6}, {1, 4}, {4, 1}, {2, 2}}};

/// Stopped in several supersteps and taken up at other numbers of ranks, the job ends as it does
/// undisturbed.
void expect_goes_on(const JobBody& body, RunOptions options = {}, int most_supersteps = 6) {
  const std::string expected = outcome_of(body, 3, options);
  ASSERT_EQ(expected.find("error"), std::string::npos) << expected;
  int num_stopped = 0;
  for (int stop_at = 1; stop_at <= most_supersteps; ++stop_at) {
    for (const auto& [before, after] : moves) {
      const Folder folder;
      options.snapshots = {.directory = folder.path(), .every = 1000};
      const std::string stopped = stop_in(body, before, options, stop_at);
      if (stopped == expected) return;  // over before
      ASSERT_EQ(stopped.substr(0, 9), "cancelled") << stopped;
      EXPECT_NE(stopped.find("a snapshot after superstep"), std::string::npos) << stopped;
      Said said(LogLevel::info);
      const Resumed resumed = go_on(body, after, options, &said);
      EXPECT_EQ(resumed.outcome, expected)
          << before << " to " << after << " ranks, stopped in superstep " << stop_at;
      EXPECT_NE(said.text().find("going on from the snapshot"), std::string::npos) << said.text();
      ++num_stopped;
    }
  }
  EXPECT_GT(num_stopped, 0);
}

template <class E, class F>
JobBody job_of(Input<E> input, F run, bool is_synchronous = true) {
  return [=](Context& context, const RunOptions& options) {
    Graph<E> graph = cases::build(context, input);
    const auto result = run(graph, options);
    return is_synchronous ? cases::describe(result) : cases::values_of(result);
  };
}

/// A few hundred arcs with hubs, dangling vertices and values.
Input<double> tangled(bool is_directed, VertexId num_vertices = 120) {
  std::mt19937_64 random(7);
  Input<double> input{.edges = {}, .options = {.is_directed = is_directed}};
  for (VertexId v = 2; v <= num_vertices; ++v) {
    const auto near = static_cast<VertexId>(1 + random() % static_cast<std::uint64_t>(v - 1));
    input.edges.push_back({near, v, 0.1 + static_cast<double>(random() % 1000) / 7});
    if (v % 5 == 0) input.edges.push_back({v, v / 5, static_cast<double>(random() % 1000) / 3});
  }
  input.vertices = {num_vertices + 3};
  return input;
}

RunOptions by(Direction direction) { return {.direction = direction}; }

TEST(Snapshots, of_pagerank_with_dangling_vertices_and_a_tolerance) {
  const auto job = job_of(tangled(true), [](const auto& graph, const RunOptions& options) {
    return pagerank(graph, {.iterations = 30, .tolerance = 1e-5, .run = options});
  });
  expect_goes_on(job);
  expect_goes_on(job, by(Direction::push), 3);
}

TEST(Snapshots, of_breadth_first_search) {
  Input<double> chain = tangled(true);
  for (VertexId v = 1; v < 60; ++v) chain.edges.push_back({v, v + 1, 1.0});
  const auto search = [](const auto& graph, const RunOptions& options) {
    return breadth_first_search(graph, {.sources = {1}, .run = options});
  };
  expect_goes_on(job_of(chain, search));
  expect_goes_on(job_of(chain, search), by(Direction::push));
  expect_goes_on(job_of(chain, search), by(Direction::pull), 3);
}

TEST(Snapshots, of_monotone_programs_at_their_local_fixed_points) {
  const auto paths = [](const auto& graph, const RunOptions& options) {
    return shortest_paths(graph, {.sources = {1}, .run = options});
  };
  expect_goes_on(job_of(tangled(false), paths, false));
  expect_goes_on(job_of(tangled(false), paths, false), by(Direction::push), 4);
  // Every rank has its own piece of a long chain: work that is left comes from other ranks alone.
  Input<double> chain{.edges = {}, .options = {.is_directed = false}};
  for (VertexId v = 1; v < 300; ++v)
    chain.edges.push_back(
        {1 + (v * 7) % 300, 1 + ((v + 1) * 7) % 300, 0.5 * static_cast<double>(v)});
  expect_goes_on(job_of(chain, paths, false), {}, 12);
}

TEST(Snapshots, of_sticky_programs) {
  const auto job = job_of(tangled(false), [](const auto& graph, const RunOptions& options) {
    return label_propagation(graph, {.iterations = 8, .run = options});
  });
  expect_goes_on(job);
}

TEST(Snapshots, of_phases_and_of_jobs_of_several_runs) {
  Input<double> pairs{.edges = {}, .options = {.is_directed = false}};
  std::mt19937_64 random(3);
  for (VertexId left = 1; left <= 40; ++left) {
    for (int i = 0; i < 3; ++i)
      pairs.edges.push_back({left, static_cast<VertexId>(100 + random() % 30), 1.0});
  }
  const auto job = job_of(pairs, [](const auto& graph, const RunOptions& options) {
    return bipartite_matching(graph, {.run = options});
  });
  expect_goes_on(job, {}, 9);
}

TEST(Snapshots, of_phases_with_a_master_and_both_directions) {
  const auto job = job_of(tangled(true, 40), [](const auto& graph, const RunOptions& options) {
    return betweenness(graph, {.sources = {1, 2, 3}, .run = options});
  });
  expect_goes_on(job, {}, 9);
}

/// Components by the least id; values that travel by an archive, messages by send.
struct Wandering {
  using Value = std::string;
  using Message = double;
  using Combiner = Sum<double>;
  struct Total : Aggregator<Sum<double>> {
    static constexpr const char* name = "total";
  };
  using Aggregators = weir::Aggregators<Total>;
  struct Master {
    std::uint64_t num_steps = 0;
  };
  Value init(const VertexInfo& info) const { return std::string(info.id % 5, 'x'); }
  void master(Master& state, MasterHandle<Wandering>& handle) const {
    state.num_steps += handle.superstep() + 1;
    if (handle.superstep() == 7) handle.halt();
  }
  void compute(VertexHandle auto& v, const Inbox<Message>& inbox) const {
    const double sum = inbox.combined(Combiner{});
    v.value() += cases::text_of(sum + v.aggregated(Total{})) +
                 std::to_string(v.broadcast().num_steps) + std::to_string(v.random().next() % 10);
    v.aggregate(Total{}, 0.1 * static_cast<double>(v.id()));
    v.send(1 + (v.id() * 7) % 100, 0.3 / static_cast<double>(v.id()));
    if (v.id() % 3 == 0) v.scatter();
    if (v.id() % 2 == 0) v.vote_to_halt();
  }
  Message publish(const Value& value, const VertexInfo&) const {
    return 1.0 / static_cast<double>(value.size());
  }
};

TEST(Snapshots, of_values_by_archive_sent_messages_aggregates_and_a_master) {
  const auto job = job_of(tangled(true), [](const auto& graph, const RunOptions& options) {
    return run(graph, Wandering{}, options);
  });
  expect_goes_on(job);
}

struct LeastNeighbour {
  using Value = VertexId;
  using Message = VertexId;
  using Combiner = Min<VertexId>;
  static constexpr bool monotone = true;
  static constexpr Edges along_edges = Edges::both;
  Value init(const VertexInfo& info) const { return info.id; }
  void compute(VertexHandle auto& v, const Inbox<Message>& inbox) const {
    v.vote_to_halt();
    const VertexId least = inbox.combined(Combiner{});
    if (!inbox.empty() && least >= v.value()) return;
    v.value() = std::min(v.value(), least);
    v.scatter();
  }
};

TEST(Snapshots, of_components) {
  const auto job = job_of(
      cases::path(200),
      [](const auto& graph, const RunOptions& options) {
        return run(graph, LeastNeighbour{}, options);
      },
      false);
  expect_goes_on(job, {}, 3);
  expect_goes_on(job, by(Direction::push), 4);
}

JobBody short_pagerank() {
  return job_of(tangled(true), [](const auto& graph, const RunOptions& options) {
    return pagerank(graph, {.iterations = 12, .run = options});
  });
}

/// Two whole snapshots: after supersteps 3 and 5.
void leave_two(const JobBody& job, const Folder& folder, RunOptions& options) {
  options.snapshots = {.directory = folder.path(), .every = 1000};
  ASSERT_EQ(stop_in(job, 2, options, 4).substr(0, 9), "cancelled");
  options.snapshots.stop = CancelToken();
  options.snapshots.resume = true;
  ASSERT_EQ(stop_in(job, 2, options, 2).substr(0, 9), "cancelled");
  ASSERT_EQ(folder.files("manifest").size(), 2u);
}

TEST(Snapshots, that_are_damaged_are_named_and_the_one_before_is_used) {
  const JobBody job = short_pagerank();
  const std::string expected = outcome_of(job, 1, {});
  const Folder folder;
  RunOptions options;
  leave_two(job, folder, options);
  ASSERT_EQ(go_on(job, 1, options).first, 6);
  // Going on took no snapshot: `every` is out of reach.
  std::vector<fs::path> newest;
  for (const fs::path& file : folder.files()) {
    if (file.parent_path().filename() == "00000002") newest.push_back(file);
  }
  ASSERT_EQ(newest.size(), 3u) << "a manifest, and a file per rank";

  std::mt19937_64 random(11);
  const auto expect_refused = [&](const fs::path& file, const std::string& bytes,
                                  const std::string& what) {
    std::ofstream(file, std::ios::binary) << bytes;
    Said warnings(LogLevel::warning);
    const Resumed resumed = go_on(job, 1, options, &warnings);
    EXPECT_EQ(resumed.first, 4) << what;
    EXPECT_EQ(resumed.outcome, expected) << what;
    EXPECT_NE(warnings.text().find(file.string()), std::string::npos)
        << what << " of " << file << ": " << warnings.text();
  };
  for (int i = 0; i < 1100; ++i) {
    const fs::path& file = newest[random() % newest.size()];
    std::ostringstream whole;
    whole << std::ifstream(file, std::ios::binary).rdbuf();
    std::string bytes = whole.str();
    const std::size_t at = random() % bytes.size();
    if (i < 1000) {
      const auto bit = static_cast<unsigned>(random() % 8);
      bytes[at] = static_cast<char>(static_cast<unsigned char>(bytes[at]) ^ (1U << bit));
    } else {
      bytes.resize(at);
    }
    expect_refused(file, bytes,
                   (i < 1000 ? "bit flip at byte " : "truncation to ") + std::to_string(at));
    std::ofstream(file, std::ios::binary) << whole.str();
    if (HasFailure()) return;
  }
}

TEST(Snapshots, all_damaged_mean_the_start) {
  const JobBody job = short_pagerank();
  const Folder folder;
  RunOptions options;
  leave_two(job, folder, options);
  for (const fs::path& file : folder.files("rank-1")) fs::resize_file(file, 40);
  Said warnings(LogLevel::warning);
  const Resumed resumed = go_on(job, 3, options, &warnings);
  EXPECT_EQ(resumed.first, 0);
  EXPECT_EQ(resumed.outcome, outcome_of(job, 1, {}));
  EXPECT_NE(warnings.text().find("has 40 bytes; expected "), std::string::npos) << warnings.text();
}

TEST(Snapshots, of_other_graphs_seeds_and_jobs_are_not_used) {
  const JobBody job = short_pagerank();
  const Folder folder;
  RunOptions options;
  leave_two(job, folder, options);
  Input<double> other = tangled(true);
  other.edges.back().value += 1;
  const auto on_other = job_of(other, [](const auto& graph, const RunOptions& run_options) {
    return pagerank(graph, {.iterations = 12, .run = run_options});
  });
  Said warnings(LogLevel::warning);
  EXPECT_EQ(go_on(on_other, 2, options, &warnings).first, 0);
  EXPECT_NE(warnings.text().find("of another graph"), std::string::npos);

  RunOptions seeded = options;
  seeded.seed = 2;
  EXPECT_EQ(go_on(job, 2, seeded).first, 0);
  RunOptions named = options;
  named.snapshots.job = "another";
  EXPECT_EQ(go_on(job, 2, named).first, 0);
  EXPECT_EQ(go_on(job, 2, options).first, 6) << "and nothing of it was taken away";
}

TEST(Snapshots, are_taken_in_the_background_and_the_last_two_kept) {
  const auto job = job_of(tangled(true), [](const auto& graph, const RunOptions& options) {
    return pagerank(graph, {.iterations = 200, .run = options});
  });
  const Folder folder;
  RunOptions options;
  options.snapshots = {.directory = folder.path(), .every = 3};
  options.after_superstep = [](Superstep) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  };
  const std::string stopped = stop_in(job, 3, options, 100);
  EXPECT_NE(stopped.find("a snapshot after superstep 99"), std::string::npos) << stopped;
  EXPECT_EQ(folder.files("manifest").size(), 2u);
  EXPECT_GE(folder.files("rank-").size(), 6u) << "what did not change lies with older ones";
  EXPECT_TRUE(folder.files(".part").empty());
  const Resumed resumed = go_on(job, 2, options);
  EXPECT_EQ(resumed.first, 100);
  EXPECT_EQ(resumed.outcome, outcome_of(job, 2, {}));
}

TEST(Snapshots, what_a_dead_attempt_left_unfinished_is_removed) {
  const JobBody job = short_pagerank();
  const Folder folder;
  RunOptions options;
  leave_two(job, folder, options);
  const fs::path folder_of_job = folder.files("manifest").front().parent_path().parent_path();
  fs::create_directory(folder_of_job / "00000009");
  std::ofstream(folder_of_job / "00000009" / "rank-0.part") << "half";
  EXPECT_EQ(go_on(job, 2, options).first, 6);
  EXPECT_FALSE(fs::exists(folder_of_job / "00000009"));
  remove_snapshots(folder.path(), "");
  EXPECT_TRUE(folder.files().empty());
}

TEST(Snapshots, a_full_disk_leaves_the_last_good_one_and_the_job_going) {
  const JobBody job = short_pagerank();
  const Folder folder;
  RunOptions options;
  leave_two(job, folder, options);
  const auto before_handler = std::signal(SIGXFSZ, SIG_IGN);
  struct rlimit before {};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  struct rlimit little = before;
  little.rlim_cur = 64;
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &little), 0);
  options.snapshots.every = 2;
  Said warnings(LogLevel::warning);
  const Resumed resumed = go_on(job, 2, options, &warnings);
  ::setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, before_handler);
  EXPECT_EQ(resumed.outcome, outcome_of(job, 1, {}));
  EXPECT_NE(warnings.text().find("cannot write: File too large; there is no snapshot after"),
            std::string::npos)
      << warnings.text();
  EXPECT_EQ(folder.files("manifest").size(), 2u);
  options.snapshots.every = 1000;
  EXPECT_EQ(go_on(job, 1, options).first, 6);
}

/// A breadth-first search along a path of many shards: in each superstep most do not change.
JobBody long_search() {
  auto path = cases::path(640);
  path.options.num_shards = 32;
  return job_of(path, [](const auto& graph, const RunOptions& options) {
    return breadth_first_search(graph, {.sources = {1}, .run = options});
  });
}

/// Runs until the job is cancelled in a superstep, as dead as a thread can be: no last snapshot.
void die_in(const JobBody& job, Rank ranks, RunOptions options, Superstep last) {
  options.cancel = CancelToken();
  options.before_superstep = [token = options.cancel, last](Superstep step) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));  // snapshots are to be done
    if (step == last) token.cancel();
  };
  ASSERT_EQ(outcome_of(job, ranks, options).substr(0, 9), "cancelled");
}

std::uint64_t number_of(const fs::path& manifest) {
  return std::stoull(manifest.parent_path().filename().string());
}

TEST(Snapshots, shards_that_did_not_change_are_not_written_again) {
  const JobBody job = long_search();
  const std::string expected = outcome_of(job, 1, by(Direction::push));
  RunOptions options = by(Direction::push);
  for (const auto& [before, after] : moves) {
    const Folder folder;
    options.snapshots = {.directory = folder.path(), .every = 10};
    die_in(job, before, options, 150);
    const std::vector<fs::path> manifests = folder.files("manifest");
    ASSERT_EQ(manifests.size(), 2u);
    ASSERT_GE(number_of(manifests.back()), 3u);
    // The last rank was not reached: its file says no more than where its shards are.
    std::ostringstream text;
    text << std::ifstream(manifests.back()).rdbuf();
    std::istringstream last(text.str().substr(text.str().rfind("file ") + 5));
    std::uintmax_t num_bytes = 0, num_records = 0;
    last >> num_bytes >> num_records;
    if (before > 1) {
      EXPECT_EQ(num_bytes, 32 + num_records * sizeof(SnapshotPlace));
    }
    options.snapshots.every = 1000;
    const Resumed resumed = go_on(job, after, options);
    EXPECT_GT(resumed.first, 50);
    EXPECT_EQ(resumed.outcome, expected);
  }
}

TEST(Snapshots, of_which_one_lost_what_it_shares_leave_the_other_whole) {
  const JobBody job = long_search();
  const std::string expected = outcome_of(job, 1, by(Direction::push));
  const Folder folder;
  RunOptions options = by(Direction::push);
  options.snapshots = {.directory = folder.path(), .every = 10};
  die_in(job, 2, options, 150);
  const std::vector<fs::path> manifests = folder.files("manifest");
  ASSERT_EQ(manifests.size(), 2u);
  // The newest and the one before have nothing in common, so what else there is belongs to one.
  const std::uint64_t number = number_of(manifests.back());
  int num_removed = 0;
  for (const auto& entry : fs::directory_iterator(manifests.back().parent_path().parent_path())) {
    const std::uint64_t other = std::stoull(entry.path().filename().string());
    if (other == number || (number - other) % 2 != 0) continue;
    fs::remove_all(entry.path());
    ++num_removed;
  }
  ASSERT_GT(num_removed, 0);
  options.snapshots.every = 1000;
  Said warnings(LogLevel::warning);
  const Resumed resumed = go_on(job, 3, options, &warnings);
  EXPECT_EQ(resumed.outcome, expected);
  EXPECT_GT(resumed.first, 50);
  EXPECT_NE(warnings.text().find("this snapshot is not used"), std::string::npos);
}

TEST(Snapshots, go_to_a_quicker_folder_and_now_and_then_to_the_other) {
  const JobBody job = long_search();
  const std::string expected = outcome_of(job, 1, by(Direction::push));
  const Folder slow;
  const Folder fast;
  RunOptions options = by(Direction::push);
  options.snapshots = {.directory = slow.path(), .fast_directory = fast.path(), .every = 5};
  die_in(job, 3, options, 400);
  EXPECT_EQ(fast.files("manifest").size(), 2u);
  EXPECT_EQ(slow.files("manifest").size(), 2u);
  EXPECT_TRUE(fast.files("probe").empty());
  options.snapshots.every = 1000;
  Said newest(LogLevel::info);
  const Resumed from_fast = go_on(job, 2, options, &newest);
  EXPECT_EQ(from_fast.outcome, expected);
  EXPECT_NE(newest.text().find(fast.path()), std::string::npos) << newest.text();
  for (const auto& entry : fs::directory_iterator(fast.path())) fs::remove_all(entry.path());
  Said other(LogLevel::info);
  const Resumed from_slow = go_on(job, 4, options, &other);
  EXPECT_EQ(from_slow.outcome, expected);
  EXPECT_NE(other.text().find(slow.path()), std::string::npos) << other.text();
  EXPECT_GT(from_slow.first, 0);
  EXPECT_LT(from_slow.first, from_fast.first);
}

TEST(Snapshots, before_a_stop_go_to_the_folder_that_lasts) {
  const JobBody job = long_search();
  const Folder slow;
  const Folder fast;
  RunOptions options = by(Direction::push);
  options.snapshots = {.directory = slow.path(), .fast_directory = fast.path(), .every = 1000};
  ASSERT_EQ(stop_in(job, 2, options, 50).substr(0, 9), "cancelled");
  EXPECT_EQ(slow.files("manifest").size(), 1u);
  EXPECT_TRUE(fast.files("manifest").empty());
}

TEST(Snapshots, of_a_quicker_folder_that_takes_no_more_go_to_the_other) {
  const JobBody job = long_search();
  const std::string expected = outcome_of(job, 1, by(Direction::push));
  const Folder slow;
  const Folder fast;
  RunOptions options = by(Direction::push);
  options.snapshots = {.directory = slow.path(), .fast_directory = fast.path(), .every = 10};
  std::once_flag once;
  options.before_superstep = [&](Superstep step) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    if (step != 35) return;
    std::call_once(once, [&] {
      // A file where the folder was.
      const fs::path run = fs::directory_iterator(*fs::directory_iterator(fast.path()))->path();
      fs::rename(run, fast.path() + "/gone");
      std::ofstream(run) << "full";
    });
  };
  Said warnings(LogLevel::warning);
  EXPECT_EQ(outcome_of(job, 2, options, &warnings), expected);
  EXPECT_NE(warnings.text().find("there is no snapshot after superstep"), std::string::npos)
      << warnings.text();
  EXPECT_NE(warnings.text().find(fast.path()), std::string::npos) << warnings.text();
  EXPECT_EQ(slow.files("manifest").size(), 2u);
}

struct Shrinking {
  using Value = int;
  using Message = int;
  using Combiner = Sum<int>;
  static constexpr bool mutates_topology = true;
  Value init(const VertexInfo&) const { return 0; }
  void compute(VertexHandle auto& v, const Inbox<Message>&) const { v.vote_to_halt(); }
};

TEST(Snapshots, of_programs_that_change_the_topology_are_refused) {
  const Folder folder;
  RunOptions options;
  options.snapshots.directory = folder.path();
  const std::string error = cases::error_of(cases::path(9), Shrinking{}, 2, options);
  EXPECT_EQ(error.substr(0, 42), "usage: no snapshots can be taken of this p") << error;
}

TEST(Snapshots, into_a_folder_that_cannot_be_made_are_an_error) {
  RunOptions options;
  options.snapshots.directory = "/proc/nothing";
  EXPECT_NE(outcome_of(short_pagerank(), 2, options).find("/proc/nothing"), std::string::npos);
}

}  // namespace
}  // namespace weir
