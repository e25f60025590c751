// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include <weir/engine/training/calibration.hpp>

namespace weir::training {

/// One figure that somebody measured or published, and what the models of this room say.
struct ValidationRow {
  std::string oracle;  ///< Where the figure is from.
  std::string label;
  std::string unit;
  double measured = 0;
  double predicted = 0;
  bool is_fitted = false;  ///< Constants were fitted to this row: no prediction.

  /// In percent of the measured; of figures in percent, in points.
  double error() const;
};

/// What is to be reached over the rows of an oracle.
struct ValidationGoal {
  std::string oracle;
  std::string label;
  double reached = 0;
  double limit = 0;
  bool is_lower_limit = false;

  bool is_met() const { return is_lower_limit ? reached >= limit : reached <= limit; }
};

/// A constant as it came out of a calibration.
struct FittedValue {
  std::string oracle;
  std::string name;
  double prior = 0;
  double value = 0;
};

struct Validation {
  std::vector<ValidationRow> rows;
  std::vector<ValidationGoal> goals;
  std::vector<FittedValue> constants;
  std::vector<std::string> left_out;  ///< Rows and files that say nothing, and why.

  bool is_met() const;

  void add(const Machine& machine, const std::string& oracle,
           const std::vector<FreeConstant>& constants);
};

/// The errors, without sign, of rows of an oracle that no constant was fitted to.
struct ErrorSummary {
  std::int64_t num_rows = 0;
  double mean = 0;
  double largest = 0;
};
ErrorSummary errors_of(const std::vector<ValidationRow>& rows, const std::string& oracle);

/// Calibrates on the measured rows of `fit_folder`, predicts those of `data_folder`, and checks
/// the published figures besides. Folders hold `vtrain/` and `sailor/`; what one of them lacks is
/// left out. Of vTrain's rows in `fit_folder` the first, third, ... (several nodes) and the first,
/// fourth, ... (one node) are fitted to, and are no predictions where `data_folder` has them too.
/// Throws Error{input} naming file and line.
Validation validate(const std::string& fit_folder, const std::string& data_folder);

/// A published run and the constants that were fitted for it.
struct CalibratedRun {
  Transformer model;
  Layout layout;
  Machine machine;
  Software software;
};

/// [Jiang24]'s largest run, 12,288 devices with all of MegaScale's changes, as validate_scaling()
/// calibrates it.
CalibratedRun largest_megascale_run();

// The parts of validate().
void validate_recompute(Validation& validation);
void validate_scaling(Validation& validation);
void validate_vtrain(const std::string& fit_folder, const std::string& data_folder,
                     Validation& validation);
void validate_sailor(const std::string& fit_folder, const std::string& data_folder,
                     Validation& validation);

/// Constants, then all rows, then all goals, as aligned text.
std::string to_text(const Validation& validation);

}  // namespace weir::training
