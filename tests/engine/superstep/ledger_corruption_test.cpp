// SPDX-License-Identifier: Apache-2.0
// Bits flipped in the memory of a verified run: each has to be found, and the right shard named.
//
// The hook is an executor around the engine's own: the ledger does not know it. How many flips:
// WEIR_CORRUPTIONS, else a few hundred.
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include <weir/tests/engine/superstep/job.hpp>

namespace weir {
namespace {

/// When a bit flips.
enum class Moment {
  between,          ///< after a commit, before the next superstep
  computing,        ///< of bytes just written, while other vertices compute
  computing_again,  ///< the same the second time
  computed,         ///< before anything looks at the result
  computed_again,   ///< the same the second time
  exchanged,        ///< published values are with their readers
  committed,        ///< before anything looks at what was committed
  delivered,        ///< sent messages are with their targets
  delivered_again   ///< the same the second time
};
constexpr std::uint64_t num_moments = 9;
constexpr std::uint64_t num_moments_without_sends = 7;

/// Some bytes of state or messages, and the shard they belong to.
struct Item {
  std::byte* at = nullptr;
  std::size_t size = 0;
  ShardIndex shard = 0;
};

/// One flip in one run.
struct Plan {
  Rank rank = 0;
  Superstep superstep = 0;
  Moment moment = Moment::between;
  std::uint64_t draw = 0;          ///< which of the bits there are
  std::uint64_t num_computed = 0;  ///< `computing`: after so many vertices of the rank
};

}  // namespace

/// Knows where an executor keeps its state and messages; of the name that executors befriend.
template <class Inner>
struct MemoryOf;
template <class Inner>
class ExecutorDigests<MemoryOf<Inner>> {
 public:
  explicit ExecutorDigests(Inner& executor) : executor_(executor) {}

  std::vector<Item> rows(const std::vector<VertexId>* only = nullptr) {
    std::vector<Item> items;
    for_each_row(only, [&](Row row, ShardIndex shard) {
      add(items, executor_.values_[row].value, shard);
      add(items, executor_.halted_[row], shard);
    });
    return items;
  }
  /// What can be read: of own vertices and of others'.
  std::vector<Item> readable() {
    std::vector<Item> items;
    if (!executor_.read_phase_) return items;  // nothing was ever published
    const auto& buffer = std::get<0>(executor_.channels_).read;
    for (Slot slot = 0; slot < buffer.size(); ++slot) add_slot(items, buffer, slot);
    return items;
  }
  /// What own vertices have just published.
  std::vector<Item> written(const std::vector<VertexId>* only = nullptr) {
    std::vector<Item> items;
    const auto& channel = std::get<0>(executor_.channels_);
    for_each_row(only, [&](Row row, ShardIndex) {
      add_slot(items, channel.write, channel.side->slots.of_rows[row]);
    });
    return items;
  }
  /// What is about to become readable. Of a sticky program values alone are looked at, by a list.
  template <bool is_sticky>
  std::vector<Item> exchanged() {
    std::vector<Item> items;
    const auto& channel = std::get<0>(executor_.channels_);
    for (Slot slot = 0; slot < channel.write.size(); ++slot) {
      if constexpr (is_sticky) {
        if (channel.write.has(slot))
          add(items, channel.write[slot], shard_of(channel.side->slots.ids[slot]));
      } else {
        add_slot(items, channel.write, slot);
      }
    }
    return items;
  }
  std::vector<Item> sent() {
    std::vector<Item> items;
    executor_.sent_.for_each_row(0, executor_.vertices().size(),
                                 [&](Row row, const auto& messages) {
                                   for (const auto& cell : messages)
                                     add(items, cell.value, shard_of(executor_.vertices().id(row)));
                                 });
    return items;
  }
  std::vector<Item> sends() {
    std::vector<Item> items;
    for (const std::size_t s : executor_.touched_) {
      const auto& sends = executor_.work_[s].sends;
      for (std::uint32_t bin = 0; !sends.empty() && bin < executor_.send_bins_.size(); ++bin) {
        const auto first_id = static_cast<std::uint64_t>(executor_.send_bins_.first_id(bin));
        sends.for_each_piece(bin, [&](const auto& piece) {
          for (std::size_t i = 0; i < piece.size; ++i) {
            constexpr std::size_t size = sizeof(typename Inner::Message);
            items.push_back({piece.messages + i * size, size,
                             shard_of(static_cast<VertexId>(first_id + piece.distance(i)))});
          }
        });
      }
    }
    return items;
  }

