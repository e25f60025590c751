// SPDX-License-Identifier: Apache-2.0
#include <weir/cli/injection.hpp>

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <string_view>

#include <weir/cli/option_set.hpp>
#include <weir/io/number_text.hpp>

namespace weir::cli {

namespace {

using Act = RankFault::Act;
using Point = RankFault::Point;

constexpr std::int64_t most_ranks = std::int64_t{1} << 30;
constexpr double most_seconds = 1e6;

struct ActName {
  std::string_view name;
  Act act;
};
constexpr ActName acts[] = {{"kill", Act::kill}, {"crash", Act::crash}, {"exit", Act::exit},
                            {"stop", Act::stop}, {"hang", Act::hang},   {"pause", Act::pause}};

struct PointName {
  std::string_view name;
  Point point;
};
constexpr PointName points[] = {{"superstep", Point::superstep},
                                {"send", Point::send},
                                {"barrier", Point::barrier},
                                {"snapshot", Point::snapshot},
                                {"before-manifest", Point::before_manifest},
                                {"after-manifest", Point::after_manifest},
                                {"resume", Point::resume}};

/// One item of the list, taken apart from the left.
class Item {
 public:
  Item(const std::string& option, std::string_view text)
      : option_(option), whole_(text), rest_(text) {}

  std::string_view rest() const { return rest_; }

  bool take(std::string_view prefix) {
    if (!rest_.starts_with(prefix)) return false;
    rest_.remove_prefix(prefix.size());
    return true;
  }
  void expect(std::string_view prefix, const std::string& expected) {
    if (!take(prefix)) refuse(expected);
  }
  void expect_end(const std::string& expected) const {
    if (!rest_.empty()) refuse(expected);
  }

  /// The digits that come next.
  std::int64_t whole_number(std::int64_t most, const std::string& expected) {
    const auto digits = static_cast<std::size_t>(
        std::find_if(rest_.begin(), rest_.end(), [](char c) { return c < '0' || c > '9'; }) -
        rest_.begin());
    const auto number = io::parse_integer(rest_.substr(0, digits));
    if (!number || *number > most) refuse(expected);
    rest_.remove_prefix(digits);
    return *number;
  }

  /// A number up to the next letter or `@`, within bounds, and what stands there.
  double real(double least, double most, const std::string& expected) {
    const auto length = static_cast<std::size_t>(
        std::find_if(
            rest_.begin(), rest_.end(),
            [](char c) { return c == '@' || std::isalpha(static_cast<unsigned char>(c)); }) -
        rest_.begin());
    const auto number = io::parse_finite(rest_.substr(0, length));
    if (!number || *number < least || *number > most) refuse(expected);
    rest_.remove_prefix(length);
    return *number;
  }

  std::chrono::microseconds duration() {
    const std::string expected = "a time such as 2s, 5ms or 100us";
    const double number = real(0, most_seconds * 1e6, expected);
    double seconds = 0;
    if (take("us")) {
      seconds = number * 1e-6;
    } else if (take("ms")) {
      seconds = number * 1e-3;
    } else if (take("s")) {
      seconds = number;
    } else {
      refuse(expected);
    }
    if (seconds > most_seconds) refuse(expected);
    return std::chrono::microseconds(static_cast<std::int64_t>(seconds * 1e6));
  }

  double bytes_per_second() {
    const std::string expected = "a rate above 0 such as 100Mbit, 64kbit or 1Gbit";
    const double number = real(1e-6, 1e9, expected);
    constexpr double bits_per_byte = 8;
    if (take("kbit")) return number * 1e3 / bits_per_byte;
    if (take("Mbit")) return number * 1e6 / bits_per_byte;
    if (take("Gbit")) return number * 1e9 / bits_per_byte;
    refuse(expected);
  }

  [[noreturn]] void refuse(const std::string& expected) const {
    refuse_value(option_, whole_, expected);
  }

