// SPDX-License-Identifier: Apache-2.0
// Rows, profiles, plans and bandwidths of measured training jobs; the first byte says which.
#include <cstdint>
#include <string>

#include <sys/mman.h>
#include <unistd.h>

#include <weir/engine/model/error.hpp>
#include <weir/engine/training/profiled_plan.hpp>
#include <weir/engine/training/vtrain_runs.hpp>

namespace {

void read(char kind, const std::string& path) {
  using namespace weir::training;
  if (kind == 'r') {
    for (const MeasuredRun& run : read_vtrain_runs(path, false)) {
      predict(run.model, run.layout, Machine{}, Software{});
    }
  }
  if (kind == 'p') LayerProfile::read(path).work_seconds({0, 1}, 1, 1);
  if (kind == 'b') FittedBandwidth::read(path).bytes_per_second("X", 1e6);
  if (kind == 'm') {
    ProfiledPlan plan = read_profiled_plan(path);
    plan.model = "OPT-350";
    predict_bytes(plan);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const int file = ::memfd_create("input", 0);
  if (file < 0 || ::write(file, data + 1, size - 1) < 0) return 0;
  try {
    read(static_cast<char>(data[0]), "/proc/self/fd/" + std::to_string(file));
  } catch (const weir::Error& error) {
    if (error.code() != weir::ErrorCode::input) throw;
  }
  ::close(file);
  return 0;
}
