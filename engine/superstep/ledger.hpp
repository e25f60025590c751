// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <future>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>
#include <typeinfo>
#include <utility>
#include <vector>

#include <weir/engine/resilience/ledger_file.hpp>
#include <weir/engine/runtime/fnv_hash.hpp>
#include <weir/engine/superstep/decision.hpp>
#include <weir/engine/superstep/digests.hpp>
#include <weir/engine/superstep/options.hpp>

namespace weir {

/// Gathers what the ranks of a run say of their shards and writes it. Knows digests alone.
class LedgerService {
 public:
  LedgerService(Context& context, std::string file, LedgerIdentity identity);
  ~LedgerService() = default;
  LedgerService(const LedgerService&) = delete;
  LedgerService& operator=(const LedgerService&) = delete;

  /// The state a run begins with: goes on with a file that already ends in it, or could, else
  /// begins one. `own`: every own shard. Collective.
  void open(const LedgerHeader& first, std::span<const ShardChange> own);
  /// The state after a superstep. `own`: of own shards those that may have changed, ascending. It
  /// is hashed and written beside the next superstep. Collective.
  void append(const LedgerHeader& header, std::span<const ShardChange> own);
  /// Waits until all is written. Collective.
  void finish();

 private:
  std::vector<ShardChange> gather(std::span<const ShardChange> own);

  Context& context_;
  std::string file_;
  LedgerIdentity identity_;
  std::optional<LedgerWriter> writer_;  // on rank 0
  std::future<void> writing_;           // last: its end is waited for before the rest goes
};

namespace detail {

/// A hash of the ids and degrees of all vertices, the same at any number of ranks. Collective.
std::uint64_t hash_of_degrees(Context& context, const Vertices& vertices);

/// Where a rank found bits that had changed: the first shard is told.
class Faults {
 public:
  void add(std::uint64_t shard, const char* what) {
    if (!shard_ || shard < *shard_) {
      shard_ = shard;
      what_ = what;
    }
  }
  bool has_any() const { return shard_.has_value(); }
  /// Throws Error{corruption} on all ranks if one has found something. Collective.
  void agree(Context& context, Superstep step);

 private:
  std::optional<std::uint64_t> shard_;
  const char* what_ = "";
};

}  // namespace detail

/// Keeps the ledger of a run, and verifies it: what the driver sees.
///
/// A verified superstep is computed twice from the same state, which was saved before. What is
/// read is sealed when it is committed and looked at before, between and after: so a bit of state
/// or messages that flips at any time either meets a digest taken before or one of two computations
/// alone.
template <class Executor, class P>
class RunLedger {
 public:
  /// Collective.
  template <class G, class First, class... Rest>
  RunLedger(G& graph, Executor& executor, const std::tuple<First, Rest...>& programs,
            const RunOptions& options)
      : context_(graph.context()), digests_(executor), options_(options.ledger) {
    if (!options_.is_on()) return;
    context_.expect(is_possible, ErrorCode::usage,
                    "ledger: found a program whose values cannot travel");
    if (options_.file.empty()) return;
    FnvHash starts;
    if constexpr (StartingProgram<First>) {
      for (const VertexId id : std::get<0>(programs).starts())
        starts.add(static_cast<std::uint64_t>(id));
    }
    const auto text = [](std::uint64_t number) {
      std::array<std::byte, 8> bytes;
      std::memcpy(bytes.data(), &number, bytes.size());
      std::reverse(bytes.begin(), bytes.end());
      return hexadecimal(bytes);
    };
    // A shard that ranks race for is computed by several; what was adopted is digested at the
    // commit.
    const bool is_raced_for =
        context_.size() > 1 && options.speculation.rule != schedule::StragglerRule::off;
    if constexpr (is_possible) {
      if (options_.is_verified || !is_raced_for) digests_.watch();
    }
    service_.emplace(
        context_, options_.file,
        LedgerIdentity{graph.shards().num_shards(),
                       {{"program", typeid(P).name()},
                        {"supersteps", Executor::is_synchronous ? "synchronous" : "fixed-point"},
                        {"job", options_.job},
                        {"seed", std::to_string(options.seed)},
                        {"starts", text(starts.value())},
                        {"vertices", std::to_string(graph.num_vertices())},
                        {"graph", text(detail::hash_of_degrees(context_, *graph.vertices()))}}});
  }

  /// Before the first superstep. Collective.
  void begin(Superstep next, std::size_t phase, const Agreed<P>& agreed) {
    if constexpr (is_possible) {
      if (!options_.is_on()) return;
      seal(next - 1);
      if (!service_) return;
      had_messages_.assign(digests_.shards().size(), false);
      std::vector<std::size_t> all;
      for (std::size_t s = 0; s < digests_.shards().size(); ++s) all.push_back(s);
      service_->open(header_of(next - 1, phase, agreed), changes_of(all));
    }
  }

