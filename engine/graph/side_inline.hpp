// SPDX-License-Identifier: Apache-2.0
// Bodies of Side and SideBuilder; included where an edge value type is instantiated.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstring>
#include <initializer_list>
#include <numeric>
#include <optional>
#include <span>

#include <weir/engine/graph/id_map.hpp>
#include <weir/engine/graph/pieces.hpp>
#include <weir/engine/graph/radix_sort.hpp>
#include <weir/engine/graph/side.hpp>
#include <weir/engine/model/check.hpp>
#include <weir/engine/runtime/context.hpp>

namespace weir {

template <class E>
void Side<E>::make_transpose(Context& context) {
  if (has_transpose_ || (is_symmetric && !slots.has_ghosts())) return;
  const auto is_listed = [&](Slot slot) {
    return !is_symmetric || slots.rows[slot] == Slots::no_row;
  };
  // Threads take runs of rows of about as many arcs each; the order of readers does not matter.
  const std::size_t num_rows = offsets.size() - 1;
  constexpr std::uint64_t arcs_per_run = std::uint64_t{1} << 16;
  std::vector<std::size_t> cuts{0};
  for (std::size_t row = 0; row < num_rows; ++row) {
    if (offsets[row + 1] - offsets[cuts.back()] >= arcs_per_run) cuts.push_back(row + 1);
  }
  if (cuts.back() != num_rows) cuts.push_back(num_rows);
  const auto for_each_arc = [&](const auto& f) {
    context.parallel_for(cuts.size() - 1, [&](std::size_t run) {
      for (std::size_t row = cuts[run]; row < cuts[run + 1]; ++row) {
        for (std::uint64_t i = offsets[row]; i < offsets[row + 1]; ++i) {
          if (is_listed(neighbours[i])) f(static_cast<Row>(row), i);
        }
      }
    });
  };
  LargeVector<std::uint64_t> next(slots.size() + 1, 0);
  const auto advance = [&](std::size_t slot) {
    return std::atomic_ref(next[slot]).fetch_add(1, std::memory_order_relaxed);
  };
  for_each_arc([&](Row, std::uint64_t i) { advance(neighbours[i] + std::size_t{1}); });
  std::partial_sum(next.begin(), next.end(), next.begin());
  Transpose<E> made;
  made.offsets = next;
  made.rows.resize(next.back());
  made.values.resize(next.back(), values.form());
  for_each_arc([&](Row row, std::uint64_t i) {
    const std::uint64_t at = advance(neighbours[i]);
    made.rows[at] = row;
    made.values.set(at, values[i]);
  });
  transpose = std::move(made);
  has_transpose_ = true;
}

namespace detail {

/// What the making of lists asks of an id, at one place in memory.
struct Place {
  static constexpr std::uint16_t no_bucket = 0xffff;

  Slot slot = 0xffffffff;
  std::uint16_t bucket = no_bucket;  ///< Of an own vertex.
  std::uint16_t row = 0;             ///< The same; counted from the first of the bucket.
  friend bool operator==(const Place&, const Place&) = default;
};

/// Places of all ids that arcs of a side name.
class Places {
 public:
  /// `place_of(row)`: bucket and row of an own vertex.
  template <class F>
  Places(Context& context, const IdRange& range, const Slots& slots, const F& place_of)
      : range_{range.least, range.greatest, slots.size()}, is_dense_(range_.is_dense()) {
    if (is_dense_) {
      // A large table is looked up at random: large pages save the processor many a detour.
      const std::size_t size = static_cast<std::size_t>(range_.span()) + 1;
      memory_ = Pages(size * sizeof(Place), Pages::Fill::in_order);
      table_ = {reinterpret_cast<Place*>(memory_.data()), size};
      for_each_piece(context, 0, size, [&](std::size_t begin, std::size_t end) {
        std::fill(table_.begin() + static_cast<std::ptrdiff_t>(begin),
                  table_.begin() + static_cast<std::ptrdiff_t>(end), Place{});
      });
    } else {
      map_ = IdMap<Place>({}, slots.size());
    }
    const auto enter = [&](std::size_t slot, const auto& put) {
      const Row row = slots.rows[slot];
      Place place;
      if (row != Slots::no_row) place = place_of(row);
      place.slot = static_cast<Slot>(slot);
      put(slots.ids[slot], place);
    };
    if (!is_dense_) {
      for (std::size_t slot = 0; slot < slots.size(); ++slot)
        enter(slot, [&](VertexId id, const Place& place) { map_[id] = place; });
      return;
    }
    for_each_piece(context, 0, slots.size(), [&](std::size_t begin, std::size_t end) {
      for (std::size_t slot = begin; slot < end; ++slot) {
        enter(slot, [&](VertexId id, const Place& place) {
          if (id >= range_.least && id <= range_.greatest) table_[range_.offset(id)] = place;
        });
      }
    });
  }

