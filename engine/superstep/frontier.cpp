// SPDX-License-Identifier: Apache-2.0
#include <weir/engine/superstep/frontier.hpp>

#include <algorithm>

namespace weir {

void Frontier::bind(const Vertices& vertices) {
  vertices_ = &vertices;
  is_marked_.assign(vertices.size(), Mark::unset);
  rows_.clear();
  num_rows_ = 0;
  shards_.clear();
  cuts_.clear();
  way_ = Way::all;
}

void Frontier::begin() {
  for (const Row row : rows_) is_marked_[row] = Mark::unset;
  rows_.clear();
  num_rows_ = 0;
  shards_.clear();
  cuts_.clear();
  is_serial_ = true;
  way_ = Way::listed;
}

void Frontier::visit_all_shards() {
  for (std::size_t shard = 0; shard < vertices_->shards().size(); ++shard) {
    if (first_row(shard) < first_row(shard + 1)) shards_.push_back(shard);
  }
}

void Frontier::visit_all(std::uint64_t work) {
  begin();
  way_ = Way::all;
  is_serial_ = work < serial_work;
  visit_all_shards();
}

void Frontier::visit_all_marked(std::uint64_t work) {
  rows_.clear();
  way_ = Way::marked;
  is_serial_ = work + is_marked_.size() / 8 < serial_work;
  visit_all_shards();
}

std::size_t Frontier::shard_of(Row row) const {
  std::size_t low = 0;
  std::size_t high = vertices_->shards().size();
  while (high - low > 1) {
    const std::size_t middle = (low + high) / 2;
    (first_row(middle) <= row ? low : high) = middle;
  }
  return low;
}

void Frontier::finish(std::uint64_t work) {
  if (is_many()) return visit_all_marked(work);
  is_serial_ = work < serial_work;
  std::sort(rows_.begin(), rows_.end());
  rows_.erase(std::unique(rows_.begin(), rows_.end()), rows_.end());
  for (std::size_t k = 0; k < rows_.size();) {
    const std::size_t shard = shard_of(rows_[k]);
    shards_.push_back(shard);
    cuts_.push_back(k);
    while (k < rows_.size() && rows_[k] < first_row(shard + 1)) ++k;
  }
  cuts_.push_back(rows_.size());
}

}  // namespace weir
