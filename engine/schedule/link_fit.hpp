// SPDX-License-Identifier: Apache-2.0
// Latency and bandwidth of a link from the times of messages.
#pragma once

#include <span>

#include <weir/engine/schedule/topology.hpp>

namespace weir::schedule {

/// How long a message took from one rank to another.
struct MessageTime {
  double bytes = 0;
  double seconds = 0;
};

/// The link of which messages take `latency + bytes / bandwidth` [Hockney94]: the bandwidth by
/// least squares of time over bytes, which long messages decide; the latency is what that leaves of
/// the mean time of the shortest ones, or 0.
///
/// Throws Error{usage} for times that are not above 0, for messages of one size only, and where
/// long messages took no longer than short ones.
Link fit_link(std::span<const MessageTime> times);

/// Between which multiples of the fitted time the middle half of the messages were.
struct FitSpread {
  double lower_quartile = 1;
  double upper_quartile = 1;
};
/// Of at least one message. Throws Error{usage} for none.
FitSpread spread_around(const Link& link, std::span<const MessageTime> times);

}  // namespace weir::schedule
