// SPDX-License-Identifier: Apache-2.0
// weir info: what a graph holds.
#include <array>
#include <cstdio>

#include <weir/cli/command.hpp>
#include <weir/cli/graph_facts.hpp>
#include <weir/cli/load_graph.hpp>
#include <weir/cli/memory_estimate.hpp>
#include <weir/cli/report.hpp>
#include <weir/cli/standard_output.hpp>
#include <weir/engine/model/check.hpp>
#include <weir/io/generator.hpp>

namespace weir::cli {

namespace {

/// `KEY VALUE` lines.
class Listing {
 public:
  void add(const std::string& key, const std::string& value) {
    std::string left = key;
    left.resize(std::max<std::size_t>(left.size() + 1, 18), ' ');
    text_ += left + value + '\n';
  }
  void add(const std::string& key, std::uint64_t value) { add(key, std::to_string(value)); }
  void add(const std::string& key, bool value) { add(key, std::string(value ? "yes" : "no")); }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

class InfoCommand final : public Command {
 public:
  void declare(OptionSet& options) override;
  void check() override { check_graph_options(graph_); }
  int run(Job& job) const override;

 private:
  std::string look_at_header(std::uint64_t num_ranks) const;

  GraphOptions graph_;
  bool is_quick_ = false;
};

void InfoCommand::declare(OptionSet& options) {
  options.arguments("GRAPH", graph_.paths, "files, - for standard input, or a generator");
  options.flag("--quick", is_quick_, "only what is known before the edges are read");
  declare_reading_options(options, graph_);
  declare_building_options(options, graph_);
  declare_job_options(options, job_);
  options.footer(
      "Prints lines KEY VALUE. memory_bytes is that of the graph as it is run, over all ranks;\n"
      "memory_at_most, with --quick and --ranks, says before it is loaded what it may become.\n\n"
      "Examples:\n"
      "  weir info graph.v graph.e\n"
      "  weir info huge.weir --quick --ranks 16\n"
      "  weir info rmat:scale=16,seed=1 --undirected --repeats merge --loops drop\n");
}

std::string InfoCommand::look_at_header(std::uint64_t num_ranks) const {
  const io::GraphHeader header = graph_.is_generated()
                                     ? io::Generator(graph_.paths.front()).header()
                                     : io::GraphReader(graph_.paths, graph_.files).header();
  Listing list;
  const auto count = [](const std::optional<std::uint64_t>& number) {
    return number ? std::to_string(*number) : "unknown";
  };
  list.add("format", graph_.is_generated() ? "generator" : std::string(io::name_of(header.format)));
  list.add("vertices", count(header.num_vertices));
  list.add("edges", count(header.num_edges));
  list.add("directed", std::string(!header.directed ? "unknown" : *header.directed ? "yes" : "no"));
  list.add("has_weights", header.has_weights);
  list.add("lists_vertices", header.has_vertices);
  for (const auto& [key, value] : header.properties) list.add(key, value);
  list.add("ranks", num_ranks);
  if (header.num_vertices && header.num_edges) {
    const bool is_directed = graph_.is_directed.value_or(header.directed.value_or(true));
    const GraphSize size{*header.num_vertices, *header.num_edges * (is_directed ? 1 : 2),
                         graph_.files.weighted ? sizeof(double) : 0};
    list.add("memory_at_most", most_memory_bytes(size, num_ranks));
  }
  return list.text();
}

int InfoCommand::run(Job& job) const {
  if (is_quick_) {
    job.context.agree([&] {
      if (job.is_root()) print(look_at_header(static_cast<std::uint64_t>(job.context.size())));
    });
    return exit_done;
  }
  const LoadedGraph loaded = load_graph(job, graph_);
  const GraphSummary summary = summarise(loaded.graph);
  const GraphFacts facts = find_facts(loaded.graph);
  Listing list;
  list.add("format",
           graph_.is_generated() ? "generator" : std::string(io::name_of(loaded.header.format)));
  list.add("vertices", summary.num_vertices);
  list.add("edges", summary.num_edges);
  list.add("arcs", summary.num_arcs);
  list.add("directed", summary.is_directed);
  list.add("has_weights", loaded.header.has_weights);
  list.add("weighted", summary.is_weighted);
  list.add("loops", facts.num_loops);
  list.add("repeats", facts.num_repeats);
  list.add("isolated", facts.num_isolated);
  list.add("largest_in", facts.largest_in_degree);
  list.add("largest_out", facts.largest_out_degree);
  list.add("shards", std::uint64_t{summary.num_shards});
  list.add("ranks", static_cast<std::uint64_t>(job.context.size()));
  list.add("memory_bytes", summary.memory_bytes);
  job.context.agree([&] {
    if (job.is_root()) print(list.text());
  });
  return exit_done;
}

}  // namespace

std::unique_ptr<Command> make_info_command() { return std::make_unique<InfoCommand>(); }

}  // namespace weir::cli
