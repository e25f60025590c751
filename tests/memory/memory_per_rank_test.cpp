// SPDX-License-Identifier: Apache-2.0
// What a rank allocates for a job grows with the number of ranks, not with its square.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <string>

#include <gtest/gtest.h>

#include <weir/tests/engine/superstep/job.hpp>

namespace {
thread_local std::uint64_t allocated_bytes = 0;  // by this thread since it began
}

// Not inlined: GCC 12 would take the pair for a mismatch of new and free.
[[gnu::noinline]] void* operator new(std::size_t size) {
  allocated_bytes += size;
  if (void* memory = std::malloc(size == 0 ? 1 : size)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  allocated_bytes += size;
  return std::malloc(size == 0 ? 1 : size);
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace weir {
namespace {

struct Smallest {
  using Value = VertexId;
  using Message = VertexId;
  using Combiner = Min<VertexId>;
  Value init(const VertexInfo& v) const { return v.id; }
  void compute(VertexHandle auto& v, const Inbox<Message>& inbox) const {
    v.value() = std::min(v.value(), inbox.combined(Combiner{}));
    v.send((v.id() * 37) % 256, v.value());  // to all ranks
    v.scatter();
  }
};

/// The most that any rank's thread allocated while it built a graph and ran five supersteps.
std::uint64_t most_allocated(Rank ranks) {
  const auto each = cases::on_ranks(ranks, [](Context& context) {
    const std::uint64_t before = allocated_bytes;
    const auto graph = cases::build(context, cases::path(256));
    run(graph, Smallest{}, {.max_supersteps = 5});
    return allocated_bytes - before;
  });
  return *std::max_element(each.begin(), each.end());
}

TEST(Memory, of_a_rank_grows_with_the_number_of_ranks_not_with_its_square) {
  const std::uint64_t at_4 = most_allocated(4);
  const std::uint64_t at_16 = most_allocated(16);
  const std::uint64_t at_64 = most_allocated(64);
  RecordProperty("bytes_at_64_ranks", std::to_string(at_64));
  EXPECT_GT(at_4, 0U);
  EXPECT_LT(at_16, 8 * at_4) << at_4 << " at 4, " << at_16 << " at 16";
  EXPECT_LT(at_64, 8 * at_16) << at_16 << " at 16, " << at_64 << " at 64";
}

}  // namespace
}  // namespace weir
