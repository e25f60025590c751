// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace weir::training {

/// One operator of a training step, with what one micro-batch costs on one device of speed 1.
struct Operator {
  std::string name;
  std::string kind{};  ///< What it computes, as its source says: `Conv2d(64, 128, ...)`.
  double forward_seconds = 0;
  double backward_seconds = 0;
  double activation_bytes = 0;  ///< Kept from the forward to the backward pass.
  double output_bytes = 0;      ///< Read by the consumers, once per stage of a pipeline.
  double parameter_bytes = 0;
  bool is_input =
      false;  ///< Loads data on the host, beside the devices: planners count nothing of it.

  double seconds() const { return forward_seconds + backward_seconds; }
};

/// A directed acyclic graph of operators; an edge leads from a producer to a consumer.
///
/// Operators are numbered in the order in which they were added.
class OperatorGraph {
 public:
  /// Returns the number of the new operator. Throws Error{input} where a time or a size is
  /// negative or not finite.
  std::size_t add(Operator op);

  /// An edge that is there already is not added again. Throws Error{input} at unknown numbers.
  void connect(std::size_t producer, std::size_t consumer);

  std::size_t size() const { return operators_.size(); }
  bool is_empty() const { return operators_.empty(); }
  std::size_t num_edges() const { return num_edges_; }
  const Operator& operator[](std::size_t i) const { return operators_[i]; }
  const std::vector<std::size_t>& producers(std::size_t i) const { return producers_[i]; }
  const std::vector<std::size_t>& consumers(std::size_t i) const { return consumers_[i]; }

  /// Numbers so that every producer comes before its consumers; of several possible ones the
  /// smallest goes first. Throws Error{input} with the cycle written out, `a -> b -> a`.
  std::vector<std::size_t> topological_order() const;

  /// Sums over all operators.
  Operator total() const;

 private:
  std::vector<std::size_t> find_cycle() const;

  std::vector<Operator> operators_;
  std::vector<std::vector<std::size_t>> producers_;
  std::vector<std::vector<std::size_t>> consumers_;
  std::size_t num_edges_ = 0;
};

/// Some operators of a graph, and the edges between these.
struct Subgraph {
  OperatorGraph graph;
  std::vector<std::size_t> original;  ///< Number in the whole graph, ascending.
};

Subgraph select(const OperatorGraph& graph, const std::vector<bool>& is_kept);

}  // namespace weir::training
