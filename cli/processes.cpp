// SPDX-License-Identifier: Apache-2.0
#include <weir/cli/processes.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string_view>
#include <system_error>
#include <thread>

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

namespace weir::cli {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds longest_dying{5};
constexpr std::chrono::milliseconds poll_interval{2};

std::string read_all(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::filesystem::path folder_of(pid_t process) {
  return std::filesystem::path("/proc") / std::to_string(process);
}

std::vector<pid_t> all_processes() {
  std::vector<pid_t> found;
  std::error_code error;
  for (std::filesystem::directory_iterator at("/proc", error), end; !error && at != end;
       at.increment(error)) {
    const std::string name = at->path().filename().string();
    const bool is_number = name.find_first_not_of("0123456789") == std::string::npos;
    if (is_number) found.push_back(static_cast<pid_t>(std::atoi(name.c_str())));
  }
  return found;
}

/// The parent of a process that has not ended; 0 when it has.
pid_t parent_of(pid_t process) {
  const std::string text = read_all(folder_of(process) / "stat");
  const std::size_t name_end = text.rfind(')');  // a name may hold blanks and brackets
  if (name_end == std::string::npos || name_end + 4 > text.size()) return 0;
  if (text[name_end + 2] == 'Z') return 0;
  return static_cast<pid_t>(std::atoi(text.c_str() + name_end + 4));
}

void reap() {
  while (::waitpid(-1, nullptr, WNOHANG) > 0) {
  }
}

bool is_mpi_segment(std::string_view path) {
  constexpr std::string_view prefixes[] = {"/dev/shm/vader_segment.",   // Open MPI
                                           "/dev/shm/osc_sm.",          // Open MPI
                                           "/dev/shm/mpich_shar_tmp",   // MPICH
                                           "/dev/shm/ucx_shm_posix_"};  // UCX below MPICH
  return std::any_of(std::begin(prefixes), std::end(prefixes),
                     [&](std::string_view prefix) { return path.starts_with(prefix); });
}

/// What all segments of one job of Open MPI begin with: all but the rank of vader_segment.HOST.USER
/// .JOB.RANK. Empty for others, whose names say nothing of the job.
std::string stem_of_job(const std::string& segment) {
  if (!segment.starts_with("/dev/shm/vader_segment.")) return {};
  return segment.substr(0, segment.rfind('.') + 1);
}

/// The output of a command, or nothing when it failed.
std::string output_of(const std::string& command) {
  std::FILE* const pipe = ::popen(command.c_str(), "r");
  if (pipe == nullptr) return {};
  std::string text;
  char buffer[4096];
  for (std::size_t count = 0; (count = std::fread(buffer, 1, sizeof buffer, pipe)) > 0;) {
    text.append(buffer, count);
  }
  return ::pclose(pipe) == 0 ? text : std::string{};
}

}  // namespace

std::vector<pid_t> descendants_of(pid_t process) {
  std::multimap<pid_t, pid_t> children;
  for (const pid_t each : all_processes()) children.emplace(parent_of(each), each);
  std::vector<pid_t> found{process};
  for (std::size_t i = 0; i < found.size(); ++i) {
    const auto [begin, end] = children.equal_range(found[i]);
    for (auto at = begin; at != end; ++at) found.push_back(at->second);
  }
  found.erase(found.begin());
  return found;
}

void kill_descendants() {
  const auto end = Clock::now() + longest_dying;
  for (;;) {
    const std::vector<pid_t> left = descendants_of(::getpid());
    for (const pid_t each : left) ::kill(each, SIGKILL);
    reap();
    if (left.empty() || Clock::now() > end) return;
    std::this_thread::sleep_for(poll_interval);
  }
}

std::vector<pid_t> processes_with(const std::string& variable) {
  std::vector<pid_t> found;
  for (const pid_t each : all_processes()) {
    if (parent_of(each) == 0) continue;
    const std::string variables = '\0' + read_all(folder_of(each) / "environ");
    if (variables.find('\0' + variable + '\0') != std::string::npos) found.push_back(each);
  }
  return found;
}

std::set<std::string> kill_all_with(const std::string& variable) {
  const auto end = Clock::now() + longest_dying;
  std::set<std::string> segments;
  for (;;) {
    const std::vector<pid_t> left = processes_with(variable);
    for (const pid_t each : left) {
      if (each == ::getpid()) continue;
      segments.merge(mpi_segments_of(each));
      ::kill(each, SIGKILL);
    }
    const bool is_alone = left.empty() || (left.size() == 1 && left.front() == ::getpid());
    if (is_alone || Clock::now() > end) return segments;
    std::this_thread::sleep_for(poll_interval);
  }
}

std::set<std::string> mpi_segments_of(pid_t process) {
  std::set<std::string> found;
  std::ifstream file(folder_of(process) / "maps");
  for (std::string line; std::getline(file, line);) {
    const std::size_t slash = line.find('/');
    if (slash == std::string::npos) continue;
    const std::string path = line.substr(slash, line.find(" (deleted)") - slash);
    if (is_mpi_segment(path)) found.insert(path);
  }
  return found;
}

std::set<std::string> with_those_of_the_same_job(std::set<std::string> segments) {
  std::set<std::string> stems;
  for (const std::string& segment : segments) stems.insert(stem_of_job(segment));
  stems.erase("");
  if (stems.empty()) return segments;
  std::error_code error;
  for (std::filesystem::directory_iterator at("/dev/shm", error), end; !error && at != end;
       at.increment(error)) {
    if (stems.count(stem_of_job(at->path().string())) > 0) segments.insert(at->path().string());
  }
  return segments;
}

void remove_unused_segments(const std::set<std::string>& segments) {
  if (segments.empty()) return;
  std::set<std::string> used;
  for (const pid_t each : all_processes()) used.merge(mpi_segments_of(each));
  for (const std::string& segment : with_those_of_the_same_job(segments)) {
    if (is_mpi_segment(segment) && used.count(segment) == 0) (void)::unlink(segment.c_str());
  }
}

std::string stacks_of(pid_t process) {
  const std::string number = std::to_string(process);
  std::string text = output_of("timeout 5 gdb -p " + number +
                               " -batch -nx -ex 'set pagination off' -ex 'thread apply all bt 40' "
                               "2>/dev/null </dev/null | grep -E '^(Thread|#)'");
  if (!text.empty()) return text;
  for (const char* name : {"wchan", "syscall", "stack"}) {
    const std::string part = read_all(folder_of(process) / name);
    if (!part.empty()) text += std::string(name) + ": " + part + '\n';
  }
  const std::string status = read_all(folder_of(process) / "status");
  const std::size_t state = status.find("State:");
  if (state != std::string::npos) {
    text += status.substr(state, status.find('\n', state) - state) + '\n';
  }
  return text;
}

}  // namespace weir::cli
