// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstring>
#include <span>
#include <type_traits>
#include <vector>

#include <weir/engine/model/check.hpp>

namespace weir {

using Bytes = std::vector<std::byte>;

/// Appends the bytes of one plain value.
template <class T>
requires std::is_trivially_copyable_v<T>
void append_plain(Bytes& out, const T& value) {
  const std::size_t before = out.size();
  out.resize(before + sizeof(T));
  std::memcpy(out.data() + before, &value, sizeof(T));
}

/// Reads plain values and sub-spans front to back; running out of bytes is Error{internal}.
class BytesView {
 public:
  explicit BytesView(std::span<const std::byte> bytes) : rest_(bytes) {}

  template <class T>
  requires std::is_trivially_copyable_v<T> T take() {
    T value;
    std::memcpy(&value, take_bytes(sizeof(T)).data(), sizeof(T));
    return value;
  }

  std::span<const std::byte> take_bytes(std::size_t count) {
    WEIR_EXPECT(count <= rest_.size(), internal, "a frame is shorter than its header says");
    const auto head = rest_.first(count);
    rest_ = rest_.subspan(count);
    return head;
  }

  std::span<const std::byte> rest() const { return rest_; }
  bool empty() const { return rest_.empty(); }

 private:
  std::span<const std::byte> rest_;
};

}  // namespace weir
