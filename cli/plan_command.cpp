// SPDX-License-Identifier: Apache-2.0
// weir plan: how to cut a training graph over the devices of a cluster.
#include <weir/cli/command.hpp>
#include <weir/cli/plan_text.hpp>
#include <weir/cli/standard_output.hpp>
#include <weir/engine/model/check.hpp>
#include <weir/engine/schedule/topology_files.hpp>
#include <weir/engine/training/graph_files.hpp>
#include <weir/io/output_file.hpp>

namespace weir::cli {

namespace {

enum class Objective { weir, pipedream };

class PlanCommand final : public Command {
 public:
  void declare(OptionSet& options) override;
  void check() override;
  int run(Job& job) const override;

 private:
  schedule::Topology read_cluster() const;
  std::string plan() const;

  std::string path_;
  std::string cluster_;
  std::optional<std::size_t> num_devices_;
  std::optional<double> memory_gigabytes_;
  std::optional<std::size_t> num_micro_batches_;
  std::vector<std::pair<std::size_t, double>> speeds_;
  schedule::TopologyFileOptions topology_;
  training::GraphFileOptions graph_;
  training::PartitionOptions partition_;
  Objective objective_ = Objective::weir;
  std::string json_;
  bool explains_ = false;
};

void PlanCommand::declare(OptionSet& options) {
  constexpr std::int64_t most = std::int64_t{1} << 20;
  using training::GraphFormat;
  options.argument("OPERATORS", path_,
                   "a file of operators: PipeDream, Piper, SimAI or plain rows");
  options.group("Cluster");
  options.text("--cluster", "SPEC|FILE", cluster_,
               "a100-8x16: 16 nodes of 8; 8x2@25,3: GB/s in and between nodes; or a file");
  options.whole_number("--gpus", num_devices_, {1, most}, "only the first N devices");
  options.whole_number("--devices-per-node", topology_.devices_per_node, {1, 1024},
                       "for files that list nodes only (default 1)");
  options.real("--memory", memory_gigabytes_, {1e-6, 1e9}, "GB of each device");
  options.value("--speed", "DEVICE=FACTOR,...", "devices that are slower or faster than others",
                [this](const std::string& text) {
                  for (const std::string& item : split_at_commas("--speed", text)) {
                    const auto equals = item.find('=');
                    if (equals == std::string::npos) refuse_value("--speed", item, "DEVICE=FACTOR");
                    speeds_.emplace_back(
                        parse_whole_number("--speed", item.substr(0, equals), 0, most),
                        parse_real("--speed", item.substr(equals + 1), 1e-6, 1e6));
                  }
                });
  options.group("Operators");
  options.choice("--format", graph_.format,
                 {{"auto", GraphFormat::automatic},
                  {"pipedream", GraphFormat::pipedream},
                  {"piper", GraphFormat::piper},
                  {"simai", GraphFormat::simai},
                  {"layers", GraphFormat::layers}},
                 "format of the file (default auto: by its content)");
  options.whole_number("--tensor-parallel", graph_.piper.tensor_parallel_degree, {1, 1024},
                       "which variant of a Piper file (default 1)");
  options.flag("--recompute", graph_.piper.recomputes_activations,
               "the variant of a Piper file that recomputes activations");
  options.group("Plan");
  options.whole_number("--stages", partition_.num_stages, {1, most},
                       "exactly N stages, each on one device");
  options.whole_number("--micro-batches", num_micro_batches_, {1, most},
                       "also print the time of N micro-batches");
  options.whole_number("--update-every", partition_.micro_batches_per_update, {1, most},
                       "micro-batches of a replica between two exchanges of gradients (default 1)");
  options.real("--parameter-copies", partition_.parameter_copies, {0, 1000},
               "memory per parameter byte: weight, gradient, optimizer (default 4)");
  options.choice("--objective", objective_,
                 {{"weir", Objective::weir}, {"pipedream", Objective::pipedream}},
                 "what is least, and over which plans (default weir)");
  options.flag("--explain", explains_, "say why each stage is as it is");
  options.text("--json", "FILE", json_, "write the plan; - for standard output, without the table");
  declare_job_options(options, job_);
  options.footer(
      "Prints the stages with their devices, times and bytes. Exit code 3 if nothing fits in\n"
      "memory, with the stage and the bytes that stand in the way. Times are those of the cost\n"
      "model in docs/planning.md.\n\n"
      "Examples:\n"
      "  weir plan vgg16.graph.txt --cluster 8x2@25,3.125 --explain\n"
      "  weir plan layers.txt --cluster a100-8x4 --stages 32 --micro-batches 128\n"
      "  weir plan bert.json --cluster topology.conf --devices-per-node 8 --json plan.json\n");
}

void PlanCommand::check() {
  WEIR_EXPECT(!cluster_.empty(), usage,
              "--cluster: found nothing; expected a cluster such as a100-8x2, or a file");
  if (schedule::is_cluster_spec(cluster_)) schedule::parse_cluster(cluster_);  // refuses early
  if (objective_ == Objective::weir) return;
  WEIR_EXPECT(json_.empty() && !explains_ && !partition_.num_stages && !memory_gigabytes_ &&
                  speeds_.empty() && !num_micro_batches_,
              usage,
              "--objective: found pipedream with an option of weir's own; expected it alone");
}

schedule::Topology PlanCommand::read_cluster() const {
  schedule::Topology cluster = schedule::is_cluster_spec(cluster_)
                                   ? schedule::parse_cluster(cluster_)
                                   : schedule::read_topology(cluster_, topology_);
  if (num_devices_) cluster = cluster.first(*num_devices_);
  if (memory_gigabytes_) cluster.set_memory(*memory_gigabytes_ * 1e9);
  for (const auto& [device, factor] : speeds_) cluster.scale_speed(device, factor);
  return cluster;
}

/// Plans, writes the JSON, and returns what is to be printed.
std::string PlanCommand::plan() const {
  const training::OperatorGraph graph = training::read_operator_graph(path_, graph_);
  const schedule::Topology cluster = read_cluster();
  const PlanInput input{path_, graph, cluster, num_micro_batches_};
  if (objective_ == Objective::pipedream) {
    return table_of(input, training::partition_as_pipedream(graph, training::levels_of(cluster)));
  }
  const training::Partition plan = training::partition(graph, cluster, partition_);
  if (is_standard_output(json_)) return json_of(input, plan);
  if (!json_.empty()) {
    io::OutputFile file(json_);
    file.write(json_of(input, plan));
    file.commit();
  }
  return table_of(input, plan) + (explains_ ? explain(input, plan) : std::string());
}

int PlanCommand::run(Job& job) const {
  job.context.agree([&] {
    if (job.is_root()) print(plan());
  });
  return exit_done;
}

}  // namespace

std::unique_ptr<Command> make_plan_command() { return std::make_unique<PlanCommand>(); }

}  // namespace weir::cli
