// SPDX-License-Identifier: Apache-2.0
#include <weir/engine/training/context_ring.hpp>

#include <algorithm>
#include <cstdio>

namespace weir::training {

double kv_bytes_per_token(const Transformer& model, const Layout& layout) {
  if (model.has_latent_attention()) {
    return 2 * static_cast<double>(model.latent.kv_rank + model.latent.position_size);
  }
  return 2 * static_cast<double>(model.key_width() + model.value_width()) /
         static_cast<double>(layout.tensor);
}

RingHop slowest_hop(const Transformer& model, const Layout& layout, const Machine& machine) {
  // Neighbours of the ring are a tensor group apart.
  const std::int64_t in_node =
      std::clamp<std::int64_t>(machine.devices_per_node / layout.tensor, 1, layout.context);
  RingHop hop;
  hop.is_between_nodes = in_node < layout.context;
  hop.from = hop.is_between_nodes ? in_node - 1 : 0;
  hop.to = hop.from + 1;
  hop.bytes_per_second = hop.is_between_nodes ? machine.network_bytes_per_second /
                                                    static_cast<double>(machine.devices_per_node)
                                              : machine.node_bytes_per_second;
  hop.block_tokens = static_cast<double>(model.sequence) / static_cast<double>(layout.context);
  // Operations with a pair of blocks of C tokens, the causal half: C^2 times this.
  const double pair_flops = static_cast<double>(model.query_width() + model.attention_width()) /
                            static_cast<double>(layout.tensor);
  hop.needed_tokens =
      machine.peak_flops / pair_flops * kv_bytes_per_token(model, layout) / hop.bytes_per_second;
  return hop;
}

std::string describe(const RingHop& hop, const Layout& layout) {
  char text[240];
  std::snprintf(text, sizeof text,
                "hop %lld -> %lld of %lld context ranks, %s at %.4g GB/s, needs blocks of %.0f "
                "tokens; they have %.0f",
                static_cast<long long>(hop.from), static_cast<long long>(hop.to),
                static_cast<long long>(layout.context),
                hop.is_between_nodes ? "between nodes" : "inside a node",
                hop.bytes_per_second / 1e9, hop.needed_tokens, hop.block_tokens);
  return text;
}

}  // namespace weir::training
