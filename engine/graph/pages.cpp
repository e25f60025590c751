// SPDX-License-Identifier: Apache-2.0
#include <weir/engine/graph/pages.hpp>

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <new>

namespace weir {

namespace {

constexpr std::size_t huge_page_bytes = std::size_t{1} << 21;
constexpr std::size_t least_bytes = 2 * huge_page_bytes;

std::size_t small_page_bytes() { return static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)); }

}  // namespace

void* allocate_array(std::size_t num_bytes, std::size_t alignment) {
  if (num_bytes < least_bytes) return ::operator new (num_bytes, std::align_val_t{alignment});
  // From the kernel, not the heap, whose memory may be in small pages already. A huge page starts
  // at a multiple of its size, and is present as a whole once written in part: the end keeps small
  // ones.
  const std::size_t mapped_bytes = num_bytes + huge_page_bytes;
  void* const mapped =
      ::mmap(nullptr, mapped_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) throw std::bad_alloc();
  const auto address = reinterpret_cast<std::uintptr_t>(mapped);
  const std::size_t before = (huge_page_bytes - address % huge_page_bytes) % huge_page_bytes;
  const std::size_t after = huge_page_bytes - before;
  std::byte* const begin = static_cast<std::byte*>(mapped) + before;
  if (before > 0) ::munmap(mapped, before);
  ::madvise(begin, num_bytes / huge_page_bytes * huge_page_bytes, MADV_HUGEPAGE);
  const std::size_t kept =
      (num_bytes + small_page_bytes() - 1) / small_page_bytes() * small_page_bytes();
  ::munmap(begin + kept, num_bytes + after - kept);
  return begin;
}

void free_array(void* begin, std::size_t num_bytes, std::size_t alignment) {
  if (num_bytes < least_bytes) return ::operator delete (begin, std::align_val_t{alignment});
  ::munmap(begin, num_bytes);
}

Pages::Pages(std::size_t num_bytes, Fill fill) : num_bytes_(num_bytes) {
  if (num_bytes == 0) return;
  void* const address =
      ::mmap(nullptr, num_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (address == MAP_FAILED) throw std::bad_alloc();
  begin_ = static_cast<std::byte*>(address);
  if (fill == Fill::in_order && num_bytes >= huge_page_bytes)
    ::madvise(address, num_bytes, MADV_HUGEPAGE);
}

Pages::~Pages() {
  if (begin_ != nullptr) ::munmap(begin_, num_bytes_);
}

void Pages::release(std::size_t begin, std::size_t end) {
  const std::size_t page_bytes = small_page_bytes();
  const std::size_t first = (begin + page_bytes - 1) / page_bytes * page_bytes;
  const std::size_t last = end / page_bytes * page_bytes;
  if (first < last) ::madvise(begin_ + first, last - first, MADV_DONTNEED);
}

}  // namespace weir
