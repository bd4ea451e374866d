// SPDX-License-Identifier: BSD-3-Clause
#include "topo/probes/nccl_xml.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <pugixml.hpp>

#include "base/error.hpp"
#include "base/text.hpp"
#include "topo/probes/nccl_facts.hpp"
#include "topo/probes/xml.hpp"

namespace busbar::topo {
namespace {

constexpr std::string_view kRemedy = "write it anew with NCCL_TOPO_DUMP_FILE";
/// What may stand in what; other elements are left out with a warning.
constexpr std::array<std::pair<std::string_view, std::string_view>, 9> kNesting{{{"system", "cpu"},
                                                                                 {"cpu", "pci"},
                                                                                 {"cpu", "nic"},
                                                                                 {"pci", "pci"},
                                                                                 {"pci", "gpu"},
                                                                                 {"pci", "nic"},
                                                                                 {"gpu", "nvlink"},
                                                                                 {"gpu", "c2c"},
                                                                                 {"nic", "net"}}};

/// Throws for what is well-formed, but no NCCL topology of version 1.
void check_root(const XmlRoot& root, const std::string& place) {
  const auto refuse = [&](const std::string& what, std::string_view remedy) {
    throw usage_error(fmt::format("{}: {}; {}", place, one_line(what), remedy));
  };
  if (root.name == "graphs") {
    refuse("an NCCL graph (NCCL_GRAPH_DUMP_FILE), which holds channels and no machine",
           "give the file of NCCL_TOPO_DUMP_FILE instead");
  }
  if (root.name == "topology") refuse("an hwloc topology, not NCCL's", "give it as --hwloc");
  if (root.name != "system") {
    refuse(fmt::format("<{}>: an NCCL topology begins with <system>", root.name.substr(0, 40)),
           kRemedy);
  }
  if (root.version == "2") {
    refuse("version 2 is RCCL's topology, for AMD GPUs; only NCCL's version 1 is read",
           "give a file that NCCL wrote");
  }
  if (root.version != "1") {
    refuse(fmt::format("version '{}': only version 1 is read", root.version.substr(0, 40)),
           kRemedy);
  }
}

class NcclParser {
 public:
  NcclParser(const std::string& text, const std::string& origin) : xml_(text, origin, kRemedy) {
    tree_.origin = origin;
    tree_.packages_told = false;
  }

  [[nodiscard]] HostTree read() {
    const pugi::xml_document document = xml_.document();
    const pugi::xml_node system = document.document_element();
    check(system);
    for (const pugi::xml_node cpu : system.children("cpu")) read_cpu(cpu);
    if (tree_.numa.empty()) xml_.fail(system, "no <cpu> inside");
    finish_nccl_tree(tree_);
    return std::move(tree_);
  }

 private:
  /// Attributes and what is inside: known elements in their place, others with a warning.
  void check(pugi::xml_node node);
  void check_child(pugi::xml_node node, pugi::xml_node child);
  void read_cpu(pugi::xml_node node);
  [[nodiscard]] int read_numa_id(pugi::xml_node node);
  void read_pci(pugi::xml_node node, int parent);
  void read_link(pugi::xml_node node, PciObject& pci);
  void read_gpu(pugi::xml_node node, const std::string& from);
  void read_nvlink(pugi::xml_node node, const std::string& from);
  void read_nic(pugi::xml_node node, PciObject& pci);
  /// An object with the place of the cpu element that is read now.
  [[nodiscard]] PciObject object_here(int parent) const;

