// SPDX-License-Identifier: Apache-2.0
#include <weir/engine/training/calibration.hpp>

#include <cmath>

namespace weir::training {

namespace {

Machine with_constants(Machine machine, const std::vector<FreeConstant>& constants,
                       const std::vector<double>& values) {
  for (std::size_t i = 0; i < constants.size(); ++i) machine.*constants[i].member = values[i];
  return machine;
}

}  // namespace

std::vector<Observation> observations_of(const std::vector<MeasuredRun>& runs,
                                         const Software& software) {
  std::vector<Observation> observations;
  for (const MeasuredRun& run : runs) {
    observations.push_back({[run, software](const Machine& machine) {
                              return predict(run.model, run.layout, machine, software).total();
                            },
                            run.seconds});
  }
  return observations;
}

Machine calibrate(Machine machine, const std::vector<FreeConstant>& constants,
                  const std::vector<Observation>& observations, double row_error) {
  std::vector<Prior> priors;
  for (const FreeConstant& constant : constants) priors.push_back(constant.prior);
  const auto residuals = [&](const std::vector<double>& values) {
    const Machine candidate = with_constants(machine, constants, values);
    std::vector<double> logs;
    for (const Observation& observation : observations) {
      logs.push_back(std::log(observation.predicted(candidate) / observation.measured));
    }
    return logs;
  };
  return with_constants(machine, constants, fit_constants(priors, residuals, row_error));
}

}  // namespace weir::training
