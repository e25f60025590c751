// SPDX-License-Identifier: Apache-2.0
// Runs the built command as a user would.
#pragma once

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

namespace weir::test {

/// How a process ended.
struct Finished {
  int code = -1;  ///< 128 + signal when a signal ended it; -1: it ran past its limit.
  std::string out;
  std::string err;
  double seconds = 0;
};

/// The command under test, or nothing: from the build, else from the environment.
inline std::string command_path() {
#ifdef WEIR_COMMAND
  return WEIR_COMMAND;
#else
  const char* const chosen = std::getenv("WEIR_COMMAND");
  return chosen != nullptr ? chosen : "";
#endif
}

/// The mpirun of the command's MPI, or nothing.
inline std::string launcher_path() {
#ifdef WEIR_MPIRUN
  return WEIR_MPIRUN;
#else
  const char* const chosen = std::getenv("WEIR_MPIRUN");
  if (chosen != nullptr) return chosen;
  return ::access("/usr/bin/mpirun.openmpi", X_OK) == 0 ? "/usr/bin/mpirun.openmpi" : "";
#endif
}

inline std::string read_file(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

/// A folder that goes with the test. Tests name files relative to it.
class Workplace : public testing::Test {
 protected:
  void SetUp() override {
    if (command_path().empty()) GTEST_SKIP() << "WEIR_COMMAND does not name the command to test";
    std::string name = std::filesystem::temp_directory_path() / "weir-cli-XXXXXX";
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override {
    if (!folder_.empty()) std::filesystem::remove_all(folder_);
  }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name, std::ios::binary) << text;
    return name;
  }
  std::string read(const std::string& name) const { return read_file(folder_ / name); }
  bool exists(const std::string& name) const { return std::filesystem::exists(folder_ / name); }
  /// Names in the folder that hold the text.
  std::vector<std::string> files_with(const std::string& text) const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder_)) {
      const std::string name = entry.path().filename().string();
      if (name.find(text) != std::string::npos) names.push_back(name);
    }
    return names;
  }

  /// Starts a process in the folder; `input` becomes its standard input.
  pid_t start(const std::vector<std::string>& words, const std::string& input = {}) const {
    std::ofstream(folder_ / ".stdin", std::ios::binary) << input;
    const pid_t child = ::fork();
    if (child != 0) return child;
    ::setpgid(0, 0);
    if (::chdir(folder_.c_str()) != 0) ::_exit(126);
    redirect(STDIN_FILENO, ".stdin", O_RDONLY);
    redirect(STDOUT_FILENO, ".stdout", O_WRONLY | O_CREAT | O_TRUNC);
    redirect(STDERR_FILENO, ".stderr", O_WRONLY | O_CREAT | O_TRUNC);
    std::vector<char*> arguments;
    for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    ::execvp(arguments[0], arguments.data());
    ::_exit(127);
  }

  /// Waits for a started process; past the limit its group is killed.
  Finished finish(pid_t child, double limit_seconds = 60) const {
    const auto start = std::chrono::steady_clock::now();
    Finished finished;
    for (int status = 0;;) {
      const std::chrono::duration<double> waited = std::chrono::steady_clock::now() - start;
      finished.seconds = waited.count();
      if (::waitpid(child, &status, WNOHANG) == child) {
        finished.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
        break;
      }
      if (finished.seconds > limit_seconds) {
        ::kill(-child, SIGKILL);
        ::waitpid(child, &status, 0);
        break;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    finished.out = read(".stdout");
    finished.err = read(".stderr");
    return finished;
  }

  Finished run(const std::vector<std::string>& words, const std::string& input = {}) const {
    return finish(start(words, input));
  }

  /// `weir WORDS`, the words separated by single blanks.
  Finished weir(const std::string& line, const std::string& input = {}) const {
    return run(words_of(line), input);
  }

  std::vector<std::string> words_of(const std::string& line) const {
    std::vector<std::string> words{command_path()};
    std::istringstream stream(line);
    for (std::string word; stream >> word;) words.push_back(word);
    return words;
  }

  /// `mpirun -n RANKS weir WORDS`.
  std::vector<std::string> under_mpirun(int ranks, const std::string& line) const {
    ::setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 1);
    ::setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 1);
    ::setenv("OMPI_MCA_rmaps_base_oversubscribe", "1", 1);
    ::setenv("OMPI_MCA_btl_vader_single_copy_mechanism", "none", 1);
    // In a build with the address sanitizer: what MPI leaves at its end is not this command's.
    ::setenv("ASAN_OPTIONS", "detect_leaks=0", 1);
    std::vector<std::string> words{launcher_path(), "-n", std::to_string(ranks)};
    if (launcher_path().find("openmpi") != std::string::npos) {
      words.insert(words.end(), {"--bind-to", "none"});
    }
    for (const std::string& word : words_of(line)) words.push_back(word);
    return words;
  }

 private:
  static void redirect(int descriptor, const char* name, int flags) {
    const int file = ::open(name, flags, 0600);
    if (file < 0 || ::dup2(file, descriptor) < 0) ::_exit(126);
  }

  std::filesystem::path folder_;
};

}  // namespace weir::test
