// SPDX-License-Identifier: Apache-2.0
#include <weir/engine/training/validation.hpp>

#include <algorithm>
#include <cmath>
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

std::string left(std::string text, std::size_t width) {
  text.resize(std::max(width, text.size()), ' ');
  return text + ' ';
}

std::string right(const std::string& text, std::size_t width) {
  return std::string(width > text.size() ? width - text.size() : 0, ' ') + text + ' ';
}

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", value);
  return text;
}

std::string error_text(const ValidationRow& row) {
  char text[48];
  std::snprintf(text, sizeof text, "%+.2f%c", row.error(), row.unit == "%" ? 'p' : '%');
  return text;
}

constexpr std::size_t oracle_width = 26;
constexpr std::size_t label_width = 48;
constexpr std::size_t number_width = 11;

std::string constants_text(const Validation& validation) {
  std::string text = left("fitted for", oracle_width) + left("constant", label_width) +
                     right("before", number_width) + right("value", number_width) + '\n';
  for (const FittedValue& constant : validation.constants) {
    text += left(constant.oracle, oracle_width) + left(constant.name, label_width) +
            right(number(constant.prior), number_width) +
            right(number(constant.value), number_width) + '\n';
  }
  return text;
}

std::string rows_text(const Validation& validation) {
  constexpr std::size_t unit_width = 5;
  std::string text = left("oracle", oracle_width) + left("row", label_width) +
                     left("unit", unit_width) + right("measured", number_width) +
                     right("predicted", number_width) + right("error", number_width) + '\n';
  for (const ValidationRow& row : validation.rows) {
    text += left(row.oracle, oracle_width) + left(row.label, label_width) +
            left(row.unit, unit_width) + right(number(row.measured), number_width) +
            right(number(row.predicted), number_width) + right(error_text(row), number_width) +
            (row.is_fitted ? "fitted" : "") + '\n';
  }
  for (const std::string& reason : validation.left_out) text += "left out: " + reason + '\n';
  return text;
}

std::string goals_text(const Validation& validation) {
  std::string text = left("oracle", oracle_width) + left("goal", label_width) +
                     right("reached", number_width) + right("limit", number_width + 3) + '\n';
  for (const ValidationGoal& goal : validation.goals) {
    text += left(goal.oracle, oracle_width) + left(goal.label, label_width) +
            right(number(goal.reached), number_width) + (goal.is_lower_limit ? ">= " : "<= ") +
            right(number(goal.limit), number_width) + (goal.is_met() ? "met" : "MISSED") + '\n';
  }
  return text;
}

}  // namespace

std::string to_text(const Validation& validation) {
  return constants_text(validation) + '\n' + rows_text(validation) + '\n' + goals_text(validation);
}

}  // namespace weir::training
