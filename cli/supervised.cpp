// SPDX-License-Identifier: Apache-2.0
#include <weir/cli/supervised.hpp>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <new>
#include <sstream>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include <weir/engine/runtime/launcher.hpp>
#include <weir/io/output_file.hpp>

namespace weir::cli {

namespace {

constexpr const char* record_version = "weir";

std::optional<Heartbeat> none() { return std::nullopt; }

HeartbeatPage* map_page(int descriptor) {
  void* const place =
      ::mmap(nullptr, sizeof(HeartbeatPage), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  return place == MAP_FAILED ? nullptr : static_cast<HeartbeatPage*>(place);
}

}  // namespace

int num_restarts() {
  const auto text = process_environment(restart_variable);
  return text ? std::atoi(text->c_str()) : 0;
}

std::optional<JobFolder> JobFolder::of_environment() {
  const auto file = process_environment(result_file_variable);
  if (!file || file->empty()) return std::nullopt;
  return JobFolder(std::filesystem::path(*file).parent_path());
}

std::filesystem::path JobFolder::heartbeat(Rank rank) const {
  return path_ / ("rank-" + std::to_string(rank));
}

std::filesystem::path JobFolder::stack(Rank rank) const {
  return path_ / ("stack-" + std::to_string(rank));
}

void JobFolder::write_record(const JobRecord& record) const {
  const std::filesystem::path temporary =
      result().string() + '-' + std::to_string(::getpid()) + ".part";
  std::error_code error;
  {
    std::ofstream file(temporary);
    file << nlohmann::json{{"format", record_version},
                           {"state", record.kind.empty() ? "finished" : "failed"},
                           {"exit_code", record.exit_code},
                           {"kind", record.kind},
                           {"error", record.error},
                           {"rank", record.rank},
                           {"restart", num_restarts()}}
                .dump(2, ' ', true, nlohmann::json::error_handler_t::replace)
         << '\n';
    if (!file.flush()) {
      std::filesystem::remove(temporary, error);
      return;  // as good as never having ended: the job is started again
    }
  }
  std::filesystem::rename(temporary, result(), error);
}

std::optional<JobRecord> JobFolder::read_record() const {
  std::ifstream file(result());
  if (!file) return std::nullopt;
  const auto json = nlohmann::json::parse(file, nullptr, false);
  if (!json.is_object()) return std::nullopt;
  try {
    return JobRecord{json.at("exit_code").get<int>(), json.at("kind").get<std::string>(),
                     json.at("error").get<std::string>(), json.at("rank").get<Rank>()};
  } catch (const nlohmann::json::exception&) {
    return std::nullopt;
  }
}

void JobFolder::note_output(const std::string& path) const {
  std::error_code error;
  const auto target = std::filesystem::absolute(io::output_target(path), error);
  if (error || target.string().find('\n') != std::string::npos) return;
  const std::string line = std::to_string(::getpid()) + ' ' + target.string() + '\n';
  const int file = ::open(outputs().c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (file < 0) return;
  (void)!::write(file, line.data(), line.size());
  ::close(file);
}

void JobFolder::note_segments(const std::set<std::string>& segments) const {
  std::ofstream file(JobFolder::segments(), std::ios::app);
  for (const std::string& segment : segments) file << segment << '\n';
}

std::set<std::string> JobFolder::noted_segments() const {
  std::set<std::string> found;
  std::ifstream file(segments());
  for (std::string line; std::getline(file, line);) found.insert(line);
  return found;
}

void JobFolder::remove_temporaries() const {
  std::ifstream file(outputs());
  for (std::string line; std::getline(file, line);) {
    const std::size_t blank = line.find(' ');
    if (blank == std::string::npos) continue;
    const std::filesystem::path target = line.substr(blank + 1);
    const std::string prefix = target.filename().string() + ".weir-" + line.substr(0, blank) + '-';
    std::error_code error;
    for (std::filesystem::directory_iterator at(target.parent_path(), error), end;
         !error && at != end; at.increment(error)) {
      if (at->path().filename().string().starts_with(prefix)) (void)::unlink(at->path().c_str());
    }
  }
}

bool JobFolder::is_abandoned() const {
  const int file = ::open(lock().c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return errno == ENOENT;
  const bool is_free = ::flock(file, LOCK_SH | LOCK_NB) == 0;
  ::close(file);
  return is_free;
}

std::optional<Heartbeat> Heartbeat::create(const std::filesystem::path& path, Rank rank,
                                           Rank size) {
  const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (file < 0) return none();
  HeartbeatPage* place = nullptr;
  if (::ftruncate(file, sizeof(HeartbeatPage)) == 0) place = map_page(file);
  ::close(file);
  if (place == nullptr) return none();
  HeartbeatPage* const page = new (place) HeartbeatPage;
  page->rank = rank;
  page->size = size;
  page->pid = ::getpid();
  const std::string host = host_name();
  std::strncpy(page->host, host.c_str(), HeartbeatPage::max_host - 1);
  page->magic.store(HeartbeatPage::expected_magic, std::memory_order_release);
  return Heartbeat(page);
}

std::optional<Heartbeat> Heartbeat::open(const std::filesystem::path& path) {
  const int file = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (file < 0) return none();
  struct stat status {};
  HeartbeatPage* page = nullptr;
  if (::fstat(file, &status) == 0 && status.st_size == sizeof(HeartbeatPage)) page = map_page(file);
  ::close(file);
  if (page == nullptr) return none();
  Heartbeat heartbeat(page);
  if (page->magic.load(std::memory_order_acquire) != HeartbeatPage::expected_magic) return none();
  return heartbeat;
}

Heartbeat::Heartbeat(Heartbeat&& other) noexcept : page_(std::exchange(other.page_, nullptr)) {}

Heartbeat::~Heartbeat() {
  if (page_ != nullptr) ::munmap(page_, sizeof(HeartbeatPage));
}

std::string host_name() {
  char name[HeartbeatPage::max_host] = {};
  ::gethostname(name, sizeof(name) - 1);
  return name;
}

}  // namespace weir::cli