  XmlReader xml_;
  HostTree tree_{};
  std::set<std::string> bus_ids_{};
  std::set<std::string> unknown_{};  ///< elements that a warning was given for
};

void NcclParser::check_child(pugi::xml_node node, pugi::xml_node child) {
  const std::string_view inner = child.name();
  const auto knows = [&](const auto& pair) { return pair.second == inner; };
  const auto fits = [&](const auto& pair) { return knows(pair) && pair.first == node.name(); };
  if (std::any_of(kNesting.begin(), kNesting.end(), fits)) return;
  if (inner == "system" || std::any_of(kNesting.begin(), kNesting.end(), knows)) {
    xml_.fail(child, fmt::format("<{}> cannot be inside <{}>", inner, node.name()));
  }
  if (unknown_.insert(child.name()).second) {
    tree_.warnings.push_back(fmt::format("{}: <{}> is unknown and left out", xml_.place(child),
                                         one_line(inner.substr(0, 40))));
  }
}

void NcclParser::check(pugi::xml_node node) {
  xml_.check(node);
  for (const pugi::xml_node child : node.children()) check_child(node, child);
}

int NcclParser::read_numa_id(pugi::xml_node node) {
  static_cast<void>(xml_.needed(node, "numaid"));
  auto index = static_cast<int>(xml_.whole(node, "numaid", -1, 65535, 0));
  if (index < 0) {
    index = 0;
    tree_.warnings.emplace_back("NCCL did not know the NUMA node: taken for node 0");
  }
  for (const NumaNode& other : tree_.numa) {
    if (other.os_index != index) continue;
    xml_.fail(node, "numaid",
              fmt::format("numaid='{}' is there twice: only files of one host are read", index));
  }
  return index;
}

void NcclParser::read_cpu(pugi::xml_node node) {
  check(node);
  NumaNode numa{.os_index = read_numa_id(node), .package = static_cast<int>(tree_.packages.size())};
  const auto cpus = cpus_of_mask(node.attribute("affinity").value());
  if (!cpus) {
    xml_.fail(node, "affinity", "affinity: hexadecimal words with commas between are wanted");
  }
  numa.cpus = *cpus;
  tree_.packages.push_back(
      {.index = numa.os_index,
       .vendor = cpu_vendor(node.attribute("vendor").value(), node.attribute("arch").value()),
       .family = static_cast<int>(xml_.whole(node, "familyid", 0, 65535, -1)),
       .model_number = static_cast<int>(xml_.whole(node, "modelid", 0, 65535, -1)),
       .arch = one_line(node.attribute("arch").value())});
  tree_.numa.push_back(std::move(numa));
  for (const pugi::xml_node pci : node.children("pci")) read_pci(pci, -1);
  for (const pugi::xml_node nic : node.children("nic")) {
    PciObject pci = object_here(-1);
    pci.kind = PciKind::Nic;
    read_nic(nic, pci);
    tree_.pci.push_back(std::move(pci));
  }
}

PciObject NcclParser::object_here(int parent) const {
  const NumaNode& numa = tree_.numa.back();
  return {.parent = parent, .numa = numa.os_index, .package = numa.package, .cpus = numa.cpus};
}

void NcclParser::read_pci(pugi::xml_node node, int parent) {
  check(node);
  PciObject pci = object_here(parent);
  pci.bus_id = xml_.bus_id(node, "busid");
  if (!bus_ids_.insert(pci.bus_id).second) {
    xml_.fail(node, "busid", fmt::format("busid='{}' is there twice", pci.bus_id));
  }
  pci.class_code = xml_.hex(node, "class") >> 8U;
  pci.vendor_id = xml_.hex(node, "vendor");
  read_link(node, pci);
  pci.kind = nccl_kind(pci, {.gpu = static_cast<bool>(node.child("gpu")),
                             .nic = static_cast<bool>(node.child("nic")),
                             .pci = static_cast<bool>(node.child("pci"))});
  for (const pugi::xml_node nic : node.children("nic")) read_nic(nic, pci);
  const std::string id = pci.bus_id;
  const bool is_gpu = pci.kind == PciKind::Gpu;
  const auto place = static_cast<int>(tree_.pci.size());
  tree_.pci.push_back(std::move(pci));
  if (is_gpu) read_gpu(node, id);
  for (const pugi::xml_node child : node.children("pci")) read_pci(child, place);
}

void NcclParser::read_link(pugi::xml_node node, PciObject& pci) {
  const std::string speed = node.attribute("link_speed").value();
  pci.width = static_cast<int>(xml_.whole(node, "link_width", 0, 64, 0));
  const auto generation = pcie_generation(speed);
  if (!generation) {
    xml_.fail(
        node, "link_speed",
        fmt::format("link_speed='{}': a speed such as '16 GT/s' is wanted", speed.substr(0, 40)));
  }
  pci.generation = *generation;
  set_link_speeds(pci);
}

void NcclParser::read_gpu(pugi::xml_node node, const std::string& from) {
  GpuFact fact{.bus_id = from};
  for (const pugi::xml_node gpu : node.children("gpu")) {
    check(gpu);
    if (gpu != node.child("gpu")) xml_.fail(gpu, "a second <gpu> in one <pci>");
    fact.sm = static_cast<int>(xml_.whole(gpu, "sm", 10, 999, 0));
    fact.index = static_cast<int>(xml_.whole(gpu, "dev", 0, 65535, -1));
    fact.rank = static_cast<int>(xml_.whole(gpu, "rank", -1, 1 << 30, -1));
    for (const pugi::xml_node link : gpu.children("nvlink")) read_nvlink(link, from);
    for (const pugi::xml_node link : gpu.children("c2c")) {
      check(link);
      // MB/s of one link, as ncclTopoAddC2c reads it.
      const auto megabytes = static_cast<double>(xml_.whole(link, "bw", 0, 100000000, 0));
      fact.c2c_GBps += megabytes * static_cast<double>(xml_.whole(link, "count", 0, 64, 1)) / 1000;
    }
  }
  tree_.gpus.push_back(std::move(fact));
}

void NcclParser::read_nvlink(pugi::xml_node node, const std::string& from) {
  check(node);
  static_cast<void>(xml_.needed(node, "count"));
  NvlinkEnd end{.from = from,
                .kind = nvlink_kind(xml_.hex(node, "tclass")),
                .count = static_cast<int>(xml_.whole(node, "count", 1, 1024, 1))};
  // What NCCL writes inside a virtual machine that does not see the switches.
  const bool hidden = xml_.needed(node, "target") == "fffffff:ffff:ff";
  end.to = hidden ? "ffff:ff:ff.f" : xml_.bus_id(node, "target");
  if (hidden) end.kind = NvlinkKind::NvSwitch;
  for (const NvlinkEnd& other : tree_.nvlinks) {
    if (other.from != from || other.to != end.to) continue;
    xml_.fail(node, "target", fmt::format("target='{}' is there twice for one GPU", end.to));
  }
  tree_.nvlinks.push_back(std::move(end));
}

void NcclParser::read_nic(pugi::xml_node node, PciObject& pci) {
  check(node);
  for (const pugi::xml_node net : node.children("net")) {
    check(net);
    pci.names.push_back(one_line(net.attribute("name").value()));
    // Mb/s as NCCL reads it: src/graph/topo.cc divides by 8000.
    pci.net_GBps += static_cast<double>(xml_.whole(net, "speed", 0, 100000000, 0)) / 8000;
  }
}

}  // namespace

HostTree parse_nccl_xml(const std::string& text, const std::string& origin) {
  const XmlRoot root = check_xml(text, origin, kRemedy);
  check_root(root, place_in(text, origin, root.offset));
  return NcclParser(text, origin).read();
}

}  // namespace busbar::topo
