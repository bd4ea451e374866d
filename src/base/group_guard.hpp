// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <sys/types.h>

namespace busbar {

/// A process that ends process groups once this process has ended, be it by SIGKILL: nothing that a
/// killed run had started goes on beside the next one.
class GroupGuard {
 public:
  /// Throws Error (Runtime) where the system gives no process or pipe.
  GroupGuard();
  GroupGuard(const GroupGuard&) = delete;
  GroupGuard& operator=(const GroupGuard&) = delete;
  ~GroupGuard();

  /// Of groups that run.
  void add(pid_t group) const { send(group); }
  void remove(pid_t group) const { send(-group); }

 private:
  void send(pid_t group) const;

  pid_t process_ = -1;
  int pipe_ = -1;  ///< its end is this process's end
};

/// Ends this process by SIGALRM unless it has ended by itself within so many seconds: for clearing
/// up after a failure, where a device's library may block for ever. May be called from any thread.
void end_process_within(unsigned seconds);

}  // namespace busbar
