// SPDX-License-Identifier: BSD-3-Clause
#include <pugixml.hpp>

#include "topo/graph/constants.hpp"
#include "topo/probes/host_tree.hpp"
#include "topo/probes/xml.hpp"

namespace busbar::topo {
namespace {

/// What may stand in what; other elements are left out with a warning.
constexpr std::array<std::string_view, 10> kNesting{
    "system/cpu", "cpu/pci",    "cpu/nic",  "pci/pci", "pci/gpu",
    "pci/nic",    "gpu/nvlink", "gpu/xgmi", "gpu/c2c", "nic/net"};

/// Throws for what is well-formed, but no topology of NCCL (version 1) or RCCL (version 2).
void check_root(const XmlFile& xml) {
  const std::string name = xml.root().name();
  const std::string version = xml.root().attribute("version").value();
  if (name == "graphs") {
    xml.fail_with(xml.root(), "give the file of NCCL_TOPO_DUMP_FILE instead",
                  "an NCCL graph (NCCL_GRAPH_DUMP_FILE), which holds channels and no machine");
  }
  if (name == "topology") {
    xml.fail_with(xml.root(), "give it as --hwloc", "an hwloc topology, not NCCL's");
  }
  if (name != "system") {
    xml.fail(xml.root(), "<{}>: an NCCL topology begins with <system>", name.substr(0, 40));
  }
  if (version != "1" && version != "2") {
    xml.fail(xml.root(), "version '{}': only versions 1 (NCCL) and 2 (RCCL) are read",
             version.substr(0, 40));
  }
}

/// 4 of "16 GT/s" and "16.0 GT/s PCIe"; 0 of "" and "Unknown speed"; nothing for other texts.
std::optional<int> pcie_generation(std::string_view speed) {
  constexpr std::array<std::string_view, 6> kGigatransfers{"2.5", "5", "8", "16", "32", "64"};
  speed = trim(speed);
  if (speed.empty() || speed.starts_with("Unknown")) return 0;
  const std::size_t blank = std::min(speed.find(' '), speed.size());
  std::string_view number = speed.substr(0, blank);
  const std::string_view unit = speed.substr(blank);
  if (number.ends_with(".0")) number.remove_suffix(2);
  const auto* const found = std::ranges::find(kGigatransfers, number);
  if ((unit != " GT/s" && unit != " GT/s PCIe") || found == kGigatransfers.end()) return {};
  return static_cast<int>(found - kGigatransfers.begin()) + 1;
}

/// By what is inside, else by the class; GPUs of other vendors are Other.
PciKind kind_of(const PciObject& pci, pugi::xml_node node) {
  constexpr unsigned kNvidia = 0x10de;
  const bool nvidia = pci.vendor_id == 0 || pci.vendor_id == kNvidia;
  const auto has = [&](const char* child) { return !node.child(child).empty(); };
  if (has("gpu")) return PciKind::Gpu;
  if (has("pci") || pci.class_code == 0x0604) return PciKind::Switch;
  if (has("nic") || pci.class_code >> 8U == 0x02) return PciKind::Nic;
  if (nvidia && (pci.class_code == 0x0302 || pci.class_code == 0x0300)) return PciKind::Gpu;
  if (nvidia && pci.class_code == 0x0680) return PciKind::NvSwitch;
  return PciKind::Other;
}

/// Of the class of what is at the other end; GPUs of AMD are display controllers without a display
/// or processing accelerators.
NvlinkKind nvlink_kind(unsigned target_class) {
  constexpr std::array kGpus{0x0300U, 0x0302U, 0x0380U, 0x1200U};
  if (std::ranges::find(kGpus, target_class >> 8U) != kGpus.end()) {
    return NvlinkKind::Gpu;
  }
  if (target_class == 0x068000) return NvlinkKind::NvSwitch;
  if (target_class == 0x068001) return NvlinkKind::PowerBridge;
  return NvlinkKind::Unknown;
}

std::string links(const HostTree& tree, int count) {
  return counted(count, tree.xgmi ? "xGMI link" : "NVLink");
}

/// Skeletons of some providers say nothing of a device but its address.
void count_classless(HostTree& tree) {
  const auto classless = [](const PciObject& pci) {
    return pci.kind == PciKind::Other && pci.class_code == 0;
  };
  const auto first = std::ranges::find_if(tree.pci, classless);
  if (first == tree.pci.end()) return;
  const auto number = std::count_if(first, tree.pci.end(), classless);
  tree.warnings.push_back(
      fmt::format("{} without a class (first: {}); write the file again with NCCL on that machine",
                  counted(number, "device"), first->bus_id));
}

void mark_endless(HostTree& tree) {
  for (NvlinkEnd& end : tree.nvlinks) {
    const bool itself = end.to == end.from;
    if (!itself && end.to != "0000:00:00.0") continue;
    end.kind = NvlinkKind::Unknown;
    tree.warnings.push_back(fmt::format("{} of {} end at {}: where they lead is not known",
                                        links(tree, end.count), end.from,
                                        itself ? "itself" : end.to));
  }
}

/// Ends that disagree; a GPU that reports no NVLink at all contradicts nothing.
void check_ends(HostTree& tree) {
  for (const NvlinkEnd& end : tree.nvlinks) {
    if (end.kind != NvlinkKind::Gpu || end.from >= end.to) continue;
    const auto its =
        filtered(tree.nvlinks, [&](const NvlinkEnd& other) { return other.from == end.to; });
    const NvlinkEnd* same = find_by(its, end.from, &NvlinkEnd::to);
    const int back = same == nullptr ? 0 : same->count;
    if (its.empty() || back == end.count) continue;
    tree.warnings.push_back(
        fmt::format("asymmetric link: {} reports {} to {}, which reports {} back", end.from,
                    links(tree, end.count), end.to, back));
  }
}

/// Cloud providers invent switches with addresses that no hardware has; hypervisors, slow links.
void look_for_hypervisor(HostTree& tree) {
  const auto invented = [](const PciObject& pci) {
    return pci.kind == PciKind::Switch && pci.bus_id.starts_with("ffff:ff:");
  };
  const auto nonsense = [](const PciObject& pci) {
    constexpr double kLeastGBps = 1.0;  // less than any slot of a GPU has, PCIe 2.0 x4
    return pci.kind == PciKind::Gpu && pci.parent < 0 && pci.generation > 0 && pci.width > 0 &&
           pcie_medium(pci.generation, pci.width).nominal_GBps < kLeastGBps;
  };
  const bool has_invented = std::ranges::any_of(tree.pci, invented);
  if (!has_invented && std::ranges::none_of(tree.pci, nonsense)) return;
  tree.virtual_machine = true;
  tree.warnings.emplace_back(
      has_invented
          ? "a virtual machine: its PCIe switches are what the provider wrote, not what was probed"
          : "a virtual machine: PCIe paths may be flattened, and the links' speeds are invented");
}

class NcclParser {
 public:
  NcclParser(const XmlFile& xml, const std::string& origin) : xml_(xml) { tree_.origin = origin; }

