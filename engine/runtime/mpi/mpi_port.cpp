// SPDX-License-Identifier: Apache-2.0
// The transport over MPI: Isend, Improbe and Imrecv on a duplicate communicator, nothing else after
// set-up. A message is the payload and after it the header, so that neither end moves the payload
// to make room.
#include <weir/engine/runtime/mpi/mpi_port.hpp>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <deque>
#include <limits>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <weir/engine/model/check.hpp>

namespace weir::detail {

namespace {

constexpr int frame_tag = 1;
constexpr std::size_t max_sends_in_flight = 128;
constexpr std::size_t max_receives_in_flight = 64;
constexpr int num_polls_before_sleep = 64;
constexpr int max_short_sleeps = 32;

int message_bytes(std::size_t count) {
  WEIR_EXPECT(count <= static_cast<std::size_t>(std::numeric_limits<int>::max()), internal,
              "a message of 2^31 bytes or more");
  return static_cast<int>(count);
}

/// Requests and their buffers. Invariant: requests_[i] reads or writes buffers_[i].
class InFlight {
 public:
  std::size_t size() const { return requests_.size(); }
  bool is_empty() const { return requests_.empty(); }

  /// Start gets the bytes to work on and the request to set. The bytes' place does not change.
  template <class Start>
  void add(Bytes bytes, Start start) {
    requests_.push_back(MPI_REQUEST_NULL);
    buffers_.push_back(std::move(bytes));
    try {
      start(buffers_.back(), &requests_.back());
    } catch (...) {
      requests_.pop_back();
      buffers_.pop_back();
      throw;
    }
  }

  /// Calls done(bytes) for each that completed.
  template <class Done>
  bool test(Done done) {
    if (requests_.empty()) return false;
    completed_.resize(requests_.size());
    int num_completed = 0;
    check_mpi(MPI_Testsome(message_bytes(requests_.size()), requests_.data(), &num_completed,
                           completed_.data(), MPI_STATUSES_IGNORE),
              "MPI_Testsome");
    if (num_completed == MPI_UNDEFINED || num_completed == 0) return false;
    std::vector<Bytes> finished;
    std::sort(completed_.begin(), completed_.begin() + num_completed);
    for (int i = 0; i < num_completed; ++i) {
      const int index = completed_[static_cast<std::size_t>(i)];
      finished.push_back(std::move(buffers_[static_cast<std::size_t>(index)]));
    }
    drop_completed();
    for (Bytes& bytes : finished) done(std::move(bytes));
    return true;
  }

  /// MPI may still read and write the buffers: they are kept for ever.
  void abandon() {
    if (!requests_.empty()) static_cast<void>(new std::vector<Bytes>(std::move(buffers_)));
    requests_.clear();
    buffers_.clear();
  }

 private:
  void drop_completed() {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < requests_.size(); ++i) {
      if (requests_[i] == MPI_REQUEST_NULL) continue;
      if (kept != i) {
        requests_[kept] = requests_[i];
        buffers_[kept] = std::move(buffers_[i]);
      }
      ++kept;
    }
    requests_.resize(kept);
    buffers_.resize(kept);
  }

  std::vector<MPI_Request> requests_;
  std::vector<Bytes> buffers_;
  std::vector<int> completed_;
};

class MpiPort final : public Port {
 public:
  MpiPort(MPI_Comm own, Rank rank, Rank size, std::shared_ptr<std::atomic<bool>> is_broken)
      : Port(rank, size), comm_(own), is_broken_(std::move(is_broken)) {}

  ~MpiPort() override {
    int is_finalized = 0;
    MPI_Finalized(&is_finalized);
    if (is_clean_ && is_finalized == 0 && is_idle() && receives_.is_empty()) {
      MPI_Comm_free(&comm_);
    } else {
      sends_.abandon();
      receives_.abandon();
    }
  }

  bool is_idle() const override { return sends_.is_empty() && queue_.empty(); }
  bool needs_farewell() const override { return true; }

  /// Sleeps, first as shortly as the kernel can: a yield reaches no rank that a launcher (MPICH's
  /// Hydra) started in a session of its own where Linux schedules sessions as groups (autogroup).
  void pause() override {
    if (num_short_sleeps_ == max_short_sleeps) return Port::pause();
    ++num_short_sleeps_;
    std::this_thread::sleep_for(std::chrono::nanoseconds(1));
  }

  /// Only when nothing is under way may the communicator be freed: its number is used again, and
  /// what arrived late would be taken for the next one's. Otherwise it lasts as long as MPI does.
  void part(Parting how) override {
    is_clean_ = how == Parting::in_order;
    if (how == Parting::failed && is_broken_) *is_broken_ = true;
  }

 protected:
  void submit_piece(Rank to, const FrameHeader& header, Bytes payload) override {
    payload.reserve(payload.size() + sizeof(header));  // growing by itself would double it
    append_plain(payload, header);
    if (queue_.empty() && sends_.size() < max_sends_in_flight) {
      start_send(to, std::move(payload));
    } else {
      queue_.push_back({to, std::move(payload)});
    }
  }

  bool progress_pieces() override {
    bool has_moved = sends_.test([](const Bytes&) {});
    while (!queue_.empty() && sends_.size() < max_sends_in_flight) {
      Queued next = std::move(queue_.front());
      queue_.pop_front();
      start_send(next.to, std::move(next.message));
      has_moved = true;
    }
    while (receives_.size() < max_receives_in_flight && start_receive()) {
    }
    has_moved |= receives_.test([&](Bytes message) { take_apart(std::move(message)); });
    if (has_moved) num_short_sleeps_ = 0;
    return has_moved;
  }

