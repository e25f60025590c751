// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <vector>

namespace weir::training {

/// What is known of a positive constant before any measurement: its value and by what factor's
/// logarithm it may be off (one standard deviation).
struct Prior {
  double value = 1;
  double log_spread = 1;
};

/// One residual per measured row, of all constants.
using Residuals = std::function<std::vector<double>(const std::vector<double>& constants)>;

/// The positive constants that explain the rows best: Levenberg-Marquardt over their logarithms
/// ([More78]) on the residuals and, for each prior, its distance in spreads times `row_error`, the
/// error that a row is expected to have. Rows far off count with their distance instead of its
/// square ([Huber64]), so that a few defective rows do not bend the rest. Deterministic.
std::vector<double> fit_constants(const std::vector<Prior>& priors, const Residuals& residuals,
                                  double row_error);

/// The rank correlation of two columns ([Spearman04]); equal values share their mean rank.
double rank_correlation(const std::vector<double>& left, const std::vector<double>& right);

}  // namespace weir::training
