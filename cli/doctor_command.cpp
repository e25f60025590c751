// SPDX-License-Identifier: Apache-2.0
// weir doctor: what weir sees of the machine, and what to do about it.
#include <array>
#include <map>

#include <unistd.h>

#include <weir/cli/command.hpp>
#include <weir/cli/hosts.hpp>
#include <weir/cli/link_probe.hpp>
#include <weir/cli/signals.hpp>
#include <weir/cli/standard_output.hpp>
#include <weir/cli/version.hpp>
#include <weir/engine/model/check.hpp>
#include <weir/engine/runtime/collectives.hpp>
#include <weir/engine/runtime/threads.hpp>
#include <weir/io/output_file.hpp>

namespace weir::cli {

namespace {

/// One rank's view of its host.
struct RankView {
  Rank rank = 0;
  int num_threads = 0;
  int num_cores = 0;  ///< It may run on.
  int num_online = 0;
  int quota = 0;  ///< 0: none.
  std::uint64_t cores_hash = 0;
  std::array<char, 64> host{};
};

RankView own_view(const Context& context) {
  RankView view;
  const Affinity affinity = current_affinity();
  view.rank = context.rank();
  view.num_threads = context.num_threads();
  view.num_cores = affinity.num_cores;
  view.num_online = num_online_cores();
  view.quota = cgroup_quota().value_or(0);
  view.cores_hash = affinity.mask_hash;
  if (::gethostname(view.host.data(), view.host.size() - 1) != 0) view.host = {};
  return view;
}

std::string line_of(const RankView& view, int num_sharing) {
  return "rank " + std::to_string(view.rank) + ": host " + view.host.data() + ", " +
         std::to_string(view.num_threads) + " threads, " + std::to_string(view.num_cores) + " of " +
         std::to_string(view.num_online) + " cores" +
         (view.quota > 0 ? ", quota of " + std::to_string(view.quota) + " cores" : "") +
         (num_sharing > 1 ? ", cores shared by " + std::to_string(num_sharing) + " ranks" : "") +
         '\n';
}

class DoctorCommand final : public Command {
 public:
  void declare(OptionSet& options) override {
    options.flag("--probe", has_probe_,
                 "measure latency and bandwidth between ranks, on a host and between hosts");
    options.text("--output", "FILE", output_,
                 "write what --probe measured as a cluster file for weir plan --cluster");
    declare_job_options(options, job_);
    options.footer(
        "Examples:\n"
        "  mpirun -n 4 weir doctor\n"
        "  mpirun -n 4 --host a:2,b:2 weir doctor --probe --output cluster.yml\n\n"
        "Threads that outnumber the cores of a rank are warned of on stderr, with the option of\n"
        "mpirun that helps.\n");
  }

  void check() override {
    WEIR_EXPECT(output_.empty() || has_probe_, usage,
                "--output: found without --probe; expected both");
    WEIR_EXPECT(!is_standard_output(output_), usage,
                "--output: found " + output_ + "; expected a file, stdout has the text");
  }

  int run(Job& job) const override {
    const auto views = all_gather(job.context, own_view(job.context));
    job.context.agree([&] {
      if (job.is_root()) print(text(job, views));
    });
    if (has_probe_) probe(job);
    return exit_done;
  }

 private:
  void probe(Job& job) const {
    const std::vector<std::uint32_t> hosts = hosts_of_ranks(job.context);
    job.context.expect(output_.empty() || has_equal_hosts(hosts), ErrorCode::usage,
                       "--output: found hosts of different numbers of ranks; expected as many on "
                       "each, which a cluster file can say");
    const std::vector<ProbedLevel> levels = probe_links(job, hosts);
    job.context.agree([&] {
      if (job.is_root()) print(text_of(levels));
    });
    job.context.agree([&] {
      if (!job.is_root() || output_.empty()) return;
      SignalWatch::will_write(output_);
      io::OutputFile file(output_);
      file.write(cluster_file_of(levels, hosts));
      file.commit();
    });
  }

  static std::string text(const Job& job, const std::vector<RankView>& views) {
    std::map<std::string, int> ranks_by_host;
    std::map<std::pair<std::string, std::uint64_t>, int> ranks_by_cores;
    for (const RankView& view : views) {
      ++ranks_by_host[view.host.data()];
      ++ranks_by_cores[{view.host.data(), view.cores_hash}];
    }
    std::string text = version_text(job.world);
    text += "ranks    " + std::to_string(views.size()) +
            (job.world.is_mpi() ? " MPI processes" : " in this process") + " on " +
            std::to_string(ranks_by_host.size()) +
            (ranks_by_host.size() == 1 ? " host" : " hosts") + '\n';
    for (const RankView& view : views) {
      const int num_sharing = ranks_by_cores[{view.host.data(), view.cores_hash}];
      text += line_of(view, job.world.is_mpi() ? num_sharing : 1);
    }
    return text;
  }

  bool has_probe_ = false;
  std::string output_;
};

}  // namespace

std::unique_ptr<Command> make_doctor_command() { return std::make_unique<DoctorCommand>(); }

}  // namespace weir::cli
