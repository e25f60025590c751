// SPDX-License-Identifier: Apache-2.0
#include <weir/engine/training/fit.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace weir::training {

namespace {

using Vector = std::vector<double>;

/// Rows and priors as one list of weighted residuals.
class Objective {
 public:
  Objective(const std::vector<Prior>& priors, const Residuals& residuals, double row_error)
      : priors_(priors), residuals_(residuals), row_error_(row_error) {}

  Vector start() const {
    Vector logs;
    for (const Prior& prior : priors_) logs.push_back(std::log(prior.value));
    return logs;
  }

  /// Residuals in units of the expected error, the distance from the priors after them.
  Vector operator()(const Vector& logs) const {
    Vector constants;
    for (const double log : logs) constants.push_back(std::exp(log));
    Vector all = residuals_(constants);
    for (double& residual : all) residual /= row_error_;
    for (std::size_t i = 0; i < logs.size(); ++i) {
      all.push_back((logs[i] - std::log(priors_[i].value)) / priors_[i].log_spread);
    }
    return all;
  }

  /// Squares near zero; of rows, the distance beyond one expected error.
  double loss(const Vector& residuals) const {
    double sum = 0;
    for (std::size_t i = 0; i < residuals.size(); ++i) {
      const double size = std::abs(residuals[i]);
      sum += is_far(residuals, i) ? 2 * size - 1 : size * size;
    }
    return sum;
  }

  /// What a residual's square is weighted by so that the weighted squares have the loss's slope.
  double weight(const Vector& residuals, std::size_t i) const {
    return is_far(residuals, i) ? 1 / std::abs(residuals[i]) : 1;
  }

 private:
  bool is_far(const Vector& residuals, std::size_t i) const {
    return i < residuals.size() - priors_.size() && std::abs(residuals[i]) > 1;
  }

  const std::vector<Prior>& priors_;
  const Residuals& residuals_;
  double row_error_;
};

/// Solves a symmetric positive definite system in place, by Cholesky's factors.
Vector solve(std::vector<Vector> a, Vector b) {
  const std::size_t n = b.size();
  for (std::size_t j = 0; j < n; ++j) {
    for (std::size_t k = 0; k < j; ++k) a[j][j] -= a[j][k] * a[j][k];
    a[j][j] = std::sqrt(a[j][j]);
    for (std::size_t i = j + 1; i < n; ++i) {
      for (std::size_t k = 0; k < j; ++k) a[i][j] -= a[i][k] * a[j][k];
      a[i][j] /= a[j][j];
    }
  }
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t k = 0; k < i; ++k) b[i] -= a[i][k] * b[k];
    b[i] /= a[i][i];
  }
  for (std::size_t i = n; i-- > 0;) {
    for (std::size_t k = i + 1; k < n; ++k) b[i] -= a[k][i] * b[k];
    b[i] /= a[i][i];
  }
  return b;
}

/// The normal equations of one step: J'WJ and J'Wr, the Jacobian by differences.
struct NormalEquations {
  std::vector<Vector> matrix;
  Vector gradient;
};

NormalEquations linearise(const Objective& objective, const Vector& at, const Vector& residuals) {
  const std::size_t n = at.size();
  constexpr double step = 1e-5;
  std::vector<Vector> columns;
  for (std::size_t j = 0; j < n; ++j) {
    Vector moved = at;
    moved[j] += step;
    Vector column = objective(moved);
    for (std::size_t i = 0; i < column.size(); ++i) column[i] = (column[i] - residuals[i]) / step;
    columns.push_back(std::move(column));
  }
  NormalEquations equations{std::vector<Vector>(n, Vector(n)), Vector(n)};
  for (std::size_t row = 0; row < residuals.size(); ++row) {
    const double weight = objective.weight(residuals, row);
    for (std::size_t i = 0; i < n; ++i) {
      equations.gradient[i] += weight * columns[i][row] * residuals[row];
      for (std::size_t j = 0; j < n; ++j) {
        equations.matrix[i][j] += weight * columns[i][row] * columns[j][row];
      }
    }
  }
  return equations;
}

Vector mean_ranks(const Vector& values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
  Vector ranks(values.size());
  for (std::size_t first = 0; first < order.size();) {
    std::size_t last = first;
    while (last < order.size() && values[order[last]] == values[order[first]]) ++last;
    for (std::size_t i = first; i < last; ++i) {
      ranks[order[i]] = 0.5 * static_cast<double>(first + last - 1);
    }
    first = last;
  }
  return ranks;
}

}  // namespace

std::vector<double> fit_constants(const std::vector<Prior>& priors, const Residuals& residuals,
                                  double row_error) {
  const Objective objective(priors, residuals, row_error);
  Vector at = objective.start();
  Vector values = objective(at);
  double damping = 1e-2;
  constexpr int max_steps = 200;
  for (int step = 0; step < max_steps && damping < 1e8; ++step) {
    NormalEquations equations = linearise(objective, at, values);
    for (std::size_t i = 0; i < at.size(); ++i) equations.matrix[i][i] *= 1 + damping;
    const Vector move = solve(equations.matrix, equations.gradient);
    Vector next = at;
    for (std::size_t i = 0; i < at.size(); ++i) next[i] -= std::clamp(move[i], -1.0, 1.0);
    Vector next_values = objective(next);
    const double before = objective.loss(values);
    const double after = objective.loss(next_values);
    if (!(after < before)) {
      damping *= 4;
      continue;
    }
    at = std::move(next);
    values = std::move(next_values);
    damping /= 3;
    if (before - after < 1e-10 * before) break;
  }
  for (double& log : at) log = std::exp(log);
  return at;
}

double rank_correlation(const std::vector<double>& left, const std::vector<double>& right) {
  const Vector a = mean_ranks(left);
  const Vector b = mean_ranks(right);
  const double mean = 0.5 * static_cast<double>(a.size() - 1);
  double both = 0;
  double only_a = 0;
  double only_b = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    both += (a[i] - mean) * (b[i] - mean);
    only_a += (a[i] - mean) * (a[i] - mean);
    only_b += (b[i] - mean) * (b[i] - mean);
  }
  return both / std::sqrt(only_a * only_b);
}

}  // namespace weir::training
