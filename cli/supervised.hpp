// SPDX-License-Identifier: Apache-2.0
// What a job and its supervisor know of each other: a folder with a record of how the job ended and
// a page of heartbeats per rank.
#pragma once

#include <atomic>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <weir/engine/model/ids.hpp>

namespace weir::cli {

/// Environment variables that a supervisor gives to its job.
inline constexpr const char* result_file_variable = "WEIR_RESULT_FILE";
inline constexpr const char* restart_variable = "WEIR_RESTART";

/// Asks a rank to write its stack.
inline constexpr int stack_signal = SIGUSR2;

/// How often the job was started again: the variable WEIR_RESTART, 0 without it.
int num_restarts();

/// The record that a job writes last. Its being there, not the exit code of a launcher, says that
/// the job ended by itself.
struct JobRecord {
  int exit_code = 0;
  /// "" for done, else the kind of the error: usage, input, memory, ..., cancelled.
  std::string kind;
  std::string error;
  Rank rank = 0;  ///< who tells it
};

/// The folder of one supervised job. Files: `result.json`; `rank-N`, a page of heartbeats;
/// `stack-N` of a rank that crashed; `outputs`, the results that were begun; `segments`, the shared
/// memory of MPI that was seen; `lock`, held by the supervisor.
class JobFolder {
 public:
  explicit JobFolder(std::filesystem::path path) : path_(std::move(path)) {}
  /// The folder of this process's supervisor, if it has one.
  static std::optional<JobFolder> of_environment();

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path result() const { return path_ / "result.json"; }
  std::filesystem::path heartbeat(Rank rank) const;
  std::filesystem::path stack(Rank rank) const;
  std::filesystem::path outputs() const { return path_ / "outputs"; }
  std::filesystem::path segments() const { return path_ / "segments"; }
  std::filesystem::path lock() const { return path_ / "lock"; }

  /// Under another name first, then renamed.
  void write_record(const JobRecord& record) const;
  /// Nothing when there is none, or none that can be read.
  std::optional<JobRecord> read_record() const;

  /// Notes that this process makes `path`, under a temporary name at first.
  void note_output(const std::string& path) const;
  /// Removes the temporary files of noted outputs.
  void remove_temporaries() const;

  /// Notes shared memory of MPI, for who clears up after a supervisor that was killed.
  void note_segments(const std::set<std::string>& segments) const;
  std::set<std::string> noted_segments() const;

  /// True when nobody holds the lock: the supervisor is gone.
  bool is_abandoned() const;

 private:
  std::filesystem::path path_;
};

/// What one rank shows, in a file that both sides map: it costs no system call, and outlives the
/// rank to the last store.
struct HeartbeatPage {
  static constexpr std::uint32_t expected_magic = 0x74616562;  // "beat"
  static constexpr std::size_t max_host = 256;

  std::atomic<std::uint32_t> magic{0};  ///< Written last.
  std::int32_t rank = 0;
  std::int32_t size = 0;
  std::int32_t pid = 0;
  char host[max_host] = {};
  std::atomic<std::uint32_t> is_over{0};      ///< It ended in order.
  std::atomic<std::uint32_t> has_crashed{0};  ///< Its stack is written.
  std::atomic<std::int64_t> superstep{-1};    ///< -1: outside a run
  std::atomic<std::int64_t> furthest{-1};     ///< The highest superstep so far.
  std::atomic<std::uint64_t> num_beats{0};    ///< of a thread that does nothing else
  std::atomic<std::uint64_t> num_moves{0};    ///< of the thread that computes and waits
  std::atomic<std::int64_t> moved_at{0};      ///< Of the last move; the host's monotonic clock, ns.
  std::atomic<std::uint32_t> num_stacks{0};   ///< Written on `stack_signal`.
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

/// A mapped page.
class Heartbeat {
 public:
  /// Made anew by the rank, or opened by the supervisor; nothing when that cannot be done, or when
  /// the page is not whole yet.
  static std::optional<Heartbeat> create(const std::filesystem::path& path, Rank rank, Rank size);
  static std::optional<Heartbeat> open(const std::filesystem::path& path);
  Heartbeat(Heartbeat&& other) noexcept;
  Heartbeat& operator=(Heartbeat&&) = delete;
  ~Heartbeat();

  HeartbeatPage& page() const { return *page_; }

 private:
  explicit Heartbeat(HeartbeatPage* page) : page_(page) {}
  HeartbeatPage* page_;
};

/// The name of this host.
std::string host_name();

}  // namespace weir::cli
