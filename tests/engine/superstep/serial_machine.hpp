// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <weir/engine/model/vertex_program.hpp>
#include <weir/tests/engine/graph/graph_cases.hpp>

namespace weir::cases {

/// A serial machine for vertex programs over weighted edges, written from docs/semantics.md alone:
/// plain maps, no buffers, no engine code but monoids and the concepts of programs. Programs
/// without master, traits or phases.
template <class P, Edges along_edges>
class SerialMachine {
 public:
  using Value = typename P::Value;
  using Message = typename P::Message;
  using Tags = AggregatorsOf<P>;
  static constexpr bool is_combining = CombiningProgram<P>;

  SerialMachine(const Input<double>& input, const P& program, std::uint64_t seed)
      : program_(program), is_directed_(input.options.is_directed), seed_(seed) {
    for (const VertexId id : input.vertices) vertices_[id];
    for (const auto& edge : input.edges) {
      vertices_[edge.source];
      vertices_[edge.target];
      add_edge(edge);
    }
    for (auto& [id, vertex] : vertices_) vertex.heat = vertex.in.size() + vertex.out.size();
    cut_into_shards(input);
    for (auto& [id, vertex] : vertices_) vertex.value = program_.init(info(id));
  }

  /// As `describe` of a run of the engine.
  std::string run(Superstep limit) {
    std::ostringstream report;
    std::uint64_t num_messages = 0;
    std::uint64_t num_dropped = 0;
    Superstep step = 0;
    bool is_quiet = false;
    for (; step < limit && !is_quiet; ++step) {
      compute_all(step);
      const std::uint64_t dropped = deliver();
      const std::uint64_t lost_edges = change_topology();
      report << "superstep " << step << " phase 0: computed " << num_computed_ << ", scattered "
             << published_.size() << ", messages " << num_messages_ << ", dropped "
             << dropped + lost_edges << ", mutations " << num_mutations_ << "\n";
      num_messages += num_messages_;
      num_dropped += dropped + lost_edges;
      is_quiet = published_.empty() && sent_.empty() &&
                 std::all_of(vertices_.begin(), vertices_.end(),
                             [](const auto& entry) { return entry.second.is_halted; });
      aggregated_ = fold_aggregates();
    }
    std::ostringstream text;
    for (const auto& [id, vertex] : vertices_) text << id << " " << text_of(vertex.value) << "\n";
    text << report.str() << "end: " << (is_quiet ? "quiet" : "limit") << " after " << step
         << ", messages " << num_messages << ", dropped " << num_dropped << "\n";
    return text.str();
  }

 private:
  using Far = std::pair<VertexId, double>;
  struct Vertex {
    Value value{};
    bool is_halted = false;
    std::uint64_t heat = 0;
    std::vector<Far> in, out;
    std::vector<Message> inbox;  // one folded message when combining
    bool has_message = false;
  };
  struct Sent {
    VertexId target;
    Message message;
  };

  /// What `compute` gets; records only.
  struct Handle {
    SerialMachine& machine;
    VertexId self;
    Superstep step;
    Vertex& vertex;
    bool votes = false;
    bool scatters = false;
    typename Tags::Values& aggregates;

    VertexId id() const { return self; }
    Superstep superstep() const { return step; }
    std::uint64_t num_vertices() const { return machine.vertices_.size(); }
    std::uint64_t out_degree() const { return vertex.out.size(); }
    std::uint64_t in_degree() const { return vertex.in.size(); }
    Value& value() { return vertex.value; }
    void vote_to_halt() { votes = true; }
    void scatter() { scatters = true; }
    void send(VertexId target, const Message& message) {
      machine.sent_.push_back({target, message});
      ++machine.num_messages_;
    }
    CounterRandom random() const {
      return {machine.seed_, static_cast<std::uint64_t>(step), static_cast<std::uint64_t>(self)};
    }
    template <class Tag>
    void aggregate(Tag, const typename Tag::value_type& x) {
      auto& mine = std::get<Tags::template index_of<Tag>()>(aggregates);
      mine = typename Tag::monoid{}(mine, x);
    }
    template <class Tag>
    typename Tag::value_type aggregated(Tag) const {
      return Tags::template read<Tag>(machine.aggregated_);
    }
    std::vector<Arc<double>> arcs() const {
      std::vector<Arc<double>> all;
      for (const auto& [id, value] : machine.in_order(vertex.out)) all.push_back({self, id, value});
      return all;
    }
    void remove() { machine.removed_.push_back(self); }
    void remove_edge(VertexId target) { machine.removed_edges_.emplace_back(self, target); }
    void add_edge(VertexId target, double value) {
      machine.added_edges_.push_back({self, target, value});
    }
    void add_vertex(VertexId id, const Value& value) { machine.added_.emplace_back(id, value); }
  };

