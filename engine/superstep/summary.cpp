// SPDX-License-Identifier: Apache-2.0
#include <weir/engine/superstep/summary.hpp>

#include <algorithm>
#include <array>
#include <exception>
#include <new>

#include <weir/engine/runtime/collectives.hpp>

namespace weir {

namespace {

constexpr std::array counters = {&Summary::num_computed,        &Summary::num_unhalted,
                                 &Summary::num_scattered,       &Summary::num_sent,
                                 &Summary::num_messages,        &Summary::num_values_sent,
                                 &Summary::num_values_received, &Summary::num_mutations,
                                 &Summary::num_dropped,         &Summary::bytes_sent,
                                 &Summary::wants_to_cancel,     &Summary::wants_snapshot,
                                 &Summary::wants_to_stop,       &Summary::num_writing,
                                 &Summary::num_failed_writes,   &Summary::num_stolen,
                                 &Summary::num_cloned,          &Summary::num_clones_won,
                                 &Summary::num_clones_lost,     &Summary::input_bytes};

void append_text(Bytes& out, std::span<const std::byte> text) {
  append_plain(out, std::uint64_t{text.size()});
  out.insert(out.end(), text.begin(), text.end());
}

Bytes encode_summary(const Summary& summary) {
  Bytes out;
  for (const auto counter : counters) append_plain(out, summary.*counter);
  append_plain(out, summary.compute_nanoseconds);
  append_plain(out, summary.next_bucket);
  append_plain(out, summary.failure.has_value());
  if (summary.failure) {
    append_plain(out, summary.failure->code);
    append_plain(out, summary.failure->vertex);
    append_plain(out, summary.failure->rank);
    append_text(out, std::as_bytes(std::span(summary.failure->text)));
  }
  append_text(out, summary.aggregates);
  return out;
}

Summary decode_summary(const Bytes& bytes) {
  BytesView in(bytes);
  Summary summary;
  for (const auto counter : counters) summary.*counter = in.take<std::uint64_t>();
  summary.compute_nanoseconds = in.take<std::uint64_t>();
  summary.next_bucket = in.take<std::uint64_t>();
  if (in.take<bool>()) {
    Failure failure;
    failure.code = in.take<ErrorCode>();
    failure.vertex = in.take<VertexId>();
    failure.rank = in.take<Rank>();
    const auto text = in.take_bytes(in.take<std::uint64_t>());
    failure.text.assign(reinterpret_cast<const char*>(text.data()), text.size());
    summary.failure = std::move(failure);
  }
  const auto aggregates = in.take_bytes(in.take<std::uint64_t>());
  summary.aggregates.assign(aggregates.begin(), aggregates.end());
  return summary;
}

Bytes combine(const Bytes& left_bytes, const Bytes& right_bytes) {
  Summary left = decode_summary(left_bytes);
  Summary right = decode_summary(right_bytes);
  for (const auto counter : counters) left.*counter += right.*counter;
  left.compute_nanoseconds = std::max(left.compute_nanoseconds, right.compute_nanoseconds);
  left.next_bucket = std::min(left.next_bucket, right.next_bucket);
  if (right.failure && (!left.failure || *right.failure < *left.failure))
    left.failure = std::move(right.failure);
  left.aggregates.insert(left.aggregates.end(), right.aggregates.begin(), right.aggregates.end());
  return encode_summary(left);
}

}  // namespace

Failure current_failure(VertexId vertex, Rank rank) {
  try {
    throw;
  } catch (const Error& error) {
    return {error.code(), vertex, rank, error.what()};
  } catch (const std::bad_alloc&) {
    return {ErrorCode::memory, vertex, rank, "out of memory"};
  } catch (const std::exception& error) {
    return {ErrorCode::program, vertex, rank, error.what()};
  } catch (...) {
    return {ErrorCode::program, vertex, rank, "an exception of unknown type"};
  }
}

void Summary::throw_if_failed(Context& context, Superstep step) const {
  if (!failure && wants_to_cancel == 0 && num_values_sent == num_values_received) return;
  const std::string when = "superstep " + std::to_string(step);
  if (failure) {
    context.throw_agreed({failure->code, "rank " + std::to_string(failure->rank) + ", " + when +
                                             ", vertex " + std::to_string(failure->vertex) + ": " +
                                             failure->text});
  }
  if (wants_to_cancel != 0)
    context.throw_agreed({ErrorCode::cancelled, "cancelled by the caller in " + when});
  context.throw_agreed({ErrorCode::internal, when + ": " + std::to_string(num_values_sent) +
                                                 " values were sent between ranks, " +
                                                 std::to_string(num_values_received) +
                                                 " received"});
}

void settle(Context& context, Summary& agreed, std::uint64_t num_dropped,
            std::uint64_t num_unhalted) {
  using Counts = std::pair<std::uint64_t, std::uint64_t>;
  agreed.num_dropped = agreed.num_unhalted = 0;
  for (const auto& [dropped, unhalted] : all_gather(context, Counts{num_dropped, num_unhalted})) {
    agreed.num_dropped += dropped;
    agreed.num_unhalted += unhalted;
  }
}

Summary barrier(Context& context, const Summary& own) {
  if (context.size() == 1) return own;
  return decode_summary(
      context.fold("barrier", encode_summary(own),
                   [](const Bytes& left, const Bytes& right) { return combine(left, right); }));
}

}  // namespace weir
