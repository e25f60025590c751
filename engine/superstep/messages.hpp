// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>
#include <span>
#include <type_traits>

#include <weir/engine/graph/side.hpp>
#include <weir/engine/model/vertex_program.hpp>
#include <weir/engine/superstep/fold.hpp>
#include <weir/engine/superstep/published.hpp>

namespace weir {

namespace detail {

/// Refuses a NaN where a minimum or maximum would have to order it.
template <class P, class M>
void refuse_nan(const M& message) {
  if constexpr (CombiningProgram<P> && std::is_floating_point_v<M>) {
    if constexpr (P::Combiner::is_exact)
      WEIR_EXPECT(!std::isnan(message), program, "a message to a minimum or maximum is NaN");
  }
}

/// How many messages a row scatters.
template <class P, class E>
[[gnu::always_inline]] inline std::uint64_t num_messages(const Side<E>& side,
                                                         const Vertices& vertices, Row row,
                                                         bool is_directed) {
  // Where the list names the readers its offsets are read next.
  if (side.is_symmetric) return side.last(row) - side.first(row);
  switch (along_edges_of<P>()) {
    case Edges::out: return vertices.out_degree(row);
    case Edges::in: return vertices.in_degree(row);
    case Edges::both: break;
  }
  return vertices.out_degree(row) + (is_directed ? vertices.in_degree(row) : 0);
}

}  // namespace detail

/// The messages one phase scattered, as its targets read them: along(published, arc) for the
/// present members of a neighbour list.
template <class P, class E>
class ScatteredMessages {
 public:
  using Program = P;
  using Message = typename P::Message;

  /// Absent slots hold the identity where the published value is the message: no test per arc.
  static constexpr bool is_blank_identity = [] {
    if constexpr (CombiningProgram<P>) {
      return !AlongProgram<P, E> && std::is_same_v<PublishedOf<P>, Message> &&
             !FirstDecidesProgram<P>;
    } else {
      return false;
    }
  }();

  ScatteredMessages(const P& program, const Side<E>& side,
                    const PublishedBuffer<PublishedOf<P>>& buffer, const Vertices& vertices)
      : program_(&program),
        side_(&side),
        vertices_(&vertices),
        offsets_(side.offsets.data()),
        splits_(side.splits.empty() ? nullptr : side.splits.data()),
        neighbours_(side.neighbours.data()),
        published_(buffer.values()),
        presence_(buffer.presence()),
        is_full_(buffer.is_full()),
        is_empty_(buffer.num_present() == 0) {}

  std::uint64_t first(Row row) const { return offsets_[row]; }
  std::uint64_t last(Row row) const { return offsets_[row + std::size_t{1}]; }
  bool has(std::uint64_t position) const { return presence_[neighbours_[position]] == Mark::set; }

  /// The message at a position of the list of `target`; the source is present.
  Message at(std::uint64_t position, VertexId target) const {
    const Slot slot = neighbours_[position];
    if constexpr (AlongProgram<P, E>) {
      return along({side_->slots.ids[slot], target, side_->values[position]},
                   published_[slot].value);
    } else {
      return static_cast<Message>(published_[slot].value);
    }
  }
  /// The message of a present slot over one arc.
  Message over(Slot slot, VertexId target, const E& value) const {
    return along({side_->slots.ids[slot], target, value}, published_[slot].value);
  }

  Message along(const Arc<E>& arc, const PublishedOf<P>& published) const {
    if constexpr (AlongProgram<P, E>) {
      Message message = program_->along(published, arc);
      detail::refuse_nan<P>(message);
      return message;
    } else {
      return static_cast<Message>(published);
    }
  }

