// SPDX-License-Identifier: Apache-2.0
#include <weir/tests/fuzz/drain_reader.hpp>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  weir::io::fuzz::read("g.metis", weir::io::Format::metis, data, size);
  return 0;
}
