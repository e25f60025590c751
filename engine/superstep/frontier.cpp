// SPDX-License-Identifier: Apache-2.0
#include <weir/engine/superstep/frontier.hpp>

#include <algorithm>

namespace weir {

void Frontier::bind(const Vertices& vertices) {
  vertices_ = &vertices;
  is_marked_.assign(vertices.size(), 0);
  rows_.clear();
  shards_.clear();
  cuts_.clear();
  is_sparse_ = false;
}

void Frontier::begin() {
  for (const Row row : rows_) is_marked_[row] = 0;
  rows_.clear();
  shards_.clear();
  cuts_.clear();
  is_sparse_ = true;
}

void Frontier::visit_all() {
  begin();
  is_sparse_ = false;
  for (std::size_t shard = 0; shard < vertices_->shards().size(); ++shard) {
    if (first_row(shard) < first_row(shard + 1)) shards_.push_back(shard);
  }
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

void Frontier::finish() {
  if (rows_.size() > is_marked_.size() / 16) {
    rows_.clear();
    for (Row row = 0; row < is_marked_.size(); ++row) {
      if (is_marked_[row]) rows_.push_back(row);
    }
  } else {
    std::sort(rows_.begin(), rows_.end());
  }
  for (std::size_t k = 0; k < rows_.size();) {
    const std::size_t shard = shard_of(rows_[k]);
    shards_.push_back(shard);
    cuts_.push_back(k);
    while (k < rows_.size() && rows_[k] < first_row(shard + 1)) ++k;
  }
  cuts_.push_back(rows_.size());
}

}  // namespace weir
