// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "topo/assemble/sources.hpp"

namespace busbar::topo {

/// All that this machine tells: nvidia-smi (a program's name or path) and hwloc. Never throws for
/// what a source cannot tell: that is a warning.
[[nodiscard]] Sources probe_machine(const std::string& nvidia_smi = "nvidia-smi");

}  // namespace busbar::topo