  /// How often a superstep is computed.
  int num_passes() const { return is_verifying() ? 2 : 1; }

  void before_pass(Superstep step, int pass) {
    if (!is_verifying()) return;
    if constexpr (can_verify) {
      step_ = step;
      if (pass == 0) {
        saved_ = digests_.save();
        check_seals();
        faults_.agree(context_, step_);  // before a program sees what is wrong
        return;
      }
      digests_.restore(std::move(saved_));
      check_rows();
    }
  }
  void after_pass(int pass) {
    if (!is_verifying()) return;
    if constexpr (can_verify) {
      detail::Outcome outcome = digests_.outcome();
      if (pass == 0) {
        outcome_ = std::move(outcome);
        return;
      }
      check_messages();
      if (!faults_.has_any()) compare(outcome_, outcome);  // else it differs for that reason
      outcome_ = std::move(outcome);
      faults_.agree(context_, step_);
    }
  }

  void before_delivery(int pass) {
    if (!is_verifying()) return;
    if constexpr (can_verify) {
      if (pass == 1) compare_sends(outcome_.sends, digests_.sums_of_sends());
    }
  }
  void after_delivery(int pass) {
    if (!is_verifying()) return;
    if constexpr (can_verify) {
      for_each_shard([&](std::size_t s, ShardIndex shard) {
        const Digest sent = digests_.seal_of_sent(shard);
        if (pass == 1 && sent != outcome_.shards[s].sent)
          note(s, "messages sent to it arrived otherwise the second time");
        outcome_.shards[s].sent = sent;
      });
      collect();
      has_delivered_ = true;
    }
  }

  /// After a superstep was committed. Collective.
  void committed(Superstep step, std::size_t phase, const Agreed<P>& agreed, bool has_mutations) {
    if constexpr (is_possible) {
      if (!options_.is_on()) return;
      if (is_verifying()) {
        seal(step);
        if constexpr (can_verify) {
          if (!has_mutations) check_commit();
          check_links();
          faults_.agree(context_, step);
          has_delivered_ = false;
        }
      }
      if (!service_) return;
      std::vector<bool> is_due = had_messages_;
      is_due.resize(digests_.shards().size());
      if (has_mutations) is_due.assign(is_due.size(), true);
      for (const std::size_t s : digests_.visited()) is_due[s] = true;
      for (const std::size_t s : digests_.with_sent()) is_due[s] = true;
      std::vector<std::size_t> due;
      for (std::size_t s = 0; s < is_due.size(); ++s) {
        if (is_due[s]) due.push_back(s);
      }
      service_->append(header_of(step, phase, agreed), changes_of(due));
    }
  }

  /// After the last superstep, before its values are handed out. Collective.
  void finish() {
    if (service_) service_->finish();
    if (!is_verifying()) return;
    if constexpr (can_verify) {
      check_seals();
      faults_.agree(context_, step_);
    }
  }

 private:
  using Digests = ExecutorDigests<Executor>;
  using Master = MasterOf<P>;
  static constexpr bool is_possible = Digests::is_possible;
  static constexpr bool can_verify = is_possible && Executor::is_synchronous;

  bool is_verifying() const { return options_.is_verified; }

  template <class F>
  void for_each_shard(const F& f) {
    const ShardRange own = digests_.shards();
    found_.assign(own.size(), nullptr);
    context_.parallel_for(own.size(),
                          [&](std::size_t s) { f(s, own.begin + static_cast<ShardIndex>(s)); });
  }
  /// In a body of `for_each_shard`.
  void note(std::size_t s, const char* what) {
    if (found_[s] == nullptr) found_[s] = what;
  }
  /// After it.
  void collect() {
    for (std::size_t s = 0; s < found_.size(); ++s) {
      if (found_[s] != nullptr) faults_.add(digests_.shards().begin + s, found_[s]);
    }
  }

  LedgerHeader header_of(Superstep step, std::size_t phase, const Agreed<P>& agreed) const {
    Bytes bytes;
    detail::append_bits(agreed.aggregated, bytes);
    if constexpr (!std::is_empty_v<Master> && Transferable<Master>)
      detail::append_bits(agreed.master, bytes);
    return {.superstep = step,
            .phase = phase,
            .num_unhalted = agreed.summary.num_unhalted,
            .num_scattered = agreed.summary.num_scattered,
            .num_sent = agreed.summary.num_sent,
            .agreed = Sha256()({bytes})};
  }

