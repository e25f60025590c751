// SPDX-License-Identifier: Apache-2.0
#include <weir/engine/superstep/recorder.hpp>

namespace weir {

Recorder::Recorder(const Context& context, const RunOptions& options)
    : options_(options),
      bytes_before_(context.traffic().bytes_sent),
      start_(Clock::now()),
      last_(start_) {}

double Recorder::lap() {
  const auto now = Clock::now();
  const double seconds = std::chrono::duration<double>(now - last_).count();
  last_ = now;
  return seconds;
}

void Recorder::begin(Superstep step, std::size_t phase) {
  if (options_.before_superstep) options_.before_superstep(step);
  current_ = {};
  current_.superstep = step;
  current_.phase = phase;
  last_ = Clock::now();
}

void Recorder::computed(bool is_sparse) {
  current_.compute_seconds = lap();
  current_.is_sparse = is_sparse;
}

void Recorder::exchanged() { current_.exchange_seconds = lap(); }

std::uint64_t Recorder::bytes_sent(const Context& context) {
  const std::uint64_t now = context.traffic().bytes_sent;
  const std::uint64_t sent = now - bytes_before_;
  bytes_before_ = now;
  return sent;
}

void Recorder::commit(const Summary& agreed) {
  current_.barrier_seconds = lap();
  current_.num_computed = agreed.num_computed;
  current_.num_scattered = agreed.num_scattered;
  current_.num_messages = agreed.num_messages;
  current_.num_mutations = agreed.num_mutations;
  current_.num_dropped = agreed.num_dropped;
  current_.bytes_sent = agreed.bytes_sent;
  current_.speculation = {agreed.num_stolen, agreed.num_cloned, agreed.num_clones_won,
                          agreed.num_clones_lost, agreed.input_bytes};
  SpeculationReport& all = report_.speculation;
  all.num_stolen += agreed.num_stolen;
  all.num_cloned += agreed.num_cloned;
  all.num_won += agreed.num_clones_won;
  all.num_lost += agreed.num_clones_lost;
  all.input_bytes += agreed.input_bytes;
  report_.num_messages += agreed.num_messages;
  report_.num_dropped += agreed.num_dropped;
  report_.bytes_sent += agreed.bytes_sent;
  ++report_.num_supersteps;
  report_.supersteps.push_back(current_);
  if (options_.progress) options_.progress(current_);
  if (options_.after_superstep) options_.after_superstep(current_.superstep);
}

void Recorder::resume(const Context& context, RunReport report) {
  report_ = std::move(report);
  bytes_before_ = context.traffic().bytes_sent;
}

RunReport Recorder::finish(Ending ending, bool is_synchronous) {
  report_.is_synchronous = is_synchronous;
  report_.ending = ending;
  report_.seconds = std::chrono::duration<double>(Clock::now() - start_).count();
  return std::move(report_);
}

}  // namespace weir
