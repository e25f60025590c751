// SPDX-License-Identifier: Apache-2.0
#include <weir/cli/run_plan.hpp>

#include <algorithm>
#include <filesystem>
#include <set>
#include <system_error>
#include <utility>

#include <unistd.h>

#include <weir/cli/result_writer.hpp>
#include <weir/engine/graph/names_lookup.hpp>
#include <weir/engine/model/check.hpp>
#include <weir/engine/runtime/collectives.hpp>
#include <weir/io/number_text.hpp>

namespace weir::cli {

namespace {

constexpr std::int64_t most_iterations = std::int64_t{1} << 40;
constexpr double unbounded = 1e300;

/// A vertex as the user named it.
struct NamedSource {
  std::string name;
  VertexId id = 0;
};

std::vector<const Algorithm*> find_algorithms(const std::string& text) {
  std::vector<std::string> names;
  std::string list;
  for (const Algorithm& algorithm : all_algorithms()) {
    names.emplace_back(algorithm.name);
    list += (list.empty() ? "" : ", ") + names.back();
  }
  std::vector<const Algorithm*> found;
  std::set<std::string> seen;
  for (const std::string& name : split_at_commas("ALGORITHM", text)) {
    const Algorithm* algorithm = find_algorithm(name);
    if (algorithm == nullptr) {
      refuse_value("ALGORITHM", name, "one of " + list + suggestion(name, names));
    }
    WEIR_EXPECT(seen.insert(name).second, usage, "ALGORITHM: found " + name + " twice");
    found.push_back(algorithm);
  }
  return found;
}

bool is_folder(const std::string& path) {
  std::error_code error;
  return path.ends_with('/') || (!path.empty() && std::filesystem::is_directory(path, error));
}

std::size_t num_given_sources(const PlanOptions& plan) {
  return plan.sources.empty() ? 0 : split_at_commas("--source", plan.sources).size();
}

/// What a Graphalytics .properties file calls the algorithm. Graphalytics says "pr"; its other
/// names are weir's.
std::string properties_name(const Algorithm& algorithm) {
  return algorithm.name == "pagerank" ? "pr" : std::string(algorithm.name);
}

/// A property of the algorithm, under the first of the keys that is there.
std::optional<std::string> property(const io::GraphHeader& header, const Algorithm& algorithm,
                                    std::initializer_list<const char*> keys) {
  for (const char* key : keys) {
    const auto at = header.properties.find(properties_name(algorithm) + '.' + key);
    if (at != header.properties.end()) return at->second;
  }
  return std::nullopt;
}

/// Throws Error{usage} unless `text` is made of integer ids.
std::vector<NamedSource> integer_sources(const std::string& name, const std::string& text) {
  std::vector<NamedSource> sources;
  for (const std::string& item : split_at_commas(name, text)) {
    const auto id = io::parse_integer(item);
    if (!id) refuse_value(name, item, "an integer id (names need --ids string)");
    sources.push_back({item, *id});
  }
  return sources;
}

/// Looks names up; the whole text may be one name that holds commas. Collective.
std::vector<NamedSource> named_sources(const AnyGraph& graph, const std::string& name,
                                       const std::string& text) {
  std::vector<std::string> names = split_at_commas(name, text);
  names.push_back(text);
  const auto ids = std::visit(
      [&](const auto& typed) { return find_named(typed, std::span(std::as_const(names))); }, graph);
  if (ids.back()) return {{text, *ids.back()}};
  std::vector<NamedSource> sources;
  for (std::size_t i = 0; i + 1 < names.size(); ++i) {
    std::visit(
        [&](const auto& typed) {
          typed.context().expect(
              ids[i].has_value(), ErrorCode::input,
              name + ": " + io::shown(names[i]) + " is not a vertex of the graph");
        },
        graph);
    sources.push_back({names[i], *ids[i]});
  }
  return sources;
}

/// Throws Error{input} for a source that is no vertex. Collective.
void expect_vertices(const AnyGraph& graph, const std::string& name,
                     const std::vector<NamedSource>& sources) {
  std::visit(
      [&](const auto& typed) {
        for (const NamedSource& source : sources) {
          const bool is_here = typed.vertices()->find(source.id).has_value();
          typed.context().expect(all_fold(typed.context(), Any{}, is_here), ErrorCode::input,
                                 name + ": vertex " + source.name + " is not in the graph");
        }
      },
      graph);
}

std::vector<NamedSource> resolve(const AnyGraph& graph, const std::string& name,
                                 const std::string& text) {
  const bool has_names =
      std::visit([](const auto& typed) { return typed.names() != nullptr; }, graph);
  auto sources = has_names ? named_sources(graph, name, text) : integer_sources(name, text);
  expect_vertices(graph, name, sources);
  return sources;
}

/// Numbers of the algorithm: options, else properties.
AlgorithmOptions options_of(const PlanOptions& plan, const Algorithm& algorithm,
                            const io::GraphHeader& header) {
  AlgorithmOptions options;
  options.iterations = plan.iterations;
  options.tolerance = plan.tolerance;
  options.parents = plan.parents;
  options.run.seed = plan.seed;
  const std::string prefix = properties_name(algorithm);
  const auto iterations = property(header, algorithm, {"num-iterations", "max-iterations"});
  if (!options.iterations && !options.tolerance && iterations) {
    options.iterations = parse_whole_number(".properties: " + prefix + " iterations", *iterations,
                                            0, most_iterations);
  }
  const auto damping = property(header, algorithm, {"damping-factor"});
  if (plan.damping) {
    options.damping = *plan.damping;
  } else if (damping) {
    options.damping = parse_real(".properties: " + prefix + ".damping-factor", *damping, 0, 1);
  }
  return options;
}

std::string file_name(const std::string& text) {
  std::string name;
  for (const char c : text) name += c == '/' || c == '\0' ? '_' : c;
  return name;
}

}  // namespace

void declare_number_options(OptionSet& options, PlanOptions& plan) {
  options.whole_number("--iterations", plan.iterations, {0, most_iterations},
                       "how many (pagerank: 20, cdlp: 10); with --tolerance the most");
  options.real("--tolerance", plan.tolerance, {0, unbounded},
               "stop when the sum of changes of an iteration is at most X (then at most 1000 "
               "iterations)");
  options.real("--damping", plan.damping, {0, 1}, "damping factor of pagerank (default 0.85)");
  options.whole_number("--seed", plan.seed, {0, INT64_MAX},
                       "of algorithms that use random numbers (default 1)");
}

void declare_plan_options(OptionSet& options, PlanOptions& plan) {
  options.group("Algorithm");
  options.text("--source", "ID[,ID...]", plan.sources,
               "where to start, names with --ids string; of several the nearest counts "
               "(pagerank: jumps lead there)");
  options.flag("--each-source", plan.each_source, "one run per source instead of one from all");
  options.flag("--parents", plan.parents, "bfs, sssp: the parent of a vertex, not its distance");
  declare_number_options(options, plan);
}

void check_plan_options(const PlanOptions& plan, bool has_names) {
  const auto algorithms = find_algorithms(plan.algorithms);
  const std::size_t num_sources = num_given_sources(plan);
  WEIR_EXPECT(!plan.each_source || num_sources > 0, usage,
              "--each-source: found no --source; expected one or more");
  if (num_sources > 0 && !has_names) (void)integer_sources("--source", plan.sources);
  const bool is_several = algorithms.size() > 1 || (plan.each_source && num_sources > 1);
  WEIR_EXPECT(plan.output.empty() || !is_several || is_folder(plan.output), usage,
              "--output: found " + io::shown(plan.output) +
                  " for several results; expected a folder, DIR/");
}

bool needs_non_negative(const PlanOptions& plan) {
  const auto algorithms = find_algorithms(plan.algorithms);
  return std::any_of(algorithms.begin(), algorithms.end(), [](const Algorithm* algorithm) {
    return algorithm->edge_values == EdgeValues::non_negative;
  });
}

void check_sources(const PlanOptions& plan, const io::GraphHeader& header) {
  for (const Algorithm* algorithm : find_algorithms(plan.algorithms)) {
    const bool has_sources =
        !plan.sources.empty() || property(header, *algorithm, {"source-vertex"}).has_value();
    WEIR_EXPECT(has_sources || !algorithm->needs_sources, usage,
                "--source: found none; " + std::string(algorithm->name) + " expects ID[,ID...]");
  }
}

void expect_outputs(Job& job, const PlanOptions& plan) {
  if (plan.output.empty()) return;
  if (!is_folder(plan.output)) return expect_writable(job, plan.output);
  job.context.agree([&] {
    if (!job.is_root()) return;
    std::error_code error;
    std::filesystem::path nearest = plan.output;
    while (!nearest.empty() && !std::filesystem::exists(nearest, error)) {
      nearest = nearest.parent_path();
    }
    const std::string folder = nearest.empty() ? "." : nearest.string();
    const std::string what = plan.output + ": cannot create the folder: ";
    WEIR_EXPECT(std::filesystem::is_directory(folder, error), output, what + folder + " is none");
    WEIR_EXPECT(::access(folder.c_str(), W_OK) == 0, output,
                what + "no permission to write in " + folder);
  });
}

void make_folder(Job& job, const PlanOptions& plan) {
  if (!is_folder(plan.output)) return;
  job.context.agree([&] {
    if (!job.is_root()) return;
    std::error_code error;
    std::filesystem::create_directories(plan.output, error);
    WEIR_EXPECT(!error, output, plan.output + ": cannot create the folder: " + error.message());
  });
}

std::vector<PlannedRun> make_plan(Job& job, const PlanOptions& plan, const LoadedGraph& loaded) {
  std::vector<PlannedRun> runs;
  std::set<std::string> outputs;
  const bool is_in_folder = is_folder(plan.output);
  for (const Algorithm* algorithm : find_algorithms(plan.algorithms)) {
    std::vector<NamedSource> sources;
    const auto preset = property(loaded.header, *algorithm, {"source-vertex"});
    if (!plan.sources.empty()) {
      sources = resolve(loaded.graph, "--source", plan.sources);
    } else if (preset) {
      sources = resolve(loaded.graph, ".properties: source-vertex", *preset);
    }
    std::vector<std::vector<NamedSource>> sets{sources};
    if (plan.each_source) {
      sets.clear();
      for (const NamedSource& source : sources) sets.push_back({source});
    }
    for (const auto& set : sets) {
      PlannedRun& run = runs.emplace_back();
      run.algorithm = algorithm;
      run.options = options_of(plan, *algorithm, loaded.header);
      std::string name(algorithm->name);
      for (const NamedSource& source : set) {
        run.options.sources.push_back(source.id);
        run.source_names.push_back(source.name);
        if (plan.each_source) name += '-' + file_name(source.name);
      }
      run.output = is_in_folder ? (std::filesystem::path(plan.output) / (name + ".txt")).string()
                                : plan.output;
      job.context.expect(!is_in_folder || outputs.insert(run.output).second, ErrorCode::usage,
                         "--each-source: found two sources whose results would both be " +
                             io::shown(run.output) + "; expected different names");
    }
  }
  return runs;
}

}  // namespace weir::cli
