// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <memory>
#include <random>
#include <utility>

#include <weir/engine/runtime/port.hpp>

namespace weir {

namespace {

using Clock = std::chrono::steady_clock;

/// Holds pieces back in a list and lets them go when they are due.
class FaultyPort final : public Port {
 public:
  FaultyPort(std::unique_ptr<Port> inner, Faults faults)
      : Port(inner->rank(), inner->size()),
        inner_(std::move(inner)),
        faults_(faults),
        random_(faults.seed * 0x9e3779b97f4a7c15u + static_cast<std::uint64_t>(rank())) {}

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
    const bool is_dropped = happens(faults_.drop_probability);
    if (happens(faults_.duplicate_probability)) hold(to, header, payload, false);
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

  void hold(Rank to, const FrameHeader& header, Bytes payload, bool is_dropped) {
    auto wait = faults_.delay;
    if (is_dropped) wait += faults_.retry_after;
    if (faults_.reorder) wait += std::chrono::microseconds(random_() % 100);
    held_.push_back({Clock::now() + wait, to, header, std::move(payload)});
  }

  bool release() {
    const auto now = Clock::now();
    const auto first_due = std::stable_partition(held_.begin(), held_.end(),
                                                 [&](const Held& h) { return h.due > now; });
    if (faults_.reorder) std::shuffle(first_due, held_.end(), random_);
    std::vector<Held> due(std::make_move_iterator(first_due), std::make_move_iterator(held_.end()));
    held_.erase(first_due, held_.end());
    for (Held& each : due) forward_piece(*inner_, each.to, each.header, std::move(each.payload));
    return !due.empty();
  }

  std::unique_ptr<Port> inner_;
  Faults faults_;
  std::mt19937_64 random_;
  std::vector<Held> held_;
};

}  // namespace

std::unique_ptr<Port> make_faulty_port(std::unique_ptr<Port> inner, Faults faults) {
  return std::make_unique<FaultyPort>(std::move(inner), faults);
}

}  // namespace weir