  VertexInfo info(VertexId id) {
    const Vertex& vertex = vertices_.at(id);
    return {id, vertex.out.size(), vertex.in.size(), vertices_.size()};
  }

  void add_edge(const Edge<double>& edge) {
    vertices_.at(edge.source).out.emplace_back(edge.target, edge.value);
    vertices_.at(edge.target).in.emplace_back(edge.source, edge.value);
    if (is_directed_) return;
    vertices_.at(edge.target).out.emplace_back(edge.source, edge.value);
    vertices_.at(edge.source).in.emplace_back(edge.target, edge.value);
  }

  void cut_into_shards(const Input<double>& input) {
    std::uint64_t total = 0;
    for (const auto& [id, vertex] : vertices_) total += 4 + vertex.heat;
    num_shards_ = input.options.num_shards.value_or(static_cast<std::uint32_t>(
        std::clamp<std::size_t>(vertices_.size(), 1, 256)));  // small graphs
    std::uint64_t before = 0;
    for (const auto& [id, vertex] : vertices_) {
      first_ids_.emplace_back(id, before * num_shards_ / total);
      before += 4 + vertex.heat;
    }
  }

  std::uint64_t shard_of(VertexId id) const {
    std::uint64_t shard = 0;  // ids below the first join shard 0
    for (const auto& [first, its_shard] : first_ids_)
      if (first <= id) shard = its_shard;
    return shard;
  }

  bool is_hotter(VertexId a, VertexId b) const {
    const auto heat_a = vertices_.at(a).heat, heat_b = vertices_.at(b).heat;
    return heat_a != heat_b ? heat_a > heat_b : a < b;
  }

  /// All vertices by shard, then heat.
  std::vector<VertexId> rows() const {
    std::vector<VertexId> ids;
    for (const auto& [id, vertex] : vertices_) ids.push_back(id);
    std::sort(ids.begin(), ids.end(), [this](VertexId a, VertexId b) {
      return shard_of(a) != shard_of(b) ? shard_of(a) < shard_of(b) : is_hotter(a, b);
    });
    return ids;
  }

  void compute_all(Superstep step) {
    published_.clear();
    sent_.clear();
    num_computed_ = num_messages_ = 0;
    shard_aggregates_.assign(num_shards_, Tags::identity());
    for (const VertexId id : rows()) {
      Vertex& vertex = vertices_.at(id);
      if (step > 0 && vertex.is_halted && !vertex.has_message) continue;
      Handle handle{*this, id, step, vertex, false, false, shard_aggregates_[shard_of(id)]};
      if constexpr (is_combining) {
        const Message none = P::Combiner::identity();
        program_.compute(handle, Inbox<Message>(vertex.inbox.empty() ? none : vertex.inbox[0],
                                                !vertex.has_message));
      } else {
        program_.compute(handle, std::as_const(vertex.inbox));
      }
      ++num_computed_;
      vertex.is_halted = handle.votes;
      if (!handle.scatters) continue;
      published_.emplace(id, program_.publish(vertex.value, info(id)));
      if (along_edges != Edges::in) num_messages_ += vertex.out.size();
      if (along_edges == Edges::in || (along_edges == Edges::both && is_directed_))
        num_messages_ += vertex.in.size();
    }
  }

  /// A list in heat order; parallel arcs by the bits of their value.
  std::vector<Far> in_order(std::vector<Far> list) const {
    std::sort(list.begin(), list.end(), [this](const Far& a, const Far& b) {
      if (a.first != b.first) return is_hotter(a.first, b.first);
      return std::memcmp(&a.second, &b.second, sizeof(double)) < 0;
    });
    return list;
  }

  /// The members of a list in its order, with their message where they scattered.
  std::vector<std::pair<bool, Message>> messages_of(VertexId target,
                                                    const std::vector<Far>& list) const {
    std::vector<std::pair<bool, Message>> messages;
    for (const auto& [source, value] : in_order(list)) {
      const auto at = published_.find(source);
      if (at == published_.end())
        messages.emplace_back(false, Message{});
      else
        messages.emplace_back(true, program_.along(at->second, Arc<double>{source, target, value}));
    }
    return messages;
  }

  static Message tree(const std::vector<Message>& items) {
    if (items.size() == 1) return items[0];
    std::size_t p = 1;
    while (2 * p < items.size()) p *= 2;
    const auto middle = items.begin() + static_cast<std::ptrdiff_t>(p);
    return typename P::Combiner{}(tree({items.begin(), middle}), tree({middle, items.end()}));
  }

  static Message fold(const std::vector<std::pair<bool, Message>>& messages) {
    using C = typename P::Combiner;
    if (messages.empty()) return C::identity();
    std::vector<Message> blocks;
    for (std::size_t b = 0; 1024 * b < messages.size(); ++b) {
      std::vector<Message> lanes(4, C::identity());
      for (std::size_t i = 1024 * b; i < std::min(messages.size(), 1024 * (b + 1)); ++i)
        lanes[i % 4] = C{}(lanes[i % 4], messages[i].first ? messages[i].second : C::identity());
      blocks.push_back(C{}(C{}(lanes[0], lanes[2]), C{}(lanes[1], lanes[3])));
    }
    return tree(blocks);
  }

