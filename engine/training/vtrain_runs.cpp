// SPDX-License-Identifier: Apache-2.0
#include <weir/engine/training/vtrain_runs.hpp>

#include <cmath>
#include <cstdio>

#include <weir/engine/model/check.hpp>
#include <weir/engine/training/text_table.hpp>

namespace weir::training {

namespace {

std::int64_t whole_number(double value, const std::string& where) {
  WEIR_EXPECT(
      value == std::floor(value) && value > 0 && value <= 1e6, input,
      where + "found " + std::to_string(value) + "; expected a whole number from 1 to a million");
  return static_cast<std::int64_t>(value);
}

std::string label_of(const MeasuredRun& run) {
  const Layout& layout = run.layout;
  std::string label = "h" + std::to_string(run.model.hidden) + " L" +
                      std::to_string(run.model.num_layers) + " t" + std::to_string(layout.tensor) +
                      " d" + std::to_string(layout.data) + " p" + std::to_string(layout.pipeline) +
                      " b" + std::to_string(layout.micro_batch);
  return label + " B" + std::to_string(layout.global_batch);
}

}  // namespace

std::vector<MeasuredRun> read_vtrain_runs(const std::string& path, bool has_parameter_column) {
  const std::size_t first = has_parameter_column ? 1 : 0;
  const NumberTable table = read_number_table(path, first + 11);
  std::vector<MeasuredRun> runs;
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    const std::string where = path + ":" + std::to_string(table.lines[i]) + ": ";
    const auto cell = [&](std::size_t column) {
      return whole_number(table.rows[i][first + column], where);
    };
    MeasuredRun run;
    run.model = gpt("GPT", cell(5), cell(3), cell(4));
    run.model.sequence = cell(6);
    run.layout.global_batch = cell(1);
    run.layout.micro_batch = cell(2);
    run.layout.tensor = cell(7);
    run.layout.data = cell(8);
    run.layout.pipeline = cell(9);
    run.layout.recompute = Recompute::full;
    run.seconds = table.rows[i][first + 10] * 1e-3;
    WEIR_EXPECT(run.seconds > 0, input, where + "found a time that is not positive");
    WEIR_EXPECT(cell(0) == run.layout.num_devices(), input,
                where + std::to_string(cell(0)) + " GPUs are not the product of the degrees, " +
                    std::to_string(run.layout.num_devices()));
    run.label = label_of(run);
    runs.push_back(std::move(run));
  }
  return runs;
}

}  // namespace weir::training
