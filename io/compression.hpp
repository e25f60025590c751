// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace weir::io {

enum class Compression { none, gzip, zstd };

/// How these bytes are compressed, told by their first bytes alone. Throws Error{input} for kinds
/// that weir knows but does not read (bz2, xz, lz4, zip, compress).
Compression compression_of(std::string_view bytes, const std::string& name);

/// How a file of this name is to be written: by `.gz` or `.zst` at its end.
Compression compression_by_name(std::string_view name);

/// The name without `.gz` or `.zst`.
std::string_view without_compression(std::string_view name);

/// Unpacks a compressed byte string piece by piece, in bounded memory.
class Decompressor {
 public:
  /// The bytes must outlive it; `name` is for errors.
  Decompressor(std::string name, Compression kind, std::string_view bytes);
  ~Decompressor();

  /// Writes up to `capacity` bytes; 0 at the end. Throws Error{input} for broken or cut-off input.
  std::size_t read(char* out, std::size_t capacity);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Unpacks a whole byte string; for small inputs and checks.
std::string decompress(const std::string& name, Compression kind, std::string_view bytes);

}  // namespace weir::io
