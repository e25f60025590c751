// SPDX-License-Identifier: Apache-2.0
#include <weir/cli/owned_folder.hpp>

#include <filesystem>
#include <set>
#include <string>
#include <system_error>

#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <weir/cli/processes.hpp>
#include <weir/engine/model/check.hpp>

namespace weir::cli {

namespace {

constexpr const char* folder_stem = "weir-supervise-";

JobFolder make_folder() {
  std::error_code error;
  std::string name =
      (std::filesystem::temp_directory_path(error) / folder_stem).string() + "XXXXXX";
  WEIR_EXPECT(::mkdtemp(name.data()) != nullptr, output, name + ": cannot create the folder");
  return JobFolder(name);
}

}  // namespace

OwnedFolder::OwnedFolder()
    : folder_(make_folder()),
      lock_(::open(folder_.lock().c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)) {
  WEIR_EXPECT(lock_.is_open() && ::flock(lock_.get(), LOCK_EX | LOCK_NB) == 0, output,
              folder_.path().string() + ": cannot lock");
}

OwnedFolder::~OwnedFolder() {
  std::error_code error;
  std::filesystem::remove_all(folder_.path(), error);
}

void clear_abandoned() {
  std::error_code error;
  for (std::filesystem::directory_iterator at(std::filesystem::temp_directory_path(error), error),
       end;
       !error && at != end; at.increment(error)) {
    struct stat status {};
    if (!at->path().filename().string().starts_with(folder_stem)) continue;
    if (::lstat(at->path().c_str(), &status) != 0 || !S_ISDIR(status.st_mode)) continue;
    const JobFolder folder(at->path());
    // Without a lock it is being made or removed.
    if (status.st_uid != ::getuid() || !std::filesystem::exists(folder.lock(), error)) continue;
    if (!folder.is_abandoned()) continue;
    std::set<std::string> segments = folder.noted_segments();
    segments.merge(
        kill_all_with(std::string(result_file_variable) + '=' + folder.result().string()));
    folder.remove_temporaries();
    remove_unused_segments(segments);
    std::error_code ignored;
    std::filesystem::remove_all(folder.path(), ignored);
  }
}

}  // namespace weir::cli