 private:
  ShardIndex shard_of(VertexId id) const { return executor_.graph_.shards().shard_of(id); }
  template <class T>
  static void add(std::vector<Item>& items, const T& value, ShardIndex shard) {
    items.push_back({reinterpret_cast<std::byte*>(const_cast<T*>(&value)), sizeof(T), shard});
  }
  template <class Buffer>
  void add_slot(std::vector<Item>& items, const Buffer& buffer, Slot slot) const {
    const ShardIndex shard = shard_of(std::get<0>(executor_.channels_).side->slots.ids[slot]);
    add(items, buffer.presence()[slot], shard);
    // Where nothing was published and the engine does not look, bytes are neither.
    if (buffer.has(slot) || Inner::is_combining) add(items, buffer[slot], shard);
  }
  template <class F>
  void for_each_row(const std::vector<VertexId>* only, const F& f) {
    const Vertices& vertices = executor_.vertices();
    if (only != nullptr) {
      for (const VertexId id : *only) f(*vertices.find(id), shard_of(id));
      return;
    }
    for (Row row = 0; row < vertices.size(); ++row) f(row, shard_of(vertices.id(row)));
  }

  Inner& executor_;
};

namespace {

/// Flips one bit on one rank, once.
class Injector {
 public:
  explicit Injector(const Plan& plan) : plan_(plan) {}

  bool is_due(Moment moment, Superstep step) const {
    return !has_flipped() && moment == plan_.moment && step == plan_.superstep;
  }
  void flip(std::vector<std::vector<Item>> regions) {
    std::uint64_t num_bytes = 0;
    for (const auto& items : regions)
      for (const Item& item : items) num_bytes += item.size;
    if (num_bytes == 0) return;
    std::uint64_t bit = plan_.draw % (8 * num_bytes);
    for (const auto& items : regions) {
      for (const Item& item : items) {
        if (bit >= 8 * item.size) {
          bit -= 8 * item.size;
          continue;
        }
        item.at[bit / 8] ^= std::byte{1} << (bit % 8);
        shard_ = static_cast<std::int64_t>(item.shard);
        return;
      }
    }
  }
  bool has_flipped() const { return shard_ >= 0; }
  std::int64_t shard() const { return shard_; }
  const Plan& plan() const { return plan_; }

  // What the program tells while it computes.
  std::function<void(VertexId)> after_vertex;

 private:
  Plan plan_;
  std::atomic<std::int64_t> shard_{-1};
};

template <class Inner, bool is_sticky>
class Tampered : public Inner {
 public:
  using Inner::Inner;
  Injector* injector = nullptr;

  void begin(Superstep step, const auto& decision, const auto& agreed) {
    if (step != step_) num_runs_ = num_deliveries_ = 0;
    step_ = step;
    computed_.clear();
    Inner::begin(step, decision, agreed);
  }
  void run(RowWatch* watch = nullptr) {
    const bool is_again = num_runs_++ > 0;
    if (injector != nullptr) {
      injector->after_vertex = [&, is_again](VertexId id) {
        const Moment moment = is_again ? Moment::computing_again : Moment::computing;
        if (computed_.size() == injector->plan().num_computed && !computed_.empty())
          at(moment, [&] { return just_written(); });
        computed_.push_back(id);
      };
    }
    Inner::run(watch);
    at(is_again ? Moment::computed_again : Moment::computed, [&] {
      return std::vector{memory_.rows(), memory_.written(), memory_.readable(), memory_.sent(),
                         memory_.sends()};
    });
  }
  void exchange() {
    Inner::exchange();
    at(Moment::exchanged, [&] {
      return std::vector{memory_.rows(), memory_.template exchanged<is_sticky>(), memory_.sends()};
    });
  }
  std::uint64_t deliver_sends() {
    const auto num_dropped = Inner::deliver_sends();
    at(num_deliveries_++ > 0 ? Moment::delivered_again : Moment::delivered, [&] {
      return std::vector{memory_.rows(), memory_.sent()};
    });
    return num_dropped;
  }
  void commit(bool has_sends) {
    Inner::commit(has_sends);
    at(Moment::committed, [&] { return committed(); });
  }
  /// Called before a superstep begins.
  void between(Superstep next) {
    step_ = next;
    num_runs_ = num_deliveries_ = 0;
    at(Moment::between, [&] { return committed(); });
  }

