// SPDX-License-Identifier: Apache-2.0
#include <weir/algorithms/triangle_count.hpp>

#include <algorithm>
#include <memory>
#include <mutex>
#include <numeric>
#include <utility>

namespace weir {

/// What one thread at a time marks and counts in, by slot.
class TriangleProgram::Marks {
 public:
  /// A neighbour that is colder than the middle corner, with the list that the middle corner ends.
  struct Colder {
    const Slot* hotter = nullptr;
    const std::uint8_t* mutual = nullptr;
    Slot slot = 0;
    bool is_mutual = false;
  };

  explicit Marks(Slot num_slots) : weights(num_slots), counts(num_slots) {}

  void mark(Slot slot, std::uint8_t weight) {
    weights[slot] = weight;
    marked.push_back(slot);
  }
  void clear() {
    for (const Slot slot : marked) weights[slot] = 0;
    marked.clear();
    colder.clear();
  }

  std::vector<std::uint8_t> weights;  // of the hotter neighbours of the middle corner, else 0
  std::vector<Slot> marked;
  std::vector<Colder> colder;  // of the middle corner
  std::vector<std::int64_t> counts;
};

/// As many marks as threads that ask for some at the same time.
class TriangleProgram::MarksPool {
 public:
  explicit MarksPool(Slot num_slots) : num_slots_(num_slots) {}

  /// Calls body(marks) with marks that nobody else has.
  template <class F>
  void with(const F& body) {
    std::unique_ptr<Marks> marks;
    {
      const std::lock_guard lock(mutex_);
      if (!free_.empty()) {
        marks = std::move(free_.back());
        free_.pop_back();
      }
    }
    if (!marks) marks = std::make_unique<Marks>(num_slots_);
    body(*marks);
    const std::lock_guard lock(mutex_);
    free_.push_back(std::move(marks));
  }

  /// Adds up what all counted.
  void add_to(std::vector<std::int64_t>& counts) const {
    for (const auto& marks : free_) {
      for (std::size_t slot = 0; slot < counts.size(); ++slot) counts[slot] += marks->counts[slot];
    }
  }

