// SPDX-License-Identifier: BSD-3-Clause
#include "topo/probes/host_tree.hpp"

#include "topo/graph/graph.hpp"

namespace busbar::topo {

std::string cpu_vendor(std::string_view vendor, std::string_view arch) {
  if (vendor == "GenuineIntel") return "intel";
  if (vendor == "AuthenticAMD") return "amd";
  if (vendor == "CentaurHauls" || trim(vendor) == "Shanghai") return "zhaoxin";
  if (!trim(vendor).empty()) return one_line(trim(vendor));
  if (arch.starts_with("ppc") || arch.starts_with("power")) return "ibm";
  if (arch.starts_with("arm") || arch.starts_with("aarch")) return "arm";
  return {};
}

const PciObject* find_pci(const HostTree& tree, const std::string& bus_id) {
  const std::string wanted = normal_bus_id(bus_id);
  return wanted.empty() ? nullptr : find_by(tree.pci, wanted, &PciObject::bus_id);
}

}  // namespace busbar::topo
