// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include <weir/cli/injection.hpp>
#include <weir/engine/model/error.hpp>
#include <weir/engine/runtime/port.hpp>
#include <weir/engine/superstep/options.hpp>

namespace weir::cli {

/// What stands around the ranks of this process: heartbeats and the record of the end where a
/// supervisor started the job, and the faults that --inject orders. Without both it does nothing
/// and adds nothing to a port.
class JobWatch {
 public:
  /// The ranks [first, first + count) of `size` are of this process.
  JobWatch(Rank first, Rank count, Rank size, const Injection& injection);
  /// Says that the ranks ended in order.
  ~JobWatch();
  JobWatch(const JobWatch&) = delete;
  JobWatch& operator=(const JobWatch&) = delete;

  /// Around the port of one of its ranks.
  std::unique_ptr<Port> decorate(std::unique_ptr<Port> port) const;

  /// Hangs itself into the callbacks of a run of `rank`, and says when the run is over.
  void begin_run(Rank rank, RunOptions& options) const;
  void end_run(Rank rank) const;

  /// Leaves the record. Called once in a job, when all its results are in their places; or by the
  /// rank that tells the error.
  void record_end(Rank rank, int exit_code) const;
  void record_error(Rank rank, int exit_code, const Error& error) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace weir::cli
