// SPDX-License-Identifier: Apache-2.0
// Batches of records to bytes and back: one memcpy for bitwise types, one Boost archive per batch
// for the rest. Archives travel only between ranks of one job (docs/semantics.md).
#pragma once

#include <cstdint>
#include <new>
#include <string>

#include <weir/engine/runtime/archive.hpp>
#include <weir/engine/runtime/bytes.hpp>
#include <weir/engine/runtime/transferable.hpp>

namespace weir {

/// Appends a batch to `out`: count (u64), then the records; archives are preceded by their length.
template <Transferable T>
void encode(std::span<const T> records, Bytes& out) {
  append_plain(out, std::uint64_t{records.size()});
  if constexpr (Bitwise<T>) {
    const auto bytes = std::as_bytes(records);
    out.insert(out.end(), bytes.begin(), bytes.end());
  } else {
    const std::size_t length_at = out.size();
    append_plain(out, std::uint64_t{0});
    {
      detail::AppendingBuffer buffer(out);
      boost::archive::binary_oarchive archive(buffer, detail::archive_flags);
      for (const T& record : records) archive << record;
    }
    const std::uint64_t length = out.size() - length_at - sizeof(std::uint64_t);
    std::memcpy(out.data() + length_at, &length, sizeof(length));
  }
}

namespace detail {

template <Bitwise T>
void decode_bitwise(std::span<const std::byte> bytes, std::size_t count, std::vector<T>& records) {
  constexpr bool has_data = !std::is_same_v<T, bool>;  // a vector of bool holds bits
  if (count == 0) return;
  if constexpr (has_data && std::default_initializable<T>) {
    const std::size_t before = records.size();
    records.resize(before + count);
    std::memcpy(static_cast<void*>(records.data() + before), bytes.data(), bytes.size());
  } else {
    for (std::size_t i = 0; i < count; ++i) {
      alignas(T) std::byte storage[sizeof(T)];
      std::memcpy(storage, bytes.data() + i * sizeof(T), sizeof(T));
      records.push_back(*std::launder(reinterpret_cast<const T*>(storage)));
    }
  }
}

template <BoostSerializable T>
void decode_archive(std::span<const std::byte> bytes, std::size_t count, std::vector<T>& records) {
  try {
    SpanBuffer buffer(bytes);
    {
      boost::archive::binary_iarchive archive(buffer, archive_flags);
      for (std::size_t i = 0; i < count; ++i) archive >> records.emplace_back();
    }
    WEIR_EXPECT(buffer.is_at_end(), internal, "a batch is longer than its records");
  } catch (const boost::archive::archive_exception& error) {
    throw Error(ErrorCode::internal,
                std::string("a batch of records cannot be read back: ") + error.what());
  }
}

}  // namespace detail

/// Reads one batch written by `encode<T>` and appends its records to `records`.
template <Transferable T>
void decode(BytesView& in, std::vector<T>& records) {
  const auto count = in.take<std::uint64_t>();
  if constexpr (Bitwise<T>) {
    WEIR_EXPECT(count <= in.rest().size() / sizeof(T), internal,
                "a batch is shorter than its count of records says");
    detail::decode_bitwise(in.take_bytes(count * sizeof(T)), count, records);
  } else {
    const auto length = in.take<std::uint64_t>();
    detail::decode_archive(in.take_bytes(length), count, records);
  }
}

}  // namespace weir
