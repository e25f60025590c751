// SPDX-License-Identifier: Apache-2.0
#include <weir/cli/launch.hpp>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <weir/engine/model/check.hpp>

namespace weir::cli {

namespace {

constexpr int exit_not_started = 127;

/// A file without a name, so that it goes with the process.
Descriptor make_stdout(const JobFolder& folder) {
  Descriptor file(::open(folder.path().c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  if (file.is_open()) return file;
  const std::string name = (folder.path() / "stdout").string();
  file = Descriptor(::open(name.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  WEIR_EXPECT(file.is_open(), output, name + ": cannot create");
  (void)::unlink(name.c_str());
  return file;
}

}  // namespace

/// By number: the header of glibc 2.36 has no C linkage.
int open_process(pid_t process) { return static_cast<int>(::syscall(SYS_pidfd_open, process, 0)); }

Launch::Launch(const std::vector<std::string>& command, const JobFolder& folder, int number)
    : stdout_(make_stdout(folder)) {
  int failure[2] = {-1, -1};
  WEIR_EXPECT(::pipe2(failure, O_CLOEXEC) == 0, output, "weir supervise: no pipe can be made");
  const Descriptor read_end(failure[0]);
  Descriptor write_end(failure[1]);  // closed by exec
  const pid_t parent = ::getpid();
  process_ = ::fork();
  WEIR_EXPECT(process_ >= 0, output, "weir supervise: no process can be made");
  if (process_ == 0) {
    // The launcher dies with the supervisor, and its ranks see that the lock is free.
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(exit_not_started);
    ::setpgid(0, 0);
    become(command, folder, number, write_end.get());
  }
  ::setpgid(process_, process_);
  write_end = Descriptor();
  int error = 0;
  WEIR_EXPECT(::read(read_end.get(), &error, sizeof error) <= 0, usage,
              command.front() + ": cannot start: " + std::strerror(error));
  handle_ = Descriptor(open_process(process_));
}

/// Writes errno to `failure` when it cannot.
void Launch::become(const std::vector<std::string>& command, const JobFolder& folder, int number,
                    int failure) const {
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  std::signal(SIGPIPE, SIG_DFL);
  const int empty = ::open("/dev/null", O_RDONLY);
  ::dup2(empty, STDIN_FILENO);
  ::dup2(stdout_.get(), STDOUT_FILENO);
  ::setenv(result_file_variable, folder.result().c_str(), 1);
  ::setenv(restart_variable, std::to_string(number).c_str(), 1);
  // Open MPI's session lies in the folder, and goes with it where mpirun is killed.
  ::setenv("OMPI_MCA_orte_tmpdir_base", folder.path().c_str(), 0);
  std::vector<char*> words;
  for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  ::execvp(words[0], words.data());
  const int error = errno;
  (void)!::write(failure, &error, sizeof error);
  ::_exit(exit_not_started);
}

bool Launch::has_ended() {
  for (;;) {
    siginfo_t info{};
    if (::waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid == 0) break;
    int status = 0;
    if (::waitpid(info.si_pid, &status, WNOHANG) == process_) status_ = status;
  }
  return status_.has_value();
}

void Launch::signal(int number) const { ::kill(process_, number); }

void Launch::kill() {
  if (status_) return;
  int status = 0;
  ::kill(-process_, SIGKILL);
  ::kill(process_, SIGKILL);
  if (::waitpid(process_, &status, 0) == process_) status_ = status;
}

void Launch::release_stdout() const {
  char buffer[1 << 16];
  off_t at = 0;
  for (;;) {
    const ssize_t count = ::pread(stdout_.get(), buffer, sizeof buffer, at);
    if (count <= 0) return;
    at += count;
    for (ssize_t written = 0; written < count;) {
      const ssize_t more =
          ::write(STDOUT_FILENO, buffer + written, static_cast<std::size_t>(count - written));
      if (more < 0 && errno == EINTR) continue;
      WEIR_EXPECT(more > 0, output,
                  std::string("standard output: cannot write: ") + std::strerror(errno));
      written += more;
    }
  }
}

}  // namespace weir::cli
