// SPDX-License-Identifier: Apache-2.0
// weir generate: a synthetic graph as a file.
#include <weir/cli/command.hpp>
#include <weir/cli/graph_copy.hpp>
#include <weir/cli/load_graph.hpp>
#include <weir/engine/model/check.hpp>
#include <weir/io/generator.hpp>

namespace weir::cli {

namespace {

class GenerateCommand final : public Command {
 public:
  void declare(OptionSet& options) override {
    options.argument("SPEC", spec_, "a generator and its parameters");
    options.argument("OUT", output_, "the file to write; its name tells the format, - is stdout");
    options.choice("--format", format_, format_words(),
                   "format of OUT (default auto: by its name, else edges)");
    declare_job_options(options, job_);
    options.footer(
        "Generators (vertices 0 to N-1; the same graph on every machine):\n"
        "  rmat:scale=20,edge_factor=16,seed=1    2^scale vertices; a=, b=, c= change the corners\n"
        "  uniform:vertices=N,edges=M,seed=S      end points at random\n"
        "  lognormal:vertices=N,mu=4,sigma=1.3,seed=S\n"
        "  grid:2000x2000   path:N   star:N   tree:N\n"
        "  ...,weights=W adds edge values 1 to W. docs/formats.md says more.\n\n"
        "Examples:\n"
        "  weir generate rmat:scale=16,seed=1 graph.e        with graph.v and graph.properties\n"
        "  weir generate grid:100x100,weights=9 grid.weir\n"
        "  weir generate path:5 - | weir run bfs - --undirected --source 0 --output -\n");
  }

  void check() override {
    WEIR_EXPECT(io::is_generator_spec(spec_), usage,
                "SPEC: found " + spec_ +
                    "; expected a generator such as rmat:scale=16 (see weir generate --help)");
  }

  int run(Job& job) const override {
    job.context.agree([&] {
      if (!job.is_root()) return;
      io::Generator generator(spec_);
      const CopyCount count = copy_graph(job, generator, {.path = output_, .format = format_});
      job.say("wrote " + std::to_string(count.num_edges) + " edges to " +
              (output_ == "-" ? "standard output" : output_));
    });
    return exit_done;
  }

 private:
  std::string spec_;
  std::string output_;
  io::Format format_ = io::Format::automatic;
};

}  // namespace

std::unique_ptr<Command> make_generate_command() { return std::make_unique<GenerateCommand>(); }

}  // namespace weir::cli
