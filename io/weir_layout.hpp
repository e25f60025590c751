// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <weir/engine/model/ids.hpp>
#include <weir/io/input.hpp>

namespace weir::io {

/// How the edge values of a .weir file are stored: the narrowest type that holds all of them.
enum class WeightType : std::uint32_t { none, u8, u16, u32, f32, f64 };

std::uint64_t width_of(WeightType type);

/// A run of bytes in the file, at a multiple of 64.
struct WeirSection {
  std::uint64_t offset = 0;
  std::uint64_t num_bytes = 0;
};

/// The first 256 bytes of a .weir file, little-endian. docs/formats.md describes it.
struct WeirHeader {
  static constexpr std::uint32_t newest_version = 2;
  static constexpr std::uint64_t hash_block_bytes = std::uint64_t{1} << 20;
  static constexpr std::uint32_t is_directed = 1, is_weighted = 2, has_names = 4, is_dense = 8;
  static constexpr char right_magic[8] = {'\x89', 'W', 'E', 'I', 'R', '\r', '\n', '\x1a'};

  char magic[8];
  std::uint32_t version;
  std::uint32_t flags;
  std::uint64_t num_vertices;
  std::uint64_t num_edges;
  std::int64_t first_id;      ///< Of dense ids.
  std::uint32_t index_bytes;  ///< Of a vertex in `order` and `neighbours`: 4 or 8.
  WeightType weight_type;
  WeirSection ids;           ///< i64[n], ascending; absent if dense or named.
  WeirSection offsets;       ///< u64[n + 1]: where the list of each vertex begins; ids ascend.
  WeirSection order;         ///< [n]: positions by id, in heat order.
  WeirSection neighbours;    ///< [arcs]: numbers in heat order; each list ascends.
  WeirSection weights;       ///< [arcs] of weight_type.
  WeirSection name_offsets;  ///< u64[n + 1], if named.
  WeirSection names;         ///< Their bytes, ascending.
  WeirSection hashes;        ///< u64 for each block of the body, XXH3-64.
  std::uint64_t hash_of_hashes;
  char zeros[64];
  std::uint64_t hash_of_header;  ///< XXH3-64 of the 248 bytes before it.
};
static_assert(sizeof(WeirHeader) == 256);

/// A .weir file in memory. Every byte is checked against its hash before it is used, block by
/// block, so that a part checks what it reads and little more. May be read by several threads.
class WeirFile {
 public:
  /// Checks the header, and every size in it against the size of the file. Throws Error{input}.
  explicit WeirFile(const Input& input);

  const WeirHeader& header() const { return header_; }
  bool has(std::uint32_t flag) const { return (header_.flags & flag) != 0; }
  /// Entries of all lists: an undirected edge is in the lists of both its ends, a loop twice.
  std::uint64_t num_arcs() const {
    return has(WeirHeader::is_directed) ? header_.num_edges : 2 * header_.num_edges;
  }

  /// Elements [begin, end) of a section, checked.
  template <class T>
  std::span<const T> read(const WeirSection& section, std::uint64_t begin, std::uint64_t end) {
    check(section.offset + begin * sizeof(T), section.offset + end * sizeof(T));
    return {reinterpret_cast<const T*>(bytes_.data() + section.offset) + begin, end - begin};
  }

  /// Gives back the memory behind elements of a section that were read.
  template <class T>
  void forget(const WeirSection& section, std::uint64_t begin, std::uint64_t end) const {
    if (!aligned_.empty()) return;
    const char* const first = bytes_.data() + section.offset;
    input_->forget(first + begin * sizeof(T), first + end * sizeof(T));
  }

  [[noreturn]] void fail(const std::string& found, const std::string& expected) const;

 private:
  void expect_section(const char* name, const WeirSection& section, std::uint64_t count,
                      std::uint64_t width) const;
  void expect_sections() const;
  void check(std::uint64_t begin, std::uint64_t end);

  const Input* input_;
  std::vector<std::uint64_t> aligned_;  ///< A copy, if the input is in memory and badly aligned.
  std::string_view bytes_;
  WeirHeader header_{};
  std::vector<std::atomic<bool>> is_checked_;  ///< By block of the body.
};

}  // namespace weir::io
