// SPDX-License-Identifier: Apache-2.0
// weir convert: a graph in another format.
#include <algorithm>

#include <weir/cli/command.hpp>
#include <weir/cli/graph_copy.hpp>
#include <weir/cli/load_graph.hpp>
#include <weir/engine/model/check.hpp>
#include <weir/io/generator.hpp>

namespace weir::cli {

namespace {

class ConvertCommand final : public Command {
 public:
  void declare(OptionSet& options) override;
  void check() override;
  int run(Job& job) const override;

 private:
  CopyCount convert(const Job& job) const;

  std::vector<std::string> paths_;  // the last is OUT
  GraphOptions graph_;
  bool unweighted_ = false;
  io::Format format_ = io::Format::automatic;
};

void ConvertCommand::declare(OptionSet& options) {
  options.arguments("IN... OUT", paths_, "files to read, and last the file to write");
  options.choice("--to", format_, format_words(),
                 "format of OUT (default auto: by its name, else edges)");
  options.flag(
      "--unweighted", unweighted_,
      "leave edge values out (default: files keep theirs; standard input needs --weighted)");
  declare_reading_options(options, graph_);
  declare_job_options(options, job_);
  options.footer(
      "Every edge is written once, in the order of the input, and every listed vertex. Formats\n"
      "that count vertices from 1 (mtx, metis, dimacs) refuse graphs with other ids.\n\n"
      "Examples:\n"
      "  weir convert graph.txt.gz graph.weir                fast to load\n"
      "  weir convert graph.v graph.e graph.mtx\n"
      "  weir convert roads.gr roads.csv --directed\n"
      "  weir convert - graph.metis --to metis --undirected < edges.txt\n");
}

void ConvertCommand::check() {
  WEIR_EXPECT(paths_.size() >= 2, usage,
              "OUT: found nothing; expected the file to write (see weir convert --help)");
  WEIR_EXPECT(!unweighted_ || !graph_.files.weighted, usage,
              "--unweighted: found --weighted too; expected one of them");
  graph_.paths.assign(paths_.begin(), paths_.end() - 1);
  check_graph_options(graph_);
}

CopyCount ConvertCommand::convert(const Job& job) const {
  CopyOptions copy{.path = paths_.back(),
                   .format = format_,
                   .is_directed = graph_.is_directed,
                   .is_weighted = !unweighted_,
                   .has_names = graph_.files.string_ids};
  if (graph_.is_generated()) {
    io::Generator generator(graph_.paths.front());
    return copy_graph(job, generator, copy);
  }
  io::GraphFileOptions files = graph_.files;
  const bool is_pipe = std::count(graph_.paths.begin(), graph_.paths.end(), "-") > 0;
  if (!files.weighted && !unweighted_ && !is_pipe) {
    files.weighted = io::GraphReader(graph_.paths, files).header().has_weights;
  }
  io::GraphReader reader(graph_.paths, files);
  if (reader.header().has_weights && !files.weighted && !unweighted_) {
    job.warn("the edge values of the input are left out; --weighted keeps them");
  }
  copy.is_weighted = files.weighted;
  return copy_graph(job, reader, copy);
}

int ConvertCommand::run(Job& job) const {
  job.context.agree([&] {
    if (!job.is_root()) return;
    const CopyCount count = convert(job);
    job.say("wrote " + std::to_string(count.num_edges) + " edges to " +
            (paths_.back() == "-" ? "standard output" : paths_.back()));
  });
  return exit_done;
}

}  // namespace

std::unique_ptr<Command> make_convert_command() { return std::make_unique<ConvertCommand>(); }

}  // namespace weir::cli
