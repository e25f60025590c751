// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <weir/engine/graph/shard_map.hpp>
#include <weir/engine/graph/vertex_values.hpp>
#include <weir/engine/graph/vertices.hpp>
#include <weir/engine/model/monoid.hpp>
#include <weir/engine/runtime/codec.hpp>
#include <weir/engine/runtime/context.hpp>

namespace weir {

/// A message to one vertex by `send`.
template <class M>
struct SentMessage {
  VertexId target = 0;
  M message{};
  std::uint32_t num_combined = 1;  ///< calls of `send` it stands for
};

/// Messages sent to own vertices, ascending by row, in (source shard, row, sequence) order per row.
template <class M>
class SentInbox {
 public:
  bool empty() const { return rows_.empty(); }
  const std::vector<Row>& rows() const { return rows_; }
  /// Messages of one row.
  std::span<const detail::Cell<M>> of(Row row) const {
    if (rows_.empty()) return {};
    const auto range = std::equal_range(rows_.begin(), rows_.end(), row);
    return std::span<const detail::Cell<M>>(messages_).subspan(
        static_cast<std::size_t>(range.first - rows_.begin()),
        static_cast<std::size_t>(range.second - range.first));
  }
  void clear() {
    rows_.clear();
    messages_.clear();
  }
  /// `arrived`: by row, in order of arrival per row after a stable sort.
  void fill(std::vector<std::pair<Row, M>> arrived) {
    std::stable_sort(arrived.begin(), arrived.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    clear();
    for (auto& [row, message] : arrived) {
      rows_.push_back(row);
      messages_.push_back({std::move(message)});
    }
  }

 private:
  std::vector<Row> rows_;
  std::vector<detail::Cell<M>> messages_;
};

/// Folds messages to the same target into one; only for exact combiners, at the sender.
template <ExactMonoid C>
void combine_at_sender(const C& combiner, std::vector<SentMessage<typename C::value_type>>& sends) {
  std::sort(sends.begin(), sends.end(),
            [](const auto& a, const auto& b) { return a.target < b.target; });
  std::size_t kept = 0;
  for (std::size_t i = 0; i < sends.size(); ++i) {
    if (kept > 0 && sends[kept - 1].target == sends[i].target) {
      sends[kept - 1].message = combiner(sends[kept - 1].message, sends[i].message);
      sends[kept - 1].num_combined += sends[i].num_combined;
    } else {
      sends[kept++] = sends[i];
    }
  }
  sends.resize(kept);
}

/// Delivers messages to the owners of their targets. Collective. Returns how many calls of `send`
/// had no vertex at their end.
template <class M>
std::uint64_t deliver_sends(Context& context, const ShardMap& shards, const Vertices& vertices,
                            std::vector<SentMessage<M>> sends, bool is_combined,
                            SentInbox<M>& inbox) {
  const auto num_ranks = static_cast<std::size_t>(context.size());
  std::vector<std::vector<VertexId>> targets(num_ranks);
  using Wire = detail::Wire<M>;
  std::vector<std::vector<Wire>> messages(num_ranks);
  std::vector<std::vector<std::uint32_t>> multiplicities(num_ranks);
  for (auto& sent : sends) {
    const auto owner = static_cast<std::size_t>(shards.owner_of(sent.target));
    targets[owner].push_back(sent.target);
    messages[owner].push_back(std::move(sent.message));
    if (is_combined) multiplicities[owner].push_back(sent.num_combined);
  }
  Exchange exchange(context, "sent messages");
  for (std::size_t r = 0; r < num_ranks; ++r) {
    if (targets[r].empty()) continue;
    Bytes bytes;
    encode(std::span<const VertexId>(targets[r]), bytes);
    encode(std::span<const Wire>(messages[r]), bytes);
    encode(std::span<const std::uint32_t>(multiplicities[r]), bytes);
    exchange.send(static_cast<Rank>(r), std::move(bytes));
  }
  std::uint64_t num_dropped = 0;
  std::vector<std::pair<Row, M>> arrived;
  exchange.close([&](const Batch& batch) {  // by source rank ascending, which is by source shard
    BytesView in(batch.bytes);
    std::vector<VertexId> ids;
    std::vector<Wire> contents;
    decode(in, ids);
    decode(in, contents);
    std::vector<std::uint32_t> counts;
    decode(in, counts);
    for (std::size_t i = 0; i < ids.size(); ++i) {
      if (const auto row = vertices.find(ids[i]))
        arrived.emplace_back(*row, std::move(contents[i]));
      else
        num_dropped += is_combined ? counts[i] : 1;
    }
  });
  inbox.fill(std::move(arrived));
  return num_dropped;
}

}  // namespace weir
