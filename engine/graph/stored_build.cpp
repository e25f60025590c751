// SPDX-License-Identifier: Apache-2.0
#include <weir/engine/graph/stored_build.hpp>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>
#include <functional>
#include <limits>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include <weir/engine/graph/pieces.hpp>
#include <weir/engine/graph/side.hpp>
#include <weir/engine/runtime/collectives.hpp>
#include <weir/engine/runtime/context.hpp>

namespace weir {

namespace {

using io::WeirHeader;

template <class E>
class StoredBuild {
 public:
  StoredBuild(Context& context, io::WeirFile& file, bool is_directed)
      : context_(context),
        file_(file),
        num_vertices_(static_cast<std::size_t>(file.header().num_vertices)),
        is_directed_(is_directed) {}

  /// Checks everything and copies this rank's part. Collective.
  Graph<E> make(std::optional<std::uint32_t> num_shards) {
    context_.agree([&] { read_columns(); });
    if (is_directed_) count_out_arcs();
    context_.agree([&] {
      cut_shards(num_shards);
      expect_heat_order();
      vertices_.emplace(context_, shards_, records());
    });
    if (context_.size() > 1) link_ghosts();
    std::uint64_t print = 0;
    context_.agree([&] {
      make_room();
      print = copy_lists();
    });
    print = all_fold(context_, Sum<std::uint64_t>(), print);
    context_.agree([&] {
      if (is_directed_ || print == 0) return;
      file_.fail("edges listed at one end point only, or with two weights",
                 "each edge alike in the lists of both its end points");
    });
    return Graph<E>(context_, std::move(shards_), *std::move(vertices_), std::move(side_),
                    is_directed_);
  }

 private:
  /// A vertex by its number in heat order; in a graph on one rank, its slot.
  using Number = std::uint32_t;

  VertexId id(std::size_t position) const {
    return ids_.empty() ? file_.header().first_id + static_cast<VertexId>(position)
                        : ids_[position];
  }
  std::uint64_t in_arcs(std::size_t position) const {
    return offsets_[position + 1] - offsets_[position];
  }
  std::uint64_t out_arcs(std::size_t position) const {
    return is_directed_ ? outs_before_[position + 1] - outs_before_[position] : in_arcs(position);
  }
  std::uint64_t weight_before(std::size_t position) const {
    const std::uint64_t outs = is_directed_ ? outs_before_[position] : offsets_[position];
    return ShardMap::weight(0, 0) * position + offsets_[position] + outs;
  }

  template <class T>
  std::span<const T> read_column(const io::WeirSection& section, std::size_t count) {
    for_each_piece(context_, 0, count, [&](std::size_t begin, std::size_t end) {
      file_.template read<T>(section, begin, end);
    });
    return file_.template read<T>(section, 0, count);
  }

  void read_columns() {
    const WeirHeader& header = file_.header();
    if (!file_.has(WeirHeader::is_dense))
      ids_ = read_column<VertexId>(header.ids, num_vertices_);  // the reader saw that they ascend
    order_ = read_column<Number>(header.order, num_vertices_);
    offsets_ = read_column<std::uint64_t>(header.offsets, num_vertices_ + 1);
    std::atomic<bool> ascend{offsets_.front() == 0 && offsets_.back() == file_.num_arcs()};
    for_each_piece(context_, 0, num_vertices_, [&](std::size_t begin, std::size_t end) {
      bool descends = false;
      for (std::size_t i = begin; i < end; ++i) descends |= offsets_[i] > offsets_[i + 1];
      if (descends) ascend = false;
    });
    if (!ascend) file_.fail("offsets that do not ascend", "a range of entries for each vertex");
  }

