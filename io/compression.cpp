// SPDX-License-Identifier: Apache-2.0
#include <weir/io/compression.hpp>

#include <weir/engine/model/check.hpp>

#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <limits>

namespace weir::io {

using namespace std::string_view_literals;

Compression compression_of(std::string_view bytes, const std::string& name) {
  if (bytes.starts_with("\x1f\x8b"sv)) return Compression::gzip;
  if (bytes.starts_with("\x28\xb5\x2f\xfd"sv)) return Compression::zstd;
  struct Kind {
    std::string_view magic, name;
  };
  constexpr Kind refused[] = {{"\xfd"
                               "7zXZ\0"sv,
                               "xz"},
                              {"\x04\x22\x4d\x18"sv, "lz4"},
                              {"PK\x03\x04"sv, "zip"},
                              {"\x1f\x9d"sv, "compress"}};
  const bool is_bz2 = bytes.starts_with("BZh") && bytes.find("1AY&SY") == 4;
  WEIR_EXPECT(!is_bz2, input, name + ": compressed input of kind bz2 is not supported");
  for (const Kind& kind : refused) {
    WEIR_EXPECT(
        !bytes.starts_with(kind.magic), input,
        name + ": compressed input of kind " + std::string(kind.name) + " is not supported");
  }
  return Compression::none;
}

Compression compression_by_name(std::string_view name) {
  if (name.ends_with(".gz")) return Compression::gzip;
  if (name.ends_with(".zst")) return Compression::zstd;
  return Compression::none;
}

std::string_view without_compression(std::string_view name) {
  switch (compression_by_name(name)) {
    case Compression::gzip: return name.substr(0, name.size() - 3);
    case Compression::zstd: return name.substr(0, name.size() - 4);
    case Compression::none: break;
  }
  return name;
}

struct Decompressor::State {
  std::string name;
  Compression kind;
  std::string_view rest;  ///< Compressed bytes not yet handed to the library.
  z_stream zlib{};
  ZSTD_DStream* zstd = nullptr;
  bool is_between_frames = false;  ///< A frame ended exactly here.

  [[noreturn]] void fail(const char* what) const {
    throw Error(ErrorCode::input, name + ": the compressed data " + what);
  }
  std::size_t read_gzip(char* out, std::size_t capacity);
  std::size_t read_zstd(char* out, std::size_t capacity);
};

Decompressor::Decompressor(std::string name, Compression kind, std::string_view bytes)
    : state_(new State{std::move(name), kind, bytes}) {
  if (kind == Compression::gzip) {
    constexpr int window_and_gzip = 15 + 16;
    if (inflateInit2(&state_->zlib, window_and_gzip) != Z_OK) state_->fail("cannot be opened");
  } else {
    state_->zstd = ZSTD_createDStream();
    if (state_->zstd == nullptr) state_->fail("cannot be opened");
  }
}

Decompressor::~Decompressor() {
  if (state_->kind == Compression::gzip) inflateEnd(&state_->zlib);
  ZSTD_freeDStream(state_->zstd);
}

std::size_t Decompressor::read(char* out, std::size_t capacity) {
  return state_->kind == Compression::gzip ? state_->read_gzip(out, capacity)
                                           : state_->read_zstd(out, capacity);
}

std::size_t Decompressor::State::read_gzip(char* out, std::size_t capacity) {
  constexpr std::size_t most = std::numeric_limits<uInt>::max();
  for (;;) {
    if (is_between_frames) {  // files packed one after the other are one file
      if (rest.empty()) return 0;
      if (!rest.starts_with("\x1f\x8b"sv)) fail("has foreign bytes after its end");
      inflateReset(&zlib);
      is_between_frames = false;
    }
    const auto given = static_cast<uInt>(std::min(rest.size(), most));
    const auto room = static_cast<uInt>(std::min(capacity, most));
    zlib.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(rest.data()));
    zlib.avail_in = given;
    zlib.next_out = reinterpret_cast<Bytef*>(out);
    zlib.avail_out = room;
    const int status = inflate(&zlib, Z_NO_FLUSH);
    rest.remove_prefix(given - zlib.avail_in);
    const std::size_t written = room - zlib.avail_out;
    if (status == Z_STREAM_END) is_between_frames = true;
    if (written > 0) return written;
    if (status == Z_STREAM_END) continue;
    if (status == Z_BUF_ERROR || (status == Z_OK && rest.empty())) fail("ends too early");
    if (status != Z_OK) fail("is damaged");
  }
}

std::size_t Decompressor::State::read_zstd(char* out, std::size_t capacity) {
  for (;;) {
    if (rest.empty() && is_between_frames) return 0;
    ZSTD_inBuffer input{rest.data(), rest.size(), 0};
    ZSTD_outBuffer output{out, capacity, 0};
    const std::size_t hint = ZSTD_decompressStream(zstd, &output, &input);
    if (ZSTD_isError(hint)) fail("is damaged");
    const bool is_stuck = input.pos == 0 && output.pos == 0;
    rest.remove_prefix(input.pos);
    is_between_frames = hint == 0;
    if (output.pos > 0) return output.pos;
    if (is_stuck && !is_between_frames) fail("ends too early");
  }
}

std::string decompress(const std::string& name, Compression kind, std::string_view bytes) {
  Decompressor source(name, kind, bytes);
  std::string text;
  constexpr std::size_t piece_bytes = std::size_t{1} << 16;
  for (std::size_t size = 0;;) {
    text.resize(size + piece_bytes);
    const std::size_t count = source.read(text.data() + size, piece_bytes);
    size += count;
    text.resize(size);
    if (count == 0) return text;
  }
}

}  // namespace weir::io
