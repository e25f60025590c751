// SPDX-License-Identifier: Apache-2.0
// weir plan: how to cut a training graph or a transformer over the devices of a cluster.
#include <algorithm>
#include <filesystem>

#include <weir/cli/command.hpp>
#include <weir/cli/parallel_plan_text.hpp>
#include <weir/cli/plan_picture.hpp>
#include <weir/cli/plan_text.hpp>
#include <weir/cli/standard_output.hpp>
#include <weir/engine/model/check.hpp>
#include <weir/engine/schedule/topology_files.hpp>
#include <weir/engine/simulation/plan_placement.hpp>
#include <weir/engine/training/graph_files.hpp>
#include <weir/engine/training/model_files.hpp>
#include <weir/engine/training/plan_file.hpp>
#include <weir/engine/training/system_file.hpp>
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
  std::optional<training::SystemFile> read_system() const;
  schedule::Topology read_cluster(const std::optional<training::SystemFile>& system) const;
  void declare_model_options(OptionSet& options);
  bool plans_model() const;
  void check_model(std::optional<std::int64_t> global_batch) const;
  void check_operators() const;
  std::string plan_operators() const;
  std::string plan_model(const training::ModelFile& file) const;
  static void write(const std::string& path, const std::string& text);

  std::string subject_;  ///< A file of operators or the name of a transformer.
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
  std::string picture_;
  bool explains_ = false;
  training::LayoutConstraints layout_;
  std::optional<std::int64_t> global_batch_;
  std::optional<std::int64_t> sequence_;
  std::optional<double> peak_teraflops_;
  std::optional<double> expert_load_;
  std::optional<std::size_t> num_plans_;
  std::optional<bool> has_context_ring_;
  std::optional<bool> has_fused_attention_;
  bool has_data_overlap_ = false;
};

void PlanCommand::declare(OptionSet& options) {
  constexpr std::int64_t most = std::int64_t{1} << 20;
  using training::GraphFormat;
  options.argument("MODEL|FILE", subject_,
                   "a transformer by name, e.g. gpt3-175b, or a file of one: Calculon's JSON, "
                   "Megatron-LM's arguments; or a file of operators: PipeDream, Piper, SimAI or "
                   "plain rows");
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
  options.real("--peak", peak_teraflops_, {1e-6, 1e9},
               "teraflops of each device, for a MODEL on a cluster of no known kind");
  options.group("Operators of a FILE");
  options.choice("--format", graph_.format,
                 {{"auto", GraphFormat::automatic},
                  {"pipedream", GraphFormat::pipedream},
                  {"piper", GraphFormat::piper},
                  {"simai", GraphFormat::simai},
                  {"layers", GraphFormat::layers}},
                 "format of the file (default auto: by its content)");
  options.whole_number("--tensor-parallel", graph_.piper.tensor_parallel_degree, {1, 1024},
                       "which variant of a Piper file (default 1)");
  options.group("Plan of a FILE");
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
  declare_model_options(options);
  options.group("Both");
  options.choice("--recompute", layout_.recompute,
                 {{"none", training::Recompute::none},
                  {"selective", training::Recompute::selective},
                  {"full", training::Recompute::full}},
                 "what is computed again in the backward pass; full is a variant of Piper files");
  options.flag("--explain", explains_, "say why each stage or plan is as it is");
  options.text("--picture", "FILE.html|FILE.svg", picture_,
               "draw the schedule and the placement of a MODEL's plan");
  options.text("--json", "FILE", json_, "write the plan; - for standard output, without the table");
  declare_job_options(options, job_);
  options.footer(
      "Prints the stages of a FILE with their devices, times and bytes, or the fastest layouts of\n"
      "a MODEL. Exit code 3 if nothing fits in memory, with what stands in the way and its bytes.\n"
      "Times are those of the cost models in docs/planning.md.\n\n"
      "Examples:\n"
      "  weir plan gpt3-175b --cluster a100-8x64 --batch 1536 --top 5 --explain\n"
      "  weir plan gpt3-175b --cluster a100-8x16 --batch 256 --json plan.json --picture plan.html\n"
      "  weir plan vgg16.graph.txt --cluster 8x2@25,3.125 --explain\n"
      "  weir plan layers.txt --cluster a100-8x4 --stages 32 --micro-batches 128\n"
      "  weir plan bert.json --cluster topology.conf --devices-per-node 8 --json plan.json\n");
}

