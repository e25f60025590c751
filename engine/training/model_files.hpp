// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <weir/engine/training/parallel_plan.hpp>

namespace weir::training {

/// A transformer that a file describes, and what the file says about its layout.
struct ModelFile {
  Transformer model;
  LayoutConstraints constraints{};
  std::optional<std::int64_t> global_batch{};
  std::optional<bool> has_fused_attention{};
};

/// Reads a description of a transformer; nothing where the file is none. Told by the content:
/// - Calculon's JSON ([Isaev23]): an object with `num_blocks`;
/// - arguments of Megatron-LM's programs, as on its command line or in a script: they name
///   `--num-layers`. Options that say nothing of the model or the layout are passed over.
///
/// Throws Error{input} with the file, the line or the key where what it describes cannot be.
std::optional<ModelFile> read_model_file(const std::string& path);

/// The same from memory; `name` is for errors and names the model.
std::optional<ModelFile> parse_model_file(const std::string& name, std::string_view text);

}  // namespace weir::training
