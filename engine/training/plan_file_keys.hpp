// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the writer and the reader of plan files share: keys and the members that they name.

#include <array>
#include <cstdint>
#include <string_view>

#include <weir/engine/training/placed_plan.hpp>

namespace weir::training::plan_file {

constexpr std::string_view format_name = "weir-parallel-plan";
constexpr int format_version = 2;

/// A number of a struct and its key.
template <class Struct, class Value>
struct Member {
  const char* key;
  Value Struct::*at;
};

inline constexpr std::array transformer_sizes = {
    Member<Transformer, std::int64_t>{"layers", &Transformer::num_layers},
    Member<Transformer, std::int64_t>{"hidden", &Transformer::hidden},
    Member<Transformer, std::int64_t>{"heads", &Transformer::num_heads},
    Member<Transformer, std::int64_t>{"kv_heads", &Transformer::num_kv_heads},
    Member<Transformer, std::int64_t>{"head_size", &Transformer::head_size},
    Member<Transformer, std::int64_t>{"feed_forward", &Transformer::feed_forward},
    Member<Transformer, std::int64_t>{"vocabulary", &Transformer::vocabulary},
};

inline constexpr std::array transformer_switches = {
    Member<Transformer, bool>{"gated", &Transformer::is_gated},
    Member<Transformer, bool>{"biases", &Transformer::has_biases},
    Member<Transformer, bool>{"positions", &Transformer::has_positions},
    Member<Transformer, bool>{"tied_embedding", &Transformer::has_tied_embedding},
};

inline constexpr std::array expert_sizes = {
    Member<Experts, std::int64_t>{"routed", &Experts::num_routed},
    Member<Experts, std::int64_t>{"chosen", &Experts::num_chosen},
    Member<Experts, std::int64_t>{"shared", &Experts::num_shared},
    Member<Experts, std::int64_t>{"feed_forward", &Experts::feed_forward},
    Member<Experts, std::int64_t>{"dense_layers", &Experts::num_dense_layers},
    Member<Experts, std::int64_t>{"most_nodes", &Experts::most_nodes},
};

inline constexpr std::array latent_sizes = {
    Member<LatentAttention, std::int64_t>{"query_rank", &LatentAttention::query_rank},
    Member<LatentAttention, std::int64_t>{"kv_rank", &LatentAttention::kv_rank},
    Member<LatentAttention, std::int64_t>{"position_size", &LatentAttention::position_size},
    Member<LatentAttention, std::int64_t>{"value_size", &LatentAttention::value_size},
};

inline constexpr std::array degrees = {
    Member<Layout, std::int64_t>{"tensor", &Layout::tensor},
    Member<Layout, std::int64_t>{"context", &Layout::context},
    Member<Layout, std::int64_t>{"pipeline", &Layout::pipeline},
    Member<Layout, std::int64_t>{"data", &Layout::data},
    Member<Layout, std::int64_t>{"expert", &Layout::expert},
    Member<Layout, std::int64_t>{"global_batch", &Layout::global_batch},
    Member<Layout, std::int64_t>{"micro_batch", &Layout::micro_batch},
    Member<Layout, std::int64_t>{"chunks", &Layout::interleave},
};

inline constexpr std::array machine_constants = {
    Member<Machine, double>{"peak_flops", &Machine::peak_flops},
    Member<Machine, double>{"matmul_efficiency", &Machine::matmul_efficiency},
    Member<Machine, double>{"tile", &Machine::tile},
    Member<Machine, double>{"memory_bytes_per_second", &Machine::memory_bytes_per_second},
    Member<Machine, double>{"attention_efficiency", &Machine::attention_efficiency},
    Member<Machine, double>{"launch_seconds", &Machine::launch_seconds},
    Member<Machine, double>{"optimizer_seconds", &Machine::optimizer_seconds},
    Member<Machine, double>{"iteration_seconds", &Machine::iteration_seconds},
    Member<Machine, double>{"node_bytes_per_second", &Machine::node_bytes_per_second},
    Member<Machine, double>{"node_latency_seconds", &Machine::node_latency_seconds},
    Member<Machine, double>{"network_bytes_per_second", &Machine::network_bytes_per_second},
    Member<Machine, double>{"network_tensor_bytes_per_second",
                            &Machine::network_tensor_bytes_per_second},
    Member<Machine, double>{"slowdown_per_doubling", &Machine::slowdown_per_doubling},
    Member<Machine, double>{"sharing_slowdown", &Machine::sharing_slowdown},
};

inline constexpr std::array software_numbers = {
    Member<Software, double>{"attention_window", &Software::attention_window},
    Member<Software, double>{"tensor_forward_overlap", &Software::tensor_forward_overlap},
    Member<Software, double>{"tensor_backward_overlap", &Software::tensor_backward_overlap},
    Member<Software, double>{"expert_overlap", &Software::expert_overlap},
    Member<Software, double>{"gradient_bytes", &Software::gradient_bytes},
};

inline constexpr std::array software_switches = {
    Member<Software, bool>{"fused_attention", &Software::has_fused_attention},
    Member<Software, bool>{"parallel_block", &Software::has_parallel_block},
    Member<Software, bool>{"pipeline_overlap", &Software::has_pipeline_overlap},
    Member<Software, bool>{"data_overlap", &Software::has_data_overlap},
    Member<Software, bool>{"scattered_sends", &Software::has_scattered_sends},
    Member<Software, bool>{"context_ring", &Software::has_context_ring},
};

inline constexpr std::array placement_scores = {
    Member<PlacementScore, double>{"seconds", &PlacementScore::seconds},
    Member<PlacementScore, double>{"hop_bytes", &PlacementScore::hop_bytes},
    Member<PlacementScore, double>{"uplink_seconds", &PlacementScore::uplink_seconds},
};

inline constexpr std::array schedules = {Schedule::gpipe, Schedule::one_f_one_b,
                                         Schedule::interleaved, Schedule::zb_h1, Schedule::zb_v};
inline constexpr std::array recomputations = {Recompute::none, Recompute::selective,
                                              Recompute::full};

inline constexpr std::string_view pass_letters = "FBIW";  // in the order of Pass

}  // namespace weir::training::plan_file