  /// Entries that name a vertex, over all lists; each rank looks through a part of them.
  /// Collective.
  void count_out_arcs() {
    std::vector<std::uint64_t> outs;  // by number
    context_.agree([&] { outs = count_numbers(); });
    const auto bytes = std::as_bytes(std::span(outs));
    const Bytes all = context_.fold(
        "out_arcs", Bytes(bytes.begin(), bytes.end()), [](Bytes left, const Bytes& right) {
          for (std::size_t at = 0; at < left.size(); at += sizeof(std::uint64_t)) {
            std::uint64_t a, b;
            std::memcpy(&a, left.data() + at, sizeof a);
            std::memcpy(&b, right.data() + at, sizeof b);
            a += b;
            std::memcpy(left.data() + at, &a, sizeof a);
          }
          return left;
        });
    std::memcpy(outs.data(), all.data(), all.size());
    context_.agree([&] {
      outs_before_.resize(num_vertices_ + 1);
      for (std::size_t number = 0; number < num_vertices_; ++number) {
        if (order_[number] >= num_vertices_) fail_order();
        outs_before_[order_[number] + std::size_t{1}] = outs[number];
      }
      std::partial_sum(outs_before_.begin(), outs_before_.end(), outs_before_.begin());
    });
  }

  std::vector<std::uint64_t> count_numbers() {
    const io::Part part{context_.rank(), context_.size()};
    const std::uint64_t end_arc = part.end_of(file_.num_arcs());
    const auto num_workers = static_cast<std::size_t>(context_.num_threads());
    std::vector<std::vector<std::uint64_t>> counts(num_workers);
    std::atomic<std::uint64_t> next{part.begin_of(file_.num_arcs())};
    context_.parallel_for(num_workers, [&](std::size_t worker) {
      counts[worker].resize(num_vertices_);
      constexpr std::uint64_t piece = std::uint64_t{1} << 18;
      for (std::uint64_t begin; (begin = next.fetch_add(piece)) < end_arc;) {
        const std::uint64_t end = std::min(end_arc, begin + piece);
        for (const Number number : file_.template read<Number>(neighbours(), begin, end)) {
          expect_number(number);
          ++counts[worker][number];
        }
      }
    });
    for (std::size_t worker = 1; worker < num_workers; ++worker) {
      for (std::size_t number = 0; number < num_vertices_; ++number)
        counts[0][number] += counts[worker][number];
    }
    return std::move(counts[0]);
  }

  /// Shards by the rule; the sums of weights it asks for are at hand.
  void cut_shards(std::optional<std::uint32_t> num_shards) {
    const std::uint64_t total = weight_before(num_vertices_);
    const ShardIndex count =
        num_shards ? *num_shards : ShardMap::num_shards_for(total, num_vertices_);
    std::vector<std::optional<VertexId>> first_ids(count);
    std::vector<std::size_t> firsts(count);
    std::size_t first = 0;
    for (ShardIndex shard = 0; shard < count; ++shard) {
      // The first vertex before which there is the weight that the next shard begins at.
      std::size_t end = num_vertices_;
      if (shard + 1 < count) {
        const std::uint64_t least = ShardMap::first_weight_of(shard + 1, total, count);
        std::size_t low = first;
        while (low < end) {
          const std::size_t middle = low + (end - low) / 2;
          if (weight_before(middle) < least) {
            low = middle + 1;
          } else {
            end = middle;
          }
        }
      }
      if (first < end) first_ids[shard] = id(first);
      firsts[shard] = first;
      first = end;
    }
    firsts.push_back(num_vertices_);
    shards_ = ShardMap(first_ids, context_.size());
    const ShardRange own = shards_.owned_by(context_.rank());
    first_own_ = firsts[own.begin];
    end_own_ = firsts[own.end];
  }

  /// Of a vertex by its position.
  bool is_own(std::size_t position) const { return first_own_ <= position && position < end_own_; }
  Row own_row(std::size_t position) const { return vertices_->rows_by_id()[position - first_own_]; }

  std::vector<VertexRecord> records() {
    std::vector<VertexRecord> records(end_own_ - first_own_);
    for_each_piece(context_, first_own_, end_own_, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) {
        const std::uint64_t in = in_arcs(i), out = out_arcs(i);
        records[i - first_own_] = {id(i), in, out, in + out};
      }
    });
    return records;
  }

