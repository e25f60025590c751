// SPDX-License-Identifier: Apache-2.0
#include <weir/engine/training/validation.hpp>

#include <algorithm>
#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <filesystem>

#include <weir/engine/model/check.hpp>

namespace weir::training {

double ValidationRow::error() const {
  return unit == "%" ? predicted - measured : 100 * (predicted / measured - 1);
}

bool Validation::is_met() const {
  return std::all_of(goals.begin(), goals.end(),
                     [](const ValidationGoal& goal) { return goal.is_met(); });
}

void Validation::add(const Machine& machine, const std::string& oracle,
                     const std::vector<FreeConstant>& free_constants) {
  for (const FreeConstant& constant : free_constants) {
    constants.push_back({oracle, constant.name, constant.prior.value, machine.*constant.member});
  }
}

ErrorSummary errors_of(const std::vector<ValidationRow>& rows, const std::string& oracle) {
  ErrorSummary summary;
  for (const ValidationRow& row : rows) {
    if (row.oracle != oracle || row.is_fitted) continue;
    const double error = std::abs(row.error());
    summary.mean += error;
    summary.largest = std::max(summary.largest, error);
    ++summary.num_rows;
  }
  if (summary.num_rows > 0) summary.mean /= static_cast<double>(summary.num_rows);
  return summary;
}

Validation validate(const std::string& fit_folder, const std::string& data_folder) {
  for (const std::string& folder : {fit_folder, data_folder}) {
    WEIR_EXPECT(std::filesystem::is_directory(folder + "/vtrain") ||
                    std::filesystem::is_directory(folder + "/sailor"),
                input, folder + ": found neither vtrain/ nor sailor/ in it; expected one of them");
  }
  Validation validation;
  validate_recompute(validation);
  validate_scaling(validation);
  validate_vtrain(fit_folder, data_folder, validation);
  validate_sailor(fit_folder, data_folder, validation);
  return validation;
}

namespace {

/// printf into a string.
__attribute__((format(printf, 1, 2))) std::string formatted(const char* format, ...) {
  char text[512];
  std::va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  return text;
}

}  // namespace

std::string to_text(const Validation& validation) {
  std::string text =
      formatted("%-26s %-38s %12s %12s\n", "fitted for", "constant", "before", "value");
  for (const FittedValue& constant : validation.constants) {
    text += formatted("%-26s %-38s %12.4g %12.4g\n", constant.oracle.c_str(), constant.name.c_str(),
                      constant.prior, constant.value);
  }
  text += formatted("\n%-26s %-44s %-4s %12s %12s %9s\n", "oracle", "row", "unit", "measured",
                    "predicted", "error");
  for (const ValidationRow& row : validation.rows) {
    text += formatted("%-26s %-44s %-4s %12.6g %12.6g %+8.2f%s%s\n", row.oracle.c_str(),
                      row.label.c_str(), row.unit.c_str(), row.measured, row.predicted, row.error(),
                      row.unit == "%" ? "p" : "%", row.is_fitted ? " fitted" : "");
  }
  for (const std::string& reason : validation.left_out) text += "left out: " + reason + '\n';
  text += formatted("\n%-26s %-50s %9s    %9s\n", "oracle", "goal", "reached", "limit");
  for (const ValidationGoal& goal : validation.goals) {
    text += formatted("%-26s %-50s %9.4g %s %9.4g %s\n", goal.oracle.c_str(), goal.label.c_str(),
                      goal.reached, goal.is_lower_limit ? ">=" : "<=", goal.limit,
                      goal.is_met() ? "met" : "MISSED");
  }
  return text;
}

}  // namespace weir::training
