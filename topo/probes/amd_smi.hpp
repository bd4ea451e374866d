// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "topo/probes/nvidia_smi.hpp"

namespace busbar::topo {

/// Whether a text is output of AMD's tools, whole or not, and of no other.
[[nodiscard]] bool is_amd_topology(std::string_view text);

/// Reads `rocm-smi --showtopo` and `amd-smi topology`, as text or by --json of any version: which
/// of the two tools it is, the links between GPUs, and of the table of access P2P. Cells are X;
/// XGMI, or XGMI4 of four links side by side as far as bandwidths show them; NODE or SYS where the
/// GPUs have no link of their own, by their NUMA nodes. Throws Error (Usage) with the place for a
/// text that is damaged or cut short.
[[nodiscard]] SmiProbe parse_amd_topology(std::string_view text, std::string_view origin);

/// Whether a text is of `amd-smi static` or `amd-smi list`.
[[nodiscard]] bool is_amd_gpus(std::string_view text);

/// Reads `amd-smi static` (--asic --bus --numa suffice) or `amd-smi list`, as text or by --json:
/// names, bus ids, slots and NUMA nodes of the GPUs. Errors as parse_amd_topology.
[[nodiscard]] std::vector<GpuFacts> parse_amd_gpus(std::string_view text, std::string_view origin);

/// Asks amd-smi, or rocm-smi where that is not installed; nothing where neither is. Never throws
/// for what they do or print: that is a warning.
[[nodiscard]] std::optional<SmiProbe> probe_amd_smi();

}  // namespace busbar::topo
