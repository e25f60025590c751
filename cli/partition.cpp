// SPDX-License-Identifier: Apache-2.0
#include <weir/cli/partition.hpp>

#include <algorithm>
#include <deque>
#include <utility>

namespace weir::cli {

namespace {

class CutPort final : public Port {
 public:
  CutPort(std::unique_ptr<Port> inner, std::shared_ptr<const Cuts> cuts)
      : Port(inner->rank(), inner->size()), inner_(std::move(inner)), cuts_(std::move(cuts)) {}

  bool is_idle() const override { return held_.empty() && inner_->is_idle(); }
  bool needs_farewell() const override { return inner_->needs_farewell(); }
  void part(Parting how) override { inner_->part(how); }
  void pause() override {
    if (held_.empty()) {
      inner_->pause();
    } else {
      Port::pause();
    }
  }

 protected:
  void submit_piece(Rank to, const FrameHeader& header, Bytes payload) override {
    if (cuts_->is_cut_for_ever(to)) return;
    const bool has_earlier =
        std::any_of(held_.begin(), held_.end(), [&](const Held& each) { return each.to == to; });
    if (has_earlier || cuts_->is_cut(to)) {
      held_.push_back({to, header, std::move(payload)});
    } else {
      forward_piece(*inner_, to, header, std::move(payload));
    }
  }

  bool progress_pieces() override {
    const bool has_sent = release();
    Forward forward(*this);
    return inner_->progress(forward) || has_sent;
  }

 private:
  struct Held {
    Rank to;
    FrameHeader header;
    Bytes payload;
  };
  /// What the inner port delivers are whole frames, as they were submitted to the other side.
  struct Forward final : FrameSink {
    explicit Forward(CutPort& to) : port(to) {}
    void deliver(Frame frame) override {
      frame.header.piece_offset = 0;
      port.receive_piece(frame.header, std::move(frame.payload));
    }
    CutPort& port;
  };

  bool release() {
    std::deque<Held> kept;
    bool has_sent = false;
    for (Held& each : held_) {
      if (cuts_->is_cut(each.to)) {
        if (!cuts_->is_cut_for_ever(each.to)) kept.push_back(std::move(each));
        continue;
      }
      forward_piece(*inner_, each.to, each.header, std::move(each.payload));
      has_sent = true;
    }
    held_ = std::move(kept);
    return has_sent;
  }

  std::unique_ptr<Port> inner_;
  std::shared_ptr<const Cuts> cuts_;
  std::deque<Held> held_;
};

}  // namespace

void Cuts::cut(Rank to, std::optional<std::chrono::microseconds> time) {
  const auto place = static_cast<std::size_t>(to);
  if (until_.size() <= place) until_.resize(place + 1);
  const auto until = time ? Clock::now() + *time : Clock::time_point::max();
  until_[place] = std::max(until_[place], until);
}

bool Cuts::is_cut(Rank to) const {
  const auto place = static_cast<std::size_t>(to);
  return place < until_.size() && until_[place] != Clock::time_point{} &&
         Clock::now() < until_[place];
}

bool Cuts::is_cut_for_ever(Rank to) const {
  const auto place = static_cast<std::size_t>(to);
  return place < until_.size() && until_[place] == Clock::time_point::max();
}

std::unique_ptr<Port> make_cut_port(std::unique_ptr<Port> inner, std::shared_ptr<const Cuts> cuts) {
  return std::make_unique<CutPort>(std::move(inner), std::move(cuts));
}

}  // namespace weir::cli
