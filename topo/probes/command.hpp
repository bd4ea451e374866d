// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "base/units.hpp"

namespace busbar::topo {

/// How a command ended and what it said.
struct CommandResult {
  int exit_status = 0;  ///< 128 + the signal where one killed it
  std::string out{};
  std::string err{};
  bool timed_out = false;  ///< it was killed, with its process group
  bool not_found = false;  ///< no such program, or none that may be executed
  bool stopped = false;    ///< it was ended because somebody asked for it
  bool lingered = false;   ///< it was ended since it had said its last line, and did not end itself
};

inline constexpr Seconds kCommandTimeout{10};

/// How a command is watched.
struct CommandControl {
  Seconds timeout = kCommandTimeout;
  Seconds grace{0};         ///< between SIGTERM and SIGKILL; 0: SIGKILL at once
  std::string last_line{};  ///< what its last line of stdout begins with; empty: not known
  Seconds linger{0};        ///< so long it may take to end after that line
  /// Its stdin has no end while it runs: MPICH's mpiexec dies of SIGPIPE now and then where it
  /// tells the end of its own to a program that has ended before.
  bool endless_stdin = false;
  const std::atomic<bool>* stop =
      nullptr;  ///< ends it, as its timeout does, when this becomes true
};

/// Runs a program, found by PATH where it has no slash, without a shell: in its own process group,
/// with LC_ALL=C, nothing on stdin, and stdout and stderr apart. Throws Error (Runtime) where the
/// system gives no process or pipe.
[[nodiscard]] CommandResult run_command(const std::string& program,
                                        const std::vector<std::string>& arguments,
                                        Seconds timeout = kCommandTimeout);

}  // namespace busbar::topo
