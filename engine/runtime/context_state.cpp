// SPDX-License-Identifier: Apache-2.0
#include <weir/engine/runtime/context_state.hpp>

#include <algorithm>
#include <chrono>
#include <new>
#include <thread>
#include <utility>

#include <weir/engine/model/check.hpp>
#include <weir/engine/runtime/fnv_hash.hpp>
#include <weir/engine/runtime/parallel.hpp>

namespace weir {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t max_text = 3000;  // an abort has to fit an eager message
constexpr std::size_t max_listed_ranks = 16;
constexpr int num_spins = 32;
constexpr int num_yields = 64;
/// Up to here everyone is told who leaves; beyond, only the neighbours in the fold's tree.
constexpr Rank max_ranks_told = 512;
constexpr std::chrono::milliseconds longest_farewell{1000};
constexpr std::chrono::milliseconds longest_last_words{300};

std::uint64_t hash_of(std::string_view text) {
  FnvHash hash;
  hash.add(text);
  return hash.value();
}

bool begins_with_rank(std::string_view text) {
  constexpr std::string_view word = "rank ";
  return text.starts_with(word) && text.size() > word.size() && text[word.size()] >= '0' &&
         text[word.size()] <= '9';
}

}  // namespace

namespace detail {

Error current_error() {
  try {
    throw;
  } catch (const Error& error) {
    return error;
  } catch (const std::bad_alloc&) {
    return Error(ErrorCode::memory, "memory ran out");
  } catch (const std::exception& error) {
    return Error(ErrorCode::program, error.what());
  } catch (...) {
    return Error(ErrorCode::program, "an exception that is no std::exception");
  }
}

Error name_rank(const Error& error, Rank rank, Rank size) {
  std::string text(error.text().substr(0, max_text));
  if (size > 1 && !begins_with_rank(text)) text = "rank " + std::to_string(rank) + ": " + text;
  return Error(error.code(), text);
}

Bytes encode_error(const Error& error, Rank rank) {
  Bytes bytes;
  append_plain(bytes, error.code());
  append_plain(bytes, rank);
  const auto text = std::as_bytes(std::span(error.text()));
  bytes.insert(bytes.end(), text.begin(), text.end());
  return bytes;
}

RankedError decode_error(const Bytes& bytes) {
  BytesView in(bytes);
  const auto code = in.take<ErrorCode>();
  const auto rank = in.take<Rank>();
  const auto text = in.rest();
  return {rank, Error(code, std::string(reinterpret_cast<const char*>(text.data()), text.size()))};
}

std::string list_ranks(const std::vector<Rank>& ranks) {
  std::string text;
  const std::size_t num_listed = std::min(ranks.size(), max_listed_ranks);
  for (std::size_t i = 0; i < num_listed; ++i) {
    if (i > 0) text += ", ";
    text += "rank " + std::to_string(ranks[i]);
  }
  if (ranks.size() > num_listed) {
    text += " and " + std::to_string(ranks.size() - num_listed) + " more";
  }
  return ranks.empty() ? "no rank" : text;
}

FoldTree::FoldTree(Rank rank, Rank size) {
  for (std::int64_t step = 1; step < size; step *= 2) {
    if ((rank & step) != 0) {
      parent = static_cast<Rank>(rank - step);
      return;
    }
    if (rank + step < size) children.push_back(static_cast<Rank>(rank + step));
  }
}

}  // namespace detail

Context::State::State(std::unique_ptr<Port> port, ContextOptions options)
    : options_(options), port_(std::move(port)) {
  const auto num_ranks = static_cast<std::size_t>(size());
  left_at_.assign(num_ranks, never);
  heard_.assign(num_ranks, 0);
  if (port_) port_->limit_pieces(options_.max_piece_bytes);
}

Context::State::~State() = default;

