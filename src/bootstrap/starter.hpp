// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <span>
#include <string>

#include "base/child_process.hpp"

namespace busbar {

/// Ranks that busbar starts itself, a process each, and that find each other by TCP.
struct RankStart {
  int ranks = 1;
  Words hosts{};  ///< empty: this host; `ranks` is a multiple of their number
  /// What starts one rank on a host, as words with {host}, {rank}, {env} and {program}: "ssh {host}
  /// {env} {program}". Empty: this process does, on this host.
  std::string words{};
  Words program{};  ///< with its arguments
  std::function<void(const std::string& line)> notice{};
};

/// Starts the ranks and waits for their end. Once one fails, the others have a while to end by
/// themselves. The exit code of the first that failed; 4 where a signal ended it.
[[nodiscard]] int start_ranks(const RankStart& start);

/// Returns only where this process has all of these variables. Where it lacks one it starts its
/// program anew with them, since libraries may read theirs before main(); `arguments` are its
/// command line. Throws Error (Usage) where that does not help.
void require_variables(const Variables& wanted, std::span<char* const> arguments);

}  // namespace busbar