 private:
  struct Queued {
    Rank to;
    Bytes message;
  };

  void start_send(Rank to, Bytes message) {
    const int count = message_bytes(message.size());
    sends_.add(std::move(message), [&](Bytes& bytes, MPI_Request* request) {
      check_mpi(MPI_Isend(bytes.data(), count, MPI_BYTE, to, frame_tag, comm_, request),
                "MPI_Isend");
    });
  }

  bool start_receive() {
    int has_message = 0;
    MPI_Message message = MPI_MESSAGE_NULL;
    MPI_Status status;
    check_mpi(MPI_Improbe(MPI_ANY_SOURCE, frame_tag, comm_, &has_message, &message, &status),
              "MPI_Improbe");
    if (has_message == 0) return false;
    int count = 0;
    check_mpi(MPI_Get_count(&status, MPI_BYTE, &count), "MPI_Get_count");
    WEIR_EXPECT(count != MPI_UNDEFINED && count >= static_cast<int>(sizeof(FrameHeader)),
                communication, "a message that is no frame of weir arrived");
    receives_.add(Bytes(static_cast<std::size_t>(count)), [&](Bytes& bytes, MPI_Request* request) {
      check_mpi(MPI_Imrecv(bytes.data(), count, MPI_BYTE, &message, request), "MPI_Imrecv");
    });
    return true;
  }

  void take_apart(Bytes message) {
    const std::size_t payload_bytes = message.size() - sizeof(FrameHeader);
    FrameHeader header;
    std::memcpy(&header, message.data() + payload_bytes, sizeof(header));
    message.resize(payload_bytes);
    receive_piece(header, std::move(message));
  }

  MPI_Comm comm_;
  std::shared_ptr<std::atomic<bool>> is_broken_;
  InFlight sends_;
  InFlight receives_;
  std::deque<Queued> queue_;  // in order; sent when fewer are in flight
  int num_short_sleeps_ = 0;  // since something moved
  bool is_clean_ = false;
};

void check_usable(MPI_Comm comm) {
  int is_initialized = 0;
  int is_finalized = 0;
  MPI_Initialized(&is_initialized);
  MPI_Finalized(&is_finalized);
  WEIR_EXPECT(is_initialized != 0 && is_finalized == 0, usage,
              "MPI is not initialised; call MPI_Init_thread first");
  int level = MPI_THREAD_SINGLE;
  MPI_Query_thread(&level);
  WEIR_EXPECT(
      level >= MPI_THREAD_FUNNELED, usage,
      "MPI provides MPI_THREAD_SINGLE; ask MPI_Init_thread for MPI_THREAD_FUNNELED or more");
  WEIR_EXPECT(comm != MPI_COMM_NULL, usage, "the communicator is MPI_COMM_NULL");
  int is_inter = 0;
  check_mpi(MPI_Comm_test_inter(comm, &is_inter), "MPI_Comm_test_inter");
  WEIR_EXPECT(is_inter == 0, usage,
              "the communicator joins two groups; an intracommunicator is needed");
}

/// Not MPI_Comm_dup: in it MPICH spins without giving up its core, which takes tens of milliseconds
/// where ranks share cores.
MPI_Comm duplicate_of(MPI_Comm comm) {
  MPI_Comm own = MPI_COMM_NULL;
  MPI_Request request = MPI_REQUEST_NULL;
  check_mpi(MPI_Comm_idup(comm, &own, &request), "MPI_Comm_idup");
  for (int num_polls = 0;; ++num_polls) {
    int is_complete = 0;
    check_mpi(MPI_Test(&request, &is_complete, MPI_STATUS_IGNORE), "MPI_Comm_idup");
    if (is_complete != 0) return own;
    if (num_polls < num_polls_before_sleep) {
      std::this_thread::yield();
    } else {
      std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
  }
}

}  // namespace

void check_mpi(int code, const char* call) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING] = {};
  int length = 0;
  if (MPI_Error_string(code, text, &length) != MPI_SUCCESS) length = 0;
  throw Error(ErrorCode::communication, std::string(call) + " failed: " +
                                            std::string(text, static_cast<std::size_t>(length)));
}

std::unique_ptr<Port> make_mpi_port(MPI_Comm comm, std::shared_ptr<std::atomic<bool>> is_broken) {
  check_usable(comm);
  MPI_Comm own = duplicate_of(comm);
  check_mpi(MPI_Comm_set_errhandler(own, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  int rank = 0;
  int size = 1;
  check_mpi(MPI_Comm_rank(own, &rank), "MPI_Comm_rank");
  check_mpi(MPI_Comm_size(own, &size), "MPI_Comm_size");
  return std::make_unique<MpiPort>(own, rank, size, std::move(is_broken));
}

std::unique_ptr<Port> make_mpi_port(const void* comm, std::size_t comm_bytes) {
  WEIR_EXPECT(comm_bytes == sizeof(MPI_Comm), usage,  // NOLINT(bugprone-sizeof-expression)
              "the application and weir are built with different MPIs");
  MPI_Comm typed;
  std::memcpy(&typed, comm, sizeof(typed));  // NOLINT(bugprone-sizeof-expression)
  return make_mpi_port(typed, nullptr);
}

}  // namespace weir::detail
