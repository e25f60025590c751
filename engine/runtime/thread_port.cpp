// SPDX-License-Identifier: Apache-2.0
// The transport between threads of one process: one locked queue per destination.
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <utility>

#include <weir/engine/model/check.hpp>
#include <weir/engine/runtime/port.hpp>

namespace weir {

namespace {

struct Piece {
  FrameHeader header;
  Bytes payload;
};

struct Queue {
  std::mutex mutex;
  std::condition_variable arrived;
  std::vector<Piece> pieces;
  std::atomic<bool> has_pieces{false};
};

/// Shared by the ports of one context; ends with the last of them.
using Queues = std::vector<Queue>;

class ThreadPort final : public Port {
 public:
  ThreadPort(Rank rank, Rank size, std::shared_ptr<Queues> queues)
      : Port(rank, size), queues_(std::move(queues)) {}

  bool is_idle() const override { return true; }

  void pause() override {
    Queue& own = queue_of(rank());
    std::unique_lock lock(own.mutex);
    own.arrived.wait_for(lock, longest_pause, [&] { return !own.pieces.empty(); });
  }

 protected:
  void submit_piece(Rank to, const FrameHeader& header, Bytes payload) override {
    Queue& queue = queue_of(to);
    {
      const std::lock_guard lock(queue.mutex);
      queue.pieces.push_back({header, std::move(payload)});
      queue.has_pieces.store(true, std::memory_order_release);
    }
    queue.arrived.notify_one();
  }

  bool progress_pieces() override {
    Queue& own = queue_of(rank());
    if (!own.has_pieces.load(std::memory_order_acquire)) return false;
    std::vector<Piece> arrived;
    {
      const std::lock_guard lock(own.mutex);
      arrived.swap(own.pieces);
      own.has_pieces.store(false, std::memory_order_release);
    }
    for (Piece& piece : arrived) receive_piece(piece.header, std::move(piece.payload));
    return !arrived.empty();
  }

 private:
  static constexpr std::chrono::milliseconds longest_pause{2};

  Queue& queue_of(Rank rank) const { return (*queues_)[static_cast<std::size_t>(rank)]; }

  std::shared_ptr<Queues> queues_;
};

}  // namespace

std::vector<std::unique_ptr<Port>> make_thread_ports(Rank ranks) {
  WEIR_EXPECT(ranks >= 1, usage, "a context has at least one rank");
  const auto queues = std::make_shared<Queues>(static_cast<std::size_t>(ranks));
  std::vector<std::unique_ptr<Port>> ports;
  for (Rank r = 0; r < ranks; ++r) ports.push_back(std::make_unique<ThreadPort>(r, ranks, queues));
  return ports;
}

}  // namespace weir
