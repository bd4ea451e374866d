// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>

#include "topo/graph/graph.hpp"
#include "topo/probes/host_tree.hpp"
#include "topo/probes/nvidia_smi.hpp"

namespace busbar::topo {

/// What is known of one machine; every part may be absent.
struct Sources {
  std::string name{};  ///< of the machine, or of the file
  std::string gpu{};   ///< name of its GPUs by the user, which is taken before all others
  SmiProbe smi{};
  std::optional<HostTree> hwloc{};
  std::optional<HostTree> nccl{};
};

/// The first contradiction between two sources, which shows that they are of different machines:
/// other GPUs, other models, or NVLinks that cannot be both. Nothing where they agree.
[[nodiscard]] std::optional<std::string> contradiction(const Sources& sources);

/// One graph from all that is known of a machine, joined by PCI bus id. Without a GPU its packages
/// are the devices. What is uncertain is in the graph's warnings.
[[nodiscard]] Graph assemble(const Sources& sources);

/// All that this machine reports: nvidia-smi (a program's name or path), or amd-smi or rocm-smi
/// where that shows no GPU, and hwloc. Never throws for
/// what a source cannot report: that is a warning.
[[nodiscard]] Sources probe_machine(const std::string& nvidia_smi = "nvidia-smi");

}  // namespace busbar::topo
