// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <weir/engine/model/error.hpp>
#include <weir/engine/model/ids.hpp>
#include <weir/engine/runtime/bytes.hpp>

namespace weir {

class Context;

/// The first failure of a superstep. Of several, the one at the smallest vertex is kept.
struct Failure {
  ErrorCode code = ErrorCode::program;
  VertexId vertex = 0;
  Rank rank = 0;
  std::string text;

  friend bool operator<(const Failure& a, const Failure& b) {
    return a.vertex != b.vertex ? a.vertex < b.vertex : a.rank < b.rank;
  }
};

/// The exception being handled as a failure at a vertex.
Failure current_failure(VertexId vertex, Rank rank);

/// What a rank tells the others at the barrier, and what all agree on after it.
struct Summary {
  std::uint64_t num_computed = 0;     ///< vertices whose compute ran
  std::uint64_t num_unhalted = 0;     ///< vertices that have not voted to halt
  std::uint64_t num_scattered = 0;    ///< vertices that scattered
  std::uint64_t num_sent = 0;         ///< messages to single vertices by `send`, before combining
  std::uint64_t num_messages = 0;     ///< arcs scattered along plus calls of `send`
  std::uint64_t num_values_sent = 0;  ///< published values to other ranks
  std::uint64_t num_values_received = 0;  ///< published values from other ranks
  std::uint64_t num_mutations = 0;
  std::uint64_t num_dropped = 0;  ///< messages and edges without a vertex; known after the barrier
  std::uint64_t bytes_sent = 0;   ///< by the transport
  std::uint64_t wants_to_cancel = 0;
  std::uint64_t wants_snapshot = 0;
  std::uint64_t wants_to_stop = 0;      ///< after a snapshot
  std::uint64_t num_writing = 0;        ///< ranks that still write the last snapshot
  std::uint64_t num_failed_writes = 0;  ///< ranks that could not
  std::uint64_t num_stolen = 0;         ///< shards, see SpeculationReport
  std::uint64_t num_cloned = 0;
  std::uint64_t num_clones_won = 0;
  std::uint64_t num_clones_lost = 0;
  std::uint64_t input_bytes = 0;
  /// Longest time that a rank computed in this superstep; folded by maximum.
  std::uint64_t compute_nanoseconds = 0;
  /// Smallest bucket with a row to compute, of a monotone program; folded by minimum.
  std::uint64_t next_bucket = ~std::uint64_t{0};
  std::optional<Failure> failure;
  Bytes aggregates;  ///< encoded subtrees; empty once agreed

  bool is_quiet() const { return num_unhalted == 0 && num_scattered == 0 && num_sent == 0; }
  /// Throws the agreed failure with rank, superstep and vertex before its text. Collective.
  void throw_if_failed(Context& context, Superstep step) const;
};

/// Adds up what ranks learn when they deliver sends and change the topology: dropped messages and
/// edges, vertices that are not halted. Collective.
void settle(Context& context, Summary& agreed, std::uint64_t num_dropped,
            std::uint64_t num_unhalted);

/// The barrier: folds the summaries of all ranks in rank order and returns the result on each.
/// Collective.
Summary barrier(Context& context, const Summary& own);

}  // namespace weir
