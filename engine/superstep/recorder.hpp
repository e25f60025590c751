// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <concepts>
#include <cstdint>
#include <string>
#include <type_traits>

#include <weir/engine/model/aggregator.hpp>
#include <weir/engine/runtime/context.hpp>
#include <weir/engine/superstep/options.hpp>
#include <weir/engine/superstep/summary.hpp>

namespace weir {

/// Observes the committed supersteps of a run and writes its report.
class Recorder {
 public:
  Recorder(const Context& context, const RunOptions& options);

  void begin(Superstep step, std::size_t phase);
  void computed(bool is_sparse);
  void exchanged();
  /// Bytes this rank's transport sent since the last call.
  std::uint64_t bytes_sent(const Context& context);

  template <AggregatorTag... Tags>
  void committed(const Summary& agreed, const typename Aggregators<Tags...>::Values& values,
                 Aggregators<Tags...>) {
    Aggregators<Tags...>::for_each(values, [&](auto tag, const auto& value) {
      using Tag = decltype(tag);
      if constexpr (requires { std::string(Tag::name); } &&
                    std::is_arithmetic_v<std::remove_cvref_t<decltype(value)>>)
        current_.aggregates.emplace_back(
            Tag::name, static_cast<double>(Aggregators<Tags...>::template read<Tag>(values)));
    });
    commit(agreed);
  }

  /// What was recorded so far.
  const RunReport& report() const { return report_; }
  /// Goes on from what another attempt at the run recorded.
  void resume(const Context& context, RunReport report);

  RunReport finish(Ending ending, bool is_synchronous);

 private:
  using Clock = std::chrono::steady_clock;
  void commit(const Summary& agreed);
  double lap();

  const RunOptions& options_;
  RunReport report_;
  SuperstepReport current_;
  std::uint64_t bytes_before_ = 0;
  Clock::time_point start_;
  Clock::time_point last_;
};

}  // namespace weir
