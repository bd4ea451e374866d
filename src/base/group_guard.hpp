// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <sys/types.h>

#include "base/units.hpp"

namespace busbar {

/// Between SIGTERM and SIGKILL: so long a launcher may take to end what it has started elsewhere.
inline constexpr Seconds kGrace{2};

/// A process that ends processes and groups once this process has ended, be it by SIGKILL: nothing
/// that a killed run had started goes on beside the next one.
class GroupGuard {
 public:
  /// Throws Error (Runtime) where the system gives no process or pipe.
  explicit GroupGuard(Seconds grace = kGrace);
  GroupGuard(const GroupGuard&) = delete;
  GroupGuard& operator=(const GroupGuard&) = delete;
  ~GroupGuard();

  /// Adds one that runs, as kill() takes it: a group's number is negative.
  void add(pid_t target) const { send({.target = target, .runs = true}); }
  void remove(pid_t target) const { send({.target = target, .runs = false}); }

 private:
  struct Change {
    pid_t target = 0;
    bool runs = false;
  };
  [[noreturn]] static void watch(int pipe, int most_files, Seconds grace);
  void send(const Change& change) const;

  pid_t process_ = -1;
  int pipe_ = -1;  ///< its end is this process's end
};

/// Ends this process, too, when its parent ends, or where that is no longer `parent`: one that was
/// killed while it started this process had not yet added it to its guard.
void end_with_parent(pid_t parent);

/// Ends this process by SIGALRM unless it has ended by itself within these seconds: for clearing
/// up after a failure, where a device's library may block for ever. May be called from any thread.
void end_process_within(unsigned seconds);

}  // namespace busbar