 private:
  std::vector<std::vector<Item>> committed() {
    return {memory_.rows(), memory_.readable(), memory_.sent()};
  }
  std::vector<std::vector<Item>> just_written() {
    return {memory_.rows(&computed_), memory_.written(&computed_)};
  }
  template <class F>
  void at(Moment moment, const F& regions) {
    if (injector != nullptr && injector->is_due(moment, step_)) injector->flip(regions());
  }

  ExecutorDigests<MemoryOf<Inner>> memory_{*this};
  std::vector<VertexId> computed_;
  Superstep step_ = -1;
  int num_runs_ = 0;
  int num_deliveries_ = 0;
};

}  // namespace

template <class Inner, bool is_sticky>
class SavedState<Tampered<Inner, is_sticky>> : public SavedState<Inner> {
 public:
  explicit SavedState(Inner& executor) : SavedState<Inner>(executor) {}
};
template <class Inner, bool is_sticky>
class ExecutorDigests<Tampered<Inner, is_sticky>> : public ExecutorDigests<Inner> {
 public:
  explicit ExecutorDigests(Inner& executor) : ExecutorDigests<Inner>(executor) {}
};

namespace {

thread_local Injector* injector_here = nullptr;  // of the rank whose thread this is

void tell(VertexId id) {
  if (injector_here != nullptr && injector_here->after_vertex) injector_here->after_vertex(id);
}

/// Every vertex scatters, inexact combiner, aggregates.
struct Ranks {
  using Value = double;
  using Message = double;
  using Combiner = Sum<double>;
  struct Total : Aggregator<Sum<double>> {};
  using Aggregators = weir::Aggregators<Total>;
  Value init(const VertexInfo&) const { return 1.0; }
  void compute(VertexHandle auto& v, const Inbox<Message>& inbox) const {
    tell(v.id());
    if (v.superstep() > 0) v.value() = 0.15 + 0.85 * inbox.combined(Combiner{});
    v.aggregate(Total{}, v.value());
    if (v.superstep() == 5) return v.vote_to_halt();
    v.scatter();
  }
  Message publish(const Value& value, const VertexInfo& info) const {
    return value / static_cast<double>(std::max<std::uint64_t>(1, info.out_degree));
  }
};

/// Some scatter, all send, no combiner.
struct Telling {
  using Value = double;
  using Message = double;
  Value init(const VertexInfo& info) const { return static_cast<double>(info.id); }
  void compute(VertexHandle auto& v, const auto& inbox) const {
    tell(v.id());
    for (const Message& m : inbox) v.value() = 0.7 * v.value() + m;
    if (v.superstep() >= 5) return v.vote_to_halt();
    v.send(1 + (v.id() * 7) % 30, static_cast<double>(v.random().next() % 97));
    if (v.id() % 3 == 0) v.scatter();
  }
};

/// Few vertices at a time, what they published stays readable.
struct Labels {
  using Value = VertexId;
  using Message = VertexId;
  static constexpr bool sticky = true;
  static constexpr Edges along_edges = Edges::both;
  Value init(const VertexInfo& info) const { return info.id; }
  void compute(VertexHandle auto& v, const auto& inbox) const {
    tell(v.id());
    v.vote_to_halt();
    VertexId least = v.value();
    for (const Message& m : inbox) least = std::min(least, m);
    if (v.superstep() > 0 && least == v.value()) return;
    v.value() = least;
    v.scatter();
  }
};

cases::Input<double> tangled() {
  std::mt19937_64 random(7);
  cases::Input<double> input{.edges = {}, .options = {.is_directed = false}};
  for (VertexId v = 2; v <= 60; ++v) {
    const auto near = static_cast<VertexId>(1 + random() % static_cast<std::uint64_t>(v - 1));
    input.edges.push_back({near, v, 1.0});
    if (v % 5 == 0) input.edges.push_back({v, v / 5, 1.0});
  }
  input.options.num_shards = 12;
  return input;
}

/// One verified run with one flip; the error it ends with, or "".
template <class P>
std::string error_of(const P& program, Rank ranks, Injector& injector) {
  using G = const Graph<double>;
  using Executor = Tampered<CpuExecutor<G, P>, StickyProgram<P>>;
  std::string found;
  try {
    const ContextOptions context_options{.threads = 1, .deadline = std::chrono::seconds(30)};
    run_in_process(ranks, context_options, [&](Context& context) {
      const auto graph = cases::build(context, tangled());
      const std::tuple<P> programs(program);
      RunOptions options;
      options.ledger.is_verified = true;
      const FloatEnvironment float_environment;
      try {
        Executor executor(graph, programs, options, nullptr);
        if (context.rank() == injector.plan().rank) {
          injector_here = executor.injector = &injector;
          options.before_superstep = [&](Superstep step) { executor.between(step); };
        }
        Agreed<P> agreed;
        agreed.summary.num_unhalted = executor.num_unhalted_of_all();
        Recorder recorder(context, options);
        RunSnapshots<Executor, P> snapshots(graph, executor, programs, options);
        RunSpeculation<Executor> speculation(context, executor, options);
        RunLedger<Executor, P> ledger(graph, executor, programs, options);
        drive(
            context, executor, program, options, [&] { return graph.num_vertices(); }, agreed,
            recorder, snapshots, speculation, ledger);
        ledger.finish();
        injector_here = nullptr;
      } catch (...) {
        injector_here = nullptr;
        context.rethrow_for_all();
      }
    });
  } catch (const Error& error) {
    found = std::string(name_of(error.code())) + ": " + error.what();
  }
  return found;
}

int num_flips() {
  const char* const chosen = std::getenv("WEIR_CORRUPTIONS");
  return chosen != nullptr ? std::atoi(chosen) : 100;
}

template <class P>
void expect_all_found(const P& program, std::uint64_t seed, bool sends = false) {
  std::mt19937_64 random(seed);
  std::map<Moment, int> num_found;
  int num_flipped = 0;
  while (num_flipped < num_flips()) {
    const Rank ranks = static_cast<Rank>(1 + random() % 4);
    Injector injector({.rank = static_cast<Rank>(random() % static_cast<std::uint64_t>(ranks)),
                       .superstep = static_cast<Superstep>(random() % 6),
                       .moment = static_cast<Moment>(
                           random() % (sends ? num_moments : num_moments_without_sends)),
                       .draw = random(),
                       .num_computed = 1 + random() % 20});
    const std::string error = error_of(program, ranks, injector);
    const Plan& plan = injector.plan();
    const std::string where = "rank " + std::to_string(plan.rank) + " of " + std::to_string(ranks) +
                              ", superstep " + std::to_string(plan.superstep) + ", moment " +
                              std::to_string(static_cast<int>(plan.moment)) + ", draw " +
                              std::to_string(plan.draw) + ": " + error;
    if (!injector.has_flipped()) {
      ASSERT_EQ(error, "") << "an alarm without a flip: " << where;
      continue;
    }
    ++num_flipped;
    ++num_found[plan.moment];
    ASSERT_EQ(error.substr(0, 10), "corruption") << where;
    ASSERT_NE(error.find(", shard " + std::to_string(injector.shard()) + ":"), std::string::npos)
        << "expected shard " << injector.shard() << ", " << where;
  }
  std::string counts;
  for (const auto& [moment, count] : num_found) {
    counts += " " + std::to_string(static_cast<int>(moment)) + ":" + std::to_string(count);
  }
  std::printf("%d flips found, by moment%s\n", num_flipped, counts.c_str());
}

TEST(Verification, FindsEveryFlippedBitWhereAllScatter) { expect_all_found(Ranks{}, 1); }
TEST(Verification, FindsEveryFlippedBitOfSentMessages) { expect_all_found(Telling{}, 2, true); }
TEST(Verification, FindsEveryFlippedBitOfStickyPrograms) { expect_all_found(Labels{}, 3); }

}  // namespace
}  // namespace weir