  /// Heat descends and positions of one heat ascend: each vertex is then there once.
  void expect_heat_order() const {
    for_each_piece(context_, 0, num_vertices_, [&](std::size_t begin, std::size_t end) {
      std::uint64_t heat_before = std::numeric_limits<std::uint64_t>::max();
      Number before = 0;
      for (std::size_t i = begin == 0 ? 0 : begin - 1; i < end; ++i) {
        if (order_[i] >= num_vertices_) fail_order();
        const std::uint64_t heat = in_arcs(order_[i]) + out_arcs(order_[i]);
        if (heat > heat_before || (heat == heat_before && order_[i] <= before)) fail_order();
        heat_before = heat;
        before = order_[i];
      }
    });
  }

  /// Finds the vertices of other ranks that the lists name, gives them slots, and tells their
  /// owners. The order of the file is that of the slots on every rank. Collective.
  void link_ghosts() {
    const auto num_ranks = static_cast<std::size_t>(context_.size());
    std::vector<GhostLink> links(num_ranks);
    std::vector<std::vector<Number>> asked(num_ranks);
    context_.agree([&] {
      std::vector<std::uint8_t> is_named(num_vertices_);
      for_each_piece(
          context_, static_cast<std::size_t>(offsets_[first_own_]),
          static_cast<std::size_t>(offsets_[end_own_]), [&](std::size_t begin, std::size_t end) {
            for (const Number number : file_.template read<Number>(neighbours(), begin, end)) {
              expect_number(number);
              std::atomic_ref(is_named[number]).store(1, std::memory_order_relaxed);
            }
          });
      slots_.assign(num_vertices_, no_slot);
      numbers_.resize(end_own_ - first_own_);
      for (std::size_t number = 0; number < num_vertices_; ++number) {
        const std::size_t position = order_[number];
        if (is_own(position)) {
          numbers_[own_row(position)] = static_cast<Number>(number);
        } else if (is_named[number] != 0) {
          const auto owner = static_cast<std::size_t>(shards_.owner_of(id(position)));
          links[owner].received.push_back(num_slots_);
          asked[owner].push_back(static_cast<Number>(number));
        } else {
          continue;
        }
        slots_[number] = num_slots_++;
      }
    });
    const auto asking = exchange(context_, std::move(asked));
    context_.agree([&] {
      for (std::size_t r = 0; r < num_ranks; ++r) {
        for (const Number number : asking[r]) {
          WEIR_EXPECT(number < num_vertices_ && is_own(order_[number]), internal,
                      "a rank asks for a vertex of another");
          links[r].sent.push_back(slots_[number]);
        }
        links[r].peer = static_cast<Rank>(r);
        if (!links[r].sent.empty() || !links[r].received.empty())
          side_.slots.links.push_back(std::move(links[r]));
      }
    });
  }

  /// On a rank alone every vertex has the slot of its number.
  Slot slot_of(std::size_t number) const {
    return slots_.empty() ? static_cast<Slot>(number) : slots_[number];
  }

  /// Arrays are cleared by one thread each.
  void make_room() {
    const std::size_t num_rows = end_own_ - first_own_;
    const std::size_t num_slots = slots_.empty() ? num_vertices_ : num_slots_;
    const std::uint64_t num_arcs = offsets_[end_own_] - offsets_[first_own_];
    const std::function<void()> rooms[] = {
        [&] { side_.offsets.resize(num_rows + 1); },
        [&] { side_.slots.ids.resize(num_slots); },
        [&] { side_.slots.rows.resize(num_slots, Slots::no_row); },
        [&] { side_.slots.of_rows.resize(num_rows); },
        [&] { side_.neighbours.resize(num_arcs); },
        [&] { side_.values.resize(num_arcs, value_form()); },
    };
    context_.parallel_for(std::size(rooms), [&](std::size_t i) { rooms[i](); });
    for_each_piece(context_, 0, num_vertices_, [&](std::size_t begin, std::size_t end) {
      for (std::size_t number = begin; number < end; ++number) {
        const Slot slot = slot_of(number);
        if (slot == no_slot) continue;
        const std::size_t position = order_[number];
        side_.slots.ids[slot] = id(position);
        if (!is_own(position)) continue;
        const Row row = own_row(position);
        side_.slots.rows[slot] = row;
        side_.slots.of_rows[row] = slot;
      }
    });
  }

