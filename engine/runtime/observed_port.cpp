// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <utility>

#include <weir/engine/runtime/port.hpp>

namespace weir {

namespace {

class ObservedPort final : public Port {
 public:
  ObservedPort(std::unique_ptr<Port> inner, PortObserver& observer)
      : Port(inner->rank(), inner->size()), inner_(std::move(inner)), observer_(observer) {}

  bool is_idle() const override { return inner_->is_idle(); }
  bool needs_farewell() const override { return inner_->needs_farewell(); }
  void part(Parting how) override { inner_->part(how); }
  void pause() override { inner_->pause(); }

 protected:
  void submit_piece(Rank to, const FrameHeader& header, Bytes payload) override {
    observer_.submitting(header);
    forward_piece(*inner_, to, header, std::move(payload));
  }

  bool progress_pieces() override {
    observer_.progressing();
    Forward forward(*this);
    return inner_->progress(forward);
  }

 private:
  /// The inner port joins nothing: what it delivers are this port's pieces, joined where whole.
  struct Forward final : FrameSink {
    explicit Forward(ObservedPort& to) : port(to) {}
    void deliver(Frame frame) override {
      frame.header.piece_offset = 0;
      port.receive_piece(frame.header, std::move(frame.payload));
    }
    ObservedPort& port;
  };

  std::unique_ptr<Port> inner_;
  PortObserver& observer_;
};

}  // namespace

std::unique_ptr<Port> make_observed_port(std::unique_ptr<Port> inner, PortObserver& observer) {
  return std::make_unique<ObservedPort>(std::move(inner), observer);
}

}  // namespace weir
