// SPDX-License-Identifier: Apache-2.0
#include <weir/io/weir_layout.hpp>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <bit>
#include <cstring>

namespace weir::io {

static_assert(std::endian::native == std::endian::little, "the .weir format is little-endian");

std::uint64_t width_of(WeightType type) {
  switch (type) {
    case WeightType::none: return 0;
    case WeightType::u8: return 1;
    case WeightType::u16: return 2;
    case WeightType::u32:
    case WeightType::f32: return 4;
    case WeightType::f64: return 8;
  }
  return 0;
}

WeirFile::WeirFile(const Input& input) : input_(&input), bytes_(input.bytes()) {
  const std::string_view bytes = bytes_;
  if (bytes.size() < sizeof(WeirHeader) ||
      std::memcmp(bytes.data(), WeirHeader::right_magic, sizeof(WeirHeader::right_magic)) != 0) {
    fail("other content", "a .weir file");
  }
  std::memcpy(&header_, bytes.data(), sizeof header_);
  if (header_.version != WeirHeader::newest_version) {
    const bool is_newer = header_.version > WeirHeader::newest_version;
    fail("format version " + std::to_string(header_.version),
         std::to_string(WeirHeader::newest_version) +
             (is_newer ? " (written by a newer weir)"
                       : " (written by an older weir; convert the graph again)"));
  }
  constexpr std::size_t hashed_bytes = sizeof(WeirHeader) - sizeof header_.hash_of_header;
  if (XXH3_64bits(bytes.data(), hashed_bytes) != header_.hash_of_header) {
    fail("a damaged header", "the checksum it was written with");
  }
  if (header_.flags >= 2 * WeirHeader::is_dense) {
    fail("unknown flags " + std::to_string(header_.flags), "flags of this version");
  }
  expect_sections();
  is_checked_ = std::vector<std::atomic<bool>>(header_.hashes.num_bytes / 8);
  if (reinterpret_cast<std::uintptr_t>(bytes_.data()) % alignof(std::uint64_t) == 0) return;
  aligned_.resize(bytes_.size() / sizeof(std::uint64_t) + 1);
  std::memcpy(aligned_.data(), bytes_.data(), bytes_.size());
  bytes_ = {reinterpret_cast<const char*>(aligned_.data()), bytes_.size()};
}

void WeirFile::expect_sections() const {
  const std::uint64_t n = header_.num_vertices;
  const std::uint64_t m = header_.num_edges;
  const std::uint64_t file_bytes = bytes_.size();
  const bool is_weighted = has(WeirHeader::is_weighted);
  const bool is_named = has(WeirHeader::has_names);
  const auto type = static_cast<std::uint32_t>(header_.weight_type);
  if (type > static_cast<std::uint32_t>(WeightType::f64) || is_weighted != (type != 0)) {
    fail("weight type " + std::to_string(type), "one that fits the flags");
  }
  if (header_.index_bytes != 4 && header_.index_bytes != 8) {
    fail("neighbours of " + std::to_string(header_.index_bytes) + " bytes", "4 or 8");
  }
  if (header_.index_bytes == 4 && n > std::uint64_t{1} << 32) fail("narrow indices", "8 bytes");
  if (n >= file_bytes / 8 || m > file_bytes / 4) {  // so that nothing below overflows
    fail(std::to_string(n) + " vertices and " + std::to_string(m) + " edges in a file of " +
             std::to_string(file_bytes) + " bytes",
         "a whole file");
  }
  const bool has_ids = !has(WeirHeader::is_dense) && !is_named;
  if (has(WeirHeader::is_dense) &&
      (is_named || header_.first_id > INT64_MAX - static_cast<std::int64_t>(n))) {
    fail("dense ids from " + std::to_string(header_.first_id), "64-bit ids");
  }
  expect_section("ids", header_.ids, has_ids ? n : 0, 8);
  expect_section("offsets", header_.offsets, n + 1, 8);
  expect_section("order", header_.order, n, header_.index_bytes);
  expect_section("neighbours", header_.neighbours, num_arcs(), header_.index_bytes);
  expect_section("weights", header_.weights, num_arcs(), width_of(header_.weight_type));
  expect_section("name offsets", header_.name_offsets, is_named ? n + 1 : 0, 8);
  expect_section("names", header_.names, is_named ? header_.names.num_bytes : 0, 1);
  const std::uint64_t body_bytes = header_.hashes.offset - sizeof(WeirHeader);
  const std::uint64_t num_blocks =
      (body_bytes + WeirHeader::hash_block_bytes - 1) / WeirHeader::hash_block_bytes;
  if (header_.hashes.offset < sizeof(WeirHeader) || header_.hashes.offset > file_bytes ||
      header_.hashes.num_bytes != 8 * num_blocks ||
      file_bytes - header_.hashes.offset != header_.hashes.num_bytes) {
    fail(std::to_string(file_bytes) + " bytes", "a whole file (it may be cut off)");
  }
  const char* const hashes = bytes_.data() + header_.hashes.offset;
  if (XXH3_64bits(hashes, header_.hashes.num_bytes) != header_.hash_of_hashes) {
    fail("damaged checksums", "those it was written with");
  }
}

void WeirFile::expect_section(const char* name, const WeirSection& section, std::uint64_t count,
                              std::uint64_t width) const {
  const std::uint64_t body_end = header_.hashes.offset;
  const bool is_inside = section.offset % 64 == 0 && section.offset >= sizeof(WeirHeader) &&
                         section.offset <= body_end &&
                         section.num_bytes <= body_end - section.offset;
  if (section.num_bytes == count * width && (section.num_bytes == 0 || is_inside)) return;
  fail(std::string("section ") + name + " of " + std::to_string(section.num_bytes) + " bytes at " +
           std::to_string(section.offset),
       std::to_string(count * width) + " bytes inside the file");
}

void WeirFile::check(std::uint64_t begin, std::uint64_t end) {
  constexpr std::uint64_t size = WeirHeader::hash_block_bytes;
  const std::uint64_t body = sizeof(WeirHeader);
  if (begin >= end) return;
  const char* const bytes = bytes_.data();
  for (std::uint64_t block = (begin - body) / size; body + block * size < end; ++block) {
    if (is_checked_[block].load(std::memory_order_relaxed)) continue;
    const std::uint64_t first = body + block * size;
    const std::uint64_t last = std::min(first + size, header_.hashes.offset);
    std::uint64_t expected = 0;
    std::memcpy(&expected, bytes + header_.hashes.offset + 8 * block, sizeof expected);
    if (XXH3_64bits(bytes + first, last - first) != expected) {
      fail("damaged bytes from " + std::to_string(first) + " to " + std::to_string(last),
           "the checksum they were written with");
    }
    is_checked_[block].store(true, std::memory_order_relaxed);
  }
}

void WeirFile::fail(const std::string& found, const std::string& expected) const {
  input_->fail(found, expected);
}

}  // namespace weir::io