  /// Has the place at hand a little later.
  void prefetch(VertexId id) const {
    if (is_dense_) __builtin_prefetch(&table_[range_.offset(id)]);
  }

  Place operator[](VertexId id) const {
    return is_dense_ ? table_[range_.offset(id)] : map_.find(id);
  }

 private:
  IdRange range_;
  bool is_dense_;
  Pages memory_;
  std::span<Place> table_;
  IdMap<Place> map_;
};

/// Distributes arcs to their lists and sorts these, in the memory that holds them in the end.
///
/// Consecutive rows form buckets whose arcs fit into a core's cache. Arcs first go to the buckets,
/// a few at a time, so that writes are runs and not single: slots and values into the side, the
/// numbers of their lists beside it. Then each bucket is sorted by itself: by slot, and stably by
/// list into its place.
template <class E>
class ListMaker {
 public:
  /// `range`: of the ids in all arcs that will come. `form`: holds all their values.
  ListMaker(Context& context, const Vertices& vertices, const IdRange& range, ValueForm form,
            Side<E>& side)
      : context_(context),
        side_(side),
        num_threads_(static_cast<std::size_t>(context.num_threads())) {
    cut_buckets(vertices.size());
    places_.emplace(context, range, side.slots, [this](Row row) {
      const std::uint16_t bucket = bucket_of_row_[row];
      return Place{0, bucket, static_cast<std::uint16_t>(row - buckets_[bucket].first_row)};
    });
    std::vector<std::uint16_t>().swap(bucket_of_row_);
    cursors_ = std::vector<std::atomic<std::uint64_t>>(buckets_.size());
    for (std::size_t b = 0; b < buckets_.size(); ++b) cursors_[b] = buckets_[b].first_arc;
    list_memory_ =
        Pages(static_cast<std::size_t>(side.offsets.back()) * sizeof(List), Pages::Fill::anywhere);
    lists_ = reinterpret_cast<List*>(list_memory_.data());
    side.neighbours.resize(side.offsets.back());
    side.values.resize(side.offsets.back(), form);
  }

  /// Takes the arcs of the first or second list of each row.
  void distribute(EdgeStore<E>& arcs, bool is_second, bool is_mirrored) {
    if (arcs.size() == 0) return;
    const Places& places = *places_;
    typename EdgeStore<E>::Reading reading(arcs, true);
    context_.parallel_for(num_threads_, [&](std::size_t) {
      typename EdgeStore<E>::Reader reader(reading);
      Writer writer(*this, is_second);
      reader.for_each_batch([&](const auto& batch) {
        constexpr std::size_t lead = 16;  // arcs between a prefetch and the use
        for (std::size_t i = 0; i < batch.size(); ++i) {
          if (i + lead < batch.size()) {
            const Edge<E> later = batch[i + lead];
            places.prefetch(later.target);
            places.prefetch(later.source);
          }
          const Edge<E> arc = batch[i];
          const Place near = places[arc.target];
          const Place far = places[arc.source];
          writer.put(near, far.slot, arc.value);
          if (is_mirrored) writer.put(far, near.slot, arc.value);
        }
      });
      writer.flush();
    });
    arcs = EdgeStore<E>();
  }

  /// Sorts what was distributed.
  void sort() {
    places_.reset();
    const std::uint64_t greatest_slot = side_.slots.size();
    std::atomic<std::size_t> next_bucket{0};
    context_.parallel_for(num_threads_, [&](std::size_t) {
      std::vector<std::uint64_t> next;
      PlainVector<Placed> records;
      PlainVector<Placed> scratch;
      for (std::size_t b; (b = next_bucket.fetch_add(1)) < buckets_.size();) {
        const std::uint64_t begin = buckets_[b].first_arc;
        const std::uint64_t end =
            b + 1 < buckets_.size() ? buckets_[b + 1].first_arc : side_.offsets.back();
        WEIR_EXPECT(cursors_[b] == end, internal, "degrees and arcs differ");
        const auto size = static_cast<std::size_t>(end - begin);
        if (records.size() < size) {
          records.resize(size);
          scratch.resize(size);
        }
        const auto sorted = radix_sort_from<Placed>(
            [&](std::size_t i) {
              return Placed{lists_[begin + i], side_.neighbours[begin + i],
                            side_.values[begin + i]};
            },
            std::span(records).first(size), std::span(scratch).first(size), greatest_slot,
            [](const Placed& arc) { return std::uint64_t{arc.slot}; });
        set_list_starts(buckets_[b], next);
        for (const Placed& arc : sorted) {
          const std::uint64_t at = next[arc.list]++;
          side_.neighbours[at] = arc.slot;
          side_.values.set(at, arc.value);
        }
        if constexpr (!std::is_same_v<E, NoValue>) sort_parallel_arcs(begin, next);
      }
    });
  }

