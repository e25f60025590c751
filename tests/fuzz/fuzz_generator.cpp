// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include <weir/engine/model/error.hpp>
#include <weir/io/generator.hpp>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace weir;
  const std::string_view spec(reinterpret_cast<const char*>(data), size);
  try {
    io::Generator generator(spec, {0, 1});
    std::vector<Edge<double>> batch;
    generator.next(batch);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::usage) throw;
  }
  return 0;
}