void Context::State::submit(Rank to, FrameKind kind, std::uint64_t epoch, Bytes payload,
                            std::uint32_t sequence, std::uint32_t source_shard) {
  Frame frame;
  frame.header.kind = kind;
  frame.header.epoch = epoch;
  frame.header.superstep = superstep_;
  frame.header.sequence = sequence;
  frame.header.source_shard = source_shard;
  const auto operation = operations_.find(epoch);
  if (operation != operations_.end()) frame.header.operation = operation->second;
  ++traffic_.frames_sent;
  traffic_.bytes_sent += sizeof(FrameHeader) + payload.size();
  frame.payload = std::move(payload);
  port_->submit(to, std::move(frame));
}

bool Context::State::pump() { return port_ && port_->progress(*this); }

void Context::State::deliver(Frame frame) {
  const FrameHeader& header = frame.header;
  const auto source = static_cast<std::size_t>(header.source);
  ++traffic_.frames_received;
  traffic_.bytes_received += sizeof(FrameHeader) + frame.payload.size();
  if (header.kind == FrameKind::abort) {
    if (failure_) return;
    auto [rank, error] = detail::decode_error(frame.payload);
    failure_ = std::move(error);
    failed_by_ = rank;
    return;
  }
  if (header.kind == FrameKind::leave) {
    if (left_at_[source] == never) ++num_left_;
    left_at_[source] = header.epoch;
    return;
  }
  heard_[source] = std::max(heard_[source], header.epoch + 1);
  // Frames of epochs that ended are repeats.
  if (header.epoch >= next_epoch_ || open_.contains(header.epoch)) {
    mailbox_[header.epoch].push_back(std::move(frame));
  }
}

std::uint64_t Context::State::begin(std::string_view name) {
  throw_if_failed();
  agreed_.reset();
  if (abandoned_) {
    throw Error(ErrorCode::usage, "the exchange \"" + *abandoned_ + "\" was left open");
  }
  const std::uint64_t epoch = next_epoch_++;
  open_.insert(epoch);
  operations_[epoch] = hash_of(name);
  return epoch;
}

void Context::State::end(std::uint64_t epoch) {
  open_.erase(epoch);
  operations_.erase(epoch);
  mailbox_.erase(epoch);
}

std::vector<Frame> Context::State::take_frames(std::uint64_t epoch, std::string_view name) {
  const auto found = mailbox_.find(epoch);
  if (found == mailbox_.end()) return {};
  std::vector<Frame> frames = std::move(found->second);
  mailbox_.erase(found);
  for (const Frame& frame : frames) {
    if (frame.header.operation == operations_.at(epoch)) continue;
    throw Error(ErrorCode::usage, "rank " + std::to_string(rank()) + " is in \"" +
                                      std::string(name) + "\" (operation " + std::to_string(epoch) +
                                      ") while rank " + std::to_string(frame.header.source) +
                                      " is in another collective operation");
  }
  return frames;
}

void Context::State::wait(const Waiting& waiting) {
  const auto start = Clock::now();
  for (int num_idle = 0;; ++num_idle) {
    if (waiting.is_over()) return;  // what is complete is right, whatever came after it
    throw_if_failed();
    if (pump()) {
      num_idle = 0;
      continue;
    }
    if (num_left_ > 0) check_left(waiting);
    const auto waited = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - start);
    if (options_.deadline.count() > 0 && waited >= options_.deadline)
      throw_deadline(waiting, waited);
    if (num_idle < num_spins) continue;
    if (num_idle < num_spins + num_yields) {
      std::this_thread::yield();
    } else {
      port_->pause();
    }
  }
}

void Context::State::check_left(const Waiting& waiting) {
  for (const Rank missing : waiting.missing()) {
    if (left_at_[static_cast<std::size_t>(missing)] > waiting.epoch) continue;
    throw Error(ErrorCode::communication,
                "rank " + std::to_string(missing) + " left before operation " +
                    std::to_string(waiting.epoch) + " while rank " + std::to_string(rank()) +
                    " waits in \"" + std::string(waiting.name) + "\"");
  }
}

