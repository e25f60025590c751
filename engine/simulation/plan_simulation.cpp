// SPDX-License-Identifier: Apache-2.0
#include <weir/engine/simulation/plan_simulation.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include <weir/engine/model/check.hpp>
#include <weir/engine/simulation/event_queue.hpp>
#include <weir/engine/simulation/network.hpp>

namespace weir::simulation {

namespace {

using training::IterationTime;
using training::Layout;
using training::NamedPart;
using training::Pass;
using training::PlacedPlan;
using training::Tick;

/// Seconds of a pass, and which of them a straggler stretches.
struct PassTime {
  double compute = 0;
  double tensor = 0;
  double others = 0;  ///< Exchanges inside a stage besides those of tensor ranks.
};

PassTime operator-(const PassTime& a, const PassTime& b) {
  return {a.compute - b.compute, a.tensor - b.tensor, a.others - b.others};
}

PassTime scaled(const PassTime& a, double factor) {
  return {a.compute * factor, a.tensor * factor, a.others * factor};
}

/// One micro-batch through one chunk of layers.
struct ChunkTime {
  PassTime forward;
  PassTime backward_input;
  PassTime backward_weight;
  std::vector<NamedPart> parts;  ///< All three, by cause.
};

double work_of(const IterationTime& time) {
  return time.total() - time.sends - time.bubble - time.data - time.optimizer - time.slowdown;
}

PassTime pass_of(const IterationTime& time) {
  PassTime pass;
  pass.compute = time.matrices + time.attention + time.elementwise + time.logits + time.launch;
  pass.tensor = time.tensor;
  pass.others = work_of(time) - pass.compute - pass.tensor;
  return pass;
}

/// Layers of a stage.
struct StageLayers {
  std::int64_t num_all = 0;
  std::int64_t num_dense = 0;  ///< Without experts, in a model that has some.

  auto operator<=>(const StageLayers&) const = default;
};

/// The dense layers of a model with experts are its first.
std::vector<StageLayers> stage_layers(const PlacedPlan& plan) {
  std::vector<StageLayers> stages;
  std::int64_t num_dense = plan.model.experts.num_dense_layers;
  for (const std::int64_t num_layers : layers_of_stages(plan)) {
    stages.push_back({num_layers, std::min(num_layers, num_dense)});
    num_dense -= stages.back().num_dense;
  }
  return stages;
}

/// What the time model says of so many layers, as a pipeline of one stage. The forward pass is what
/// full recomputation adds; gradients of weights are products as large as the forward ones.
ChunkTime chunk_time(const PlacedPlan& plan, const StageLayers& layers, bool has_logits,
                     const training::ExchangeFactors& factors) {
  training::Transformer model = plan.model;
  model.num_layers = layers.num_all;
  model.experts.num_dense_layers = layers.num_dense;
  Layout layout = plan.layout();
  layout.pipeline = 1;
  layout.interleave = 1;
  layout.schedule = training::Schedule::one_f_one_b;
  const double share = 1 / layout.num_micro_batches();
  const auto predicted = [&](training::Recompute recompute) {
    layout.recompute = recompute;
    IterationTime time = predict(model, layout, plan.machine, plan.software, factors);
    if (!has_logits) time.logits = 0;
    return time;
  };
  const IterationTime time = predicted(plan.layout().recompute);
  const IterationTime full = predicted(training::Recompute::full);
  const IterationTime none = predicted(training::Recompute::none);

  ChunkTime chunk;
  chunk.forward = scaled(pass_of(full) - pass_of(none), share);
  chunk.forward.compute += share * time.logits / 3;
  chunk.backward_weight.compute = share * (full.matrices - none.matrices + time.logits / 3);
  chunk.backward_input = scaled(pass_of(time), share) - chunk.forward - chunk.backward_weight;
  chunk.parts = parts_of(time);
  for (NamedPart& part : chunk.parts) part.value *= share;
  return chunk;
}

/// How much longer the passes of a cell take.
struct CellFactors {
  double forward = 1;
  double backward = 1;
  double tensor = 1;