 private:
  using List = std::uint16_t;  ///< Number of a list in its bucket.
  struct Placed {
    std::uint32_t list;
    Slot slot;
    [[no_unique_address]] E value;
  };
  struct Bucket {
    Row first_row, end_row;
    std::uint64_t first_arc;
  };

  /// Gathers a worker's arcs by bucket.
  class Writer {
   public:
    Writer(ListMaker& maker, bool is_second)
        : maker_(maker),
          is_second_(is_second ? 1 : 0),
          has_second_(maker.side_.splits.empty() ? 0 : 1),
          pending_(maker.buckets_.size()) {}

    void put(const Place& vertex, Slot slot, const E& value) {
      WEIR_EXPECT(vertex.bucket != Place::no_bucket, internal, "an arc is not at its owner");
      Pending& pending = pending_[vertex.bucket];
      const std::uint32_t i = pending.count;
      pending.slots[i] = slot;
      pending.lists[i] = static_cast<List>((vertex.row << has_second_) + is_second_);
      if constexpr (!std::is_same_v<E, NoValue>) pending.values[i] = value;
      if ((pending.count = i + 1) == most_pending) flush(vertex.bucket);
    }
    void flush() {
      for (std::size_t b = 0; b < pending_.size(); ++b) flush(b);
    }

   private:
    // The more, the fewer locked additions, each of which waits for the writes before it.
    static constexpr std::size_t most_pending = 128;
    struct Pending {
      std::uint32_t count = 0;
      std::array<List, most_pending> lists;
      std::array<Slot, most_pending> slots;
      [[no_unique_address]] std::conditional_t<std::is_same_v<E, NoValue>, NoValue,
                                               std::array<E, most_pending>>
          values;
    };

    void flush(std::size_t b) {
      Pending& pending = pending_[b];
      const std::uint32_t count = std::exchange(pending.count, 0);
      if (count == 0) return;
      const std::uint64_t at = maker_.cursors_[b].fetch_add(count, std::memory_order_relaxed);
      std::copy_n(pending.lists.data(), count, maker_.lists_ + at);
      std::copy_n(pending.slots.data(), count, maker_.side_.neighbours.data() + at);
      if constexpr (!std::is_same_v<E, NoValue>) {
        for (std::uint32_t i = 0; i < count; ++i)
          maker_.side_.values.set(at + i, pending.values[i]);
      }
    }

    ListMaker& maker_;
    std::uint32_t is_second_, has_second_;
    std::vector<Pending> pending_;
  };

  void cut_buckets(std::size_t num_rows) {
    constexpr std::uint64_t least_arcs = std::uint64_t{1} << 16;
    constexpr std::uint64_t most_buckets = std::uint64_t{1} << 11;
    constexpr Row most_rows = Row{1} << 15;  // so that numbers of two lists each fit
    const std::uint64_t enough = std::max(least_arcs, side_.offsets.back() / most_buckets);
    bucket_of_row_.resize(num_rows);
    for (std::size_t row = 0; row < num_rows; ++row) {
      const std::uint64_t at = side_.offsets[row];
      if (buckets_.empty() || at - buckets_.back().first_arc >= enough ||
          row - buckets_.back().first_row >= most_rows)
        buckets_.push_back({static_cast<Row>(row), static_cast<Row>(row), at});
      buckets_.back().end_row = static_cast<Row>(row + 1);
      bucket_of_row_[row] = static_cast<std::uint16_t>(buckets_.size() - 1);
    }
    WEIR_EXPECT(buckets_.size() < Place::no_bucket, input,
                "more than 2^30 vertices on one rank; use more ranks");
  }

  /// Where the lists of a bucket begin.
  void set_list_starts(const Bucket& bucket, std::vector<std::uint64_t>& starts) const {
    starts.clear();
    for (Row row = bucket.first_row; row < bucket.end_row; ++row) {
      starts.push_back(side_.first(row));
      if (!side_.splits.empty()) starts.push_back(side_.splits[row]);
    }
  }

  /// Arcs of one list between the same two vertices: by the bits of their values. `ends`: of the
  /// lists, one after the other from `begin`.
  void sort_parallel_arcs(std::uint64_t begin, const std::vector<std::uint64_t>& ends) {
    std::vector<E> values;
    for (const std::uint64_t end : ends) {
      while (begin < end) {
        std::uint64_t last = begin + 1;
        while (last < end && side_.neighbours[last] == side_.neighbours[begin]) ++last;
        if (last - begin > 1) {
          values.clear();
          for (std::uint64_t i = begin; i < last; ++i) values.push_back(side_.values[i]);
          std::sort(values.begin(), values.end(),
                    [](const E& a, const E& b) { return std::memcmp(&a, &b, sizeof(E)) < 0; });
          for (std::uint64_t i = begin; i < last; ++i) side_.values.set(i, values[i - begin]);
        }
        begin = last;
      }
    }
  }

