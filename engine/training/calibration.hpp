// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include <weir/engine/training/fit.hpp>
#include <weir/engine/training/iteration_time.hpp>

namespace weir::training {

/// One iteration of a training job whose time is known.
struct MeasuredRun {
  std::string label;
  Transformer model;
  Layout layout;
  double seconds = 0;
};

/// A constant of Machine that is to be fitted.
struct FreeConstant {
  std::string name;
  double Machine::*member = nullptr;
  Prior prior;
};

/// One equation of a calibration: a positive figure, a time or a ratio of times, as a function of
/// the machine, and what was measured.
struct Observation {
  std::function<double(const Machine&)> predicted;
  double measured = 0;
};

/// The observation of whole iterations.
std::vector<Observation> observations_of(const std::vector<MeasuredRun>& runs,
                                         const Software& software);

/// The machine whose free constants explain the observations best in the logarithm of time; all
/// other members stay as in `machine`. `row_error` as for fit_constants().
Machine calibrate(Machine machine, const std::vector<FreeConstant>& constants,
                  const std::vector<Observation>& observations, double row_error);

}  // namespace weir::training