void Context::State::throw_deadline(const Waiting& waiting, std::chrono::milliseconds waited) {
  std::string text = "rank " + std::to_string(rank()) + " waited " +
                     std::to_string(waited.count()) + " ms in \"" + std::string(waiting.name) +
                     "\" (operation " + std::to_string(waiting.epoch);
  if (superstep_ >= 0) text += ", superstep " + std::to_string(superstep_);
  const std::vector<Rank> missing = waiting.missing();
  text += ") for " + detail::list_ranks(missing);
  for (std::size_t i = 0; i < std::min(missing.size(), max_listed_ranks); ++i) {
    const std::uint64_t heard = heard_[static_cast<std::size_t>(missing[i])];
    text += "; rank " + std::to_string(missing[i]);
    text += heard == 0 ? " was never heard of"
                       : " was last heard of in operation " + std::to_string(heard - 1);
  }
  throw Error(ErrorCode::communication, text + "; received: " + waiting.received());
}

void Context::State::fail(const Error& error) noexcept {
  if (failure_) return;
  try {
    failure_ = detail::name_rank(error, rank(), size());
  } catch (...) {
    failure_.emplace(ErrorCode::memory, "memory ran out");
  }
  failed_by_ = rank();
  if (!port_) return;
  try {
    const Bytes payload = detail::encode_error(*failure_, rank());
    for (Rank r = 0; r < size(); ++r) {
      if (r != rank()) submit(r, FrameKind::abort, next_epoch_, payload);
    }
  } catch (...) {
    // What could not be told is noticed by the others' deadlines.
  }
  pump_until([&] { return port_->is_idle(); }, longest_last_words);
}

void Context::State::abandon(std::uint64_t epoch, const std::string& name) noexcept {
  end(epoch);
  if (agreed_ || failure_) return;
  try {
    abandoned_ = name;
  } catch (...) {
    abandoned_.emplace();
  }
}

std::vector<Rank> Context::State::farewell_ranks() const {
  std::vector<Rank> ranks;
  if (size() > max_ranks_told) {
    const detail::FoldTree tree(rank(), size());
    ranks = tree.children;
    if (tree.parent) ranks.push_back(*tree.parent);
    return ranks;
  }
  for (Rank r = 0; r < size(); ++r) {
    if (r != rank()) ranks.push_back(r);
  }
  return ranks;
}

void Context::State::leave() noexcept {
  if (!port_) return;
  const bool is_unwinding = std::uncaught_exceptions() > exceptions_at_start_;
  if ((is_unwinding && !agreed_) || abandoned_) {
    fail(Error(ErrorCode::communication, "the context ended with an exception"));
  }
  if (failure_) {
    pump_until([&] { return port_->is_idle(); }, longest_last_words);
    port_->part(Parting::failed);
    return;
  }
  try {
    const std::vector<Rank> ranks = farewell_ranks();
    for (const Rank r : ranks) submit(r, FrameKind::leave, next_epoch_, {});
    const auto all_left = [&] {
      return std::all_of(ranks.begin(), ranks.end(),
                         [&](Rank r) { return left_at_[static_cast<std::size_t>(r)] != never; });
    };
    const bool needs_farewell = port_->needs_farewell();
    pump_until([&] { return failure_ || (port_->is_idle() && (!needs_farewell || all_left())); },
               longest_farewell);
    if (failure_ || !port_->is_idle()) {
      port_->part(Parting::failed);
    } else {
      port_->part(all_left() ? Parting::in_order : Parting::early);
    }
  } catch (...) {
    port_->part(Parting::failed);
  }
}

void Context::State::pump_until(const std::function<bool()>& is_over,
                                std::chrono::milliseconds longest) noexcept {
  try {
    const auto start = Clock::now();
    while (!is_over() && Clock::now() - start < longest) {
      if (!pump()) port_->pause();
    }
  } catch (...) {
    // A transport that is broken moves nothing any more.
  }
}

}  // namespace weir
