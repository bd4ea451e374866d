// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "topo/probes/host_tree.hpp"

namespace busbar::topo {

/// Reads an NCCL topology (NCCL_TOPO_DUMP_FILE, NCCL_TOPO_FILE), version 1. `origin` names it in
/// errors. Files without gpu and nvlink elements are skeletons and valid. Throws Error (Usage)
/// with FILE:LINE:COLUMN for what is damaged, malformed, or something else.
[[nodiscard]] HostTree parse_nccl_xml(const std::string& text, const std::string& origin);

/// What NCCL's topology files mean by their words and numbers (src/graph/topo.cc, xml.cc).

/// "0-23,48-71" of "00ffffff,..." (hexadecimal words of 32 bits, the highest first); nothing for
/// what is no such mask.
[[nodiscard]] std::optional<std::string> cpus_of_mask(std::string_view mask);

/// 4 of "16 GT/s" and "16.0 GT/s PCIe"; 0 of "" and "Unknown speed"; nothing for other words.
[[nodiscard]] std::optional<int> pcie_generation(std::string_view speed);

/// Fills both speeds from generation and width; NCCL takes what is unknown for gen 3 and x16.
void set_link_speeds(PciObject& pci);

/// Which elements are inside a pci element.
struct Inside {
  bool gpu = false;
  bool nic = false;
  bool pci = false;
};

/// By what is inside, else by the class; GPUs of other vendors are Other.
[[nodiscard]] PciKind nccl_kind(const PciObject& pci, const Inside& inside);

/// Of the class of what is at the other end: 0x030200, 0x068000, 0x068001.
[[nodiscard]] NvlinkKind nvlink_kind(unsigned target_class);

/// Marks NVLinks that end nowhere, and adds the warnings that need the whole tree: ends that
/// disagree, a virtual machine.
void finish_nccl_tree(HostTree& tree);

}  // namespace busbar::topo
