// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <weir/engine/training/validation.hpp>

namespace weir::simulation {

/// Adds to the published figures what slow hosts cost ([Jiang24 §6.3]): points of utilisation,
/// about 0.7, by which removing hosts that took 10 % longer for the same forward passes raised a
/// run.
///
/// The paper says neither how many they were nor where they stood. Simulated is one host on the
/// calibrated run on 12,288 devices, on each of the stages in turn, slow in forward passes alone,
/// and in all passes. The goal is that the figure lies between the stages where it costs least and
/// most.
void validate_stragglers(training::Validation& validation);

}  // namespace weir::simulation
