// SPDX-License-Identifier: Apache-2.0
// weir simulate sort-2004: figures of a paper beside those of the simulator.
#include <nlohmann/json.hpp>

#include <weir/cli/plan_text.hpp>
#include <weir/cli/simulated_text.hpp>
#include <weir/io/number_text.hpp>

namespace weir::cli {

namespace {

using simulation::SortConstant;
using simulation::SortReport;
using simulation::SortRow;

using Rows = std::vector<std::vector<std::string>>;

std::string signed_fixed(double value, int digits) {
  return (value < 0 ? "" : "+") + fixed(value, digits);
}

std::string plain(double value) {
  std::string text;
  io::append_number(text, value);
  return text;
}

std::string role_of(const SortRow& row) {
  if (!row.paper_seconds) return "-";
  return row.is_fitted ? "fitted" : "predicted";
}

std::string name_of(const SortRow& row) {
  return std::string(schedule::name_of(row.straggler.rule));
}

std::string constants_of(const SortReport& report, bool fitted) {
  std::string text = fitted ? "fitted to\n" : "given by\n";
  for (const SortConstant& constant : report.constants) {
    if (constant.is_fitted != fitted) continue;
    std::string line = "  " + constant.origin;
    line.resize(44, ' ');
    line += constant.name + " = " + plain(constant.value);
    text += line + (constant.unit.empty() ? "" : " " + constant.unit) + '\n';
  }
  return text + '\n';
}

std::string rows_of(const SortReport& report) {
  Rows rows = {{"run", "rule", "paper_s", "simulated_s", "error", "least_s", "most_s", "wasted",
                "copies", "won", "after_960_s", "figure"}};
  for (const SortRow& row : report.rows) {
    rows.push_back({row.label, name_of(row), row.paper_seconds ? fixed(*row.paper_seconds, 0) : "-",
                    fixed(row.seconds, 0),
                    row.paper_seconds ? signed_fixed(100 * row.error(), 1) + "%" : "-",
                    fixed(row.least_seconds, 0), fixed(row.most_seconds, 0),
                    fixed(100 * row.wasted_share, 1) + "%", fixed(row.num_clones, 0),
                    fixed(row.num_clones_won, 0), fixed(row.num_late, 0), role_of(row)});
  }
  return aligned(rows);
}

/// Differences between rows of the paper: a sharper question than the rows.
std::string differences_of(const SortReport& report) {
  const SortRow* without = nullptr;
  const SortRow* normal = nullptr;
  const SortRow* killed = nullptr;
  for (const SortRow& row : report.rows) {
    if (!row.paper_seconds) continue;
    (row.is_fitted ? without : row.has_failures ? killed : normal) = &row;
  }
  const auto line = [](const std::string& name, const SortRow& from, const SortRow& to) {
    return name + "paper " + signed_fixed(*to.paper_seconds - *from.paper_seconds, 0) +
           " s, simulated " + signed_fixed(to.seconds - from.seconds, 0) + " s\n";
  };
  std::string text;
  if (normal && without) text += line("without backup tasks  ", *normal, *without);
  if (normal && killed) text += line("with workers killed   ", *normal, *killed);
  return text;
}

std::string json_of(const SortReport& report, const simulation::SortOptions& options) {
  using Json = nlohmann::ordered_json;
  Json constants = Json::array();
  for (const SortConstant& constant : report.constants) {
    constants.push_back({{"name", constant.name},
                         {"unit", constant.unit},
                         {"value", constant.value},
                         {"origin", constant.origin},
                         {"fitted", constant.is_fitted}});
  }
  Json rows = Json::array();
  for (const SortRow& row : report.rows) {
    Json one = {{"run", row.label},
                {"rule", name_of(row)},
                {"begin_share", row.straggler.begin_share},
                {"figure", role_of(row)}};
    one["seconds"] = {{"paper", row.paper_seconds ? Json(*row.paper_seconds) : Json()},
                      {"simulated", row.seconds},
                      {"least", row.least_seconds},
                      {"most", row.most_seconds},
                      {"last_map", row.last_map_seconds},
                      {"first_reduce", row.first_reduce_seconds}};
    one["wasted_share"] = row.wasted_share;
    one["clones"] = row.num_clones;
    one["clones_won"] = row.num_clones_won;
    one["reduces_after_960_s"] = row.num_late;
    rows.push_back(std::move(one));
  }
  const Json json = {{"simulation", "sort-2004"},
                     {"seed", options.seed},
                     {"runs", options.num_runs},
                     {"killed", options.num_killed},
                     {"kill_at_seconds", options.kill_seconds},
                     {"constants", std::move(constants)},
                     {"rows", std::move(rows)},
                     {"met", report.is_met()}};
  return json.dump(2) + '\n';
}

}  // namespace

SimulatedText simulate_sort(const simulation::SortOptions& options) {
  const SortReport report = simulation::simulate_sort_2004(options);
  SimulatedText simulated;
  simulated.text = constants_of(report, false) + constants_of(report, true) + rows_of(report) +
                   "\ntimes and counts are medians of " + std::to_string(options.num_runs) +
                   " runs; wasted: time of workers in copies that lost and work that died, over "
                   "useful time\n" +
                   differences_of(report) +
                   "predicted rows within 5 %: " + (report.is_met() ? "yes" : "MISSED") + '\n';
  simulated.json = json_of(report, options);
  simulated.is_met = report.is_met();
  return simulated;
}

}  // namespace weir::cli
