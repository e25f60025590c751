// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include <weir/engine/training/calibration.hpp>

namespace weir::training {

/// Measured iterations of GPT models on A100 nodes of 8, as vTrain publishes them ([Bang24],
/// `data/ground_truth_*.csv`): 1F1B, recomputation in full. Rows are in the order of the file. A
/// leading column with the parameters in billions is taken where `has_parameter_column`. Throws
/// Error{input} naming file and line.
std::vector<MeasuredRun> read_vtrain_runs(const std::string& path, bool has_parameter_column);

}  // namespace weir::training
