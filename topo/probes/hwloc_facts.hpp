// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>

#include "topo/probes/host_tree.hpp"

namespace busbar::topo {

/// What is to be known about hwloc's files and names, without hwloc itself.

inline constexpr std::string_view kHwlocRemedy = "write it anew with lstopo FILE.xml";

/// Checks that a text is a whole XML file of hwloc and tells its major version, 1 or 2. Throws
/// Error (Usage) with FILE:LINE:COLUMN where it is cut short, of hwloc 3, or something else.
[[nodiscard]] int check_hwloc_xml(const std::string& text, const std::string& origin);

/// Of a text that is a whole number from 0 and nothing else; else -1.
[[nodiscard]] int number_of(std::string_view text);

/// By class and vendor; `subtype` is hwloc's word for the object. GPUs of other vendors are Other.
[[nodiscard]] PciKind device_kind(const PciObject& pci, std::string_view subtype);

/// Adds what a device of the operating system ("nvml3", "cuda0", "card1") tells of its GPU.
void describe_gpu(GpuFact& gpu, std::string_view device, const std::string& model,
                  const std::string& uuid);

/// Makes the ends of NVLinks from the matrix and adds the warnings that need the whole tree; `dmi`
/// holds what the firmware says of product and vendor.
void finish_hwloc_tree(HostTree& tree, std::string_view dmi);

}  // namespace busbar::topo