 private:
  Slot num_slots_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Marks>> free_;
};

void TriangleProgram::compute(const Block& block, Boundary<Message>& boundary) {
  if (boundary.superstep() == 0) {
    neighbourhoods_ = Neighbourhoods(block);
    counts_.assign(block.num_slots(), 0);
    if (block.has_ghosts()) prepare_ghosts(block);
    count_own(block);
  }
  count_received(block, boundary);
  // Whoever sends lists computes again, so what was counted at ghosts can wait for the last.
  if (!send_lists(block, boundary)) send_counts(block, boundary);
}

std::size_t TriangleProgram::num_hotter(const Block& block, Row row) const {
  const auto list = neighbourhoods_.of(row);
  return static_cast<std::size_t>(std::lower_bound(list.begin(), list.end(), block.slot(row)) -
                                  list.begin());
}

void TriangleProgram::prepare_ghosts(const Block& block) {
  slots_by_id_.resize(block.num_slots());
  std::iota(slots_by_id_.begin(), slots_by_id_.end(), Slot{0});
  std::sort(slots_by_id_.begin(), slots_by_id_.end(),
            [&](Slot a, Slot b) { return block.id(a) < block.id(b); });
  std::vector<VertexId> ids;
  ids.reserve(slots_by_id_.size());
  for (const Slot slot : slots_by_id_) ids.push_back(block.id(slot));
  index_ = IdIndex(std::move(ids));

  const auto for_each_hotter_ghost = [&](const auto& visit) {
    for (Row row = 0; row < block.num_rows(); ++row) {
      const auto list = neighbourhoods_.of(row);
      const auto mutual = neighbourhoods_.mutual(row);
      for (std::size_t i = 0; i < num_hotter(block, row); ++i) {
        if (block.is_ghost(list[i])) visit(list[i], Reader{row, !mutual.empty() && mutual[i] != 0});
      }
    }
  };
  reader_offsets_.assign(block.num_slots() + std::size_t{1}, 0);
  for_each_hotter_ghost([&](Slot ghost, Reader) { ++reader_offsets_[ghost + std::size_t{1}]; });
  std::partial_sum(reader_offsets_.begin(), reader_offsets_.end(), reader_offsets_.begin());
  readers_.resize(reader_offsets_.back());
  std::vector<std::uint64_t> next = reader_offsets_;
  for_each_hotter_ghost([&](Slot ghost, Reader reader) { readers_[next[ghost]++] = reader; });
}

void TriangleProgram::add_colder(const Block& block, Reader reader, Marks& marks) const {
  marks.colder.push_back({neighbourhoods_.of(reader.row).data(),
                          neighbourhoods_.mutual(reader.row).data(), block.slot(reader.row),
                          reader.is_mutual});
}

void TriangleProgram::count_own(const Block& block) {
  MarksPool pool(block.num_slots());
  const bool weighs = is_weighted(block);
  const auto count_row = [&](Row row, Marks& marks) {
    const auto list = neighbourhoods_.of(row);
    const auto mutual = neighbourhoods_.mutual(row);
    const std::size_t split = num_hotter(block, row);
    if (split == 0) return;
    const auto is_double = [&](std::size_t i) { return weighs && mutual[i] != 0; };
    for (std::size_t i = split; i < list.size(); ++i) {
      if (!block.is_ghost(list[i])) add_colder(block, {block.row(list[i]), is_double(i)}, marks);
    }
    if (marks.colder.empty()) return;
    for (std::size_t i = 0; i < split; ++i) marks.mark(list[i], is_double(i) ? 2 : 1);
    weighs ? count_colder<true>(block.slot(row), marks)
           : count_colder<false>(block.slot(row), marks);
  };
  block.for_each_run([&](Row first, Row last) {
    pool.with([&](Marks& marks) {
      for (Row row = first; row < last; ++row) count_row(row, marks);
    });
  });
  pool.add_to(counts_);
}

void TriangleProgram::count_received(const Block& block, const Boundary<Message>& boundary) {
  constexpr std::size_t lists_of_run = 16;
  MarksPool pool(block.num_slots());
  const bool weighs = is_weighted(block);
  const auto count_list = [&](Slot slot, std::span<const Message> values, Marks& marks) {
    const std::size_t end = reader_offsets_[slot + std::size_t{1}];
    for (std::size_t i = reader_offsets_[slot]; i < end; ++i) add_colder(block, readers_[i], marks);
    if (marks.colder.empty()) return;
    const auto num_once = static_cast<std::size_t>(values.front());
    const auto hotter = values.subspan(1);
    for (std::size_t i = 0; i < hotter.size(); ++i) {
      // Who is no neighbour of anyone here closes no triangle here.
      const auto place = index_.find(hotter[i]);
      if (place) marks.mark(slots_by_id_[*place], weighs && i >= num_once ? 2 : 1);
    }
    weighs ? count_colder<true>(slot, marks) : count_colder<false>(slot, marks);
  };
  const auto received = boundary.received();
  block.for_each_run(received.size(), lists_of_run, [&](std::size_t first, std::size_t last) {
    pool.with([&](Marks& marks) {
      for (const auto& [slot, link, values] : received.subspan(first, last - first)) {
        if (block.is_ghost(slot)) {
          count_list(slot, values, marks);
        } else {
          marks.counts[slot] += values.front();
        }
      }
    });
  });
  pool.add_to(counts_);
}

/// Counts the triangles whose middle corner is given, whose hottest one is marked, and whose
/// coldest one is in `marks.colder`. Clears the marks.
template <bool is_weighted>
void TriangleProgram::count_colder(Slot middle, Marks& marks) {
  // The lists lie anywhere in memory: asked for ahead, several are on their way at a time.
  constexpr std::size_t num_ahead = 8;
  const std::uint8_t* const weights = marks.weights.data();
  std::int64_t* const counts = marks.counts.data();
  std::int64_t at_middle = 0;
  for (std::size_t k = 0; k < marks.colder.size(); ++k) {
    if (k + num_ahead < marks.colder.size()) __builtin_prefetch(marks.colder[k + num_ahead].hotter);
    const Marks::Colder colder = marks.colder[k];
    std::int64_t at_coldest = 0;
    // Without a branch on what is marked, which nobody can predict.
    for (std::size_t i = 0; colder.hotter[i] < middle; ++i) {
      const Slot hottest = colder.hotter[i];
      const std::int64_t weight = weights[hottest];
      at_coldest += weight;
      if constexpr (is_weighted) {
        const std::int64_t is_marked = weight != 0 ? 1 : 0;
        at_middle += is_marked * (1 + colder.mutual[i]);
        counts[hottest] += is_marked * (colder.is_mutual ? 2 : 1);
      } else {
        counts[hottest] += weight;
      }
    }
    counts[colder.slot] += at_coldest;
    if constexpr (!is_weighted) at_middle += at_coldest;
  }
  counts[middle] += at_middle;
  marks.clear();
}

/// Whether there were any.
bool TriangleProgram::send_lists(const Block& block, Boundary<Message>& boundary) {
  if (boundary.num_peers() == 0) return false;
  const std::size_t num_allowed = max_foreign_bytes_ / sizeof(Message) / boundary.num_peers();
  std::size_t num_sent = 0;
  std::vector<Message> message;
  for (; next_to_send_ < block.num_rows() && num_sent <= num_allowed; ++next_to_send_) {
    const auto list = neighbourhoods_.of(next_to_send_);
    const auto mutual = neighbourhoods_.mutual(next_to_send_);
    const auto split = static_cast<std::ptrdiff_t>(num_hotter(block, next_to_send_));
    const bool is_read = std::any_of(list.begin() + split, list.end(),
                                     [&](Slot slot) { return block.is_ghost(slot); });
    if (split == 0 || !is_read) continue;
    message.assign(1, 0);
    for (const bool wants_mutual : {false, true}) {
      for (std::size_t i = 0; i < static_cast<std::size_t>(split); ++i) {
        const bool is_mutual = !mutual.empty() && mutual[i] != 0;
        if (is_mutual == wants_mutual) message.push_back(block.id(list[i]));
      }
      if (!wants_mutual) message.front() = static_cast<Message>(message.size() - 1);
    }
    boundary.send(block.slot(next_to_send_), message);
    num_sent += message.size();
  }
  return num_sent > 0;
}

void TriangleProgram::send_counts(const Block& block, Boundary<Message>& boundary) {
  for (const Slot slot : boundary.shared_slots()) {
    if (!block.is_ghost(slot) || counts_[slot] == 0) continue;
    boundary.send(slot, std::exchange(counts_[slot], 0));
  }
}

namespace {

template <class E>
RunResult<std::int64_t> count(const Graph<E>& graph, const TriangleCountOptions& options) {
  auto [values, report] = run(graph, TriangleProgram(false), options.run);
  return {values.transform([](const auto& value) { return value.num_joined; }), std::move(report)};
}

}  // namespace

RunResult<std::int64_t> triangle_count(const Graph<NoValue>& graph,
                                       const TriangleCountOptions& options) {
  return count(graph, options);
}
RunResult<std::int64_t> triangle_count(const Graph<double>& graph,
                                       const TriangleCountOptions& options) {
  return count(graph, options);
}

std::uint64_t num_triangles(const VertexValues<std::int64_t>& counts) {
  std::uint64_t num_corners = 0;
  counts.for_each([&](VertexId, std::int64_t at_vertex) {
    num_corners += static_cast<std::uint64_t>(at_vertex);
  });
  return all_fold(counts.context(), Sum<std::uint64_t>{}, num_corners) / 3;
}

constinit const Algorithm triangle_count_algorithm{
    "triangles", "triangles at each vertex, and in all", false,
    [](const AnyGraph& graph, const AlgorithmOptions& options) {
      return with_graph(graph, [&](const auto& typed) {
        auto [counts, report] = triangle_count(typed, {options.run});
        AlgorithmResult result = make_result(counts, std::move(report));
        result.facts.emplace_back("triangles", std::to_string(num_triangles(counts)));
        return result;
      });
    }};

}  // namespace weir
