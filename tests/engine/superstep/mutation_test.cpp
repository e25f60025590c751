// SPDX-License-Identifier: Apache-2.0
// Programs that change their graph: docs/semantics.md, part 6.
#include <cstdint>
#include <functional>
#include <string>

#include <gtest/gtest.h>

#include <weir/tests/engine/superstep/job.hpp>

namespace weir {
namespace {

using cases::error_of;
using cases::Input;

/// What a vertex can ask for, for scripts that are not templates.
struct Asker {
  std::function<void()> remove;
  std::function<void(VertexId)> remove_edge;
  std::function<void(VertexId)> add_edge;
  std::function<void(VertexId, std::int64_t)> add_vertex;
  std::function<void(VertexId, std::int64_t)> send;
  std::function<void()> scatter;
};

/// Runs a script in superstep 0 and writes down what it finds in superstep `last`:
/// value + 10 * messages + 100 * in-degree + 1000 * out-degree + 10000 * vertices.
template <bool resolves>
struct Script {
  using Value = std::int64_t;
  using Message = std::int64_t;
  using Combiner = Sum<std::int64_t>;
  static constexpr bool mutates_topology = true;
  std::function<void(Asker&, VertexId)> script;
  Superstep last = 1;

  Value init(const VertexInfo&) const { return 1; }
  void compute(VertexHandle auto& v, const Inbox<Message>& inbox) const {
    if (v.superstep() == 0) {
      Asker asker{[&] { v.remove(); },
                  [&](VertexId target) { v.remove_edge(target); },
                  [&](VertexId target) { v.add_edge(target); },
                  [&](VertexId id, std::int64_t value) { v.add_vertex(id, value); },
                  [&](VertexId id, std::int64_t message) { v.send(id, message); },
                  [&] { v.scatter(); }};
      script(asker, v.id());
    }
    if (v.superstep() < last) return;
    const auto in = static_cast<std::int64_t>(v.in_degree());
    const auto out = static_cast<std::int64_t>(v.out_degree());
    v.value() += 10 * inbox.combined(Combiner{}) + 100 * in + 1000 * out +
                 10'000 * static_cast<std::int64_t>(v.num_vertices());
    v.vote_to_halt();
  }
  Message publish(const Value&, const VertexInfo&) const { return 1; }
  Value resolve(VertexId, const Value& a, const Value& b) const requires resolves { return a + b; }
};

using Act = std::function<void(Asker&, VertexId)>;

/// Values after the script, then "dropped N". Equal at any number of ranks.
std::string after(const Input<NoValue>& input, const Act& script) {
  const std::string text = cases::job_everywhere(input, Script<false>{script});
  const auto dropped = text.rfind(", dropped ");
  return text.substr(0, text.find("superstep")) + text.substr(dropped + 2);
}

Input<NoValue> triangle() { return {.edges = {{1, 2, {}}, {2, 3, {}}, {3, 1, {}}}}; }

TEST(Mutation, a_removed_vertex_goes_with_every_edge_that_touches_it) {
  EXPECT_EQ(after(triangle(),
                  [](Asker& v, VertexId id) {
                    if (id == 2) v.remove();
                  }),
            "1 20101\n3 21001\ndropped 0\n");
}

TEST(Mutation, removing_an_edge_removes_all_parallel_arcs) {
  Input<NoValue> input = triangle();
  input.edges.push_back({1, 2, {}});
  input.edges.push_back({1, 2, {}});
  EXPECT_EQ(after(input,
                  [](Asker& v, VertexId id) {
                    if (id == 1) v.remove_edge(2);
                    if (id == 1) v.remove_edge(2);   // asking twice is asking once
                    if (id == 1) v.remove_edge(99);  // not there: nothing happens
                    if (id == 3) v.remove_edge(2);
                  }),
            "1 30101\n2 31001\n3 31101\ndropped 0\n");
}

TEST(Mutation, an_undirected_edge_goes_and_comes_at_both_ends) {
  Input<NoValue> input = triangle();
  input.options.is_directed = false;
  EXPECT_EQ(after(input,
                  [](Asker& v, VertexId id) {
                    if (id == 2) v.remove_edge(1);
                    if (id == 3) v.add_edge(3);  // a loop: two arcs
                  }),
            "1 31101\n2 31101\n3 34401\ndropped 0\n");
}

TEST(Mutation, removing_and_adding_an_edge_leaves_exactly_one) {
  Input<NoValue> input = triangle();
  input.edges.push_back({1, 2, {}});
  EXPECT_EQ(after(input,
                  [](Asker& v, VertexId id) {
                    if (id != 1) return;
                    v.add_edge(2);
                    v.remove_edge(2);
                  }),
            after(triangle(), [](Asker&, VertexId) {}));
}

TEST(Mutation, removing_and_adding_a_vertex_leaves_a_fresh_one) {
  EXPECT_EQ(after(triangle(),
                  [](Asker& v, VertexId id) {
                    if (id == 2) v.remove();
                    if (id == 3) v.add_vertex(2, 7);
                    if (id == 3) v.send(2, 5);  // delivered to the old one, and gone with it
                  }),
            "1 30101\n2 30007\n3 31001\ndropped 0\n");
}

TEST(Mutation, adding_a_vertex_that_exists_changes_nothing) {
  EXPECT_EQ(after(triangle(), [](Asker& v, VertexId id) { v.add_vertex(id % 3 + 1, 50); }),
            after(triangle(), [](Asker&, VertexId) {}));
}

TEST(Mutation, a_new_vertex_may_get_edges_at_once_wherever_its_id_falls) {
  for (const VertexId fresh : {VertexId{-100}, VertexId{0}, VertexId{4}, INT64_MAX, INT64_MIN}) {
    const std::string text = after(triangle(), [fresh](Asker& v, VertexId id) {
      if (id != 3) return;
      v.add_edge(fresh);
      v.add_vertex(fresh, 7);
    });
    EXPECT_NE(text.find(std::to_string(fresh) + " 40107\n"), std::string::npos) << text;
    EXPECT_NE(text.find("3 42101\n"), std::string::npos) << text;
  }
}

TEST(Mutation, an_edge_to_nobody_is_dropped_and_counted) {
  EXPECT_EQ(after(triangle(),
                  [](Asker& v, VertexId id) {
                    if (id == 1) v.add_edge(99);
                    if (id == 2) v.remove();
                    if (id == 3) v.add_edge(2);
                    if (id == 2) v.add_edge(1);
                  }),
            "1 20101\n3 21001\ndropped 3\n");
}

TEST(Mutation, messages_are_delivered_in_the_graph_in_which_they_were_sent) {
  // 1 scatters to 2 along an edge that it removes, and 2 and 3 hear what the removed vertex said.
  EXPECT_EQ(after(triangle(),
                  [](Asker& v, VertexId id) {
                    if (id == 1) v.scatter();
                    if (id == 1) v.remove_edge(2);
                    if (id == 2) v.scatter();
                    if (id == 2) v.send(3, 3);
                  }),
            "1 30101\n2 31011\n3 31141\ndropped 0\n");
  EXPECT_EQ(after(triangle(),
                  [](Asker& v, VertexId id) {
                    if (id == 1) v.scatter();
                    if (id == 1) v.remove();
                  }),
            "2 21011\n3 20101\ndropped 0\n");
}

TEST(Mutation, a_message_to_a_vertex_added_in_the_same_superstep_is_dropped) {
  EXPECT_EQ(after(triangle(),
                  [](Asker& v, VertexId id) {
                    if (id == 1) v.add_vertex(9, 7);
                    if (id == 2) v.send(9, 5);
                  }),
            "1 41101\n2 41101\n3 41101\n9 40007\ndropped 1\n");
}

TEST(Mutation, two_additions_with_different_values_are_an_error_without_resolve) {
  const Act script = [](Asker& v, VertexId id) { v.add_vertex(9, id); };
  for (const Rank ranks : cases::rank_counts) {
    const std::string text = error_of(triangle(), Script<false>{script}, ranks);
    EXPECT_NE(text.find("vertex 9 was added twice with different values"), std::string::npos);
    EXPECT_EQ(text.substr(0, 8), "program:");
  }
  EXPECT_NE(cases::job_everywhere(triangle(), Script<true>{script}).find("9 40006\n"),
            std::string::npos);
}

/// Everybody halts in superstep 0, and vertex 1 adds one; the new vertex must compute.
struct AddsAndHalts {
  using Value = std::int64_t;
  using Message = std::int64_t;
  using Combiner = Sum<std::int64_t>;
  static constexpr bool mutates_topology = true;
  Value init(const VertexInfo&) const { return 0; }
  void compute(VertexHandle auto& v, const Inbox<Message>&) const {
    v.value() += 1;
    if (v.superstep() == 0 && v.id() == 1) v.add_vertex(77, 40);
    v.vote_to_halt();
  }
};

TEST(Mutation, a_new_vertex_is_active_though_everyone_else_halted) {
  const std::string text = cases::job_everywhere(triangle(), AddsAndHalts{});
  EXPECT_EQ(text.substr(0, 18), "1 1\n2 1\n3 1\n77 41\n") << text;
  EXPECT_NE(text.find("superstep 1 phase 0: computed 1,"), std::string::npos) << text;
}

/// Everybody leaves without voting; an empty graph is quiet.
struct AllLeave {
  using Value = std::int64_t;
  using Message = std::int64_t;
  using Combiner = Sum<std::int64_t>;
  static constexpr bool mutates_topology = true;
  Value init(const VertexInfo&) const { return 0; }
  void compute(VertexHandle auto& v, const Inbox<Message>&) const { v.remove(); }
};

TEST(Mutation, every_vertex_may_leave) {
  EXPECT_EQ(cases::job_everywhere(triangle(), AllLeave{}),
            "superstep 0 phase 0: computed 3, scattered 0, messages 0, dropped 0, mutations 3\n"
            "end: quiet after 1, messages 0, dropped 0\n");
}

/// Peels vertices of degree below k until none is left.
struct Peeling {
  using Value = std::int64_t;
  using Message = std::int64_t;
  using Combiner = Sum<std::int64_t>;
  static constexpr bool mutates_topology = true;
  std::uint64_t k = 2;
  Value init(const VertexInfo&) const { return 0; }
  void compute(VertexHandle auto& v, const Inbox<Message>&) const {
    v.value() = static_cast<Value>(v.out_degree());
    if (v.out_degree() < k) {
      v.scatter();
      v.remove();
    }
    v.vote_to_halt();
  }
  Message publish(const Value&, const VertexInfo&) const { return 1; }
};

TEST(Mutation, degrees_follow_over_many_supersteps) {
  Input<NoValue> input = cases::path(30);  // a path with a triangle at its end peels step by step
  input.edges.push_back({28, 30, {}});
  EXPECT_EQ(cases::job_everywhere(input, Peeling{}).substr(0, 15), "28 2\n29 2\n30 2\n");
}

TEST(Mutation, the_graph_stays_as_the_last_superstep_left_it) {
  cases::on_ranks(3, [](Context& context) {
    auto graph = cases::build(context, triangle());
    run(graph, Script<false>{[](Asker& v, VertexId id) {
          if (id == 2) v.remove();
        }});
    EXPECT_EQ(graph.num_vertices(), 2U);
    EXPECT_EQ(graph.num_edges(), 1U);
    return 0;
  });
}

/// Everyone asks in superstep 0; with strict Pregel an identity message wakes over a mutation.
struct WakesOverMutation {
  using Value = std::int64_t;
  using Message = std::int64_t;
  using Combiner = Sum<std::int64_t>;
  static constexpr bool mutates_topology = true;
  static constexpr bool wakes_on_any_message = true;
  Value init(const VertexInfo&) const { return 0; }
  void compute(VertexHandle auto& v, const Inbox<Message>&) const {
    v.value() += 1;
    if (v.superstep() == 0 && v.id() == 1) v.send(2, 0);
    if (v.superstep() == 0 && v.id() == 1) v.remove_edge(2);
    v.vote_to_halt();
  }
};

TEST(Mutation, any_message_wakes_also_over_a_mutation) {
  EXPECT_EQ(cases::job_everywhere(triangle(), WakesOverMutation{}).substr(0, 12),
            "1 1\n2 2\n3 1\n");
}

}  // namespace
}  // namespace weir
