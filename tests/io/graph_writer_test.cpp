// SPDX-License-Identifier: Apache-2.0
#include <weir/io/graph_writer.hpp>

#include <weir/tests/io/loading.hpp>

namespace weir::io::test {
namespace {

const GraphFileOptions weighted{.weighted = true};

void write(const std::string& path, const GraphHeader& header, const Edges& edges,
           const std::vector<VertexId>& vertices = {}, Format format = Format::automatic) {
  GraphWriter writer(path, format, header);
  writer.write_vertices(vertices);
  writer.write(edges);
  writer.commit();
}

TEST(GraphWriter, brings_back_loops_and_edges_in_every_format) {  // D32
  const TemporaryFolder folder;
  for (const bool directed : {false, true}) {
    for (const bool has_weights : {false, true}) {
      GraphHeader header;
      header.directed = directed;
      header.has_weights = has_weights;
      const double w = has_weights ? 0.1 : 1;
      const Edges edges{{1, 1, w}, {1, 2, w}, {3, 2, w}, {3, 2, w}};
      for (const std::string name :
           {"g.txt", "g.tsv", "g.csv", "g.e", "g.mtx", "g.metis", "g.graph", "g.gr", "g.weir",
            "g.el", "g.wel", "g.txt.gz", "g.csv.zst", "g.e.gz", "g.mtx.zst", "g.metis.gz",
            "g.gr.gz", "g.wel.gz", "plain"}) {
        const bool is_metis = name.find(".metis") != name.npos || name.find(".graph") != name.npos;
        if (is_metis && directed) continue;
        if (name == "g.el" && has_weights) continue;
        const std::string path = folder / name;
        write(path, header, edges, {1, 2, 3});
        const Loaded loaded = load_files({path}, {.weighted = has_weights});
        Edges expected = edges;
        Edges found = loaded.edges;
        if (loaded.header.directed == true && !directed) {  // arcs both ways, a loop once
          expected.insert(expected.end(), {{2, 1, w}, {2, 3, w}, {2, 3, w}});
        } else if (!directed) {
          for (Edges* some : {&expected, &found}) {
            for (Edge<double>& edge : *some) {
              if (edge.source > edge.target) std::swap(edge.source, edge.target);
            }
          }
        }
        sort_edges(expected);
        sort_edges(found);
        EXPECT_EQ(found, expected) << name << ' ' << directed << has_weights;
      }
    }
  }
}

TEST(GraphWriter, keeps_isolated_vertices_and_direction) {
  const TemporaryFolder folder;
  GraphHeader header;
  header.directed = false;
  header.properties["bfs.source-vertex"] = "2";
  write(folder / "g.e", header, {{1, 2, 1}}, {1, 2, 77});
  const Loaded listed = load_files({folder / "g.properties"});
  EXPECT_EQ(listed.vertices, (std::vector<VertexId>{1, 2, 77}));
  EXPECT_EQ(listed.header.directed, false);
  EXPECT_EQ(listed.header.properties.at("bfs.source-vertex"), "2");
  write(folder / "g.weir", header, {{1, 2, 1}}, {1, 2, 77});
  EXPECT_EQ(load_files({folder / "g.weir"}).vertices, (std::vector<VertexId>{1, 2, 77}));
  write(folder / "g.mtx", header, {{1, 2, 1}}, {1, 2, 3});
  EXPECT_EQ(load_files({folder / "g.mtx"}).vertices.size(), 3u);
}

TEST(GraphWriter, refuses_what_a_format_cannot_hold) {
  const TemporaryFolder folder;
  GraphHeader header;
  header.directed = false;
  for (const char* name : {"g.mtx", "g.metis", "g.gr"}) {
    EXPECT_EQ(error_of([&] {
                write(folder / name, header, {{0, 1, 1}});
              }),
              "usage: " + (folder / name) +
                  ": found 2 vertices from 0 to 1; this format holds ids "
                  "1 to n only, use .e or .weir");
    EXPECT_NE(error_of([&] { write(folder / name, header, {{1, 3, 1}}); }), "");
  }
  header.directed = true;
  EXPECT_NE(error_of([&] { write(folder / "g.metis", header, {{1, 2, 1}}); }), "");
  EXPECT_NE(error_of([&] { write(folder / "g.sg", header, {{1, 2, 1}}); }), "");
  EXPECT_NE(error_of([&] { write(folder / "g.json", header, {{1, 2, 1}}); }), "");
  EXPECT_NE(error_of([&] { write(folder / "g.weir.gz", header, {{1, 2, 1}}); }), "");
  header.has_weights = true;
  EXPECT_NE(error_of([&] { write(folder / "g.el", header, {{1, 2, 1}}); }), "");
  EXPECT_EQ(folder.num_files(), 0u);
}

TEST(GraphWriter, writes_names) {
  const TemporaryFolder folder;
  const std::vector<NamedEdge<double>> edges{{"bob", "alice", 2.5}, {"alice", "alice", 1}};
  GraphHeader header;
  header.has_weights = true;
  for (const char* name : {"n.txt", "n.csv", "n.e", "n.weir"}) {
    GraphWriter writer(folder / name, Format::automatic, header);
    writer.write(edges);
    writer.write_vertices(std::vector<std::string>{"zoe"});
    writer.commit();
    Format format = name == std::string("n.csv") ? Format::csv : Format::automatic;
    const Loaded loaded =
        load_files({folder / name}, {.format = format, .string_ids = true, .weighted = true});
    EXPECT_EQ(loaded.named_edges,
              (std::vector<NamedEdge<double>>{{"alice", "alice", 1}, {"bob", "alice", 2.5}}));
  }
  EXPECT_EQ(load_files({folder / "n"}, {.string_ids = true}).names,
            (std::vector<std::string>{"alice", "bob", "zoe"}));
  EXPECT_EQ(load_files({folder / "n.weir"}, {.string_ids = true}).names,
            (std::vector<std::string>{"alice", "bob", "zoe"}));
  EXPECT_NE(error_of([&] { load_files({folder / "n.weir"}); }), "");
  const std::vector<NamedEdge<double>> spaced{{"a b", "c", 1}};
  EXPECT_NE(
      error_of([&] { GraphWriter(folder / "s.txt", Format::automatic, header).write(spaced); }),
      "");
}

TEST(GraphWriter, leaves_nothing_without_commit) {
  const TemporaryFolder folder;
  {
    GraphWriter writer(folder / "g.e", Format::automatic, GraphHeader{});
    writer.write(Edges{{1, 2, 1}});
    EXPECT_EQ(folder.num_files(), 3u);
  }
  EXPECT_EQ(folder.num_files(), 0u);
}

}  // namespace
}  // namespace weir::io::test
