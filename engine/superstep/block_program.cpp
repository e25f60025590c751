// SPDX-License-Identifier: Apache-2.0
#include <weir/engine/superstep/block_program.hpp>

#include <algorithm>
#include <string>

#include <weir/engine/runtime/bytes.hpp>

namespace weir::detail {

Summary block_summary(std::uint64_t num_sent, std::optional<std::int64_t> proposal) {
  Summary summary;
  summary.num_sent = summary.num_messages = num_sent;
  if (proposal) append_plain(summary.aggregates, *proposal);
  return summary;
}

std::optional<std::int64_t> agreed_proposal(const Summary& agreed) {
  std::optional<std::int64_t> least;
  for (BytesView in(agreed.aggregates); !in.empty();) {
    const auto each = in.take<std::int64_t>();
    least = least ? std::min(*least, each) : each;
  }
  return least;
}

void throw_block_failure(Context& context, const Summary& agreed, Superstep step) {
  if (agreed.failure) {
    const Failure& first = *agreed.failure;
    context.throw_agreed({first.code, "rank " + std::to_string(first.rank) + ", superstep " +
                                          std::to_string(step) + ": " + first.text});
  }
  agreed.throw_if_failed(context, step);
}

}  // namespace weir::detail
