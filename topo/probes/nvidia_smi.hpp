// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/child_process.hpp"
#include "topo/probes/host_tree.hpp"
#include "topo/probes/smi_matrix.hpp"

namespace busbar::topo {

/// The columns asked for, in this order: `nvidia-smi --query-gpu=... --format=csv,noheader`.
/// Generation and width as .max: the current ones drop while a GPU is idle.
inline constexpr std::string_view kQueryColumns =
    "index,uuid,name,pci.bus_id,pcie.link.gen.max,pcie.link.width.max,mig.mode.current";

/// Reads the lines of kQueryColumns, with or without their header; "No devices were found" and an
/// empty text are no GPUs. Throws Error (Usage) "ORIGIN:LINE:COLUMN: what; how to fix it".
[[nodiscard]] std::vector<GpuFacts> parse_smi_query(std::string_view text, std::string_view origin);

/// Reads `nvidia-smi nvlink -s`: each GPU with all its links, the inactive ones too; none of an
/// empty text, where no GPU has NVLink. Throws Error (Usage) "ORIGIN:LINE:COLUMN: what; how to fix
/// it" for a line cut short or unknown, a GPU twice, and for the text of -c or -R.
[[nodiscard]] std::vector<GpuFacts> parse_nvlink_status(std::string_view text,
                                                        std::string_view origin);

/// All that nvidia-smi, or a tool of AMD, reports about this machine; what it could not report is
/// absent, with a warning.
struct SmiProbe {
  std::string tool = "nvidia-smi";
  std::optional<SmiMatrix> matrix{};
  std::optional<P2pMatrix> p2p{};                 ///< of reading
  std::optional<std::vector<GpuFacts>> nvlink{};  ///< some drivers leave GPUs out
  std::vector<GpuFacts> gpus{};                   ///< empty: no GPU here
  std::vector<std::string> warnings{};            ///< one line each, for people
};

/// Asks `path` (a program's name or path) with a timeout per question. Never throws for what
/// nvidia-smi does or says: that is a warning, and its source is left out.
[[nodiscard]] SmiProbe probe_nvidia_smi(const std::string& path = "nvidia-smi",
                                        Seconds timeout = kCommandTimeout);

}  // namespace busbar::topo