  auto operator<=>(const CellFactors&) const = default;
};

class Simulation {
 public:
  Simulation(const PlacedPlan& plan, const std::vector<Straggler>& stragglers)
      : plan_(plan),
        schedule_(plan.schedule),
        num_ranks_(schedule_.num_ranks()),
        num_replicas_(static_cast<std::size_t>(plan.layout().data)),
        layers_(stage_layers(plan)),
        network_(plan),
        closed_(predict(plan.model, plan.layout(), plan.machine, plan.software)) {
    std::map<std::pair<StageLayers, bool>, ChunkTime> known;
    for (std::size_t stage = 0; stage < layers_.size(); ++stage) {
      const auto key = std::pair(layers_[stage], stage + 1 == layers_.size());
      if (!known.contains(key)) {
        known[key] = chunk_time(plan, key.first, key.second, network_.exchange_factors());
      }
      chunks_.push_back(known[key]);
    }
    // The time model stretches all that happens in the pipeline.
    stretch_ = 1 + closed_.slowdown / (work_of(closed_) + closed_.sends + closed_.bubble);
    find_factors(stragglers);
    choose_replicas();
  }

  PlanSimulation run();

 private:
  enum class Kind : std::uint8_t { tick_ends, arrives };
  struct Event {
    Kind kind;
    std::uint32_t cell;    ///< That works, or that receives.
    std::uint32_t sender;  ///< Of what arrives.
    std::uint32_t slot;    ///< What arrives: its stage and micro-batch.
    bool is_backward;
  };
  struct Cell {
    std::size_t next = 0;  ///< Tick.
    bool is_busy = false;
    double sending = 0;
    double end = 0;
  };

  void find_factors(const std::vector<Straggler>& stragglers);
  void choose_replicas();
  double seconds_of(std::size_t cell, const Tick& tick) const;
  bool has_input(std::size_t cell, const Tick& tick) const;
  void start_next(std::size_t cell);
  void end_tick(const Event& event);
  void arrive(const Event& event);
  void run_pipelines();
  double data_end(std::size_t rank) const;
  double device_parameters(std::size_t rank) const;
  double data_seconds(std::size_t rank) const;
  double gradients_made(std::size_t rank, std::size_t chunk, double share) const;

  std::size_t cell_of(std::size_t replica, std::size_t rank) const {
    return replica * num_ranks_ + rank;
  }
  std::size_t rank_of_cell(std::size_t cell) const { return cell % num_ranks_; }
  std::size_t slot(std::size_t cell, const Tick& tick) const {
    return (cell * schedule_.num_chunks + tick.chunk) * schedule_.num_micro_batches +
           tick.micro_batch;
  }

  const PlacedPlan& plan_;
  const training::PipelineSchedule& schedule_;
  std::size_t num_ranks_;     ///< Of a pipeline.
  std::size_t num_replicas_;  ///< Pipelines.
  std::vector<StageLayers> layers_;
  Network network_;
  IterationTime closed_;
  std::vector<ChunkTime> chunks_;  ///< By stage.
  double stretch_ = 1;
  std::vector<CellFactors> factors_;   ///< By cell of all pipelines.
  std::vector<std::size_t> replicas_;  ///< Those that are simulated.