  /// Inside a shard the file has lists by id, the side by heat. Returns the fingerprint of what was
  /// copied: over all lists of all ranks, 0 if each edge is in two.
  std::uint64_t copy_lists() {
    const ShardRange own = shards_.owned_by(context_.rank());
    const auto first_arc = [&](ShardIndex shard) {
      return offsets_[first_own_ + vertices_->first_row(shard)];
    };
    std::vector<ShardIndex> cuts{own.begin};  // shards whose lists are read in one go
    constexpr std::uint64_t least_arcs = std::uint64_t{1} << 20;
    for (ShardIndex shard = own.begin; shard < own.end; ++shard) {
      if (first_arc(shard) - first_arc(cuts.back()) >= least_arcs) cuts.push_back(shard);
    }
    cuts.push_back(own.end);
    std::atomic<std::uint64_t> print{0};
    context_.parallel_for(cuts.size() - 1, [&](std::size_t i) {
      const Row first = vertices_->first_row(cuts[i]), end = vertices_->first_row(cuts[i + 1]);
      print.fetch_add(copy_rows(first, end), std::memory_order_relaxed);
    });
    side_.offsets.back() = side_.neighbours.size();
    return print;
  }

  /// Copies the lists of whole shards, whose vertices are one run by row and by position alike.
  std::uint64_t copy_rows(Row first, Row end) {
    const std::uint64_t arcs_before = offsets_[first_own_];
    const std::uint64_t begin_arc = offsets_[first_own_ + first];
    const std::uint64_t end_arc = offsets_[first_own_ + end];
    const auto numbers = file_.template read<Number>(neighbours(), begin_arc, end_arc);
    std::vector<std::size_t> positions(end - first);  // by row
    for (std::size_t position = first_own_ + first; position < first_own_ + end; ++position)
      positions[own_row(position) - first] = position;
    std::uint64_t print = 0;
    std::uint64_t next = begin_arc - arcs_before;
    for (Row row = first; row < end; ++row) {
      side_.offsets[row] = next;
      const std::size_t position = positions[row - first];
      const auto list = numbers.subspan(static_cast<std::size_t>(offsets_[position] - begin_arc),
                                        static_cast<std::size_t>(in_arcs(position)));
      const Number own = numbers_.empty() ? side_.slots.of_rows[row] : numbers_[row];
      print += copy_list(list, own, side_.neighbours.data() + next);
      if constexpr (!std::is_same_v<E, NoValue>)
        print += copy_values(offsets_[position], list, own, next);
      next += list.size();
    }
    file_.template forget<Number>(neighbours(), begin_arc, end_arc);
    return print;
  }

  /// Copies a list and checks it. Each entry counts with a term that the entry at the other end
  /// takes back.
  std::uint64_t copy_list(std::span<const Number> list, Number own, Slot* out) const {
    if (list.empty()) return 0;
    bool descends = false;
    for (std::size_t i = 1; i < list.size(); ++i) descends |= list[i] < list[i - 1];
    expect_number(list.back());
    if (descends) file_.fail("a list that does not ascend", "lists in heat order");
    if (slots_.empty()) {
      std::copy(list.begin(), list.end(), out);
    } else {
      for (const Number number : list) *out++ = slots_[number];
    }
    if (is_directed_) return 0;
    std::uint64_t sum = 0, sum_of_squares = 0;
    std::uint32_t num_loops = 0;
    for (const Number number : list) {
      const std::uint32_t at = number + 1;  // 32 bits: the processor multiplies several at a time
      sum += at;
      sum_of_squares += std::uint64_t{at} * at;
      num_loops += number == own ? 1 : 0;
    }
    if (num_loops % 2 != 0) file_.fail("half a loop", "a loop twice in the list of its vertex");
    const std::uint64_t self = std::uint64_t{own} + 1;
    return self * sum_of_squares - self * self * sum;
  }