  [[nodiscard]] HostTree read() {
    check(xml_.root());
    for (const pugi::xml_node cpu : xml_.root().children("cpu")) read_cpu(cpu);
    if (tree_.numa.empty()) xml_.fail(xml_.root(), "no <cpu> inside");
    count_classless(tree_);
    mark_endless(tree_);
    check_ends(tree_);
    look_for_hypervisor(tree_);
    return std::move(tree_);
  }

 private:
  /// Attributes and what is inside: known elements in their place, others with a warning.
  void check(pugi::xml_node node) {
    xml_.check(node);
    for (const pugi::xml_node child : node.children()) {
      const std::string_view inner = child.name();
      const std::string path = fmt::format("{}/{}", node.name(), inner);
      if (std::ranges::find(kNesting, path) != kNesting.end()) continue;
      const bool known = std::ranges::any_of(kNesting, [&](std::string_view one) {
        return inner == "system" || one.ends_with(fmt::format("/{}", inner));
      });
      if (known) xml_.fail(child, "<{}> cannot be inside <{}>", inner, node.name());
      if (unknown_.insert(child.name()).second) {
        tree_.warnings.push_back(fmt::format("{}: <{}> is unknown and left out", xml_.place(child),
                                             one_line(inner.substr(0, 40))));
      }
    }
  }

  void read_cpu(pugi::xml_node node) {
    check(node);
    const std::string_view mask = node.attribute("affinity").value();
    if (mask.find_first_not_of("0123456789abcdefABCDEFx,") != std::string_view::npos) {
      xml_.fail_at(node, "affinity", "affinity: expected hexadecimal words separated by commas");
    }
    const int index = read_numa_id(node);
    tree_.numa.push_back(
        {.os_index = index,
         .package = static_cast<int>(tree_.packages.size()),
         .has_cpus = mask.find_first_of("123456789abcdefABCDEF") != std::string_view::npos});
    tree_.packages.push_back(
        {.index = index,
         .vendor = cpu_vendor(node.attribute("vendor").value(), node.attribute("arch").value()),
         .model_number = xml_.whole(node, "modelid", 0, 65535, -1)});
    for (const pugi::xml_node pci : node.children("pci")) read_pci(pci, -1);
    for (const pugi::xml_node nic : node.children("nic")) {
      PciObject pci = object_here(-1);
      pci.kind = PciKind::Nic;
      read_nic(nic, pci);
      tree_.pci.push_back(std::move(pci));
    }
  }

