// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <span>
#include <vector>

namespace weir {

/// A producer of record batches. `next` replaces the batch with this rank's next records and
/// returns false, with an empty batch, when there are no more. Each rank has its own part.
template <class S, class T>
concept Source = requires(S source, std::vector<T>& batch) {
  { source.next(batch) } -> std::same_as<bool>;
};

/// A consumer of record batches.
template <class S, class T>
concept Sink = requires(S sink, std::span<const T> batch) {
  sink.write(batch);
};

/// A source over records in memory; the span must outlive it.
template <class T>
class InMemorySource {
 public:
  explicit InMemorySource(std::span<const T> records) : records_(records) {}

  bool next(std::vector<T>& batch) {
    constexpr std::size_t batch_records = std::size_t{1} << 16;
    const std::size_t count = std::min(batch_records, records_.size());
    batch.assign(records_.begin(), records_.begin() + static_cast<std::ptrdiff_t>(count));
    records_ = records_.subspan(count);
    return count > 0;
  }

 private:
  std::span<const T> records_;
};

/// Reads this rank's records from memory.
template <class T>
InMemorySource<T> in_memory(const std::vector<T>& records) {
  return InMemorySource<T>(std::span<const T>(records));
}
template <class T>
InMemorySource<T> in_memory(std::span<const T> records) {
  return InMemorySource<T>(records);
}

}  // namespace weir