  /// The same for the values of a list.
  std::uint64_t copy_values(std::uint64_t begin, std::span<const Number> list, Number own,
                            std::uint64_t out) {
    const io::WeirSection& weights = file_.header().weights;
    std::uint64_t print = 0;
    const auto copy = [&](auto stored) {
      using Stored = decltype(stored);
      const auto values = file_.template read<Stored>(weights, begin, begin + list.size());
      E before{};
      for (std::size_t i = 0; i < list.size(); ++i) {
        const auto value = static_cast<E>(values[i]);
        side_.values.set(out + i, value);
        const bool is_parallel = i > 0 && list[i] == list[i - 1];
        if (is_parallel && std::memcmp(&value, &before, sizeof value) < 0)
          file_.fail("values that do not ascend", "parallel edges by the bits of their values");
        before = value;
        const std::uint64_t ends = (std::uint64_t{list[i]} + 1) * (std::uint64_t{own} + 1);
        const std::uint64_t term = std::bit_cast<std::uint64_t>(value) * 0x9e3779b97f4a7c15U * ends;
        if (!is_directed_ && list[i] != own) print += list[i] < own ? term : -term;
      }
    };
    switch (file_.header().weight_type) {
      case io::WeightType::none: break;
      case io::WeightType::u8: copy(std::uint8_t{}); break;
      case io::WeightType::u16: copy(std::uint16_t{}); break;
      case io::WeightType::u32: copy(std::uint32_t{}); break;
      case io::WeightType::f32: copy(float{}); break;
      case io::WeightType::f64: copy(double{}); break;
    }
    return print;
  }

  /// What holds every value of the file.
  detail::ValueForm value_form() const {
    switch (file_.header().weight_type) {
      case io::WeightType::none: return detail::ValueForm::none;
      case io::WeightType::u8: return detail::ValueForm::u8;
      case io::WeightType::u16: return detail::ValueForm::u16;
      case io::WeightType::f32: return detail::ValueForm::f32;
      case io::WeightType::u32:
      case io::WeightType::f64: break;
    }
    return detail::ValueForm::whole;
  }

  const io::WeirSection& neighbours() const { return file_.header().neighbours; }
  void expect_number(Number number) const {
    if (number >= num_vertices_) {
      file_.fail("neighbour " + std::to_string(number),
                 "a number below " + std::to_string(num_vertices_));
    }
  }
  [[noreturn]] void fail_order() const {
    file_.fail("an order of other vertices", "each vertex once, by degree and id");
  }

  Context& context_;
  io::WeirFile& file_;
  std::size_t num_vertices_;
  bool is_directed_;
  std::span<const VertexId> ids_;
  std::span<const Number> order_;
  std::span<const std::uint64_t> offsets_;
  std::vector<std::uint64_t> outs_before_;  // of directed graphs: out-arcs of all vertices before
  ShardMap shards_;
  std::size_t first_own_ = 0, end_own_ = 0;  // positions of the vertices of this rank
  std::optional<Vertices> vertices_;
  // On several ranks, where not every vertex has a slot:
  static constexpr Slot no_slot = std::numeric_limits<Slot>::max();
  std::vector<Slot> slots_;  // by number
  Slot num_slots_ = 0;
  std::vector<Number> numbers_;  // by row
  Side<E> side_;
};

}  // namespace

template <class E>
std::optional<Graph<E>> build_stored(Context& context, io::WeirFile& file,
                                     const BuildOptions& options) {
  const WeirHeader& header = file.header();
  const std::uint32_t num_shards = options.num_shards.value_or(1);
  const bool is_as_stored = options.is_directed == file.has(WeirHeader::is_directed) &&
                            options.repeats == Repeats::keep && options.loops == Loops::keep &&
                            num_shards >= 1 && num_shards <= (1U << 20) &&
                            !file.has(WeirHeader::has_names) && header.index_bytes == 4 &&
                            header.num_vertices < Slots::no_row && header.num_vertices > 0 &&
                            (std::is_same_v<E, NoValue> || file.has(WeirHeader::is_weighted));
  if (!is_as_stored) return std::nullopt;
  if (options.progress) options.progress("read", header.num_edges);
  return StoredBuild<E>(context, file, options.is_directed).make(options.num_shards);
}

template std::optional<Graph<NoValue>> build_stored(Context&, io::WeirFile&, const BuildOptions&);
template std::optional<Graph<double>> build_stored(Context&, io::WeirFile&, const BuildOptions&);

}  // namespace weir
