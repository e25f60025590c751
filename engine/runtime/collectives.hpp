// SPDX-License-Identifier: Apache-2.0
// Typed collectives over Context::fold and Exchange.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include <weir/engine/model/monoid.hpp>
#include <weir/engine/runtime/codec.hpp>
#include <weir/engine/runtime/context.hpp>

namespace weir {

/// One value per rank, in rank order, on every rank. Collective.
template <Transferable T>
std::vector<T> all_gather(Context& context, const T& value) {
  Bytes own;
  encode(std::span<const T>(&value, 1), own);
  const Bytes all = context.fold("all_gather", std::move(own), [](Bytes left, Bytes right) {
    left.insert(left.end(), right.begin(), right.end());
    return left;
  });
  std::vector<T> values;
  for (BytesView rest(all); !rest.empty();) decode(rest, values);
  return values;
}

/// All ranks' records in rank order, on every rank. Collective.
template <Transferable T>
std::vector<T> all_concatenate(Context& context, std::span<const T> records) {
  Bytes own;
  encode(records, own);
  const Bytes all = context.fold("all_concatenate", std::move(own), [](Bytes left, Bytes right) {
    left.insert(left.end(), right.begin(), right.end());
    return left;
  });
  std::vector<T> values;
  for (BytesView rest(all); !rest.empty();) decode(rest, values);
  return values;
}

/// Left fold of one value per rank in rank order, on every rank. Collective.
template <Monoid M>
requires Transferable<typename M::value_type>
typename M::value_type all_fold(Context& context, M monoid, typename M::value_type value) {
  using T = typename M::value_type;
  T result = M::identity();
  for (const T& each : all_gather(context, value)) result = monoid(result, each);
  return result;
}

/// Delivers records to the ranks that own them.
///
/// Collective. `outgoing[r]` goes to rank r; the result is grouped by source rank, ascending, and
/// keeps the sender's order within a source.
template <Transferable T>
std::vector<std::vector<T>> exchange(Context& context, std::vector<std::vector<T>> outgoing) {
  Exchange delivery(context, "exchange");
  for (std::size_t r = 0; r < outgoing.size(); ++r) {
    if (outgoing[r].empty()) continue;
    Bytes bytes;
    encode(std::span<const T>(outgoing[r]), bytes);
    std::vector<T>().swap(outgoing[r]);
    delivery.send(static_cast<Rank>(r), std::move(bytes));
  }
  std::vector<std::vector<T>> incoming(static_cast<std::size_t>(context.size()));
  delivery.close([&](Batch batch) {
    BytesView rest(batch.bytes);
    decode(rest, incoming[static_cast<std::size_t>(batch.source)]);
  });
  return incoming;
}

}  // namespace weir
