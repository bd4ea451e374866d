// SPDX-License-Identifier: BSD-3-Clause
#include "topo/probes/nccl_xml.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <pugixml.hpp>

#include "base/error.hpp"
#include "base/text.hpp"
#include "topo/probes/host_tree.hpp"
#include "topo/probes/xml.hpp"

namespace busbar::topo {
namespace {

/// Less than any slot of a GPU has, PCIe 2.0 x4: such a speed is a hypervisor's invention. In
/// GB/s.
constexpr double kNonsenseSpeed = 1.0;

struct Speed {
  std::string_view gigatransfers;
  double lane_GBps;  ///< after line coding, per direction
  int nccl;          ///< kvDictPciGen of src/graph/topo.cc: units of 100 Mb/s
};
/// Generations 1 to 6. 8b/10b to 5 GT/s, 128b/130b to 32 GT/s, 242/256 of the flits at 64 GT/s.
constexpr std::array<Speed, 6> kSpeeds{{{"2.5", 0.25, 15},
                                        {"5", 0.5, 30},
                                        {"8", 8.0 / 8 * 128 / 130, 60},
                                        {"16", 16.0 / 8 * 128 / 130, 120},
                                        {"32", 32.0 / 8 * 128 / 130, 240},
                                        {"64", 64.0 / 8 * 242 / 256, 480}}};
constexpr int kDefaultGeneration = 3;
constexpr int kDefaultWidth = 16;

const GpuFact* find_gpu(const HostTree& tree, const std::string& bus_id) {
  const auto found = std::find_if(tree.gpus.begin(), tree.gpus.end(),
                                  [&](const GpuFact& gpu) { return gpu.bus_id == bus_id; });
  return found == tree.gpus.end() ? nullptr : &*found;
}

/// Links that a GPU reports to another; -1 where it reports no NVLink at all.
int reported_links(const HostTree& tree, const std::string& from, const std::string& to) {
  int links = -1;
  for (const NvlinkEnd& end : tree.nvlinks) {
    if (end.from != from) continue;
    links = std::max(links, 0);
    if (end.to == to) links = end.count;
  }
  return links;
}

void check_ends(HostTree& tree) {
  for (const NvlinkEnd& end : tree.nvlinks) {
    if (end.kind != NvlinkKind::Gpu || end.from >= end.to) continue;
    const int back = reported_links(tree, end.to, end.from);
    if (find_gpu(tree, end.to) == nullptr || back < 0 || back == end.count) continue;
    tree.warnings.push_back(
        fmt::format("asymmetric link: {} reports {} to {}, which reports {} back", end.from,
                    counted(static_cast<std::size_t>(end.count), "NVLink"), end.to, back));
  }
}

void mark_endless(HostTree& tree) {
  for (NvlinkEnd& end : tree.nvlinks) {
    const bool itself = end.to == end.from;
    if (!itself && end.to != "0000:00:00.0") continue;
    end.kind = NvlinkKind::Unknown;
    tree.warnings.push_back(fmt::format("{} of {} end at {}: where they lead is not known",
                                        counted(static_cast<std::size_t>(end.count), "NVLink"),
                                        end.from, itself ? "itself" : end.to));
  }
}

/// Cloud providers invent switches with addresses that no hardware has; hypervisors, slow links.
void look_for_hypervisor(HostTree& tree) {
  const auto invented = [](const PciObject& pci) {
    return pci.kind == PciKind::Switch && pci.bus_id.starts_with("ffff:ff:");
  };
  const auto nonsense = [](const PciObject& pci) {
    return pci.kind == PciKind::Gpu && pci.parent < 0 && pci.link_GBps > 0 &&
           pci.link_GBps < kNonsenseSpeed;
  };
  const bool has_invented = std::any_of(tree.pci.begin(), tree.pci.end(), invented);
  if (!has_invented && std::none_of(tree.pci.begin(), tree.pci.end(), nonsense)) return;
  tree.virtual_machine = true;
  tree.warnings.emplace_back(
      has_invented
          ? "a virtual machine: its PCIe switches are what the provider wrote, not what was probed"
          : "a virtual machine: PCIe paths may be flattened, and the links' speeds are invented");
}

/// Skeletons of some providers say nothing of a device but its address.
void count_classless(HostTree& tree) {
  const auto classless = [](const PciObject& pci) {
    return pci.kind == PciKind::Other && pci.class_code == 0;
  };
  const auto number = std::count_if(tree.pci.begin(), tree.pci.end(), classless);
  if (number == 0) return;
  const auto first = std::find_if(tree.pci.begin(), tree.pci.end(), classless);
  tree.warnings.push_back(
      fmt::format("{} without a class, {} first: what they are, only NCCL on that machine knows",
                  counted(static_cast<std::size_t>(number), "device"), first->bus_id));
}

constexpr std::string_view kRemedy = "write it again with NCCL_TOPO_DUMP_FILE";
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
    tree_.packages_known = false;
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

std::optional<std::string> cpus_of_mask(std::string_view mask) {
  if (mask.empty()) return std::string{};
  constexpr int kBits = 32;
  constexpr std::size_t kMostWords = 2048;  // more than any machine has processors
  const std::vector<std::string> words = split(mask, ',');
  if (words.size() > kMostWords) return std::nullopt;
  std::vector<int> cpus;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[words.size() - 1 - i];  // the highest word comes first
    std::string_view digits = word;
    if (digits.starts_with("0x")) digits.remove_prefix(2);
    unsigned value = 0;
    const auto [end, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
    const bool number = error == std::errc{} && end == digits.data() + digits.size();
    if (!number && !word.empty()) return std::nullopt;
    for (int bit = 0; bit < kBits; ++bit) {
      if (((value >> static_cast<unsigned>(bit)) & 1U) != 0) {
        cpus.push_back(kBits * static_cast<int>(i) + bit);
      }
    }
  }
  return format_ranges(cpus);
}

std::optional<int> pcie_generation(std::string_view speed) {
  std::string_view number = trim(speed);
  if (number.empty() || number.starts_with("Unknown")) return 0;
  const std::size_t blank = number.find(' ');
  if (blank == std::string_view::npos) return std::nullopt;
  const std::string_view unit = number.substr(blank + 1);
  if (unit != "GT/s" && unit != "GT/s PCIe") return std::nullopt;
  number = number.substr(0, blank);
  if (number.ends_with(".0")) number.remove_suffix(2);
  for (std::size_t i = 0; i < kSpeeds.size(); ++i) {
    if (kSpeeds.at(i).gigatransfers == number) return static_cast<int>(i) + 1;
  }
  return std::nullopt;
}

void set_link_speeds(PciObject& pci) {
  const int generation = pci.generation == 0 ? kDefaultGeneration : pci.generation;
  const int width = pci.width == 0 ? kDefaultWidth : pci.width;
  const Speed& speed = kSpeeds.at(static_cast<std::size_t>(generation) - 1);
  pci.nccl_GBps = width * speed.nccl / 80.0;
  if (pci.generation > 0 && pci.width > 0) pci.link_GBps = width * speed.lane_GBps;
}

PciKind nccl_kind(const PciObject& pci, const Inside& inside) {
  constexpr unsigned kNvidia = 0x10de;
  const bool nvidia = pci.vendor_id == 0 || pci.vendor_id == kNvidia;
  if (inside.gpu) return PciKind::Gpu;
  if (inside.pci || pci.class_code == 0x0604) return PciKind::Switch;
  if (inside.nic || pci.class_code >> 8U == 0x02) return PciKind::Nic;
  if (nvidia && (pci.class_code == 0x0302 || pci.class_code == 0x0300)) return PciKind::Gpu;
  if (nvidia && pci.class_code == 0x0680) return PciKind::NvSwitch;
  return PciKind::Other;
}

NvlinkKind nvlink_kind(unsigned target_class) {
  if (target_class >> 8U == 0x0302 || target_class >> 8U == 0x0300) return NvlinkKind::Gpu;
  if (target_class == 0x068000) return NvlinkKind::NvSwitch;
  if (target_class == 0x068001) return NvlinkKind::PowerBridge;
  return NvlinkKind::Unknown;
}

void finish_nccl_tree(HostTree& tree) {
  count_classless(tree);
  mark_endless(tree);
  check_ends(tree);
  look_for_hypervisor(tree);
}

HostTree parse_nccl_xml(const std::string& text, const std::string& origin) {
  const XmlRoot root = check_xml(text, origin, kRemedy);
  check_root(root, place_in(text, origin, root.offset));
  return NcclParser(text, origin).read();
}

}  // namespace busbar::topo
