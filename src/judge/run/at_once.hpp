// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/units.hpp"

namespace busbar::judge {

/// What this machine has left for launchers.
struct LaunchLimits {
  std::uint64_t open_files = 0;  ///< hard limit, RLIMIT_NOFILE
  std::uint64_t used_files = 0;  ///< of these
  std::uint64_t processes = 0;   ///< that may still be started, with threads
  Bytes memory = 0;              ///< that is available
  std::uint64_t processors = 0;
};

/// How many launches run at the same time at most, and what allows no more: "512 open files
/// (ulimit -n)".
struct AtOnce {
  std::size_t launches = 1;
  std::string reason{};
};

/// What was asked for by `option`, else as many as the limits allow; never more than open files and
/// processes allow, since a launcher that gets none ends as if its nodes were at fault; never none.
[[nodiscard]] AtOnce choose_at_once(const LaunchLimits& limits, std::optional<int> wanted,
                                    const std::string& option);

[[nodiscard]] LaunchLimits probe_launch_limits();

/// Raises the soft limit of open files as far as so many launches at the same time need it.
void allow_launches(const LaunchLimits& limits, std::size_t launches);

}  // namespace busbar::judge