void PlanCommand::declare_model_options(OptionSet& options) {
  constexpr std::int64_t most = std::int64_t{1} << 20;
  using training::Schedule;
  options.group("Plan of a MODEL; what is not given is searched");
  options.whole_number("--batch", global_batch_, {1, most}, "samples of an iteration; required");
  options.whole_number("--sequence", sequence_, {1, std::int64_t{1} << 30},
                       "tokens of a sample (default: the model's)");
  options.whole_number("--tensor", layout_.tensor, {1, most}, "tensor-parallel ranks");
  options.whole_number("--context", layout_.context, {1, most}, "context-parallel ranks");
  options.whole_number("--pipeline", layout_.pipeline, {1, most}, "stages of a pipeline");
  options.whole_number("--data", layout_.data, {1, most}, "data-parallel ranks");
  options.choice("--context-exchange", has_context_ring_, {{"ring", true}, {"gather", false}},
                 "keys and values go around a ring, hidden behind attention or refused (default), "
                 "or are gathered before");
  options.whole_number("--expert", layout_.expert, {1, most},
                       "ranks that share out a layer's routed experts");
  options.real(
      "--expert-load", expert_load_, {1, 1e3},
      "tokens of the busiest rank over the mean: capacity factor or imbalance (default 1)");
  options.whole_number("--micro-batch", layout_.micro_batch, {1, most}, "samples of a micro-batch");
  options.whole_number("--chunks", layout_.interleave, {1, most},
                       "chunks of layers of an interleaved stage");
  options.choice("--schedule", layout_.schedule,
                 {{"gpipe", Schedule::gpipe},
                  {"1f1b", Schedule::one_f_one_b},
                  {"interleaved", Schedule::interleaved},
                  {"zb-h1", Schedule::zb_h1},
                  {"zb-v", Schedule::zb_v}},
                 "order of the micro-batches");
  options.whole_number("--zero", layout_.zero_stage, {0, 3}, "stage of ZeRO");
  options.choice("--attention", has_fused_attention_, {{"fused", true}, {"unfused", false}},
                 "fused: scores of tokens with each other never reach memory, and are not kept "
                 "(default); unfused: they do");
  options.flag("--data-overlap", has_data_overlap_,
               "gradients travel beside the last backward passes");
  options.whole_number("--top", num_plans_, {1, 1000},
                       "so many plans, each of other degrees (default 1)");
}

bool PlanCommand::plans_model() const {
  const auto& models = training::built_in_models();
  return std::any_of(models.begin(), models.end(),
                     [&](const training::Transformer& each) { return each.name == subject_; });
}

void PlanCommand::check_model(std::optional<std::int64_t> global_batch) const {
  WEIR_EXPECT(graph_.format == training::GraphFormat::automatic &&
                  graph_.piper.tensor_parallel_degree == 1 && !partition_.num_stages &&
                  !num_micro_batches_ && objective_ == Objective::weir,
              usage,
              subject_ + ": found a model with an option of operator files; expected it without");
  WEIR_EXPECT(global_batch, usage,
              "--batch: found nothing; expected the samples of an iteration of " + subject_);
}

void PlanCommand::check_operators() const {
  WEIR_EXPECT(!global_batch_ && !sequence_ && !layout_.tensor && !layout_.context &&
                  !layout_.pipeline && !layout_.data && !layout_.expert && !expert_load_ &&
                  !has_context_ring_ && !layout_.micro_batch && !layout_.interleave &&
                  !layout_.schedule && !layout_.zero_stage && !has_fused_attention_ &&
                  !has_data_overlap_ && !num_plans_ && !peak_teraflops_ && picture_.empty() &&
                  layout_.recompute != training::Recompute::selective,
              usage,
              subject_ +
                  ": found a file of operators with an option of models; expected it "
                  "without");
  if (objective_ == Objective::weir) return;
  WEIR_EXPECT(json_.empty() && !explains_ && !partition_.num_stages && !memory_gigabytes_ &&
                  speeds_.empty() && !num_micro_batches_,
              usage,
              "--objective: found pipedream with an option of weir's own; expected it alone");
}

void PlanCommand::check() {
  WEIR_EXPECT(!cluster_.empty(), usage,
              "--cluster: found nothing; expected a cluster such as a100-8x2, or a file");
  if (schedule::is_cluster_spec(cluster_)) schedule::parse_cluster(cluster_);  // refuses early
  WEIR_EXPECT(picture_.empty() || picture_.ends_with(".svg") || picture_.ends_with(".html"), usage,
              "--picture: found " + picture_ + "; expected a name that ends in .html or .svg");
  if (plans_model()) check_model(global_batch_);
  graph_.piper.recomputes_activations = layout_.recompute == training::Recompute::full;
}

/// What a file tells besides its cluster, if it does.
std::optional<training::SystemFile> PlanCommand::read_system() const {
  if (schedule::is_cluster_spec(cluster_) || cluster_ == "-") return {};
  return training::read_system_file(cluster_);
}

