// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>

#include "topo/probes/host_tree.hpp"
#include "topo/probes/nvidia_smi.hpp"

namespace busbar::topo {

/// What is known of one machine; every part may be absent.
struct Sources {
  std::string name{};  ///< of the machine, or of the file
  SmiProbe smi{};
  std::optional<HostTree> hwloc{};
  std::optional<HostTree> nccl{};
};

}  // namespace busbar::topo
