// SPDX-License-Identifier: BSD-3-Clause
#include "topo/probes/host_tree.hpp"

#include <algorithm>
#include <array>

#include "base/text.hpp"
#include "topo/graph/graph.hpp"

namespace busbar::topo {
namespace {

constexpr std::array<std::string_view, 6> kPathNames{"X", "PIX", "PXB", "PHB", "NODE", "SYS"};
constexpr std::array<std::string_view, 7> kKindNames{"host-bridge", "bridge",   "switch", "gpu",
                                                     "nic",         "nvswitch", "other"};

const PciObject& object(const HostTree& tree, int index) {
  return tree.pci.at(static_cast<std::size_t>(index));
}

/// From the object itself to the top.
std::vector<int> way_up(const HostTree& tree, int index) {
  std::vector<int> way;
  for (int place = index; place >= 0; place = object(tree, place).parent) way.push_back(place);
  return way;
}

/// Whether there is a switch strictly between an object and one above it.
bool switch_below(const HostTree& tree, int index, int ancestor) {
  if (index == ancestor) return false;
  for (int place = object(tree, index).parent; place != ancestor;
       place = object(tree, place).parent) {
    if (object(tree, place).kind == PciKind::Switch) return true;
  }
  return false;
}

/// Of two objects that meet in the processor or beyond.
PciPath path_through_host(const HostTree& tree, int one, int other) {
  const PciObject& a = object(tree, one);
  const PciObject& b = object(tree, other);
  const bool same_node = a.numa >= 0 && a.numa == b.numa;
  const bool same_package = a.numa < 0 && b.numa < 0 && a.package >= 0 && a.package == b.package;
  if (!same_node && !same_package) return PciPath::Sys;
  const auto under_host_bridge = [&](int index) {
    return object(tree, way_up(tree, index).back()).kind == PciKind::HostBridge;
  };
  return under_host_bridge(one) && under_host_bridge(other) ? PciPath::Node : PciPath::Phb;
}

}  // namespace

std::string_view name(PciPath path) { return kPathNames.at(static_cast<std::size_t>(path)); }
std::string_view name(PciKind kind) { return kKindNames.at(static_cast<std::size_t>(kind)); }

std::string cpu_vendor(std::string_view vendor, std::string_view arch) {
  if (vendor == "GenuineIntel") return "intel";
  if (vendor == "AuthenticAMD") return "amd";
  if (vendor == "CentaurHauls" || trim(vendor) == "Shanghai") return "zhaoxin";
  if (!trim(vendor).empty()) return one_line(trim(vendor));
  if (arch.starts_with("ppc") || arch.starts_with("power")) return "ibm";
  if (arch.starts_with("arm") || arch.starts_with("aarch")) return "arm";
  return {};
}

int find_pci(const HostTree& tree, const std::string& bus_id) {
  const std::string wanted = normal_bus_id(bus_id);
  if (wanted.empty()) return -1;
  const auto found = std::find_if(tree.pci.begin(), tree.pci.end(),
                                  [&](const PciObject& pci) { return pci.bus_id == wanted; });
  return found == tree.pci.end() ? -1 : static_cast<int>(found - tree.pci.begin());
}

int common_ancestor(const HostTree& tree, int one, int other) {
  const std::vector<int> ways = way_up(tree, other);
  for (const int place : way_up(tree, one)) {
    if (std::find(ways.begin(), ways.end(), place) != ways.end()) return place;
  }
  return -1;
}

PciPath pci_path(const HostTree& tree, int one, int other) {
  if (one == other) return PciPath::Self;
  const int meeting = common_ancestor(tree, one, other);
  if (meeting < 0) return path_through_host(tree, one, other);
  if (object(tree, meeting).kind == PciKind::HostBridge) return PciPath::Phb;
  const bool several = switch_below(tree, one, meeting) || switch_below(tree, other, meeting);
  return several ? PciPath::Pxb : PciPath::Pix;
}

std::vector<int> all_of_kind(const HostTree& tree, PciKind kind) {
  std::vector<int> places;
  for (std::size_t i = 0; i < tree.pci.size(); ++i) {
    if (tree.pci[i].kind == kind) places.push_back(static_cast<int>(i));
  }
  return places;
}

}  // namespace busbar::topo
