// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <weir/engine/training/operator_graph.hpp>

namespace weir::training {

/// Formats of operator graphs; what each holds is in docs/planning.md.
enum class GraphFormat {
  automatic,  ///< Told by the content.
  pipedream,  ///< PipeDream's profiles, `graph.txt`.
  piper,      ///< Piper's JSON.
  simai,      ///< SimAI's workload text, one operator per row.
  layers,     ///< Plain rows: name, forward ms, backward ms, activation bytes, parameter bytes.
};

std::string name_of(GraphFormat format);

/// Which of the variants of an operator a Piper file lists is taken.
struct PiperVariant {
  int tensor_parallel_degree = 1;
  bool recomputes_activations = false;
};

struct GraphFileOptions {
  GraphFormat format = GraphFormat::automatic;
  PiperVariant piper{};
};

/// Reads an operator graph; plain or packed by gzip or zstd, `-` is standard input.
///
/// Throws Error{input} with the text `FILE:LINE: found ...; expected ...`. Cycles are refused.
OperatorGraph read_operator_graph(const std::string& path, const GraphFileOptions& options = {});

/// The same from memory; `name` is for errors.
OperatorGraph parse_operator_graph(const std::string& name, std::string_view text,
                                   const GraphFileOptions& options = {});

}  // namespace weir::training
