// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <random>
#include <utility>
#include <vector>

#include <weir/engine/runtime/port.hpp>

namespace weir {

namespace {

using Clock = std::chrono::steady_clock;

/// Holds pieces back in a list and lets them go when they are due.
class FaultyPort final : public Port {
 public:
  FaultyPort(std::unique_ptr<Port> inner, const std::function<Faults(Rank)>& faults)
      : Port(inner->rank(), inner->size()), inner_(std::move(inner)) {
    for (Rank to = 0; to < size(); ++to) links_.push_back({to == rank() ? Faults{} : faults(to)});
    const std::uint64_t seed = size() == 1 ? 1 : links_[rank() == 0 ? 1 : 0].faults.seed;
    random_.seed(seed * 0x9e3779b97f4a7c15u + static_cast<std::uint64_t>(rank()));
  }

  bool is_idle() const override { return held_.empty() && inner_->is_idle(); }
  bool needs_farewell() const override { return inner_->needs_farewell(); }
  /// A repeated frame may come after its sender's last word, so nothing is given back.
  void part(Parting how) override { inner_->part(how == Parting::in_order ? Parting::early : how); }
  void pause() override {
    if (held_.empty()) {
      inner_->pause();
    } else {
      Port::pause();
    }
  }

 protected:
  void submit_piece(Rank to, const FrameHeader& header, Bytes payload) override {
    const Faults& faults = link(to).faults;
    const bool is_dropped = happens(faults.drop_probability);
    if (happens(faults.duplicate_probability)) hold(to, header, payload, false);
    hold(to, header, std::move(payload), is_dropped);
  }

  bool progress_pieces() override {
    const bool has_sent = release();
    Forward forward(*this);
    return inner_->progress(forward) || has_sent;
  }

 private:
  struct Held {
    Clock::time_point due;
    Rank to;
    FrameHeader header;
    Bytes payload;
  };

  struct Link {
    Faults faults;
    Clock::time_point free_at{};  // when the frames before have left
  };

  /// The inner port joins nothing: what it delivers are this port's pieces, joined where whole.
  struct Forward final : FrameSink {
    explicit Forward(FaultyPort& to) : port(to) {}
    void deliver(Frame frame) override {
      frame.header.piece_offset = 0;
      port.receive_piece(frame.header, std::move(frame.payload));
    }
    FaultyPort& port;
  };

  bool happens(double probability) {
    return probability > 0 && std::uniform_real_distribution<double>(0, 1)(random_) < probability;
  }

  Link& link(Rank to) { return links_[static_cast<std::size_t>(to)]; }

  void hold(Rank to, const FrameHeader& header, Bytes payload, bool is_dropped) {
    const Faults& faults = link(to).faults;
    auto due = Clock::now();
    if (faults.bytes_per_second > 0) {
      const std::chrono::duration<double> passage(
          static_cast<double>(payload.size() + sizeof(header)) / faults.bytes_per_second);
      due = std::max(due, link(to).free_at) + std::chrono::duration_cast<Clock::duration>(passage);
      link(to).free_at = due;
    }
    due += faults.delay;
    if (is_dropped) due += faults.retry_after;
    if (happens(faults.reorder_probability)) due += std::chrono::microseconds(random_() % 100);
    held_.push_back({due, to, header, std::move(payload)});
  }

  bool release() {
    const auto now = Clock::now();
    const auto first_due = std::stable_partition(held_.begin(), held_.end(),
                                                 [&](const Held& h) { return h.due > now; });
    std::vector<Held> due(std::make_move_iterator(first_due), std::make_move_iterator(held_.end()));
    held_.erase(first_due, held_.end());
    std::stable_sort(due.begin(), due.end(),
                     [](const Held& a, const Held& b) { return a.due < b.due; });
    for (Held& each : due) forward_piece(*inner_, each.to, each.header, std::move(each.payload));
    return !due.empty();
  }

  std::unique_ptr<Port> inner_;
  std::vector<Link> links_;  // by the rank they lead to
  std::mt19937_64 random_;
  std::vector<Held> held_;
};

}  // namespace

std::unique_ptr<Port> make_faulty_port(std::unique_ptr<Port> inner, Faults faults) {
  return make_faulty_port(std::move(inner), [&](Rank) { return faults; });
}

std::unique_ptr<Port> make_faulty_port(std::unique_ptr<Port> inner,
                                       const std::function<Faults(Rank)>& faults) {
  return std::make_unique<FaultyPort>(std::move(inner), faults);
}

}  // namespace weir
