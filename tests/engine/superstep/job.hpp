// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <sstream>
#include <string>

#include <gtest/gtest.h>

#include <weir/engine/superstep/run.hpp>
#include <weir/tests/engine/graph/graph_cases.hpp>

/// What tests of supersteps share: a job as text that is equal at any number of ranks.
namespace weir::cases {

inline const char* name_of(Ending ending) {
  switch (ending) {
    case Ending::quiet: return "quiet";
    case Ending::halted: return "halted";
    case Ending::superstep_limit: return "limit";
  }
  return "?";
}

/// All of a report that does not depend on ranks or on the clock.
inline std::string text_of_report(const RunReport& report) {
  std::ostringstream text;
  for (const auto& step : report.supersteps) {
    text << "superstep " << step.superstep << " phase " << step.phase << ": computed "
         << step.num_computed << ", scattered " << step.num_scattered << ", messages "
         << step.num_messages << ", dropped " << step.num_dropped << ", mutations "
         << step.num_mutations << "\n";
    for (const auto& [name, value] : step.aggregates)
      text << "  " << name << " " << text_of(value) << "\n";
  }
  text << "end: " << name_of(report.ending) << " after " << report.num_supersteps << ", messages "
       << report.num_messages << ", dropped " << report.num_dropped << "\n";
  return text.str();
}

/// Values by id, then the report. Collective.
template <class V>
std::string describe(const RunResult<V>& result) {
  std::ostringstream text;
  for (const auto& [id, value] : result.values.gather())
    text << id << " " << text_of(value) << "\n";
  return text.str() + text_of_report(result.report);
}

/// Values by id alone: "1 7\n2 7\n". Collective.
template <class V>
std::string values_of(const RunResult<V>& result) {
  std::ostringstream text;
  for (const auto& [id, value] : result.values.gather())
    text << id << " " << text_of(value) << "\n";
  return text.str();
}

/// One job on `ranks` ranks; every rank must say the same.
template <class E, class P>
std::string job(const Input<E>& input, const P& program, Rank ranks, int threads = 1,
                const RunOptions& options = {}) {
  const auto texts = on_ranks(ranks, threads, [&](Context& context) {
    Graph<E> graph = build(context, input);
    return describe(run(graph, program, options));
  });
  for (const auto& text : texts) EXPECT_EQ(text, texts[0]) << "ranks differ among each other";
  return texts[0];
}

/// One job on every number of ranks, in every direction, with one and with three threads, and with
/// every shard computed by another rank, too; all must be equal.
template <class E, class P>
std::string job_everywhere(const Input<E>& input, const P& program, RunOptions options = {}) {
  const std::string expected = job(input, program, 1, 1, options);
  for (const Rank ranks : rank_counts) {
    for (const auto direction : {Direction::automatic, Direction::push, Direction::pull}) {
      options.direction = direction;
      const int threads = ranks <= 2 ? 3 : 1;
      EXPECT_EQ(job(input, program, ranks, threads, options), expected)
          << ranks << " ranks, direction " << static_cast<int>(direction);
    }
  }
  options.direction = Direction::pull;
  options.speculation.rule = schedule::StragglerRule::forced;
  for (const Rank ranks : {2, 3, 4}) {
    EXPECT_EQ(job(input, program, ranks, 4 - ranks / 2, options), expected)
        << ranks << " ranks, speculation forced";
  }
  return expected;
}

/// The error a job ends with, "CODE: TEXT"; every rank must throw the same.
template <class E, class P>
std::string error_of(const Input<E>& input, const P& program, Rank ranks,
                     const RunOptions& options = {}) {
  const auto texts = on_ranks(ranks, [&](Context& context) -> std::string {
    Graph<E> graph = build(context, input);
    try {
      run(graph, program, options);
    } catch (const Error& error) {
      return std::string(weir::name_of(error.code())) + ": " + error.what();
    }
    return "no error";
  });
  for (const auto& text : texts) EXPECT_EQ(text, texts[0]) << "ranks threw different errors";
  return texts[0];
}

inline Input<NoValue> path(VertexId length) {
  Input<NoValue> input{.edges = {}, .options = {.is_directed = false}};
  for (VertexId v = 1; v < length; ++v) input.edges.push_back({v, v + 1, {}});
  return input;
}

}  // namespace weir::cases
