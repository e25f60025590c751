// SPDX-License-Identifier: Apache-2.0
#include <weir/algorithms/neighbourhoods.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <functional>

namespace weir {

namespace {

/// Calls visit(slot, is_in_both) for every member of two ascending lists but `own`, each once.
template <class F>
void for_each_once(std::span<const Slot> first, std::span<const Slot> second, Slot own,
                   const F& visit) {
  std::size_t i = 0;
  std::size_t k = 0;
  while (i < first.size() || k < second.size()) {
    const bool takes_first = k == second.size() || (i < first.size() && first[i] <= second[k]);
    const Slot slot = takes_first ? first[i] : second[k];
    const std::size_t i_before = i;
    const std::size_t k_before = k;
    while (i < first.size() && first[i] == slot) ++i;
    while (k < second.size() && second[k] == slot) ++k;
    if (slot != own) visit(slot, i > i_before && k > k_before);
  }
}

}  // namespace

Neighbourhoods::Neighbourhoods(const Block& block) : block_(&block) {
  if (!are_lists_simple()) make_lists();
}

bool Neighbourhoods::are_lists_simple() const {
  if (block_->is_directed()) return false;
  std::atomic<bool> are_simple{true};
  block_->for_each_run([&](Row first, Row last) {
    for (Row row = first; row < last; ++row) {
      const auto list = block_->neighbours(row);
      if (std::adjacent_find(list.begin(), list.end(), std::greater_equal<>{}) != list.end() ||
          std::binary_search(list.begin(), list.end(), block_->slot(row)))
        are_simple.store(false, std::memory_order_relaxed);
    }
  });
  return are_simple;
}

void Neighbourhoods::make_lists() {
  const auto visit_row = [&](Row row, const auto& visit) {
    for_each_once(block_->first_list(row), block_->second_list(row), block_->slot(row), visit);
  };
  offsets_.assign(block_->num_rows() + std::size_t{1}, 0);
  block_->for_each_run([&](Row first, Row last) {
    for (Row row = first; row < last; ++row)
      visit_row(row, [&](Slot, bool) { ++offsets_[row + std::size_t{1}]; });
  });
  for (std::size_t row = 0; row < block_->num_rows(); ++row) offsets_[row + 1] += offsets_[row];
  neighbours_.resize(offsets_.back());
  if (block_->is_directed()) mutual_.resize(offsets_.back());
  block_->for_each_run([&](Row first, Row last) {
    for (Row row = first; row < last; ++row) {
      std::uint64_t at = offsets_[row];
      visit_row(row, [&](Slot slot, bool is_in_both) {
        if (!mutual_.empty()) mutual_[at] = is_in_both ? 1 : 0;
        neighbours_[at++] = slot;
      });
    }
  });
}

}  // namespace weir