  Context& context_;
  Side<E>& side_;
  std::size_t num_threads_;
  std::vector<Bucket> buckets_;
  std::vector<std::uint16_t> bucket_of_row_;
  std::optional<Places> places_;
  std::vector<std::atomic<std::uint64_t>> cursors_;
  Pages list_memory_;
  List* lists_ = nullptr;  // of the arcs, until they are sorted
};

/// Offsets and splits of lists as long as the degrees say.
template <class E>
void lay_lists_out(const Vertices& vertices, Edges edges, Side<E>& side) {
  const std::size_t num_rows = vertices.size();
  side.offsets.resize(num_rows + 1);
  if (edges == Edges::both) side.splits.resize(num_rows);
  std::uint64_t at = 0;
  for (Row row = 0; row < num_rows; ++row) {
    side.offsets[row] = at;
    if (edges != Edges::in) at += vertices.in_degree(row);
    if (edges == Edges::both) side.splits[row] = at;
    if (edges != Edges::out) at += vertices.out_degree(row);
  }
  side.offsets[num_rows] = at;
}

/// The sources that are vertices of other ranks, ascending, each once.
template <class E>
std::vector<VertexId> find_ghosts(Context& context, const Vertices& vertices,
                                  std::initializer_list<EdgeStore<E>*> stores) {
  std::vector<VertexId> ghosts;
  if (context.size() == 1) return ghosts;
  IdRange range;
  for (EdgeStore<E>* store : stores) range.see(store->range());
  const auto num_threads = static_cast<std::size_t>(context.num_threads());
  const auto for_each_source = [&](const auto& begin_worker) {
    for (EdgeStore<E>* store : stores) {
      typename EdgeStore<E>::Reading reading(*store, false);
      context.parallel_for(num_threads, [&](std::size_t worker) {
        typename EdgeStore<E>::Reader reader(reading);
        auto visit = begin_worker(worker);
        for (std::vector<Edge<E>> batch; reader.next(batch);) {
          for (const Edge<E>& arc : batch) visit(arc.source);
        }
      });
    }
  };
  if (range.num_seen > 0 && range.span() / 8 < range.num_seen) {
    std::vector<std::uint64_t> bits(static_cast<std::size_t>(range.span() / 64) + 1);
    for_each_source([&](std::size_t) {
      return [&](VertexId id) {
        const std::size_t offset = range.offset(id);
        const std::uint64_t bit = std::uint64_t{1} << (offset % 64);
        const std::atomic_ref<std::uint64_t> word(bits[offset / 64]);
        if ((word.load(std::memory_order_relaxed) & bit) == 0)
          word.fetch_or(bit, std::memory_order_relaxed);
      };
    });
    for (std::size_t i = 0; i < bits.size(); ++i) {
      for (std::uint64_t word = bits[i]; word != 0; word &= word - 1) {
        const VertexId id = range.at(64 * i + static_cast<std::size_t>(std::countr_zero(word)));
        if (!vertices.find(id)) ghosts.push_back(id);
      }
    }
    return ghosts;
  }
  std::vector<IdMap<std::uint8_t>> seen(num_threads);
  for_each_source(
      [&](std::size_t worker) { return [&seen = seen[worker]](VertexId id) { seen[id] = 1; }; });
  for (const auto& ids : seen) {
    ids.for_each([&](VertexId id, std::uint8_t) {
      if (!vertices.find(id)) ghosts.push_back(id);
    });
  }
  std::sort(ghosts.begin(), ghosts.end());
  ghosts.erase(std::unique(ghosts.begin(), ghosts.end()), ghosts.end());
  return ghosts;
}

}  // namespace detail

template <class E>
Side<E> make_side(Context& context, const ShardMap& shards, const Vertices& vertices, Edges edges,
                  SideArcs<E> arcs) {
  Side<E> side;
  std::vector<VertexId> ghosts;
  EdgeStore<E> none;
  EdgeStore<E>& second = arcs.second != nullptr ? *arcs.second : none;
  context.agree([&] {
    ghosts = detail::find_ghosts<E>(context, vertices, {&arcs.first, &second});
    detail::lay_lists_out(vertices, edges, side);
  });
  side.slots = make_slots(context, shards, vertices, ghosts);
  context.agree([&] {
    IdRange range = arcs.first.range();
    range.see(second.range());
    if (range.num_seen == 0) return;
    detail::ListMaker<E> lists(context, vertices, range, std::max(arcs.first.form(), second.form()),
                               side);
    lists.distribute(arcs.first, false, arcs.is_mirrored);
    lists.distribute(second, true, false);
    lists.sort();
  });
  return side;
}

}  // namespace weir
