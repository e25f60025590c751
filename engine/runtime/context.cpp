// SPDX-License-Identifier: Apache-2.0
#include <weir/engine/runtime/context.hpp>

#include <algorithm>
#include <utility>

#include <unistd.h>

#include <weir/engine/model/check.hpp>
#include <weir/engine/runtime/context_state.hpp>
#include <weir/engine/runtime/parallel.hpp>
#include <weir/engine/runtime/threads.hpp>

namespace weir {

namespace {

constexpr int max_threads = 4096;

/// What ranks tell each other about where they run: the host's name follows.
struct Place {
  Rank rank;
  std::uint32_t name_bytes;
  std::uint64_t mask_hash;
};

std::string host_name() {
  char name[256] = {};
  if (gethostname(name, sizeof(name) - 1) != 0) return "unknown";
  return name;
}

Bytes concatenate(Bytes left, Bytes right) {
  left.insert(left.end(), right.begin(), right.end());
  return left;
}

}  // namespace

void Context::State::find_threads() {
  const Affinity affinity = current_affinity();
  const std::string host = host_name();
  Bytes own;
  append_plain(own, Place{rank(), static_cast<std::uint32_t>(host.size()), affinity.mask_hash});
  const auto name = std::as_bytes(std::span(host));
  own.insert(own.end(), name.begin(), name.end());
  const Bytes all = fold("host names", std::move(own), concatenate);

  ThreadShare share{affinity.num_cores, 0, cgroup_quota(), 0};
  Rank first_on_host = rank();
  for (BytesView rest(all); !rest.empty();) {
    const auto place = rest.take<Place>();
    const auto other = rest.take_bytes(place.name_bytes);
    if (!std::equal(other.begin(), other.end(), name.begin(), name.end())) continue;
    first_on_host = std::min(first_on_host, place.rank);
    ++share.ranks_on_host;
    if (place.mask_hash == affinity.mask_hash) ++share.ranks_on_cores;
  }
  ranks_on_host_ = share.ranks_on_host;
  num_threads_ = options_.threads > 0 ? options_.threads : default_threads(share);
  arena_ = std::make_unique<detail::Arena>(num_threads_);
  if (num_threads_ <= affinity.num_cores || !options_.log || rank() != first_on_host) return;
  const std::string threads = std::to_string(num_threads_);
  std::string text = "rank " + std::to_string(rank()) + " has " + threads + " threads on " +
                     std::to_string(affinity.num_cores) + " core(s)";
  if (affinity.num_cores < num_online_cores()) {
    text += "; start with --bind-to none or --map-by slot:PE=" + threads;
  }
  options_.log->write(LogLevel::warning, text);
}

Bytes Context::State::fold(std::string_view name, Bytes own,
                           const std::function<Bytes(Bytes, Bytes)>& combine) {
  const std::uint64_t epoch = begin(name);
  const detail::FoldTree tree(rank(), size());
  std::vector<Frame> arrived;
  const auto receive = [&](Rank from, FrameKind kind) {
    const auto find = [&] {
      return std::find_if(arrived.begin(), arrived.end(), [&](const Frame& frame) {
        return frame.header.source == from && frame.header.kind == kind;
      });
    };
    const auto is_over = [&] {
      for (Frame& frame : take_frames(epoch, name)) arrived.push_back(std::move(frame));
      return find() != arrived.end();
    };
    const auto received = [&] {
      std::vector<Rank> sources;
      for (const Frame& frame : arrived) sources.push_back(frame.header.source);
      return "a part from " + detail::list_ranks(sources);
    };
    wait({name, epoch, is_over, [&] { return std::vector<Rank>{from}; }, received});
    return std::move(find()->payload);
  };
  for (const Rank child : tree.children) {
    own = combine(std::move(own), receive(child, FrameKind::fold_up));
  }
  if (tree.parent) {
    submit(*tree.parent, FrameKind::fold_up, epoch, std::move(own));
    own = receive(*tree.parent, FrameKind::fold_down);
  }
  for (auto child = tree.children.rbegin(); child != tree.children.rend(); ++child) {
    submit(*child, FrameKind::fold_down, epoch, own);
  }
  end(epoch);
  return own;
}

Context::Context(ContextOptions options) : Context(nullptr, options) {}

Context::Context(std::unique_ptr<Port> port, ContextOptions options) {
  WEIR_EXPECT(options.threads >= 0 && options.threads <= max_threads, usage,
              "a rank has 1 to 4096 threads, or 0 for the default");
  state_ = std::make_unique<State>(std::move(port), options);
  try {
    state_->guard([&] { state_->find_threads(); });
  } catch (...) {
    state_->leave();
    throw;
  }
}

Context::~Context() { state_->leave(); }

Rank Context::rank() const { return state_->rank(); }
Rank Context::size() const { return state_->size(); }
int Context::num_threads() const { return state_->num_threads_; }
int Context::ranks_on_host() const { return state_->ranks_on_host_; }
Traffic Context::traffic() const { return state_->traffic_; }
void Context::set_superstep(Superstep step) { state_->superstep_ = step; }
std::optional<Rank> Context::failed_by() const { return state_->failed_by_; }

void Context::log(LogLevel level, std::string_view text) const {
  if (state_->options_.log) state_->options_.log->write(level, text);
}

void Context::agree(const std::function<void()>& body) {
  State& state = *state_;
  Bytes own;
  state.guard([&] {
    try {
      body();
    } catch (...) {
      Error error = detail::current_error();
      // What all ranks threw already names its rank; what left an exchange open cannot be agreed
      // on.
      const bool is_agreed = state.agreed_ && *state.agreed_ == error.text();
      if (!is_agreed) error = detail::name_rank(error, rank(), size());
      if (state.failure_ || state.abandoned_) throw error;
      own = detail::encode_error(error, rank());
    }
  });
  const Bytes first = fold("agree", std::move(own), [](const Bytes& left, const Bytes& right) {
    return left.empty() ? right : left;
  });
  if (!first.empty()) throw_agreed(detail::decode_error(first).error);
}

void Context::throw_agreed(const Error& error) {
  state_->agreed_ = std::string(error.text());
  throw error;
}

void Context::parallel_for(std::size_t count, const std::function<void(std::size_t)>& body) {
  state_->arena_->run(count, body);
}

Bytes Context::fold(std::string_view name, Bytes own,
                    const std::function<Bytes(Bytes, Bytes)>& combine) {
  return state_->guard([&] { return state_->fold(name, std::move(own), combine); });
}

void Context::fail(const Error& error) noexcept {
  const auto& agreed = state_->agreed_;
  if (agreed && *agreed == error.text()) return;
  state_->fail(error);
}

void Context::rethrow_for_all() {
  const Error error = detail::current_error();
  fail(error);
  if (failed_by() == rank()) state_->throw_if_failed();
  throw error;
}

void Context::progress() {
  state_->guard([&] { state_->pump(); });
  state_->throw_if_failed();
}

}  // namespace weir
