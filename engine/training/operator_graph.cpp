// SPDX-License-Identifier: Apache-2.0
#include <weir/engine/training/operator_graph.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <queue>

#include <weir/engine/model/check.hpp>

namespace weir::training {

namespace {

void expect_amount(const Operator& op, const char* what, double amount) {
  WEIR_EXPECT(std::isfinite(amount) && amount >= 0, input,
              "operator " + op.name + ": found " + what + " " + std::to_string(amount) +
                  "; expected a finite number, not negative");
}

}  // namespace

std::size_t OperatorGraph::add(Operator op) {
  expect_amount(op, "forward time", op.forward_seconds);
  expect_amount(op, "backward time", op.backward_seconds);
  expect_amount(op, "activation bytes", op.activation_bytes);
  expect_amount(op, "output bytes", op.output_bytes);
  expect_amount(op, "parameter bytes", op.parameter_bytes);
  operators_.push_back(std::move(op));
  producers_.emplace_back();
  consumers_.emplace_back();
  return operators_.size() - 1;
}

void OperatorGraph::connect(std::size_t producer, std::size_t consumer) {
  WEIR_EXPECT(producer < size() && consumer < size(), input,
              "found an edge from operator " + std::to_string(producer) + " to " +
                  std::to_string(consumer) + "; expected numbers below " + std::to_string(size()));
  auto& listed = consumers_[producer];
  if (std::find(listed.begin(), listed.end(), consumer) != listed.end()) return;
  listed.push_back(consumer);
  producers_[consumer].push_back(producer);
  ++num_edges_;
}

std::vector<std::size_t> OperatorGraph::topological_order() const {
  std::vector<std::size_t> num_missing(size());
  std::priority_queue<std::size_t, std::vector<std::size_t>, std::greater<>> ready;
  for (std::size_t i = 0; i < size(); ++i) {
    num_missing[i] = producers_[i].size();
    if (num_missing[i] == 0) ready.push(i);
  }
  std::vector<std::size_t> order;
  order.reserve(size());
  while (!ready.empty()) {
    order.push_back(ready.top());
    ready.pop();
    for (const std::size_t consumer : consumers_[order.back()]) {
      if (--num_missing[consumer] == 0) ready.push(consumer);
    }
  }
  if (order.size() == size()) return order;
  std::string text = "found a cycle of operators: ";
  for (const std::size_t i : find_cycle()) text += operators_[i].name + " -> ";
  text.resize(text.size() - 4);
  throw Error(ErrorCode::input, text + "; expected a graph without cycles");
}

/// Some cycle, its first operator repeated at the end. Operators that lie on no cycle and behind
/// none are peeled off first, so that from any of the others a walk to a producer never ends.
std::vector<std::size_t> OperatorGraph::find_cycle() const {
  std::vector<std::size_t> num_missing(size());
  std::vector<std::size_t> ready;
  for (std::size_t i = 0; i < size(); ++i) {
    num_missing[i] = producers_[i].size();
    if (num_missing[i] == 0) ready.push_back(i);
  }
  while (!ready.empty()) {
    const std::size_t i = ready.back();
    ready.pop_back();
    for (const std::size_t consumer : consumers_[i]) {
      if (--num_missing[consumer] == 0) ready.push_back(consumer);
    }
  }
  const auto is_left = [&](std::size_t i) { return num_missing[i] > 0; };
  std::vector<std::size_t> walk;
  std::vector<bool> is_visited(size(), false);
  std::size_t at = 0;
  while (!is_left(at)) ++at;
  while (!is_visited[at]) {
    is_visited[at] = true;
    walk.push_back(at);
    at = *std::find_if(producers_[at].begin(), producers_[at].end(), is_left);
  }
  walk.erase(walk.begin(), std::find(walk.begin(), walk.end(), at));
  walk.push_back(at);
  std::reverse(walk.begin(), walk.end());
  return walk;
}

Operator OperatorGraph::total() const {
  Operator sum;
  sum.name = "total";
  for (const Operator& op : operators_) {
    sum.forward_seconds += op.forward_seconds;
    sum.backward_seconds += op.backward_seconds;
    sum.activation_bytes += op.activation_bytes;
    sum.output_bytes += op.output_bytes;
    sum.parameter_bytes += op.parameter_bytes;
  }
  return sum;
}

Subgraph select(const OperatorGraph& graph, const std::vector<bool>& is_kept) {
  Subgraph part;
  std::vector<std::size_t> number(graph.size());
  for (std::size_t i = 0; i < graph.size(); ++i) {
    if (!is_kept[i]) continue;
    number[i] = part.graph.add(graph[i]);
    part.original.push_back(i);
  }
  for (const std::size_t i : part.original) {
    for (const std::size_t consumer : graph.consumers(i)) {
      if (is_kept[consumer]) part.graph.connect(number[i], number[consumer]);
    }
  }
  return part;
}

}  // namespace weir::training