  // By cell of those that are simulated.
  EventQueue<Event> events_;
  std::vector<Cell> cells_;
  std::vector<std::vector<training::Interval>> timeline_;
  std::vector<bool> has_forward_input_;
  std::vector<bool> has_gradient_;
  std::vector<std::vector<Route>> routes_;  ///< To the cells of the ranks before and after.
  std::size_t num_events_ = 0;
};

void Simulation::find_factors(const std::vector<Straggler>& stragglers) {
  const auto& nodes = plan_.cluster.levels().back().group_of_device;
  const auto& devices = plan_.cluster.devices();
  double slowest = devices.front().speed;
  for (const schedule::Device& device : devices) slowest = std::min(slowest, device.speed);
  const std::size_t num_ranks = plan_.device_of_rank.size();
  // The machine is that of the slowest device.
  std::vector<CellFactors> of_rank(num_ranks);
  for (std::size_t r = 0; r < num_ranks; ++r) {
    const double factor = slowest / devices[plan_.device_of_rank[r]].speed;
    of_rank[r] = {factor, factor, 1};
  }
  for (const Straggler& each : stragglers) {
    WEIR_EXPECT(
        std::isfinite(each.factor) && each.factor > 0, usage,
        "straggler: found a factor of " + std::to_string(each.factor) + "; expected one above 0");
    bool is_there = false;
    for (std::size_t r = 0; r < num_ranks; ++r) {
      const std::size_t number =
          each.of == Straggler::Of::rank ? r : nodes[plan_.device_of_rank[r]];
      if (number != each.number) continue;
      is_there = true;
      if (each.is_slow_in_forward) of_rank[r].forward *= each.factor;
      if (each.is_slow_in_backward) of_rank[r].backward *= each.factor;
    }
    WEIR_EXPECT(is_there, usage,
                std::string("straggler: found ") +
                    (each.of == Straggler::Of::rank ? "rank " : "host ") +
                    std::to_string(each.number) + "; expected one that the plan uses");
  }
  // All of a cell wait for its slowest.
  factors_.assign(num_replicas_ * num_ranks_, {0, 0, 0});
  for (std::size_t r = 0; r < num_ranks; ++r) {
    const training::RankCoordinates at = coordinates_of(plan_.layout(), r);
    CellFactors& cell = factors_[cell_of(at.data, at.pipeline)];
    cell.forward = std::max(cell.forward, of_rank[r].forward);
    cell.backward = std::max(cell.backward, of_rank[r].backward);
    cell.tensor = std::max(cell.tensor, network_.tensor_factor(r));
  }
}

void Simulation::choose_replicas() {
  using Key = std::vector<std::pair<CellFactors, std::vector<double>>>;
  std::map<Key, std::size_t> known;
  for (std::size_t replica = 0; replica < num_replicas_; ++replica) {
    Key key;
    for (std::size_t rank = 0; rank < num_ranks_; ++rank) {
      std::vector<double> seconds;
      for (const std::size_t to : {(rank + num_ranks_ - 1) % num_ranks_, (rank + 1) % num_ranks_}) {
        seconds.push_back(to == rank ? 0 : network_.route(replica, rank, to).seconds);
      }
      key.emplace_back(factors_[cell_of(replica, rank)], std::move(seconds));
    }
    if (network_.is_shared() || known.emplace(std::move(key), replica).second) {
      replicas_.push_back(replica);
    }
  }
}

double Simulation::seconds_of(std::size_t cell, const Tick& tick) const {
  const std::size_t rank = rank_of_cell(cell);
  const ChunkTime& chunk = chunks_[schedule_.stage_of(rank, tick.chunk)];
  const CellFactors& factors = factors_[cell_of(replicas_[cell / num_ranks_], rank)];
  const auto seconds = [&](const PassTime& pass, double factor) {
    return stretch_ * (factor * pass.compute + factors.tensor * pass.tensor + pass.others);
  };
  switch (tick.pass) {
    case Pass::forward: return seconds(chunk.forward, factors.forward);
    case Pass::backward_input: return seconds(chunk.backward_input, factors.backward);
    case Pass::backward_weight: return seconds(chunk.backward_weight, factors.backward);
    case Pass::backward: break;
  }
  return seconds(chunk.backward_input, factors.backward) +
         seconds(chunk.backward_weight, factors.backward);
}

bool Simulation::has_input(std::size_t cell, const Tick& tick) const {
  const std::size_t stage = schedule_.stage_of(rank_of_cell(cell), tick.chunk);
  // Its own forward pass comes before a backward pass in the order of the cell.
  if (tick.pass == Pass::forward) return stage == 0 || has_forward_input_[slot(cell, tick)];
  if (tick.pass == Pass::backward_weight) return true;
  return stage + 1 == schedule_.num_stages() || has_gradient_[slot(cell, tick)];
}

void Simulation::start_next(std::size_t cell) {
  Cell& state = cells_[cell];
  const auto& ticks = schedule_.ticks[rank_of_cell(cell)];
  if (state.is_busy || state.next == ticks.size() || !has_input(cell, ticks[state.next])) return;
  state.is_busy = true;
  const double end = events_.now() + seconds_of(cell, ticks[state.next]);
  timeline_[cell].push_back({events_.now(), end});
  events_.at(end, {Kind::tick_ends, static_cast<std::uint32_t>(cell), 0, 0, false});
}

void Simulation::end_tick(const Event& event) {
  const std::size_t cell = event.cell;
  Cell& state = cells_[cell];
  const std::size_t rank = rank_of_cell(cell);
  const Tick tick = schedule_.ticks[rank][state.next++];
  state.is_busy = false;
  state.end = events_.now();
  const std::size_t stage = schedule_.stage_of(rank, tick.chunk);
  const bool is_backward = tick.pass != Pass::forward;
  const bool is_passed_on = tick.pass != Pass::backward_weight &&
                            (is_backward ? stage > 0 : stage + 1 < schedule_.num_stages());
  if (is_passed_on) {
    const std::size_t to_stage = is_backward ? stage - 1 : stage + 1;
    const std::size_t to_rank = schedule_.rank_of(to_stage);
    const std::size_t to_cell = cell - rank + to_rank;
    const Tick to{tick.pass, static_cast<std::uint32_t>(schedule_.chunk_of(to_stage)),
                  tick.micro_batch};
    Event arrival{Kind::arrives, static_cast<std::uint32_t>(to_cell), event.cell,
                  static_cast<std::uint32_t>(slot(to_cell, to)), is_backward};
    if (to_cell == cell) {
      (is_backward ? has_gradient_ : has_forward_input_)[arrival.slot] = true;
    } else {
      const Route& route = routes_[cell][to_rank == (rank + 1) % num_ranks_ ? 1 : 0];
      const double arrives = network_.send(route, events_.now(), stretch_);
      if (!plan_.software.has_pipeline_overlap) {
        state.is_busy = true;
        state.sending += arrives - events_.now();
      }
      events_.at(arrives, arrival);
    }
  }
  start_next(cell);
}

void Simulation::arrive(const Event& event) {
  (event.is_backward ? has_gradient_ : has_forward_input_)[event.slot] = true;
  if (!plan_.software.has_pipeline_overlap) {
    cells_[event.sender].is_busy = false;
    cells_[event.sender].end = events_.now();
    start_next(event.sender);
  }
  start_next(event.cell);
}

void Simulation::run_pipelines() {
  const std::size_t num_cells = replicas_.size() * num_ranks_;
  cells_.assign(num_cells, {});
  timeline_.assign(num_cells, {});
  has_forward_input_.assign(num_cells * schedule_.num_chunks * schedule_.num_micro_batches, false);
  has_gradient_ = has_forward_input_;
  WEIR_EXPECT(has_gradient_.size() <= UINT32_MAX, input,
              "simulation: found over 2^32 passes; expected fewer");
  routes_.assign(num_cells, std::vector<Route>(2));
  for (std::size_t cell = 0; cell < num_cells; ++cell) {
    const std::size_t rank = rank_of_cell(cell);
    timeline_[cell].reserve(schedule_.ticks[rank].size());
    if (num_ranks_ == 1) continue;
    const std::size_t replica = replicas_[cell / num_ranks_];
    routes_[cell][0] = network_.route(replica, rank, (rank + num_ranks_ - 1) % num_ranks_);
    routes_[cell][1] = network_.route(replica, rank, (rank + 1) % num_ranks_);
  }
  for (std::size_t cell = 0; cell < num_cells; ++cell) start_next(cell);
  while (!events_.empty()) {
    const Event event = events_.pop();
    ++num_events_;
    event.kind == Kind::tick_ends ? end_tick(event) : arrive(event);
  }
}

/// Of one device.
double Simulation::device_parameters(std::size_t rank) const {
  using training::LayerKind;
  const training::Transformer& model = plan_.model;
  const auto kind = model.has_experts() ? LayerKind::experts : LayerKind::dense;
  const training::LayerParameters dense = parameters_of(model, LayerKind::dense);
  const training::LayerParameters other = parameters_of(model, kind);
  const double embedding =
      static_cast<double>(model.vocabulary) * static_cast<double>(model.hidden);
  double common = 0;
  double routed = 0;
  for (std::size_t chunk = 0; chunk < schedule_.num_chunks; ++chunk) {
    const std::size_t stage = schedule_.stage_of(rank, chunk);
    const auto num_dense = static_cast<double>(layers_[stage].num_dense);
    const auto num_others = static_cast<double>(layers_[stage].num_all) - num_dense;
    common += num_dense * dense.common + num_others * other.common;
    routed += num_others * other.routed;
    if (stage == 0 || stage + 1 == schedule_.num_stages()) common += embedding;
  }
  return common / static_cast<double>(plan_.layout().tensor) +
         routed / static_cast<double>(plan_.layout().expert);
}

/// Exchange of a rank's gradients, nothing hidden. The time model's is of the largest stage, all
/// layers of which are alike.
double Simulation::data_seconds(std::size_t rank) const {
  training::Software software = plan_.software;
  software.has_data_overlap = false;
  training::Transformer untied = plan_.model;
  untied.has_tied_embedding = false;
  const double whole = predict(plan_.model, plan_.layout(), plan_.machine, software).data;
  const double rings = predict(untied, plan_.layout(), plan_.machine, software).data;
  double most = 0;
  for (std::size_t r = 0; r < num_ranks_; ++r) most = std::max(most, device_parameters(r));
  const bool is_at_an_end = rank == 0 || rank + 1 == num_ranks_;
  return network_.data_factor(rank) * rings * device_parameters(rank) / most +
         (is_at_an_end ? whole - rings : 0);
}

/// When all pipelines have so large a share of a chunk's gradients: the last pass of the chunk that
/// makes them takes it one after the other.
double Simulation::gradients_made(std::size_t rank, std::size_t chunk, double share) const {
  double time = 0;
  for (std::size_t replica = 0; replica < replicas_.size(); ++replica) {
    const std::size_t cell = cell_of(replica, rank);
    const auto& ticks = schedule_.ticks[rank];
    for (std::size_t i = ticks.size(); i-- > 0;) {
      if (ticks[i].chunk != chunk || ticks[i].pass == Pass::forward ||
          ticks[i].pass == Pass::backward_input) {
        continue;
      }
      const training::Interval& at = timeline_[cell][i];
      time = std::max(time, at.start + share * (at.end - at.start));
      break;
    }
  }
  return time;
}

/// When the gradients of all pipelines are summed on a rank.
double Simulation::data_end(std::size_t rank) const {
  double passed = 0;
  for (std::size_t replica = 0; replica < replicas_.size(); ++replica) {
    passed = std::max(passed, cells_[cell_of(replica, rank)].end);
  }
  const double seconds = data_seconds(rank);
  if (!plan_.software.has_data_overlap) return passed + seconds;
  constexpr int num_buckets = 10;
  std::vector<double> made;
  for (std::size_t chunk = 0; chunk < schedule_.num_chunks; ++chunk) {
    for (int i = 1; i <= num_buckets; ++i) made.push_back(gradients_made(rank, chunk, i * 0.1));
  }
  std::sort(made.begin(), made.end());
  double end = 0;
  for (const double each : made) {
    end = std::max(end, each) + seconds / static_cast<double>(made.size());
  }
  return std::max(passed, end);
}

PlanSimulation Simulation::run() {
  run_pipelines();

  // The rank that everybody waits for at the end.
  double most_parameters = 0;
  for (std::size_t r = 0; r < num_ranks_; ++r) {
    most_parameters = std::max(most_parameters, device_parameters(r));
  }
  const double update = closed_.optimizer - plan_.machine.iteration_seconds;
  double total = 0;
  double span = 0;
  double data = 0;
  for (std::size_t rank = 0; rank < num_ranks_; ++rank) {
    double passed = 0;
    for (std::size_t replica = 0; replica < replicas_.size(); ++replica) {
      passed = std::max(passed, cells_[cell_of(replica, rank)].end);
    }
    const double exchanged = data_end(rank);
    const double end = exchanged + update * device_parameters(rank) / most_parameters +
                       plan_.machine.iteration_seconds;
    if (end <= total) continue;
    total = end;
    span = passed;
    data = exchanged - passed;
  }

  // Seconds are those of the rank of the first pipeline that works longest.
  std::size_t busiest = 0;
  double most_work = -1;
  std::vector<NamedPart> parts;
  for (std::size_t rank = 0; rank < num_ranks_; ++rank) {
    std::vector<NamedPart> of_rank = parts_of(IterationTime{});
    double work = 0;
    for (std::size_t chunk = 0; chunk < schedule_.num_chunks; ++chunk) {
      const ChunkTime& time = chunks_[schedule_.stage_of(rank, chunk)];
      for (std::size_t i = 0; i < of_rank.size(); ++i) {
        const std::string_view name = of_rank[i].name;
        if (name == "sends" || name == "bubble" || name == "data" || name == "optimizer" ||
            name == "slowdown") {
          continue;
        }
        const double value = static_cast<double>(schedule_.num_micro_batches) * time.parts[i].value;
        of_rank[i].value += value;
        work += value;
      }
    }
    if (work <= most_work) continue;
    most_work = work;
    busiest = rank;
    parts = std::move(of_rank);
  }
  const double sends = cells_[busiest].sending / stretch_;
  for (NamedPart& part : parts) {
    const std::string_view name = part.name;
    if (name == "sends") part.value = sends;
    if (name == "bubble") part.value = span / stretch_ - most_work - sends;
    if (name == "slowdown") part.value = span - span / stretch_;
    if (name == "data") part.value = data;
    if (name == "optimizer") part.value = total - span - data;
  }

  PlanSimulation result;
  result.parts = std::move(parts);
  result.seconds = total;
  result.timeline.assign(timeline_.begin(),
                         timeline_.begin() + static_cast<std::ptrdiff_t>(num_ranks_));
  result.num_pipelines = replicas_.size();
  result.num_events = num_events_;
  return result;
}

}  // namespace

PlanSimulation simulate(const PlacedPlan& plan, const std::vector<Straggler>& stragglers) {
  PlanSimulation whole = Simulation(plan, {}).run();
  whole.parts.push_back({"stragglers", 0});
  if (stragglers.empty()) return whole;
  PlanSimulation slowed = Simulation(plan, stragglers).run();
  slowed.parts = std::move(whole.parts);
  slowed.parts.back().value = slowed.seconds - whole.seconds;
  return slowed;
}

}  // namespace weir::simulation
