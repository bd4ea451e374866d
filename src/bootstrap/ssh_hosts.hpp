// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "bootstrap/launcher.hpp"

namespace busbar {

/// The ssh that a launcher reaches hosts by, with what stands before a host's name: "ssh -p 22".
/// Empty where it is something else, or the user's arguments or the environment may have chosen so.
[[nodiscard]] Words ssh_of(const LauncherChoice& choice, const Words& arguments,
                           const Environment& lookup = own_environment);

/// Those of the hosts whose names have no address, neither here nor by the configuration of that
/// ssh (another name, a jump host). Lookups end after 10 seconds: what is left counts as known.
[[nodiscard]] Words unresolved_hosts(const Words& hosts, const Words& ssh);

}  // namespace busbar
