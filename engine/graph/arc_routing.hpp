// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <functional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <weir/engine/graph/packed_edges.hpp>
#include <weir/engine/model/edge.hpp>
#include <weir/engine/runtime/context.hpp>

namespace weir {

/// Edges on their way to ranks; filled by one thread.
template <class E>
class Outbox {
 public:
  explicit Outbox(Rank num_ranks) : edges_(static_cast<std::size_t>(num_ranks)) {}
  void add(Rank destination, const Edge<E>& edge) {
    edges_[static_cast<std::size_t>(destination)].push_back(edge);
  }
  std::vector<Edge<E>>& to(Rank destination) {
    return edges_[static_cast<std::size_t>(destination)];
  }

 private:
  std::vector<std::vector<Edge<E>>> edges_;
};

/// Streams edges to ranks in batches and hands over what arrives as it comes, in batches too. Holds
/// a batch per destination, and what the transport could not send yet. Collective: made, filled and
/// closed on every rank.
template <class E>
class ArcRouter {
 public:
  using Receive = std::function<void(std::span<const Edge<E>>)>;

  ArcRouter(Context& context, std::string_view name, Receive receive)
      : context_(context),
        exchange_(context, name),
        receive_(std::move(receive)),
        outbox_(context.size()),
        batch_edges_(batch_edges_for(context.size())) {}

  void send(Rank destination, const Edge<E>& edge) {
    auto& batch = outbox_.to(destination);
    batch.push_back(edge);
    if (batch.size() < batch_edges_) return;
    flush(destination, batch);
    poll();
  }

  /// Sends what fills a batch; the rest stays, for a call with more or with `is_last`.
  void send(Outbox<E>& outbox, bool is_last) {
    for (Rank r = 0; r < context_.size(); ++r) {
      auto& batch = outbox.to(r);
      if (is_last || batch.size() >= batch_edges_) flush(r, batch);
    }
    poll();
  }

  void close() {
    for (Rank r = 0; r < context_.size(); ++r) flush(r, outbox_.to(r));
    exchange_.close([this](const Batch& arrived) { unpack_all(arrived); });
  }

 private:
  /// All batches together hold at most 2^20 edges, however many ranks there are.
  static std::size_t batch_edges_for(Rank ranks) {
    return std::clamp((std::size_t{1} << 20) / static_cast<std::size_t>(ranks), std::size_t{64},
                      std::size_t{1} << 14);
  }

  void poll() {
    exchange_.poll([this](const Batch& arrived) { unpack_all(arrived); });
  }

  void flush(Rank destination, std::vector<Edge<E>>& batch) {
    if (batch.empty()) return;
    const std::span<const Edge<E>> edges(batch);
    if (destination == context_.rank()) {
      receive_(edges);
    } else {
      const PackedHeader header = plan_packing(edges).header;
      Bytes bytes(header.template num_bytes<E>());
      pack(header, edges, bytes.data());
      exchange_.send(destination, std::move(bytes));
    }
    batch.clear();
  }

  void unpack_all(const Batch& arrived) {
    for (std::span<const std::byte> rest(arrived.bytes); !rest.empty();) {
      unpack(rest, arrived_);
      receive_(arrived_);
    }
  }

  Context& context_;
  Exchange exchange_;
  Receive receive_;
  Outbox<E> outbox_;
  std::vector<Edge<E>> arrived_;
  std::size_t batch_edges_;
};

}  // namespace weir
