// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include <weir/engine/graph/vertex_values.hpp>
#include <weir/engine/graph/vertices.hpp>
#include <weir/engine/model/monoid.hpp>

namespace weir {

/// The rows that a superstep of few vertices visits, each with its folded message. A row is found
/// by a hash table that stays in the processor's cache, whatever the size of the graph. Only for
/// exact combiners, whose result does not depend on the order.
template <Monoid C>
class SparseInbox {
 public:
  using Message = typename C::value_type;
  struct Letter {
    Row row = 0;
    detail::Cell<Message> message;
  };

  bool is_open() const { return is_open_; }
  /// Room for at most `max_letters` rows and messages.
  void begin(std::uint64_t max_letters) {
    is_open_ = true;
    num_letters_ = 0;
    if (letters_.size() < max_letters) letters_.resize(max_letters * 2);
    if (++round_ == 0) {  // numbers of rounds are used up
      std::fill(places_.begin(), places_.end(), Place{});
      round_ = 1;
    }
  }
  void end() { is_open_ = false; }

  /// Folds a message into that of a row; the identity merely visits it.
  void add(Row row, const Message& message) {
    if (num_letters_ * 2 >= places_.size()) grow();
    Place& place = find(row);
    if (place.round != round_) {
      place = {round_, static_cast<std::uint32_t>(num_letters_)};
      add_new(row, message);
    } else {
      Message& folded = letters_[place.letter].message.value;
      folded = C{}(folded, message);
    }
  }
  /// The same for a row that the caller knows to be the first time it is added.
  void add_new(Row row, const Message& message) { letters_[num_letters_++] = {row, {message}}; }
  void sort() {
    const auto is_before = [](const Letter& a, const Letter& b) { return a.row < b.row; };
    const std::span<Letter> all(letters_.data(), num_letters_);
    if (!std::is_sorted(all.begin(), all.end(), is_before))
      std::sort(all.begin(), all.end(), is_before);
  }
  std::span<const Letter> letters() const { return {letters_.data(), num_letters_}; }

 private:
  /// Where a row may be; taken if of this round.
  struct Place {
    std::uint32_t round = 0;
    std::uint32_t letter = 0;
  };

  Place& find(Row row) {
    const std::size_t last = places_.size() - 1;
    std::size_t at = (row * 0x9e3779b97f4a7c15U >> 32U) & last;
    while (places_[at].round == round_ && letters_[places_[at].letter].row != row)
      at = (at + 1) & last;
    return places_[at];
  }
  void grow() {
    places_.assign(std::max<std::size_t>(64, places_.size() * 4), Place{});
    for (std::uint32_t i = 0; i < num_letters_; ++i) find(letters_[i].row) = {round_, i};
  }

  bool is_open_ = false;
  std::uint32_t round_ = 0;
  std::vector<Place> places_;
  std::vector<Letter> letters_;  // the first num_letters_
  std::size_t num_letters_ = 0;
};

}  // namespace weir
