// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include <weir/engine/graph/vertices.hpp>
#include <weir/engine/runtime/context.hpp>

namespace weir {

/// The rows a superstep visits: all of them, or a set gathered row by row. Either way shard by
/// shard and ascending inside a shard.
class Frontier {
 public:
  /// A sparse superstep of fewer rows runs on the calling thread: waking a worker costs more. Their
  /// arcs are not counted.
  static constexpr std::uint64_t serial_rows = 2048;

  void bind(const Vertices& vertices);

  /// Starts gathering anew.
  void begin();
  void visit(Row row) {
    if (is_marked_[row]) return;
    is_marked_[row] = 1;
    rows_.push_back(row);
  }
  /// Ends gathering: sorts the rows and cuts them by shard.
  void finish();
  /// Visits every row.
  void visit_all();

  bool is_sparse() const { return is_sparse_; }
  /// Whether touching `work` rows and arcs one by one beats streaming through all of them.
  bool is_sparse_better(std::uint64_t work, std::uint64_t num_arcs) const {
    return work < (num_arcs + is_marked_.size()) / 16;
  }
  /// Own shards (0 is the rank's first) that hold a visited row, ascending.
  const std::vector<std::size_t>& visited_shards() const { return shards_; }

  /// Calls body(shard, rows) for every visited shard on the context's threads; rows(f) calls f(row)
  /// in order.
  template <class F>
  void for_each_shard(Context& context, const F& body) {
    const auto visit_shard = [&](std::size_t i) {
      const std::size_t shard = shards_[i];
      body(shard, [&](const auto& f) {
        if (is_sparse_) {
          for (std::size_t k = cuts_[i]; k < cuts_[i + 1]; ++k) f(rows_[k]);
        } else {
          for (Row row = first_row(shard); row < first_row(shard + 1); ++row) f(row);
        }
      });
    };
    if (is_sparse_ && rows_.size() < serial_rows) {
      for (std::size_t i = 0; i < shards_.size(); ++i) visit_shard(i);
    } else {
      context.parallel_for(shards_.size(), visit_shard);
    }
  }

 private:
  Row first_row(std::size_t shard) const {
    return vertices_->first_row(vertices_->shards().begin + static_cast<ShardIndex>(shard));
  }
  std::size_t shard_of(Row row) const;

  const Vertices* vertices_ = nullptr;
  std::vector<std::uint8_t> is_marked_;  // by row; only rows_ are marked
  std::vector<Row> rows_;
  std::vector<std::size_t> shards_;
  std::vector<std::size_t> cuts_;  // rows of visited shard i: [cuts_[i], cuts_[i + 1])
  bool is_sparse_ = false;
};

}  // namespace weir
