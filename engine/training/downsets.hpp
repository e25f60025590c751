// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <weir/engine/training/operator_graph.hpp>

namespace weir::training {

/// A set of operators of one graph, a bit for each.
class OperatorSet {
 public:
  OperatorSet() = default;
  explicit OperatorSet(std::size_t num_operators) : words_((num_operators + 63) / 64) {}

  void insert(std::size_t i) { words_[i / 64] |= std::uint64_t{1} << (i % 64); }
  bool contains(std::size_t i) const { return (words_[i / 64] >> (i % 64) & 1) != 0; }
  bool is_subset_of(const OperatorSet& other) const;
  void unite(const OperatorSet& other);
  std::size_t size() const;
  std::uint64_t hash() const;
  bool operator==(const OperatorSet&) const = default;

  /// Calls `visit(i)` for every member, ascending.
  template <class Visit>
  void for_each(Visit visit) const {
    for (std::size_t w = 0; w < words_.size(); ++w) {
      for (std::uint64_t word = words_[w]; word != 0; word &= word - 1) {
        visit(w * 64 + static_cast<std::size_t>(std::countr_zero(word)));
      }
    }
  }

 private:
  std::vector<std::uint64_t> words_;
};

/// Operators that hold all producers of each member: what the first stages of a pipeline compute.
struct Downset {
  OperatorSet members;
  std::size_t num_members = 0;
  double seconds = 0;  ///< Forward and backward.
  double parameter_bytes = 0;
  double activation_bytes = 0;  ///< Of all members.
  double boundary_bytes = 0;    ///< Outputs of members with a consumer outside, each once.
};

/// Sums up a set of operators, which must be a downset.
Downset make_downset(const OperatorGraph& graph, OperatorSet members);

/// All downsets, smaller ones first; the first is empty, the last holds all. Nothing if there are
/// more than `most`. Throws Error{input} at a cycle.
std::optional<std::vector<Downset>> all_downsets(const OperatorGraph& graph, std::size_t most);

/// Fewer: those that grow from the first source by one consumer and all before it at a time, which
/// does not count the ways to interleave branches that begin on their own ([Narayanan19]'s
/// optimizer). None is empty, the last holds all. Nothing if there are more than `most`.
std::optional<std::vector<Downset>> grown_downsets(const OperatorGraph& graph, std::size_t most);

/// The downsets that are prefixes of the topological order, at most `most` of them, as evenly
/// spread over the time as operators allow, the empty and the full one among them.
std::vector<Downset> prefix_downsets(const OperatorGraph& graph, std::size_t most);

/// For each operator, it and all before it.
std::vector<OperatorSet> ancestors_of(const OperatorGraph& graph);

/// Members of `larger` that are not in `smaller`, ascending.
std::vector<std::size_t> difference(const OperatorSet& larger, const OperatorSet& smaller);

}  // namespace weir::training
