// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include <weir/io/weir_layout.hpp>
#include <weir/tests/fuzz/drain_reader.hpp>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace {

using weir::io::WeirHeader;

/// Makes the checksums right again, so that what lies behind them is reached too.
void repair(std::vector<std::uint8_t>& file) {
  if (file.size() < sizeof(WeirHeader) + 1) return;
  std::uint8_t* const bytes = file.data() + 1;
  const std::size_t size = file.size() - 1;
  WeirHeader header;
  std::memcpy(&header, bytes, sizeof header);
  const auto& hashes = header.hashes;
  if (hashes.offset >= sizeof header && hashes.offset < size && hashes.num_bytes >= 8 &&
      hashes.num_bytes <= size - hashes.offset) {
    const std::uint64_t block =
        XXH3_64bits(bytes + sizeof header, static_cast<std::size_t>(hashes.offset) - sizeof header);
    std::memcpy(bytes + hashes.offset, &block, sizeof block);
    header.hash_of_hashes =
        XXH3_64bits(bytes + hashes.offset, static_cast<std::size_t>(hashes.num_bytes));
  }
  header.hash_of_header = XXH3_64bits(&header, sizeof header - sizeof header.hash_of_header);
  std::memcpy(bytes, &header, sizeof header);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  weir::io::fuzz::read("g.weir", weir::io::Format::weir, data, size);
  std::vector<std::uint8_t> repaired(data, data + size);
  repair(repaired);
  weir::io::fuzz::read("g.weir", weir::io::Format::weir, repaired.data(), repaired.size());
  return 0;
}
