// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include <weir/engine/model/check.hpp>
#include <weir/engine/runtime/context.hpp>
#include <weir/engine/runtime/context_state.hpp>
#include <weir/engine/runtime/port.hpp>

namespace weir {

namespace {

/// How near an exception is to the root of a failure; the smallest is told.
enum class Cause {
  own,            ///< Thrown by this rank's body.
  communication,  ///< A rank that was missed: another one's fault, most likely.
  start,          ///< The context could not be made.
  echo,           ///< Another rank's failure.
};

/// What the ranks threw. All of it is kept until every thread ended: an exception that one thread
/// frees while another still reads it is fine for the C++ library, but not for the thread
/// sanitizer, which does not see the library count.
class FirstFailure {
 public:
  void offer(Cause cause, Rank rank, std::exception_ptr exception) {
    const std::lock_guard lock(mutex_);
    offers_.push_back({cause, rank, std::move(exception)});
  }
  /// After the threads were joined.
  void rethrow() {
    const auto first =
        std::min_element(offers_.begin(), offers_.end(), [](const Offer& a, const Offer& b) {
          return std::pair(a.cause, a.rank) < std::pair(b.cause, b.rank);
        });
    if (first != offers_.end()) std::rethrow_exception(first->exception);
  }

 private:
  struct Offer {
    Cause cause;
    Rank rank;
    std::exception_ptr exception;
  };
  std::mutex mutex_;
  std::vector<Offer> offers_;
};

/// The exception being handled, as the body of a rank left it behind.
Cause cause_of(const Context& context) {
  const auto failed_by = context.failed_by();
  if (failed_by && *failed_by != context.rank()) return Cause::echo;
  return detail::current_error().code() == ErrorCode::communication ? Cause::communication
                                                                    : Cause::own;
}

void run_rank(Rank rank, std::unique_ptr<Port> port, const ContextOptions& options,
              const std::function<void(Context&)>& body, FirstFailure& failure) noexcept {
  try {
    Context context(std::move(port), options);
    try {
      body(context);
    } catch (...) {
      failure.offer(cause_of(context), rank, std::current_exception());
      context.fail(detail::current_error());
    }
  } catch (...) {
    failure.offer(Cause::start, rank, std::current_exception());
  }
}

/// In the name of a rank whose thread could not be started.
void send_abort(Port& port, Rank num_started, const Error& error) {
  for (Rank r = 0; r < num_started; ++r) {
    Frame frame;
    frame.header.kind = FrameKind::abort;
    frame.payload = detail::encode_error(error, port.rank());
    port.submit(r, std::move(frame));
  }
}

}  // namespace

void run_in_process(Rank ranks, const ContextOptions& options,
                    const std::function<void(Context&)>& body) {
  run_in_process(ranks, options, PortDecorator{}, body);
}

void run_in_process(Rank ranks, const ContextOptions& options, const PortDecorator& decorate,
                    const std::function<void(Context&)>& body) {
  WEIR_EXPECT(ranks >= 1, usage, "a job has at least one rank");
  if (ranks == 1) {
    Context context(options);
    body(context);
    return;
  }
  std::vector<std::unique_ptr<Port>> ports = make_thread_ports(ranks);
  for (std::unique_ptr<Port>& port : ports) {
    if (decorate) port = decorate(std::move(port));
  }
  FirstFailure failure;
  std::vector<std::thread> threads;
  threads.reserve(ports.size());
  for (Rank r = 0; r < ranks; ++r) {
    std::unique_ptr<Port>& port = ports[static_cast<std::size_t>(r)];
    try {
      threads.emplace_back([&, r] { run_rank(r, std::move(port), options, body, failure); });
    } catch (...) {
      failure.offer(Cause::own, r, std::current_exception());
      send_abort(*port, r, detail::current_error());
      break;
    }
  }
  for (std::thread& thread : threads) thread.join();
  failure.rethrow();
}

}  // namespace weir