schedule::Topology PlanCommand::read_cluster(
    const std::optional<training::SystemFile>& system) const {
  schedule::Topology cluster = system ? system->cluster
                               : schedule::is_cluster_spec(cluster_)
                                   ? schedule::parse_cluster(cluster_)
                                   : schedule::read_topology(cluster_, topology_);
  if (num_devices_) cluster = cluster.first(*num_devices_);
  if (memory_gigabytes_) cluster.set_memory(*memory_gigabytes_ * 1e9);
  for (const auto& [device, factor] : speeds_) cluster.scale_speed(device, factor);
  return cluster;
}

void PlanCommand::write(const std::string& path, const std::string& text) {
  io::OutputFile file(path);
  file.write(text);
  file.commit();
}

/// Plans, writes the JSON, and returns what is to be printed.
std::string PlanCommand::plan_operators() const {
  if (subject_ != "-" && !std::filesystem::exists(subject_)) {
    training::built_in_model(subject_);  // refuses with the list of names
  }
  if (subject_ != "-") {
    if (const auto file = training::read_model_file(subject_)) return plan_model(*file);
  }
  check_operators();
  const training::OperatorGraph graph = training::read_operator_graph(subject_, graph_);
  const schedule::Topology cluster = read_cluster(read_system());
  const PlanInput input{subject_, graph, cluster, num_micro_batches_};
  if (objective_ == Objective::pipedream) {
    return table_of(input, training::partition_as_pipedream(graph, training::levels_of(cluster)));
  }
  const training::Partition plan = training::partition(graph, cluster, partition_);
  if (is_standard_output(json_)) return json_of(input, plan);
  if (!json_.empty()) write(json_, json_of(input, plan));
  return table_of(input, plan) + (explains_ ? explain(input, plan) : std::string());
}

std::string PlanCommand::plan_model(const training::ModelFile& file) const {
  const auto global_batch = global_batch_ ? global_batch_ : file.global_batch;
  check_model(global_batch);
  const auto system = read_system();
  const schedule::Topology cluster = read_cluster(system);
  training::ParallelPlanRequest request;
  request.model = file.model;
  if (sequence_) request.model.sequence = *sequence_;
  WEIR_EXPECT(request.model.has_experts() || (!expert_load_ && layout_.expert.value_or(1) == 1),
              usage, subject_ + ": found an option of experts; expected a model that has some");
  if (expert_load_) request.model.experts.load = *expert_load_;
  request.num_devices = static_cast<std::int64_t>(cluster.num_devices());
  request.global_batch = *global_batch;
  for (const schedule::Device& device : cluster.devices()) {
    if (device.memory_bytes > 0 &&
        (request.memory_bytes == 0 || device.memory_bytes < request.memory_bytes)) {
      request.memory_bytes = device.memory_bytes;
    }
  }
  // Libraries, allocators and buffers of collectives take some; a limit that was given is meant.
  constexpr double usable_share = 0.95;
  if (!memory_gigabytes_) request.memory_bytes *= usable_share;
  std::optional<double> peak_flops;
  if (peak_teraflops_) peak_flops = *peak_teraflops_ * 1e12;
  request.machine = system ? training::machine_of(*system, cluster, peak_flops)
                           : training::machine_of(cluster, peak_flops);
  request.software.has_scattered_sends = true;
  request.software.has_fused_attention =
      has_fused_attention_.value_or(file.has_fused_attention.value_or(true));
  request.software.has_data_overlap = has_data_overlap_;
  request.software.has_context_ring = has_context_ring_.value_or(true);
  request.constraints = layout_.or_else(file.constraints);
  const training::ParallelPlans plans = training::plan_parallel(request, num_plans_.value_or(1));
  const training::PlacedPlan placed =
      simulation::placed_best(training::place_in_order(request, plans, cluster));
  if (!picture_.empty()) {
    const simulation::PlanSimulation simulated = simulation::simulate(placed);
    write(picture_,
          picture_.ends_with(".svg") ? svg_of(placed, simulated) : html_of(placed, simulated));
  }
  if (is_standard_output(json_)) return training::to_json(placed);
  if (!json_.empty()) write(json_, training::to_json(placed));
  const ParallelPlanInput input{request, cluster.name(), plans, placed.placements};
  return table_of(input) + (explains_ ? explain(input) : std::string());
}

int PlanCommand::run(Job& job) const {
  job.context.agree([&] {
    if (job.is_root())
      print(plans_model() ? plan_model({training::built_in_model(subject_)}) : plan_operators());
  });
  return exit_done;
}

}  // namespace

std::unique_ptr<Command> make_plan_command() { return std::make_unique<PlanCommand>(); }

}  // namespace weir::cli
