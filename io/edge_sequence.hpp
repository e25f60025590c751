// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include <weir/engine/model/edge.hpp>
#include <weir/io/generator_spec.hpp>
#include <weir/io/input.hpp>

namespace weir::io {

/// The edges of a synthetic graph, as Generator asks for them.
class EdgeSequence {
 public:
  EdgeSequence() = default;
  virtual ~EdgeSequence() = default;
  EdgeSequence(const EdgeSequence&) = delete;
  EdgeSequence& operator=(const EdgeSequence&) = delete;

  /// Replaces the batch with the next edges of this part; false at the end.
  virtual bool next(std::vector<Edge<double>>& batch) = 0;

  bool is_directed = true;
  bool has_weights = false;
  std::uint64_t num_vertices = 0;
  std::optional<std::uint64_t> num_edges;
};

/// Takes the keys of its kind out of the spec.
std::unique_ptr<EdgeSequence> random_sequence(GeneratorSpec& spec, Part part);
std::unique_ptr<EdgeSequence> regular_sequence(GeneratorSpec& spec, Part part);

}  // namespace weir::io
