// SPDX-License-Identifier: Apache-2.0
#include <weir/engine/runtime/process_ports.hpp>

#include <algorithm>
#include <numeric>
#include <utility>

#include <weir/engine/model/check.hpp>

namespace weir {

namespace {

/// Leaves everything to another port.
class ForwardingPort : public Port {
 public:
  ForwardingPort(std::unique_ptr<Port> inner, Rank rank)
      : Port(rank, inner->size()), inner_(std::move(inner)) {}

  bool is_idle() const final { return inner_->is_idle(); }
  bool needs_farewell() const final { return inner_->needs_farewell(); }
  void part(Parting how) final { inner_->part(how); }
  void pause() final { inner_->pause(); }

 protected:
  bool progress_pieces() final {
    Forward forward(*this);
    return inner_->progress(forward);
  }
  /// The rank above of a rank of the inner port.
  virtual Rank rank_of(Rank inner_rank) const { return inner_rank; }
  void forward(Rank to, const FrameHeader& header, Bytes payload) {
    forward_piece(*inner_, to, header, std::move(payload));
  }

 private:
  /// The inner port joins nothing: what it delivers are this port's pieces, joined where whole.
  struct Forward final : FrameSink {
    explicit Forward(ForwardingPort& to) : port(to) {}
    void deliver(Frame frame) override {
      frame.header.piece_offset = 0;
      frame.header.source = port.rank_of(frame.header.source);
      port.receive_piece(frame.header, std::move(frame.payload));
    }
    ForwardingPort& port;
  };

  std::unique_ptr<Port> inner_;
};

/// Above, headers name ranks; below, processes.
class RenumberedPort final : public ForwardingPort {
 public:
  RenumberedPort(std::unique_ptr<Port> inner, Rank rank, std::vector<Rank> process_of_rank)
      : ForwardingPort(std::move(inner), rank),
        process_of_rank_(std::move(process_of_rank)),
        rank_of_process_(process_of_rank_.size()) {
    for (std::size_t r = 0; r < process_of_rank_.size(); ++r) {
      rank_of_process_[static_cast<std::size_t>(process_of_rank_[r])] = static_cast<Rank>(r);
    }
  }

 private:
  void submit_piece(Rank to, const FrameHeader& header, Bytes payload) override {
    FrameHeader below = header;
    below.source = process_of_rank_[static_cast<std::size_t>(header.source)];
    forward(process_of_rank_[static_cast<std::size_t>(to)], below, std::move(payload));
  }
  Rank rank_of(Rank process) const override {
    return rank_of_process_[static_cast<std::size_t>(process)];
  }

  std::vector<Rank> process_of_rank_;
  std::vector<Rank> rank_of_process_;
};

class CountingPort final : public ForwardingPort {
 public:
  CountingPort(std::unique_ptr<Port> inner, Rank rank, std::vector<std::uint64_t>& sent)
      : ForwardingPort(std::move(inner), rank), sent_(sent) {}

 private:
  void submit_piece(Rank to, const FrameHeader& header, Bytes payload) override {
    sent_[static_cast<std::size_t>(to)] += sizeof(header) + payload.size();
    forward(to, header, std::move(payload));
  }

  std::vector<std::uint64_t>& sent_;
};

}  // namespace

std::unique_ptr<Port> make_renumbered_port(std::unique_ptr<Port> inner,
                                           std::vector<Rank> process_of_rank) {
  std::vector<Rank> processes(static_cast<std::size_t>(inner->size()));
  std::iota(processes.begin(), processes.end(), Rank{0});
  WEIR_EXPECT(std::is_permutation(processes.begin(), processes.end(), process_of_rank.begin(),
                                  process_of_rank.end()),
              usage, "the ranks of a job do not name each of its processes once");
  const auto own = std::find(process_of_rank.begin(), process_of_rank.end(), inner->rank());
  const auto rank = static_cast<Rank>(own - process_of_rank.begin());
  return std::make_unique<RenumberedPort>(std::move(inner), rank, std::move(process_of_rank));
}

std::unique_ptr<Port> make_counting_port(std::unique_ptr<Port> inner,
                                         std::vector<std::uint64_t>& sent) {
  const Rank rank = inner->rank();
  WEIR_EXPECT(sent.size() == static_cast<std::size_t>(inner->size()), usage,
              "found counts of " + std::to_string(sent.size()) + " ranks; expected " +
                  std::to_string(inner->size()));
  return std::make_unique<CountingPort>(std::move(inner), rank, sent);
}

}  // namespace weir
