// SPDX-License-Identifier: BSD-3-Clause
#include "base/group_guard.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <ctime>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.hpp"

namespace busbar {
namespace {

/// The guard's own work. Other threads may have held locks at the fork: it only makes system calls.
[[noreturn]] void watch(int pipe, int most_files) {
  ::setsid();  // no Ctrl-C
  ::dup2(pipe, STDIN_FILENO);
  // Somebody may wait for the end of an output, or for a lock; and our own end must not stay open.
  for (int file = STDIN_FILENO + 1; file < most_files; ++file) ::close(file);
  std::array<pid_t, 65536> groups{};
  auto* end = groups.begin();
  for (pid_t group = 0; ::read(STDIN_FILENO, &group, sizeof group) == sizeof group;) {
    if (group < 0) {
      end = std::remove(groups.begin(), end, -group);
    } else if (end != groups.end()) {
      *end++ = group;
    }
  }
  if (end == groups.begin()) ::_exit(0);
  constexpr timespec kGrace{.tv_sec = 1, .tv_nsec = 0};
  std::for_each(groups.begin(), end, [](pid_t group) { ::kill(-group, SIGTERM); });
  ::nanosleep(&kGrace, nullptr);
  std::for_each(groups.begin(), end, [](pid_t group) { ::kill(-group, SIGKILL); });
  ::_exit(0);
}

}  // namespace

GroupGuard::GroupGuard() {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    throw system_failure("cannot open a pipe", errno);
  }
  rlimit files{};
  static_cast<void>(::getrlimit(RLIMIT_NOFILE, &files));
  const auto most_files = static_cast<int>(std::min<rlim_t>(files.rlim_cur, 65536));
  process_ = ::fork();
  if (process_ == 0) watch(ends[0], most_files);
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

void GroupGuard::send(pid_t group) const {
  // Without a guard all works that is not killed.
  static_cast<void>(::send(pipe_, &group, sizeof group, MSG_NOSIGNAL));
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
