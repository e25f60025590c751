// SPDX-License-Identifier: Apache-2.0
// What a context is made of; private to the runtime's sources.
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <weir/engine/model/error.hpp>
#include <weir/engine/runtime/context.hpp>
#include <weir/engine/runtime/port.hpp>

namespace weir {

namespace detail {

/// The exception being handled as an Error: std::bad_alloc is memory, others are program.
Error current_error();

/// Puts "rank R: " before a text that begins with no rank; at most a few thousand characters.
Error name_rank(const Error& error, Rank rank, Rank size);

Bytes encode_error(const Error& error, Rank rank);
struct RankedError {
  Rank rank;
  Error error;
};
RankedError decode_error(const Bytes& bytes);

/// "rank 3, rank 5 and 12 more".
std::string list_ranks(const std::vector<Rank>& ranks);

/// Parent and children of the binomial tree that folds climb.
struct FoldTree {
  FoldTree(Rank rank, Rank size);
  std::optional<Rank> parent;
  std::vector<Rank> children;  // ascending; the subtrees' ranks follow this rank's in this order
};

class Arena;  // this rank's threads

}  // namespace detail

/// One wait, as its dump tells it.
struct Waiting {
  std::string_view name;
  std::uint64_t epoch = 0;
  std::function<bool()> is_over;
  std::function<std::vector<Rank>()> missing;  // ranks it waits for
  std::function<std::string()> received;
};

/// Invariant: `failure_`, once set, stays; every collective call throws it from then on. Memory is
/// O(size) besides the frames that wait for their epoch.
struct Context::State final : FrameSink {
  State(std::unique_ptr<Port> port, ContextOptions options);
  ~State() override;

  Rank rank() const { return port_ ? port_->rank() : 0; }
  Rank size() const { return port_ ? port_->size() : 1; }

  void submit(Rank to, FrameKind kind, std::uint64_t epoch, Bytes payload,
              std::uint32_t sequence = 0, std::uint32_t source_shard = 0);
  bool pump();
  void deliver(Frame frame) override;

  /// Number of the next collective operation; its frames are kept until `end`.
  std::uint64_t begin(std::string_view name);
  void end(std::uint64_t epoch);
  /// Frames that arrived for an operation since the last call. Error{usage} when the sender was in
  /// an operation of another name.
  std::vector<Frame> take_frames(std::uint64_t epoch, std::string_view name);

  /// The only wait: spins briefly, yields, then sleeps. Throws the context's failure, and
  /// Error{communication} when a rank that is waited for left or the deadline passed.
  void wait(const Waiting& waiting);

  Bytes fold(std::string_view name, Bytes own, const std::function<Bytes(Bytes, Bytes)>& combine);

  /// Runs the inside of a collective call; what it throws fails the context on all ranks.
  template <class Body>
  decltype(auto) guard(Body&& body) {
    throw_if_failed();
    try {
      return body();
    } catch (...) {
      if (!failure_) fail(detail::current_error());
      throw_if_failed();
      throw;  // not reached: fail always sets the failure
    }
  }

  void throw_if_failed() const {
    if (failure_) throw *failure_;
  }
  void fail(const Error& error) noexcept;
  /// An exchange was left open; its error is what the next collective call finds.
  void abandon(std::uint64_t epoch, const std::string& name) noexcept;
  void leave() noexcept;

  void find_threads();

  // NOLINTBEGIN(readability-identifier-naming): members of a class that only Context sees
  ContextOptions options_;
  std::unique_ptr<Port> port_;
  std::unique_ptr<detail::Arena> arena_;
  int num_threads_ = 1;
  int ranks_on_host_ = 1;
  int exceptions_at_start_ = std::uncaught_exceptions();
  Superstep superstep_ = -1;
  Traffic traffic_;

  std::uint64_t next_epoch_ = 0;
  std::set<std::uint64_t> open_;
  std::map<std::uint64_t, std::vector<Frame>> mailbox_;
  std::map<std::uint64_t, std::uint64_t> operations_;  // name hashes of the open epochs

  std::optional<Error> failure_;
  std::optional<Rank> failed_by_;
  std::optional<std::string> agreed_;     // text of an error all ranks threw, until the next call
  std::optional<std::string> abandoned_;  // name of an exchange left open

  static constexpr std::uint64_t never = ~std::uint64_t{0};
  std::vector<std::uint64_t> left_at_;  // first epoch without the rank; `never` while it stays
  std::vector<std::uint64_t> heard_;    // 1 + latest epoch heard from the rank
  Rank num_left_ = 0;
  // NOLINTEND(readability-identifier-naming)

 private:
  void pump_until(const std::function<bool()>& is_over, std::chrono::milliseconds longest) noexcept;
  void check_left(const Waiting& waiting);
  [[noreturn]] void throw_deadline(const Waiting& waiting, std::chrono::milliseconds waited);
  std::vector<Rank> farewell_ranks() const;
};

}  // namespace weir
