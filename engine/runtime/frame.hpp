// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <weir/engine/model/ids.hpp>
#include <weir/engine/runtime/bytes.hpp>

namespace weir {

/// What a frame is for.
enum class FrameKind : std::uint8_t {
  data,   ///< A batch of an exchange.
  close,  ///< Last frame of one source in an exchange; `sequence` is the number of its data frames.
  fold_up,    ///< A partial result on its way to the root of a fold.
  fold_down,  ///< The result of a fold on its way back.
  abort,      ///< The sender failed outside an agreed point; the payload is its error.
  leave,      ///< The sender's context ends; it takes part in no epoch from `epoch` on.
};

/// The fixed header before every payload; 64 bytes on the wire.
struct FrameHeader {
  static constexpr std::uint32_t expected_magic = 0x72696577;  // "weir"

  std::uint32_t magic = expected_magic;
  FrameKind kind = FrameKind::data;
  std::uint8_t reserved = 0;
  std::uint16_t attempt = 0;        ///< 0 is the owner's own attempt at a shard.
  std::uint64_t epoch = 0;          ///< Number of the collective operation in its context.
  std::int64_t superstep = -1;      ///< -1 outside a run.
  std::uint64_t payload_bytes = 0;  ///< Of the whole payload, also in each piece of a split frame.
  std::uint64_t piece_offset = 0;   ///< Where this piece of a split payload begins.
  std::uint32_t sequence = 0;       ///< Ascending per (epoch, source, destination).
  std::uint32_t source_shard = 0;
  std::int32_t source = 0;
  std::uint32_t incarnation = 0;  ///< Grows when a job is started again.
  std::uint64_t operation = 0;  ///< Hash of the operation's name: ranks that part ways are noticed.
};
static_assert(sizeof(FrameHeader) == 64);

struct Frame {
  FrameHeader header;
  Bytes payload;
};

}  // namespace weir