  std::vector<ShardChange> changes_of(const std::vector<std::size_t>& shards) {
    std::vector<ShardChange> changes(shards.size());
    const ShardIndex first = digests_.shards().begin;
    const auto take = [&](std::size_t i) {
      const ShardIndex shard = first + static_cast<ShardIndex>(shards[i]);
      changes[i] = {shard, digests_.of_shard(shard)};
    };
    std::vector<std::size_t> rest;  // what is at hand wakes no worker
    for (std::size_t i = 0; i < shards.size(); ++i) {
      if (digests_.is_at_hand(shards[i])) {
        take(i);
      } else {
        rest.push_back(i);
      }
    }
    if (!rest.empty()) context_.parallel_for(rest.size(), [&](std::size_t i) { take(rest[i]); });
    had_messages_.assign(digests_.shards().size(), false);
    for (std::size_t i = 0; i < shards.size(); ++i)
      had_messages_[shards[i]] = changes[i].digests.messages != Digest{};
    return changes;
  }

  /// Takes digests of all that the next superstep reads.
  void seal(Superstep step) {
    if constexpr (can_verify) {
      if (!is_verifying()) return;
      step_ = step;
      seals_.resize(digests_.shards().size());
      for_each_shard([&](std::size_t s, ShardIndex shard) { seals_[s] = digests_.seal(shard); });
      ghosts_ = digests_.sums_of_links(true);
    }
  }
  void check_seals() {
    check_rows();
    check_messages();
  }
  void check_rows() {
    for_each_shard([&](std::size_t s, ShardIndex shard) {
      if (digests_.seal_of_rows(shard) != seals_[s].rows)
        note(s, "its values or flags changed after they were committed");
    });
    collect();
  }
  void check_messages() {
    for_each_shard([&](std::size_t s, ShardIndex shard) {
      if (digests_.seal_of_published(shard) != seals_[s].published)
        note(s, "what it published changed after it was committed");
      if (digests_.seal_of_sent(shard) != seals_[s].sent)
        note(s, "messages sent to it changed after they were committed");
    });
    collect();
    compare_links(ghosts_, digests_.sums_of_links(true),
                  "what it published changed on a rank that reads it");
  }
  void compare(const detail::Outcome& first, const detail::Outcome& second) {
    for_each_shard([&](std::size_t s, ShardIndex) {
      if (first.shards[s].rows != second.shards[s].rows)
        note(s, "computed twice, it had different values or flags");
      if (first.shards[s].published != second.shards[s].published)
        note(s, "computed twice, it published different values");
      if (first.is_clean[s] == 0 || second.is_clean[s] == 0)
        note(s, "it published where it did not scatter");
      if (first.contributions[s] != second.contributions[s])
        note(s, "computed twice, it contributed different aggregates or counts");
    });
    collect();
    compare_sends(first.sends, second.sends);
  }
  void compare_sends(const std::map<ShardIndex, std::uint64_t>& first,
                     const std::map<ShardIndex, std::uint64_t>& second) {
    const auto compare_one_way = [&](const auto& a, const auto& b) {
      for (const auto& [shard, sum] : a) {
        const auto at = b.find(shard);
        if (at == b.end() || at->second != sum)
          faults_.add(shard, "messages sent to it changed before they left");
      }
    };
    compare_one_way(first, second);
    compare_one_way(second, first);
  }
  /// What was committed is what was computed and delivered.
  void check_commit() {
    for_each_shard([&](std::size_t s, ShardIndex) {
      const detail::ShardSeal& computed = outcome_.shards[s];
      if (seals_[s].rows != computed.rows)
        note(s, "its values or flags changed between being computed and being committed");
      if (seals_[s].published != computed.published)
        note(s, "what it published changed between being computed and being committed");
      if (has_delivered_ && seals_[s].sent != computed.sent)
        note(s, "messages sent to it changed between arriving and being committed");
    });
    collect();
  }
  /// What ranks hold of others' vertices is what those say of them.
  void check_links() {
    if (context_.size() > 1)
      compare_links(digests_.told_sums(), ghosts_, "what it published arrived otherwise");
  }
  void compare_links(const std::vector<std::vector<detail::GhostSum>>& expected,
                     const std::vector<std::vector<detail::GhostSum>>& found, const char* what) {
    for (std::size_t link = 0; link < expected.size(); ++link) {
      for (std::size_t i = 0; i < expected[link].size(); ++i) {
        if (i >= found[link].size() || expected[link][i] != found[link][i])
          faults_.add(expected[link][i].shard, what);
      }
    }
  }

  Context& context_;
  Digests digests_;
  const Ledger& options_;
  std::optional<LedgerService> service_;
  std::vector<bool> had_messages_;  // by own shard, after the last superstep

  // Verification.
  Superstep step_ = 0;
  std::vector<detail::ShardSeal> seals_;               // by own shard
  std::vector<std::vector<detail::GhostSum>> ghosts_;  // by link
  detail::Outcome outcome_;
  typename Digests::Saved saved_;
  bool has_delivered_ = false;
  std::vector<const char*> found_;  // by own shard
  detail::Faults faults_;
};

}  // namespace weir
