// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <string_view>

#include <weir/engine/model/error.hpp>
#include <weir/io/value_reader.hpp>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace weir;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  try {
    io::ValueReader reader = io::ValueReader::from_memory("values", bytes);
    std::vector<std::pair<VertexId, double>> batch;
    while (reader.next(batch)) {
    }
  } catch (const Error& error) {
    if (error.code() != ErrorCode::input) throw;
  }
  return 0;
}