  /// Fills the inboxes; returns how many messages had no vertex.
  std::uint64_t deliver() {
    std::map<VertexId, std::vector<std::pair<bool, Message>>> sent;
    std::uint64_t num_dropped = 0;
    for (const auto& [target, message] : sent_) {
      if (vertices_.count(target) == 0)
        ++num_dropped;
      else
        sent[target].emplace_back(true, message);
    }
    for (auto& [id, vertex] : vertices_) {
      std::vector<std::vector<Far>> lists;
      if (along_edges != Edges::in) lists.push_back(vertex.in);
      if (along_edges == Edges::in || (along_edges == Edges::both && is_directed_))
        lists.push_back(vertex.out);
      vertex.inbox.clear();
      if constexpr (is_combining) {
        using C = typename P::Combiner;
        Message folded = fold(messages_of(id, lists[0]));
        if (lists.size() > 1) folded = C{}(folded, fold(messages_of(id, lists[1])));
        folded = C{}(folded, fold(sent[id]));
        const Message none = C::identity();
        vertex.inbox.push_back(folded);
        vertex.has_message = std::memcmp(&folded, &none, sizeof(Message)) != 0;
      } else {
        for (const auto& list : lists) {
          for (const auto& [is_there, message] : messages_of(id, list))
            if (is_there) vertex.inbox.push_back(message);
        }
        for (const auto& [is_there, message] : sent[id]) vertex.inbox.push_back(message);
        vertex.has_message = !vertex.inbox.empty();
      }
    }
    return num_dropped;
  }

  /// The five steps of part 6; returns how many added edges had no end.
  std::uint64_t change_topology() {
    num_mutations_ = removed_.size() + removed_edges_.size() + added_.size() + added_edges_.size();
    const std::set<std::pair<VertexId, VertexId>> gone(removed_edges_.begin(),
                                                       removed_edges_.end());
    const std::set<VertexId> gone_vertices(removed_.begin(), removed_.end());
    const auto is_gone = [&](VertexId from, VertexId to) {
      return gone.count({from, to}) > 0 || (!is_directed_ && gone.count({to, from}) > 0) ||
             gone_vertices.count(from) > 0 || gone_vertices.count(to) > 0;
    };
    for (auto& entry : vertices_) {
      const VertexId id = entry.first;
      std::erase_if(entry.second.out, [&](const Far& far) { return is_gone(id, far.first); });
      std::erase_if(entry.second.in, [&](const Far& far) { return is_gone(far.first, id); });
    }
    for (const VertexId id : gone_vertices) vertices_.erase(id);
    for (const auto& [id, value] : added_) {
      const auto [at, is_new] = vertices_.try_emplace(id);
      if (is_new) at->second.value = value;
    }
    std::uint64_t num_lost = 0;
    for (const auto& edge : added_edges_) {
      if (vertices_.count(edge.source) > 0 && vertices_.count(edge.target) > 0)
        add_edge(edge);
      else
        ++num_lost;
    }
    removed_.clear();
    removed_edges_.clear();
    added_.clear();
    added_edges_.clear();
    return num_lost;
  }

  typename Tags::Values fold_aggregates() const { return aggregate_tree(shard_aggregates_); }

  static typename Tags::Values aggregate_tree(const std::vector<typename Tags::Values>& items) {
    if (items.size() == 1) return items[0];
    std::size_t p = 1;
    while (2 * p < items.size()) p *= 2;
    const auto middle = items.begin() + static_cast<std::ptrdiff_t>(p);
    return Tags::combine(aggregate_tree({items.begin(), middle}),
                         aggregate_tree({middle, items.end()}));
  }

  P program_;
  bool is_directed_;
  std::uint64_t seed_;
  std::map<VertexId, Vertex> vertices_;
  std::uint64_t num_shards_ = 1;
  std::vector<std::pair<VertexId, std::uint64_t>> first_ids_;  // vertices at build, their shards
  std::map<VertexId, PublishedOf<P>> published_;
  std::vector<Sent> sent_;
  std::vector<VertexId> removed_;
  std::vector<std::pair<VertexId, VertexId>> removed_edges_;
  std::vector<Edge<double>> added_edges_;
  std::vector<std::pair<VertexId, Value>> added_;
  std::vector<typename Tags::Values> shard_aggregates_;
  typename Tags::Values aggregated_ = Tags::identity();
  std::uint64_t num_computed_ = 0;
  std::uint64_t num_messages_ = 0;
  std::uint64_t num_mutations_ = 0;
};

}  // namespace weir::cases
