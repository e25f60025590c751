// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include <weir/engine/training/iteration_time.hpp>

namespace weir::training {

/// Bytes of one token's keys and values on one tensor rank, 2-byte elements: latent where they are
/// made from that.
double kv_bytes_per_token(const Transformer& model, const Layout& layout);

/// The slowest hop of a ring of context ranks, over which blocks of keys and values travel while
/// each rank computes attention with the block it has ([Liu24]).
struct RingHop {
  std::int64_t from = 0;  ///< Ranks of the ring.
  std::int64_t to = 0;
  bool is_between_nodes = false;
  double bytes_per_second = 0;
  double block_tokens = 0;   ///< Of one sample that a rank has.
  double needed_tokens = 0;  ///< At least, so that computing with a block takes as long as sending.

  bool is_hidden() const { return block_tokens >= needed_tokens; }
};

/// The hop of a layout with several context ranks. A causal mask that is balanced over the ranks
/// leaves half of a block's scores, so with F operations a second at the peak and a bandwidth B,
/// ordinary attention needs blocks of 2 (F/B) (key-value heads / heads) tokens; the backward pass,
/// which sends gradients too but computes two and a half times as much, needs fewer.
RingHop slowest_hop(const Transformer& model, const Layout& layout, const Machine& machine);

/// `hop 7 -> 8 of 16 context ranks, between nodes at 40 GB/s, needs blocks of 2473 tokens; they
/// have 512`.
std::string describe(const RingHop& hop, const Layout& layout);

}  // namespace weir::training
