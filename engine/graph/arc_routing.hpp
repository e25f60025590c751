// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <functional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <weir/engine/model/edge.hpp>
#include <weir/engine/runtime/codec.hpp>
#include <weir/engine/runtime/context.hpp>

namespace weir {

/// Streams edges to ranks in batches and hands over what arrives as it comes. Holds a batch per
/// destination, and what the transport could not send yet. Collective: made, filled and closed on
/// every rank.
template <class E>
class ArcRouter {
 public:
  ArcRouter(Context& context, std::string_view name, std::function<void(const Edge<E>&)> receive)
      : context_(context),
        exchange_(context, name),
        receive_(std::move(receive)),
        outgoing_(static_cast<std::size_t>(context.size())),
        batch_edges_(batch_edges_for(context.size())) {}

  void send(Rank destination, const Edge<E>& edge) {
    if (destination == context_.rank()) {
      receive_(edge);
      return;
    }
    auto& batch = outgoing_[static_cast<std::size_t>(destination)];
    batch.push_back(edge);
    if (batch.size() < batch_edges_) return;
    flush(destination);
    exchange_.poll([this](const Batch& arrived) { unpack(arrived); });
  }

  void close() {
    for (Rank r = 0; r < context_.size(); ++r) flush(r);
    exchange_.close([this](const Batch& arrived) { unpack(arrived); });
  }

 private:
  /// All batches together hold at most 2^22 edges, however many ranks there are.
  static std::size_t batch_edges_for(Rank ranks) {
    return std::clamp((std::size_t{1} << 22) / static_cast<std::size_t>(ranks), std::size_t{64},
                      std::size_t{1} << 15);
  }

  void flush(Rank destination) {
    auto& batch = outgoing_[static_cast<std::size_t>(destination)];
    if (batch.empty()) return;
    Bytes bytes;
    encode(std::span<const Edge<E>>(batch), bytes);
    batch.clear();
    exchange_.send(destination, std::move(bytes));
  }

  void unpack(const Batch& arrived) {
    BytesView rest(arrived.bytes);
    std::vector<Edge<E>> edges;
    decode(rest, edges);
    for (const auto& edge : edges) receive_(edge);
  }

  Context& context_;
  Exchange exchange_;
  std::function<void(const Edge<E>&)> receive_;
  std::vector<std::vector<Edge<E>>> outgoing_;
  std::size_t batch_edges_;
};

}  // namespace weir
