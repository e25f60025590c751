// SPDX-License-Identifier: Apache-2.0
// Batches of records to bytes and back: one memcpy for bitwise types, one Boost archive per batch
// for the rest. Archives travel only between ranks of one job (docs/semantics.md).
#pragma once

#include <weir/engine/runtime/bytes.hpp>
#include <weir/engine/runtime/transferable.hpp>

namespace weir {

/// Appends a batch to `out`: count (u64), then the records.
template <Transferable T>
void encode(std::span<const T> records, Bytes& out);

/// Reads one batch written by `encode<T>` and appends its records to `records`.
template <Transferable T>
void decode(BytesView& in, std::vector<T>& records);

}  // namespace weir
