// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>
#include <utility>

#include <weir/engine/model/check.hpp>
#include <weir/engine/runtime/context.hpp>
#include <weir/engine/runtime/context_state.hpp>

namespace weir {

namespace {

std::vector<Rank> all_but(Rank rank, Rank size) {
  std::vector<Rank> ranks;
  for (Rank r = 0; r < size; ++r) {
    if (r != rank) ranks.push_back(r);
  }
  return ranks;
}

/// Ascending, without this rank, within the context.
bool is_valid(const std::vector<Rank>& ranks, Rank rank, Rank size) {
  Rank previous = -1;
  for (const Rank r : ranks) {
    if (r <= previous || r >= size || r == rank) return false;
    previous = r;
  }
  return true;
}

template <class Entries>
auto find_rank(Entries& entries, Rank rank) {
  const auto found = std::lower_bound(entries.begin(), entries.end(), rank,
                                      [](const auto& entry, Rank r) { return entry.rank < r; });
  return found != entries.end() && found->rank == rank ? &*found : nullptr;
}

}  // namespace

Exchange::Exchange(Context& context, std::string_view name) : state_(*context.state_), name_(name) {
  open(all_but(state_.rank(), state_.size()), all_but(state_.rank(), state_.size()));
}

Exchange::Exchange(Context& context, std::string_view name, std::vector<Rank> destinations,
                   std::vector<Rank> sources)
    : state_(*context.state_), name_(name) {
  open(std::move(destinations), std::move(sources));
}

void Exchange::open(std::vector<Rank> destinations, std::vector<Rank> sources) {
  state_.guard([&] {
    WEIR_EXPECT(is_valid(destinations, state_.rank(), state_.size()) &&
                    is_valid(sources, state_.rank(), state_.size()),
                usage, "the ranks of exchange \"" + name_ + "\" are not ascending others");
    destinations_.reserve(destinations.size());
    for (const Rank r : destinations) destinations_.push_back({r, 0});
    sources_.reserve(sources.size());
    for (const Rank r : sources) sources_.emplace_back().rank = r;
    epoch_ = state_.begin(name_);
  });
}

Exchange::~Exchange() {
  if (!is_closed_) state_.abandon(epoch_, name_);
}

void Exchange::send(Rank destination, Bytes bytes, std::uint32_t source_shard) {
  state_.guard([&] {
    if (destination == state_.rank()) {
      own_.push_back({destination, source_shard, std::move(bytes)});
      return;
    }
    Destination* const to = find_rank(destinations_, destination);
    WEIR_EXPECT(to && !is_closed_, usage,
                "a batch for rank " + std::to_string(destination) + " in exchange \"" + name_ +
                    "\", which has no such destination or is closed");
    WEIR_EXPECT(to->num_sent < std::numeric_limits<std::uint32_t>::max(), usage,
                "more than 2^32 batches for one rank in exchange \"" + name_ + "\"");
    state_.submit(destination, FrameKind::data, epoch_, std::move(bytes), to->num_sent++,
                  source_shard);
  });
}

void Exchange::absorb() {
  for (Frame& frame : state_.take_frames(epoch_, name_)) {
    const FrameHeader& header = frame.header;
    Source* const source = find_rank(sources_, header.source);
    WEIR_EXPECT(source, usage,
                "rank " + std::to_string(state_.rank()) + " expects nothing from rank " +
                    std::to_string(header.source) + " in exchange \"" + name_ + "\"");
    if (header.kind == FrameKind::close) {
      source->num_expected = header.sequence;
    } else if (header.sequence >= source->num_delivered) {  // else a repeat
      source->waiting.try_emplace(
          header.sequence, Batch{header.source, header.source_shard, std::move(frame.payload)});
    }
  }
}

bool Exchange::is_complete(const Source& source) const {
  return source.num_expected &&
         source.num_delivered + source.waiting.size() == std::size_t{*source.num_expected};
}

void Exchange::hand_over(Source& source, const std::function<void(Batch)>& receive) {
  while (!source.waiting.empty() && source.waiting.begin()->first == source.num_delivered) {
    Batch batch = std::move(source.waiting.begin()->second);
    source.waiting.erase(source.waiting.begin());
    ++source.num_delivered;
    receive(std::move(batch));
  }
}

void Exchange::poll(const std::function<void(Batch)>& receive) {
  state_.guard([&] {
    state_.pump();
    state_.throw_if_failed();
    absorb();
    for (Source& source : sources_) hand_over(source, receive);
  });
}

void Exchange::wait(const std::function<bool()>& is_over,
                    const std::function<void(Batch)>& receive) {
  state_.guard([&] {
    const auto hand_over_and_ask = [&] {
      absorb();
      for (Source& source : sources_) hand_over(source, receive);
      return is_over();
    };
    state_.wait({name_, epoch_, hand_over_and_ask, [this] { return incomplete(); },
                 [this] { return text_of_received(); }});
  });
}

std::vector<Rank> Exchange::incomplete() const {
  std::vector<Rank> ranks;
  for (const Source& source : sources_) {
    if (!is_complete(source)) ranks.push_back(source.rank);
  }
  return ranks;
}

std::string Exchange::text_of_received() const {
  std::size_t num_batches = 0;
  for (const Source& source : sources_) num_batches += source.num_delivered + source.waiting.size();
  return std::to_string(num_batches) + " batches, and all from " +
         std::to_string(sources_.size() - incomplete().size()) + " of " +
         std::to_string(sources_.size()) + " ranks";
}

void Exchange::close(const std::function<void(Batch)>& receive) {
  state_.guard([&] {
    WEIR_EXPECT(!is_closed_, usage, "exchange \"" + name_ + "\" is closed twice");
    for (const Destination& to : destinations_) {
      state_.submit(to.rank, FrameKind::close, epoch_, {}, to.num_sent);
    }
    std::size_t num_complete = 0;  // sources before this one are complete
    const auto is_over = [&] {
      absorb();
      while (num_complete < sources_.size() && is_complete(sources_[num_complete])) ++num_complete;
      return num_complete == sources_.size();
    };
    state_.wait({name_, epoch_, is_over, [this] { return incomplete(); },
                 [this] { return text_of_received(); }});
    is_closed_ = true;
    state_.end(epoch_);

    bool is_own_due = true;
    const auto hand_over_own = [&] {
      for (Batch& batch : own_) receive(std::move(batch));
      own_.clear();
      is_own_due = false;
    };
    for (Source& source : sources_) {
      if (is_own_due && source.rank > state_.rank()) hand_over_own();
      hand_over(source, receive);
    }
    if (is_own_due) hand_over_own();
  });
}

std::vector<Batch> Exchange::close() {
  std::vector<Batch> batches;
  close([&](Batch batch) { batches.push_back(std::move(batch)); });
  return batches;
}

}  // namespace weir
