// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <set>
#include <vector>

#include <weir/engine/runtime/frame.hpp>

namespace weir {

class Context;
struct ContextOptions;

/// Receives whole frames from `Port::progress`.
class FrameSink {
 public:
  virtual ~FrameSink() = default;
  virtual void deliver(Frame frame) = 0;
};

/// How a context gives up its port.
enum class Parting {
  in_order,  ///< Every rank that could still send said that it leaves; nothing is under way.
  early,     ///< In order, but other ranks may still send.
  failed,    ///< After a failure; peers may be gone.
};

/// The transport between the ranks of a context: point to point, unordered between ranks, ordered
/// from one rank to another. One thread at a time calls it.
///
/// Implementations move frames; the base class splits payloads into pieces of at most
/// `max_piece_bytes` (1 GiB; lowered by tests) and joins them again, so no transport ever sees a
/// length beyond an int.
class Port {
 public:
  static constexpr std::size_t default_max_piece_bytes = std::size_t{1} << 30;

  virtual ~Port() = default;
  Port(const Port&) = delete;
  Port& operator=(const Port&) = delete;

  Rank rank() const { return rank_; }
  Rank size() const { return size_; }

  /// Hands a frame over for `to`, another rank. Never blocks; takes the payload.
  void submit(Rank to, Frame frame);

  /// Moves what can be moved and delivers whole frames to `sink`. Never blocks. Returns whether
  /// anything moved.
  bool progress(FrameSink& sink);

  /// True when every frame handed over has left this rank.
  virtual bool is_idle() const = 0;

  /// Sleeps for a moment, at most a few milliseconds: until something arrives where the transport
  /// can tell, else 50 us.
  virtual void pause();

  /// True when shared resources can be given back only after every rank said that it leaves.
  virtual bool needs_farewell() const { return false; }

  /// Told once, before the end.
  virtual void part(Parting how);

  /// Payload bytes per piece; at least 1, at most 1 GiB.
  void limit_pieces(std::size_t max_piece_bytes);

 protected:
  Port(Rank rank, Rank size) : rank_(rank), size_(size) {}

  /// One piece: the payload is within the limit. Never blocks.
  virtual void submit_piece(Rank to, const FrameHeader& header, Bytes payload) = 0;
  /// Moves pieces; calls `receive_piece` for each that arrived.
  virtual bool progress_pieces() = 0;
  void receive_piece(const FrameHeader& header, Bytes payload);

  /// For decorators: hands a piece to another port.
  static void forward_piece(Port& port, Rank to, const FrameHeader& header, Bytes payload) {
    port.submit_piece(to, header, std::move(payload));
  }

 private:
  /// Names a frame among all that one rank receives.
  struct Key {
    std::uint64_t epoch;
    std::int32_t source;
    std::uint32_t sequence;
    FrameKind kind;
    auto operator<=>(const Key&) const = default;
  };
  /// A split frame whose pieces are still arriving.
  struct Partial {
    Key key;
    Frame frame;
    std::set<std::uint64_t> offsets;
    std::uint64_t received_bytes = 0;
  };

  Partial& partial_of(const Key& key, const FrameHeader& header);

  Rank rank_;
  Rank size_;
  std::size_t max_piece_bytes_ = default_max_piece_bytes;
  FrameSink* sink_ = nullptr;
  std::vector<Partial> partials_;
  std::deque<Key> joined_;  // the latest, so that a repeated piece does not begin a frame anew
};

/// Ports of `ranks` threads of this process, one per rank.
std::vector<std::unique_ptr<Port>> make_thread_ports(Rank ranks);

/// What a link does to the frames of one rank to another; for tests. Order may be lost, which
/// weir's protocols do not rely on beyond the header's sequence.
struct Faults {
  double drop_probability = 0;         ///< Dropped once, sent again after `retry_after`.
  double duplicate_probability = 0;    ///< Sent twice.
  double reorder_probability = 0;      ///< Held back a while longer, so that others overtake it.
  std::chrono::microseconds delay{0};  ///< Held back this long.
  double bytes_per_second = 0;         ///< Frames leave one after the other; 0: without limit.
  std::chrono::microseconds retry_after{200};
  std::uint64_t seed = 1;
};

/// Decorates a port with the faults of its links, all alike or by the rank they lead to. Random
/// numbers are drawn from the seed of the link to the lowest other rank.
std::unique_ptr<Port> make_faulty_port(std::unique_ptr<Port> inner, Faults faults);
std::unique_ptr<Port> make_faulty_port(std::unique_ptr<Port> inner,
                                       const std::function<Faults(Rank to)>& faults);

/// Sees what a port does, on the thread that calls the port.
class PortObserver {
 public:
  virtual ~PortObserver() = default;
  /// A piece of a frame is about to be handed over.
  virtual void submitting(const FrameHeader& header) = 0;
  /// The rank is about to move frames: it is alive, whether it computes or waits.
  virtual void progressing() = 0;
};

/// Decorates a port with an observer, which must outlive it.
std::unique_ptr<Port> make_observed_port(std::unique_ptr<Port> inner, PortObserver& observer);

/// Puts decorators around the port of a rank.
using PortDecorator = std::function<std::unique_ptr<Port>(std::unique_ptr<Port>)>;

/// `run_in_process` of context.hpp over decorated ports; one rank alone has no port.
void run_in_process(Rank ranks, const ContextOptions& options, const PortDecorator& decorate,
                    const std::function<void(Context&)>& body);

}  // namespace weir
