// SPDX-License-Identifier: Apache-2.0
#include <weir/engine/graph/pages.hpp>

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <new>

namespace weir {

Pages::Pages(std::size_t num_bytes, Fill fill) : num_bytes_(num_bytes) {
  if (num_bytes == 0) return;
  void* const address =
      ::mmap(nullptr, num_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (address == MAP_FAILED) throw std::bad_alloc();
  begin_ = static_cast<std::byte*>(address);
  constexpr std::size_t huge_page_bytes = std::size_t{1} << 21;
  if (fill == Fill::in_order && num_bytes >= huge_page_bytes)
    ::madvise(address, num_bytes, MADV_HUGEPAGE);
}

Pages::~Pages() {
  if (begin_ != nullptr) ::munmap(begin_, num_bytes_);
}

void Pages::release(std::size_t begin, std::size_t end) {
  const auto page_bytes = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  const std::size_t first = (begin + page_bytes - 1) / page_bytes * page_bytes;
  const std::size_t last = end / page_bytes * page_bytes;
  if (first < last) ::madvise(begin_ + first, last - first, MADV_DONTNEED);
}

}  // namespace weir