  /// The fold of a row's messages (docs/semantics.md, part 4): of each list, then of both.
  template <Monoid C>
  Message folded(const C& combiner, Row row) const {
    if (is_empty_) return C::identity();
    if (splits_ == nullptr) return folded_list(combiner, row);
    const std::uint64_t split = splits_[row];
    const Message in = folded(combiner, row, first(row), split);
    return combiner(in, folded(combiner, row, split, last(row)));
  }
  /// The same where there are messages and rows have one list.
  template <Monoid C>
  [[gnu::always_inline]] inline Message folded_list(const C& combiner, Row row) const {
    return folded(combiner, row, first(row), last(row));
  }
  bool has_one_list() const { return splits_ == nullptr; }
  /// Whether a row has any message, also one equal to the identity.
  bool has_any(Row row) const {
    for (std::uint64_t i = first(row); i < last(row); ++i) {
      if (has(i)) return true;
    }
    return false;
  }

  bool is_empty() const { return is_empty_; }
  bool is_full() const { return is_full_; }

  VertexId id(Row row) const { return vertices_->id(row); }

 private:
  template <Monoid C>
  [[gnu::always_inline]] inline Message folded(const C& combiner, Row row, std::uint64_t begin,
                                               std::uint64_t end) const {
    VertexId target = 0;
    if constexpr (AlongProgram<P, E>) target = vertices_->id(row);
    if constexpr (FirstDecidesProgram<P>) {
      for (std::uint64_t i = begin; i < end; ++i) {
        if (has(i)) return at(i, target);
      }
      return C::identity();
    } else if constexpr (is_blank_identity) {
      return fold(combiner, begin, end, [&](std::uint64_t i) { return at(i, target); });
    } else {
      if (is_full_)
        return fold(combiner, begin, end, [&](std::uint64_t i) { return at(i, target); });
      return fold(combiner, begin, end,
                  [&](std::uint64_t i) { return has(i) ? at(i, target) : C::identity(); });
    }
  }

  const P* program_;
  const Side<E>* side_;
  const Vertices* vertices_;
  // Read per arc: copies, so that stores of the loop around do not force them to be read again.
  const std::uint64_t* offsets_;
  const std::uint64_t* splits_;
  const Slot* neighbours_;
  const detail::Cell<PublishedOf<P>>* published_;
  const Mark* presence_;
  bool is_full_;
  bool is_empty_;
};

/// The inbox of a program without a combiner: first the scattered messages in list order, then the
/// sent ones. Valid during `compute`.
template <class P, class E>
class MessageView {
 public:
  using Message = typename P::Message;

  /// `scattered` may be null: nothing was scattered.
  MessageView(const ScatteredMessages<P, E>* scattered, Row row,
              std::span<const detail::Cell<Message>> sent)
      : scattered_(scattered), sent_(sent) {
    if (scattered_ == nullptr || scattered_->is_empty()) return;
    first_ = scattered_->first(row);
    last_ = scattered_->last(row);
    target_ = scattered_->id(row);
    first_ = next_present(first_);
  }

  class Iterator {
   public:
    using value_type = Message;
    Iterator(const MessageView* view, std::uint64_t position, std::size_t sent)
        : view_(view), position_(position), sent_(sent) {}
    Message operator*() const {
      return position_ < view_->last_ ? view_->scattered_->at(position_, view_->target_)
                                      : view_->sent_[sent_].value;
    }
    Iterator& operator++() {
      if (position_ < view_->last_)
        position_ = view_->next_present(position_ + 1);
      else
        ++sent_;
      return *this;
    }
    friend bool operator==(const Iterator& a, const Iterator& b) {
      return a.position_ == b.position_ && a.sent_ == b.sent_;
    }

   private:
    const MessageView* view_;
    std::uint64_t position_;
    std::size_t sent_;
  };

  Iterator begin() const { return {this, first_, 0}; }
  Iterator end() const { return {this, last_, sent_.size()}; }
  bool empty() const { return first_ == last_ && sent_.empty(); }

 private:
  std::uint64_t next_present(std::uint64_t position) const {
    if (scattered_->is_full()) return position;
    while (position < last_ && !scattered_->has(position)) ++position;
    return position;
  }

  const ScatteredMessages<P, E>* scattered_;
  std::span<const detail::Cell<Message>> sent_;
  std::uint64_t first_ = 0;
  std::uint64_t last_ = 0;
  VertexId target_ = 0;
};

}  // namespace weir