 private:
  const std::string& option_;
  std::string_view whole_;
  std::string_view rest_;
};

void read_act(Item& item, RankFault fault, Injection& injection) {
  std::string expected = "slow=FACTOR or an act at a point: ";
  for (const ActName& each : acts) {
    expected += (each.act == Act::kill ? "" : "|") + std::string(each.name);
  }
  const auto act = std::find_if(std::begin(acts), std::end(acts),
                                [&](const ActName& each) { return item.take(each.name); });
  if (act == std::end(acts)) item.refuse(expected);
  fault.act = act->act;
  fault.is_repeated = item.take("*");
  if (fault.act == Act::pause) {
    item.expect("=", "pause=TIME@POINT=SUPERSTEP");
    fault.pause = item.duration();
  }
  std::string where = "a point after the act: ";
  for (const PointName& each : points) {
    where += (each.point == Point::superstep ? "@" : ", @") + std::string(each.name) + "=N";
  }
  item.expect("@", where);
  const auto point = std::find_if(std::begin(points), std::end(points),
                                  [&](const PointName& each) { return item.take(each.name); });
  if (point == std::end(points)) item.refuse(where);
  fault.point = point->point;
  item.expect("=", where);
  fault.superstep = item.whole_number(INT64_MAX, where);
  item.expect_end(where);
  const bool is_of_rank_0 =
      fault.point == Point::before_manifest || fault.point == Point::after_manifest;
  if (is_of_rank_0 && fault.rank != 0) item.refuse("rank 0, which alone writes manifests");
  injection.rank_faults.push_back(fault);
}

void read_rank(Item& item, Injection& injection) {
  const auto rank = static_cast<Rank>(item.whole_number(most_ranks, "a rank: rankN.WHAT"));
  item.expect(".", "a point after the rank: rankN.WHAT");
  if (item.take("slow=")) {
    const std::string expected = "a factor from 1 to 1e6: rankN.slow=FACTOR";
    injection.slowness[rank] = item.real(1, 1e6, expected);
    item.expect_end(expected);
    return;
  }
  RankFault fault;
  fault.rank = rank;
  read_act(item, fault, injection);
}

/// `A+B/C+D=TIME@superstep=N`, without `=TIME` for ever.
void read_partition(Item& item, Injection& injection) {
  const std::string expected =
      "two sets of ranks from a superstep on: partitionA+B/C+D=TIME@superstep=N, or without =TIME "
      "for ever";
  Partition partition;
  for (std::vector<Rank>& side : partition.sides) {
    if (&side != &partition.sides[0]) item.expect("/", expected);
    do {
      side.push_back(static_cast<Rank>(item.whole_number(most_ranks, expected)));
    } while (item.take("+"));
  }
  for (const Rank rank : partition.sides[0]) {
    if (std::count(partition.sides[1].begin(), partition.sides[1].end(), rank) > 0)
      item.refuse("two sets without a rank in common");
  }
  partition.is_repeated = item.take("*");
  if (item.take("=")) partition.time = item.duration();
  item.expect("@superstep=", expected);
  partition.superstep = item.whole_number(INT64_MAX, expected);
  item.expect_end(expected);
  injection.partitions.push_back(std::move(partition));
}

void read_link_fault(Item& item, Faults& faults) {
  const std::string probability = "a probability from 0 to 1";
  if (item.take("drop=")) {
    // Each frame is dropped once at most, so even 1 loses nothing.
    faults.drop_probability = item.real(0, 1, probability);
  } else if (item.take("duplicate=")) {
    faults.duplicate_probability = item.real(0, 1, probability);
  } else if (item.take("reorder=")) {
    faults.reorder_probability = item.real(0, 1, probability);
  } else if (item.take("delay=")) {
    faults.delay = item.duration();
  } else if (item.take("bandwidth=")) {
    faults.bytes_per_second = item.bytes_per_second();
  } else {
    item.refuse("drop=P, duplicate=P, reorder=P, delay=TIME or bandwidth=RATE of a link");
  }
  item.expect_end("nothing after the value");
}

/// `drop=...` of every link, or of `link0-1`. What one link has of its own stands beside what all
/// have, so items of all links are read first.
void read_link(Item item, bool is_any, Injection& injection) {
  if (item.take(".")) {
    if (is_any) read_link_fault(item, injection.any_link);
    injection.has_link_faults = true;
    return;
  }
  const std::string expected = "two ranks: linkA-B.WHAT, or link.WHAT for all";
  const auto a = static_cast<Rank>(item.whole_number(most_ranks, expected));
  item.expect("-", expected);
  const auto b = static_cast<Rank>(item.whole_number(most_ranks, expected));
  if (a == b) item.refuse("two different ranks");
  item.expect(".", expected);
  injection.has_link_faults = true;
  if (is_any) return;
  const auto link = injection.some_links.try_emplace(std::minmax(a, b), injection.any_link).first;
  read_link_fault(item, link->second);
}

}  // namespace

const std::vector<Rank>& Partition::cut_from(Rank rank) const {
  static const std::vector<Rank> none;
  for (const int side : {0, 1}) {
    if (std::count(sides[side].begin(), sides[side].end(), rank) > 0) return sides[1 - side];
  }
  return none;
}

Faults Injection::link(Rank a, Rank b) const {
  const auto found = some_links.find(std::minmax(a, b));
  return found == some_links.end() ? any_link : found->second;
}

Rank Injection::highest_rank() const {
  Rank highest = -1;
  for (const RankFault& fault : rank_faults) highest = std::max(highest, fault.rank);
  for (const Partition& partition : partitions) {
    for (const auto& side : partition.sides) {
      for (const Rank rank : side) highest = std::max(highest, rank);
    }
  }
  for (const auto& [rank, factor] : slowness) highest = std::max(highest, rank);
  for (const auto& [ranks, faults] : some_links) highest = std::max(highest, ranks.second);
  return highest;
}

Injection parse_injection(const std::string& option, const std::string& text) {
  Injection injection;
  const std::vector<std::string> words = split_at_commas(option, text);
  for (const bool is_any : {true, false}) {
    for (const std::string& word : words) {
      Item item(option, word);
      if (item.take("link")) {
        read_link(item, is_any, injection);
      } else if (!is_any) {
        continue;
      } else if (item.take("seed=")) {
        const std::string expected = "a whole number: seed=N";
        injection.any_link.seed =
            static_cast<std::uint64_t>(item.whole_number(INT64_MAX, expected));
        item.expect_end(expected);
      } else if (item.take("rank")) {
        read_rank(item, injection);
      } else if (item.take("partition")) {
        read_partition(item, injection);
      } else {
        item.refuse("rankN.WHAT, linkA-B.WHAT, link.WHAT, partitionA/B@superstep=N or seed=N");
      }
    }
  }
  return injection;
}

}  // namespace weir::cli
