// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <new>
#include <utility>
#include <vector>

namespace weir {

/// Memory straight from the kernel: zero until written, present from then on, and given back piece
/// by piece. For what is large and lives in phases, where a heap would keep what was freed.
class Pages {
 public:
  /// Large pages cost less time, but all of one is present from the first byte that is written.
  enum class Fill { in_order, anywhere };

  Pages() = default;
  /// `fill`: how it will be written. Throws std::bad_alloc.
  Pages(std::size_t num_bytes, Fill fill);
  Pages(Pages&& other) noexcept { *this = std::move(other); }
  Pages& operator=(Pages&& other) noexcept {
    std::swap(begin_, other.begin_);
    std::swap(num_bytes_, other.num_bytes_);
    return *this;
  }
  ~Pages();

  std::byte* data() const { return begin_; }
  std::size_t size() const { return num_bytes_; }

  /// Gives back what lies wholly inside [begin, end), in bytes.
  void release(std::size_t begin, std::size_t end);

 private:
  std::byte* begin_ = nullptr;
  std::size_t num_bytes_ = 0;
};

/// Memory of an array, aligned to `alignment` at least; what is large lies in large pages where the
/// system has them, since arrays that are read at random otherwise cost a walk through the page
/// table per read. Throws std::bad_alloc.
void* allocate_array(std::size_t num_bytes, std::size_t alignment);
void free_array(void* begin, std::size_t num_bytes, std::size_t alignment);

/// The allocator of arrays as long as a rank's part of the graph.
template <class T>
struct LargePages {
  using value_type = T;
  LargePages() = default;
  template <class U>
  LargePages(const LargePages<U>&) noexcept {}

  T* allocate(std::size_t count) {
    return static_cast<T*>(allocate_array(count * sizeof(T), alignof(T)));
  }
  void deallocate(T* begin, std::size_t count) noexcept {
    free_array(begin, count * sizeof(T), alignof(T));
  }
  friend bool operator==(const LargePages&, const LargePages&) { return true; }
};
template <class T>
using LargeVector = std::vector<T, LargePages<T>>;

/// The same, but numbers are as the memory is, where a vector would set them to zero.
template <class T>
struct Uninitialized : LargePages<T> {
  template <class U>
  struct rebind {  // NOLINT(readability-identifier-naming): a name of the standard
    using other = Uninitialized<U>;
  };
  Uninitialized() = default;
  template <class U>
  Uninitialized(const Uninitialized<U>&) noexcept {}

  template <class U>
  void construct(U* at) {
    ::new (static_cast<void*>(at)) U;
  }
  template <class U, class... Arguments>
  void construct(U* at, Arguments&&... arguments) {
    ::new (static_cast<void*>(at)) U(std::forward<Arguments>(arguments)...);
  }
};

/// A vector whose `resize` writes nothing; what it holds then is to be written before it is read.
template <class T>
using PlainVector = std::vector<T, Uninitialized<T>>;

}  // namespace weir
