// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace busbar::topo {

/// The columns asked for, in this order: `nvidia-smi --query-gpu=... --format=csv,noheader`.
/// Generation and width as .max: the current ones drop while a GPU is idle.
inline constexpr std::string_view kQueryColumns =
    "index,uuid,name,pci.bus_id,pcie.link.gen.max,pcie.link.width.max,mig.mode.current";

/// One line of `nvidia-smi --query-gpu`.
struct GpuFacts {
  int index = 0;
  std::string uuid{};
  std::string name{};
  std::string bus_id{};       ///< as normal_bus_id writes it; empty where not told
  int pcie_generation = 0;    ///< 0 where not told
  int pcie_width = 0;         ///< lanes; 0 where not told
  std::optional<bool> mig{};  ///< enabled; nothing where the GPU has no MIG
};

/// Reads the lines of kQueryColumns, with or without their header; "No devices were found" and an
/// empty text are no GPUs. Throws Error (Usage) "ORIGIN:LINE:COLUMN: what; how to mend".
[[nodiscard]] std::vector<GpuFacts> parse_smi_query(std::string_view text, std::string_view origin);

}  // namespace busbar::topo
