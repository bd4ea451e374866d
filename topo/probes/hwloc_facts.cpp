// SPDX-License-Identifier: BSD-3-Clause
#include "topo/probes/hwloc_facts.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/text.hpp"
#include "topo/probes/xml_check.hpp"

namespace busbar::topo {
namespace {

/// What hypervisors let the firmware say. "Amazon EC2" is no sign: its metal says so too.
constexpr std::array<std::string_view, 12> kHypervisors{
    "KVM",   "Virtual",   "QEMU",          "VMware", "HVM domU", "Google Compute Engine",
    "Bochs", "OpenStack", "Standard PC (", "Xen",    "BHYVE",    "SeaBIOS"};

NvlinkKind end_kind(const HostTree& tree, const std::string& bus_id) {
  const int place = find_pci(tree, bus_id);
  if (place < 0) return NvlinkKind::Unknown;
  constexpr unsigned kIbm = 0x1014;
  const PciObject& pci = tree.pci.at(static_cast<std::size_t>(place));
  if (pci.kind == PciKind::Gpu) return NvlinkKind::Gpu;
  if (pci.kind == PciKind::NvSwitch) return NvlinkKind::NvSwitch;
  return pci.vendor_id == kIbm ? NvlinkKind::PowerBridge : NvlinkKind::Unknown;
}

void add_nvlink_ends(HostTree& tree) {
  if (!tree.nvlink_matrix) return;
  const NvlinkMatrix& matrix = *tree.nvlink_matrix;
  for (std::size_t i = 0; i < matrix.bus_ids.size(); ++i) {
    if (end_kind(tree, matrix.bus_ids[i]) != NvlinkKind::Gpu) continue;
    for (std::size_t j = 0; j < matrix.bus_ids.size(); ++j) {
      if (i == j || matrix.GBps[i][j] <= 0) continue;
      tree.nvlinks.push_back({.from = matrix.bus_ids[i],
                              .to = matrix.bus_ids[j],
                              .kind = end_kind(tree, matrix.bus_ids[j])});
    }
  }
  tree.warnings.emplace_back(
      "NVLinkBandwidth of hwloc only tells which devices NVLink joins: its figures change with the "
      "version of hwloc that wrote them");
}

/// On bare metal every GPU has a port above it; a hypervisor may hang all of them right under the
/// host bridge.
bool is_flat(const HostTree& tree) {
  const std::vector<int> gpus = all_of_kind(tree, PciKind::Gpu);
  const auto portless = [&](int gpu) {
    const int parent = tree.pci[static_cast<std::size_t>(gpu)].parent;
    return parent < 0 || tree.pci[static_cast<std::size_t>(parent)].kind == PciKind::HostBridge;
  };
  return gpus.size() > 1 && std::all_of(gpus.begin(), gpus.end(), portless);
}

void look_for_hypervisor(HostTree& tree, std::string_view dmi) {
  const auto* const hypervisor =
      std::find_if(kHypervisors.begin(), kHypervisors.end(),
                   [&](std::string_view word) { return dmi.find(word) != std::string_view::npos; });
  const bool flat = is_flat(tree);
  tree.virtual_machine = flat || hypervisor != kHypervisors.end();
  if (!tree.virtual_machine || tree.gpus.empty()) return;
  tree.warnings.push_back(
      fmt::format("a virtual machine ({}): {}, and the links' speeds may be invented",
                  hypervisor == kHypervisors.end() ? "no PCIe port above any GPU" : *hypervisor,
                  flat ? "the PCIe tree is flattened" : "the PCIe tree may not be the hardware's"));
}

}  // namespace

int check_hwloc_xml(const std::string& text, const std::string& origin) {
  const XmlRoot root = check_xml(text, origin, kHwlocRemedy);
  const auto refuse = [&](const std::string& what, std::string_view remedy) {
    throw usage_error(
        fmt::format("{}: {}; {}", place_in(text, origin, root.offset), one_line(what), remedy));
  };
  if (root.name == "system") refuse("an NCCL topology, not hwloc's", "give it as --nccl-xml");
  if (root.name != "topology") {
    refuse(fmt::format("<{}>: an hwloc file begins with <topology>", root.name.substr(0, 40)),
           kHwlocRemedy);
  }
  if (root.version.empty()) return 1;  // hwloc 1 wrote none
  const std::string_view version = root.version;
  const int major = number_of(version.substr(0, version.find('.')));
  if (major < 1) {
    refuse(fmt::format("version '{}' is none of hwloc's", version.substr(0, 40)), kHwlocRemedy);
  }
  if (major > 2) {
    refuse(fmt::format("hwloc 2 cannot import XML version {} of hwloc 3", version.substr(0, 40)),
           "write it with lstopo --export-xml-flags v2 FILE.xml");
  }
  return major;
}

int number_of(std::string_view text) {
  int number = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc{} && end == text.data() + text.size() && number >= 0 ? number : -1;
}

PciKind device_kind(const PciObject& pci, std::string_view subtype) {
  constexpr unsigned kNvidia = 0x10de;
  constexpr unsigned kInfiniBand = 0x0c06;
  const bool nvidia = pci.vendor_id == kNvidia;
  // A switch that fell off the bus has lost its ids, but hwloc remembers what it was.
  if (subtype == "NVSwitch" || (nvidia && pci.class_code == 0x0680)) return PciKind::NvSwitch;
  if (pci.class_code >> 8U == 0x02 || pci.class_code == kInfiniBand) return PciKind::Nic;
  return nvidia && pci.class_code >> 8U == 0x03 ? PciKind::Gpu : PciKind::Other;
}

void describe_gpu(GpuFact& gpu, std::string_view device, const std::string& model,
                  const std::string& uuid) {
  if (!model.empty()) gpu.model = model;
  if (!uuid.empty()) gpu.uuid = uuid;
  if (!device.starts_with("nvml")) return;
  const int index = number_of(device.substr(4));
  if (index >= 0) gpu.index = index;
}

void finish_hwloc_tree(HostTree& tree, std::string_view dmi) {
  add_nvlink_ends(tree);
  look_for_hypervisor(tree, dmi);
}

}  // namespace busbar::topo
