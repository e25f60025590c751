// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <weir/engine/model/error.hpp>
#include <weir/engine/model/ids.hpp>
#include <weir/engine/runtime/bytes.hpp>
#include <weir/engine/runtime/log.hpp>

namespace weir {

class Port;

/// How a context is to behave.
struct ContextOptions {
  /// Threads of this rank, the calling one included. 0: the smaller of the cores it is bound to,
  /// divided by the ranks bound to the same, and the cgroup quota, divided by the ranks on this
  /// host; at least 1.
  int threads = 0;
  /// A wait longer than this is Error{communication} with a dump of who waits for whom. 0: none.
  std::chrono::milliseconds deadline{std::chrono::minutes{10}};
  /// Where messages go; nothing is printed without one. Must outlive the context.
  LogSink* log = nullptr;
  /// Larger payloads travel in pieces; lowered by tests.
  std::size_t max_piece_bytes = std::size_t{1} << 30;
};

/// Bytes and frames this rank moved since the context was made.
struct Traffic {
  std::uint64_t frames_sent = 0;
  std::uint64_t bytes_sent = 0;
  std::uint64_t frames_received = 0;
  std::uint64_t bytes_received = 0;
};

/// Where things run: the ranks of a job, this rank's threads and its log.
///
/// All collective operations of a context are called by every rank in the same order, from one
/// thread at a time. A failure that is not agreed on is told to every rank: whoever waits, now or
/// later, throws the same Error, and the context stays failed.
class Context {
 public:
  /// One rank alone in this process.
  explicit Context(ContextOptions options = {});
  /// One rank of many over a transport. Collective.
  Context(std::unique_ptr<Port> port, ContextOptions options);
  /// Tells the other ranks that this one leaves. A rank that unwinds with an exception fails those
  /// that still wait for it.
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  Rank rank() const;
  Rank size() const;
  bool is_root() const { return rank() == 0; }
  int num_threads() const;
  void log(LogLevel level, std::string_view text) const;
  Traffic traffic() const;

  /// Runs `body` on this rank and agrees on how it went: when it threw on any rank, the Error of
  /// the lowest such rank is thrown on all. Collective. std::bad_alloc becomes Error{memory}; other
  /// exceptions become Error{program}; "rank R: " is put before the text when there are several
  /// ranks.
  void agree(const std::function<void()>& body);

  /// Calls body(i) for i in [0, count), each once, on this rank's threads; the calling thread takes
  /// part and returns when all are done. Order and threads are unspecified; bodies must not throw
  /// into each other's work: the exception of the smallest i that threw is rethrown. The floating
  /// point environment is round-to-nearest with subnormals in every body.
  void parallel_for(std::size_t count, const std::function<void(std::size_t)>& body);

  /// Folds one byte string per rank in rank order by `combine(left, right)` over a binomial tree
  /// and returns the result on every rank. Collective. `name`, the same on all ranks, appears in
  /// errors.
  Bytes fold(std::string_view name, Bytes own, const std::function<Bytes(Bytes, Bytes)>& combine);

  /// Tells every rank that this one failed outside an agreed point. Not collective. "rank R: " is
  /// put before the text when there are several ranks and it begins with no rank. The error that
  /// all ranks just threw together (agree, throw_agreed) fails nothing.
  void fail(const Error& error) noexcept;

  /// The rank whose failure failed this context, if any.
  std::optional<Rank> failed_by() const;

  /// Throws an error that every rank throws at this very point, because all computed it from the
  /// same fold; the context stays usable, and leaving it by this error is leaving it in order.
  /// Collective.
  [[noreturn]] void throw_agreed(const Error& error);
  /// throw_agreed unless `holds`, which every rank finds alike: an option, or the result of a fold.
  void expect(bool holds, ErrorCode code, const std::string& text) {
    if (!holds) throw_agreed({code, text});
  }

  /// The exception being handled, as every rank is to see it: what all ranks threw together goes on
  /// as it is; anything else fails the context and is thrown in the words that the others hear.
  /// Called in a catch clause around a body that makes collective calls.
  [[noreturn]] void rethrow_for_all();

  /// Moves frames without waiting; long loops without a collective call may call it.
  void progress();

  /// Ranks on this rank's host, itself included.
  int ranks_on_host() const;

  /// Superstep put into frame headers; -1 outside a run.
  void set_superstep(Superstep step);

 private:
  friend class Exchange;
  struct State;
  std::unique_ptr<State> state_;
};

/// A batch as it arrived.
struct Batch {
  Rank source = 0;
  std::uint32_t source_shard = 0;
  Bytes bytes;
};

/// One delivery of byte batches from ranks to ranks. Collective: every rank makes it, sends what it
/// has, and closes it; `name` is the same on all ranks. Frames of other ranks' later epochs are
/// kept until their turn; repeated frames are dropped by sequence.
class Exchange {
 public:
  /// Every rank may send to every rank.
  Exchange(Context& context, std::string_view name);
  /// This rank sends only to `destinations` and receives only from `sources` (both ascending,
  /// without itself, agreeing pairwise between ranks).
  Exchange(Context& context, std::string_view name, std::vector<Rank> destinations,
           std::vector<Rank> sources);
  ~Exchange();
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  /// Queues a batch; may be called many times per destination. A batch for this rank itself stays
  /// here.
  void send(Rank destination, Bytes bytes, std::uint32_t source_shard = 0);

  /// Moves frames without waiting and hands over the batches of other ranks that arrived, in order
  /// per source, so that memory does not pile up.
  void poll(const std::function<void(Batch)>& receive);

  /// Hands over what arrives, as `poll` does, until `is_over`, which is asked again and again; in
  /// between the thread yields and sleeps. Throws what waiting for other ranks throws, also when
  /// the deadline of the context passes.
  void wait(const std::function<bool()>& is_over, const std::function<void(Batch)>& receive);

  /// Sends the closing frames and waits until every source closed; then hands over what remains,
  /// by source ascending (this rank's own included), in sending order per source.
  void close(const std::function<void(Batch)>& receive);
  /// The same, gathered: nothing was polled before, all batches by (source, sending order).
  std::vector<Batch> close();

 private:
  /// What arrived from one source.
  struct Source {
    Rank rank = 0;
    std::uint32_t num_delivered = 0;            // handed over: all sequences below
    std::optional<std::uint32_t> num_expected;  // known once the source closed
    std::map<std::uint32_t, Batch> waiting;     // by sequence
  };
  struct Destination {
    Rank rank = 0;
    std::uint32_t num_sent = 0;
  };

  void open(std::vector<Rank> destinations, std::vector<Rank> sources);
  void absorb();
  void hand_over(Source& source, const std::function<void(Batch)>& receive);
  bool is_complete(const Source& source) const;
  std::vector<Rank> incomplete() const;
  std::string text_of_received() const;

  Context::State& state_;
  std::string name_;
  std::uint64_t epoch_ = 0;
  std::vector<Destination> destinations_;
  std::vector<Source> sources_;
  std::vector<Batch> own_;
  bool is_closed_ = false;
};

/// Runs `body` on `ranks` threads of this process, each with its own context over the same
/// in-process transport, and returns when all ended. When bodies threw, one of the exceptions that
/// is not merely the echo of another rank's failure is rethrown.
void run_in_process(Rank ranks, const ContextOptions& options,
                    const std::function<void(Context&)>& body);

}  // namespace weir
