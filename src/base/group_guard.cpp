// SPDX-License-Identifier: BSD-3-Clause
#include "base/group_guard.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.hpp"

namespace busbar {

/// The guard's own work. Other threads may have held locks at the fork: it only makes system calls.
void GroupGuard::watch(int pipe, int most_files, Seconds grace) {
  ::setsid();  // no Ctrl-C
  ::dup2(pipe, STDIN_FILENO);
  // Somebody may wait for the end of an output, or for a lock; and our own end must not stay open.
  for (int file = STDIN_FILENO + 1; file < most_files; ++file) ::close(file);
  std::array<pid_t, 65536> targets{};
  auto* end = targets.begin();
  for (Change change; ::read(STDIN_FILENO, &change, sizeof change) == sizeof change;) {
    if (!change.runs) {
      end = std::remove(targets.begin(), end, change.target);
    } else if (end != targets.end()) {
      *end++ = change.target;
    }
  }
  if (end == targets.begin()) ::_exit(0);
  std::for_each(targets.begin(), end, [](pid_t target) { ::kill(target, SIGTERM); });
  ::usleep(static_cast<useconds_t>(grace.count() * 1e6));
  std::for_each(targets.begin(), end, [](pid_t target) { ::kill(target, SIGKILL); });
  ::_exit(0);
}

GroupGuard::GroupGuard(Seconds grace) {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    throw system_failure("cannot open a pipe", errno);
  }
  rlimit files{};
  static_cast<void>(::getrlimit(RLIMIT_NOFILE, &files));
  const auto most_files = static_cast<int>(std::min<rlim_t>(files.rlim_cur, 65536));
  process_ = ::fork();
  if (process_ == 0) watch(ends[0], most_files, grace);
  const int error = errno;
  ::close(ends[0]);
  pipe_ = ends[1];
  if (process_ > 0) return;
  ::close(pipe_);
  throw system_failure("cannot start a process", error);
}

GroupGuard::~GroupGuard() {
  ::close(pipe_);
  while (::waitpid(process_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

void GroupGuard::send(const Change& change) const {
  // Without a guard all works that is not killed.
  static_cast<void>(::send(pipe_, &change, sizeof change, MSG_NOSIGNAL));
}

void end_with_parent(pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() != parent) std::raise(SIGTERM);
}

void end_process_within(unsigned seconds) {
  // A launcher may have left the signal ignored or blocked.
  std::signal(SIGALRM, SIG_DFL);
  sigset_t alarms;
  sigemptyset(&alarms);
  sigaddset(&alarms, SIGALRM);
  pthread_sigmask(SIG_UNBLOCK, &alarms, nullptr);
  alarm(seconds);
}

}  // namespace busbar