  [[nodiscard]] int read_numa_id(pugi::xml_node node) {
    static_cast<void>(xml_.needed(node, "numaid"));
    int index = xml_.whole(node, "numaid", -1, 65535, 0);
    if (index < 0) {
      index = 0;
      tree_.warnings.emplace_back("NCCL did not know the NUMA node: taken for node 0");
    }
    for (const NumaNode& other : tree_.numa) {
      if (other.os_index != index) continue;
      xml_.fail_at(node, "numaid", "numaid='{}' appears twice: only files of one host are read",
                   index);
    }
    return index;
  }

  /// An object near the cpu element that is read now.
  [[nodiscard]] PciObject object_here(int parent) const {
    const NumaNode& numa = tree_.numa.back();
    return {.parent = parent, .numa = numa.os_index, .package = numa.package};
  }

  void read_pci(pugi::xml_node node, int parent) {
    check(node);
    PciObject pci = object_here(parent);
    pci.bus_id = xml_.bus_id(node, "busid");
    if (!bus_ids_.insert(pci.bus_id).second) {
      xml_.fail_at(node, "busid", "busid='{}' appears twice", pci.bus_id);
    }
    pci.class_code = xml_.hex(node, "class") >> 8U;
    pci.vendor_id = xml_.hex(node, "vendor");
    pci.width = xml_.whole(node, "link_width", 0, 64, 0);
    const std::string_view speed = node.attribute("link_speed").value();
    const auto generation = pcie_generation(speed);
    if (!generation) {
      xml_.fail_at(node, "link_speed", "link_speed='{}': expected a speed such as '16 GT/s'",
                   speed.substr(0, 40));
    }
    pci.generation = *generation;
    pci.kind = kind_of(pci, node);
    for (const pugi::xml_node nic : node.children("nic")) read_nic(nic, pci);
    const auto place = static_cast<int>(tree_.pci.size());
    tree_.pci.push_back(pci);
    if (pci.kind == PciKind::Gpu) read_gpu(node, pci.bus_id);
    for (const pugi::xml_node child : node.children("pci")) read_pci(child, place);
  }

  void read_gpu(pugi::xml_node node, const std::string& bus_id) {
    const pugi::xml_node gpu = node.child("gpu");
    if (const auto second = gpu.next_sibling("gpu")) {
      xml_.fail(second, "a second <gpu> in one <pci>");
    }
    check(gpu);
    tree_.gpus.push_back({.index = xml_.whole(gpu, "dev", 0, 65535, -1),
                          .name = std::string(amd_gpu_name(xml_.hex(node, "device"))),
                          .bus_id = bus_id});
    for (const pugi::xml_node link : gpu.children("nvlink")) read_nvlink(link, bus_id);
    for (const pugi::xml_node link : gpu.children("xgmi")) {
      tree_.xgmi = true;
      read_nvlink(link, bus_id);
    }
  }

  void read_nvlink(pugi::xml_node node, const std::string& from) {
    check(node);
    static_cast<void>(xml_.needed(node, "count"));
    NvlinkEnd end{.from = from,
                  .kind = nvlink_kind(xml_.hex(node, "tclass")),
                  .count = xml_.whole(node, "count", 1, 1024, 1)};
    // What NCCL writes inside a virtual machine that does not see the switches.
    const bool hidden = xml_.needed(node, "target") == "fffffff:ffff:ff";
    end.to = hidden ? "ffff:ff:ff.f" : xml_.bus_id(node, "target");
    if (hidden) end.kind = NvlinkKind::NvSwitch;
    for (const NvlinkEnd& other : tree_.nvlinks) {
      if (other.from != from || other.to != end.to) continue;
      xml_.fail_at(node, "target", "target='{}' appears twice for one GPU", end.to);
    }
    tree_.nvlinks.push_back(std::move(end));
  }

  void read_nic(pugi::xml_node node, PciObject& pci) {
    check(node);
    for (const pugi::xml_node net : node.children("net")) {
      check(net);
      pci.names.push_back(one_line(net.attribute("name").value()));
      // Mb/s as NCCL reads it: src/graph/topo.cc divides by 8000.
      pci.net_GBps += xml_.whole(net, "speed", 0, 100000000, 0) / 8000.0;
    }
  }

  const XmlFile& xml_;
  HostTree tree_{};
  std::set<std::string> bus_ids_{};
  std::set<std::string> unknown_{};  ///< elements that a warning was given for
};

}  // namespace

HostTree parse_nccl_xml(const std::string& text, const std::string& origin) {
  const XmlFile xml(text, origin, "write it again with NCCL_TOPO_DUMP_FILE");
  check_root(xml);
  return NcclParser(xml, origin).read();
}

}  // namespace busbar::topo
