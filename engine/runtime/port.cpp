// SPDX-License-Identifier: Apache-2.0
#include <weir/engine/runtime/port.hpp>

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include <weir/engine/model/check.hpp>

namespace weir {

namespace {

constexpr std::size_t max_joined_keys = 4096;

}  // namespace

void Port::limit_pieces(std::size_t max_piece_bytes) {
  WEIR_EXPECT(max_piece_bytes >= 1 && max_piece_bytes <= default_max_piece_bytes, usage,
              "max_piece_bytes must lie in [1, 2^30]");
  max_piece_bytes_ = max_piece_bytes;
}

void Port::pause() { std::this_thread::sleep_for(std::chrono::microseconds(50)); }

void Port::part(Parting /*how*/) {}

void Port::submit(Rank to, Frame frame) {
  WEIR_EXPECT(to >= 0 && to < size_ && to != rank_, internal, "a frame for no other rank");
  frame.header.source = rank_;
  frame.header.payload_bytes = frame.payload.size();
  frame.header.piece_offset = 0;
  if (frame.payload.size() <= max_piece_bytes_) {
    submit_piece(to, frame.header, std::move(frame.payload));
    return;
  }
  for (std::size_t offset = 0; offset < frame.payload.size(); offset += max_piece_bytes_) {
    const std::size_t count = std::min(max_piece_bytes_, frame.payload.size() - offset);
    const auto first = frame.payload.begin() + static_cast<std::ptrdiff_t>(offset);
    frame.header.piece_offset = offset;
    submit_piece(to, frame.header, Bytes(first, first + static_cast<std::ptrdiff_t>(count)));
  }
}

bool Port::progress(FrameSink& sink) {
  FrameSink* const outer = std::exchange(sink_, &sink);
  struct Restore {
    FrameSink*& target;
    FrameSink* value;
    ~Restore() { target = value; }
  } restore{sink_, outer};
  return progress_pieces();
}

Port::Partial& Port::partial_of(const Key& key, const FrameHeader& header) {
  for (Partial& partial : partials_) {
    if (partial.key == key) return partial;
  }
  Partial& partial = partials_.emplace_back();
  partial.key = key;
  partial.frame.header = header;
  partial.frame.header.piece_offset = 0;
  partial.frame.payload.resize(header.payload_bytes);
  return partial;
}

void Port::receive_piece(const FrameHeader& header, Bytes payload) {
  WEIR_EXPECT(header.magic == FrameHeader::expected_magic, communication,
              "a message that is no frame of weir arrived");
  WEIR_EXPECT(header.source >= 0 && header.source < size_ && header.source != rank_, communication,
              "a frame from no other rank arrived");
  WEIR_EXPECT(payload.size() <= header.payload_bytes &&
                  header.piece_offset <= header.payload_bytes - payload.size(),
              communication, "a frame's piece lies outside of it");
  if (payload.size() == header.payload_bytes) {
    sink_->deliver(Frame{header, std::move(payload)});
    return;
  }
  const Key key{header.epoch, header.source, header.sequence, header.kind};
  if (std::find(joined_.begin(), joined_.end(), key) != joined_.end()) return;
  Partial& partial = partial_of(key, header);
  WEIR_EXPECT(partial.frame.payload.size() == header.payload_bytes, communication,
              "two pieces of a frame disagree on its length");
  if (!partial.offsets.insert(header.piece_offset).second) return;
  std::copy(payload.begin(), payload.end(),
            partial.frame.payload.begin() + static_cast<std::ptrdiff_t>(header.piece_offset));
  partial.received_bytes += payload.size();
  if (partial.received_bytes < header.payload_bytes) return;

  Frame whole = std::move(partial.frame);
  partials_.erase(partials_.begin() + (&partial - partials_.data()));
  joined_.push_back(key);
  if (joined_.size() > max_joined_keys) joined_.pop_front();
  sink_->deliver(std::move(whole));
}

}  // namespace weir
