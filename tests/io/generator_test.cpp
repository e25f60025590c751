// SPDX-License-Identifier: Apache-2.0
#include <weir/io/generator.hpp>

#include <cmath>
#include <map>
#include <set>

#include <weir/io/indexed_random.hpp>

#include <weir/tests/io/loading.hpp>

namespace weir::io::test {
namespace {

Loaded generate(const std::string& spec, int num_parts = 1) {
  Loaded all;
  for (Part part{0, num_parts}; part.index < num_parts; ++part.index) {
    Generator generator(spec, part);
    all.header = generator.header();
    drain(generator, all.edges);
    drain(generator, all.vertices);
  }
  return all;
}

std::string error_of_spec(const std::string& spec) {
  return error_of([&] { Generator generator(spec); });
}

/// A number that changes with any bit and with the order of the edges.
std::uint64_t fingerprint(const Edges& edges) {
  std::uint64_t print = 0;
  for (const Edge<double>& edge : edges) {
    print = mix_bits(print ^ static_cast<std::uint64_t>(edge.source));
    print = mix_bits(print ^ static_cast<std::uint64_t>(edge.target));
    print = mix_bits(print ^ static_cast<std::uint64_t>(edge.value));
  }
  return print;
}

const char* const specs[] = {"rmat:scale=10,edge_factor=5,seed=3",
                             "rmat:scale=7,edge_factor=16,a=.45,b=.25,c=.15,weights=255",
                             "uniform:vertices=1000,edges=7001,seed=9,weights=10",
                             "lognormal:vertices=300,mu=2,sigma=1.3,seed=4,weights=3",
                             "grid:17x13",
                             "grid:rows=5,columns=40,weights=255,seed=12345",
                             "path:100",
                             "star:50",
                             "tree:77,weights=9"};

TEST(Generator, makes_the_same_graph_in_any_number_of_parts) {  // D74
  for (const char* spec : specs) {
    const Loaded whole = generate(spec);
    for (const int num_parts : {2, 3, 7, 100}) {
      const Loaded split = generate(spec, num_parts);
      EXPECT_EQ(split.edges, whole.edges) << spec << ' ' << num_parts;  // in the same order
      EXPECT_EQ(split.vertices, whole.vertices) << spec << ' ' << num_parts;
    }
    EXPECT_EQ(whole.vertices.size(), *whole.header.num_vertices) << spec;
    EXPECT_EQ(whole.edges.size(), whole.header.num_edges.value_or(whole.edges.size())) << spec;
    const auto n = static_cast<VertexId>(whole.vertices.size());
    for (const Edge<double>& edge : whole.edges) {
      ASSERT_TRUE(edge.source >= 0 && edge.source < n && edge.target >= 0 && edge.target < n);
    }
  }
}

TEST(Generator, obeys_the_seed) {  // D74
  EXPECT_NE(generate("rmat:scale=8,seed=1").edges, generate("rmat:scale=8,seed=2").edges);
  EXPECT_EQ(generate("rmat:scale=8,seed=2").edges, generate("rmat:scale=8,seed=2").edges);
  EXPECT_EQ(generate("rmat:scale=8").edges, generate("rmat:scale=8,seed=1").edges);
}

TEST(Generator, never_changes_what_a_seed_means) {
  EXPECT_EQ(fingerprint(generate("rmat:scale=10,edge_factor=16,seed=1").edges), 0xee65d5842a193355);
  EXPECT_EQ(fingerprint(generate("uniform:vertices=1000,edges=5000,seed=1").edges),
            0xfb88ae7f26bd42ac);
  EXPECT_EQ(fingerprint(generate("lognormal:vertices=1000,seed=1").edges), 0x1393771f3aaf13c0);
}

TEST(Generator, keeps_loops_and_repeats_of_rmat) {  // D75
  const Loaded loaded = generate("rmat:scale=10,edge_factor=1,seed=1");
  EXPECT_EQ(loaded.edges.size(), 1024u);
  const Loaded dense = generate("rmat:scale=4,edge_factor=100");
  EXPECT_EQ(dense.edges.size(), 1600u);
  EXPECT_EQ(dense.header.directed, true);
}

TEST(Generator, picks_quadrants_with_their_probabilities) {
  const auto share = [](const std::string& spec) {
    std::map<VertexId, int> degrees;
    const Loaded loaded = generate(spec);
    for (const Edge<double>& edge : loaded.edges) ++degrees[edge.source];
    int most = 0;
    for (const auto& [id, degree] : degrees) most = std::max(most, degree);
    return most / static_cast<double>(loaded.edges.size());
  };
  // The first vertex is the source with probability (a + b)^scale.
  EXPECT_NEAR(share("rmat:scale=6,edge_factor=2000"), std::pow(0.76, 6), 0.006);
  EXPECT_NEAR(share("rmat:scale=1,edge_factor=100000,a=.25,b=.25,c=.25"), 0.5, 0.01);
  EXPECT_NEAR(share("rmat:scale=3,edge_factor=1000,a=1,b=0,c=0"), 1, 0);
}

TEST(Generator, spreads_ids_by_a_bijection) {
  for (const char* scale : {"1", "2", "3", "5", "11"}) {
    const Loaded loaded =
        generate("rmat:scale=" + std::string(scale) + ",edge_factor=64,a=.25,b=.25,c=.25");
    std::set<VertexId> seen;
    for (const Edge<double>& edge : loaded.edges) seen.insert({edge.source, edge.target});
    EXPECT_EQ(seen.size(), loaded.vertices.size()) << scale;
  }
}

TEST(Generator, accepts_counts_whose_square_is_beyond_32_bits) {  // D72
  EXPECT_EQ(generate("uniform:vertices=65536,edges=262144,seed=1").edges.size(), 262144u);
  EXPECT_EQ(generate("uniform:vertices=50000,edges=150000,seed=1").edges.size(), 150000u);
  EXPECT_EQ(Generator("uniform:vertices=281474976710656,edges=1,seed=1").header().num_vertices,
            281474976710656u);
}

TEST(Generator, weighs_the_grid_as_benchmark_suites_do) {
  const Loaded loaded = generate("grid:2000x2000,weights=255,seed=12345", 3);
  EXPECT_EQ(loaded.edges.size(), 7'996'000u);
  EXPECT_EQ(loaded.sum_of_weights(), 1'023'600'137);
  EXPECT_EQ(loaded.header.directed, false);
}

TEST(Generator, makes_the_regular_graphs) {
  EXPECT_EQ(generate("grid:2x3").edges,
            (Edges{{0, 1, 1}, {0, 3, 1}, {1, 2, 1}, {1, 4, 1}, {2, 5, 1}, {3, 4, 1}, {4, 5, 1}}));
  EXPECT_EQ(generate("path:3").edges, (Edges{{0, 1, 1}, {1, 2, 1}}));
  EXPECT_EQ(generate("star:3").edges, (Edges{{0, 1, 1}, {0, 2, 1}}));
  EXPECT_EQ(generate("tree:vertices=4").edges, (Edges{{0, 1, 1}, {0, 2, 1}, {1, 3, 1}}));
  EXPECT_TRUE(generate("path:1").edges.empty());
  EXPECT_EQ(generate("star:70001").edges.size(), 70'000u);  // D71
}

TEST(Generator, draws_lognormal_degrees) {
  const Loaded loaded = generate("lognormal:vertices=20000,mu=2,sigma=1,seed=1");
  EXPECT_NEAR(static_cast<double>(loaded.edges.size()) / 20000, std::exp(2.5), 0.4);
  EXPECT_EQ(generate("lognormal:vertices=10,mu=20,sigma=0").edges.size(), 100u);  // at most n each
  EXPECT_EQ(loaded.header.directed, true);
}

TEST(Generator, gives_weights_from_1_to_the_largest) {
  const Loaded loaded = generate("uniform:vertices=9,edges=10000,weights=4");
  std::set<double> seen;
  for (const Edge<double>& edge : loaded.edges) seen.insert(edge.value);
  EXPECT_EQ(seen, (std::set<double>{1, 2, 3, 4}));
  EXPECT_TRUE(loaded.header.has_weights);
}

TEST(Generator, names_the_key_at_fault) {
  EXPECT_EQ(error_of_spec("rmat:scale=-3"),
            "usage: rmat:scale: found \"-3\"; expected a whole number from 1 to 48");
  EXPECT_EQ(error_of_spec("rmat:edge_factor=3"),
            "usage: rmat:scale: found nothing; expected a value");
  EXPECT_EQ(error_of_spec("rmat:scale=3,sedd=3"),
            "usage: rmat:sedd: found an unknown key; expected only keys of this generator");
  EXPECT_EQ(error_of_spec("rmat:scale=3,a=.9,b=.2"),
            "usage: rmat:a,b,c: found a sum above 1; expected a sum of at most 1");
  EXPECT_EQ(error_of_spec("grid:20"), "usage: grid: found \"20\"; expected ROWSxCOLUMNS");
  EXPECT_EQ(error_of_spec("rmat:20"), "usage: rmat: found \"20\"; expected rmat:scale=VALUE");
  for (const char* spec : {"rmat:scale=0",
                           "rmat:scale=49",
                           "rmat:scale=48,edge_factor=1000",
                           "rmat:scale=3,scale=4",
                           "rmat:scale=3,7",
                           "uniform:vertices=0,edges=1",
                           "uniform:vertices=5",
                           "grid:0x5",
                           "grid:3000000000x3000000000",
                           "path:0",
                           "path:",
                           "path:-1",
                           "star:1e9",
                           "tree:5,foo=1",
                           "lognormal:vertices=10,sigma=-1",
                           "lognormal:vertices=10,mu=nan",
                           "cube:3",
                           "rmat",
                           "grid:3x3,weights=0",
                           "rmat:scale=99999999999999999999"}) {
    EXPECT_TRUE(error_of_spec(spec).starts_with("usage: ")) << spec;
  }
}

TEST(Generator, tells_specs_from_paths) {
  EXPECT_TRUE(is_generator_spec("rmat:scale=3"));
  EXPECT_TRUE(is_generator_spec("tree:"));
  EXPECT_FALSE(is_generator_spec("rmat"));
  EXPECT_FALSE(is_generator_spec("./rmat:scale=3"));
  EXPECT_FALSE(is_generator_spec("cube:3"));
}

}  // namespace
}  // namespace weir::io::test
