// SPDX-License-Identifier: BSD-3-Clause
#include "topo/probes/hwloc.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <hwloc.h>

#include "base/child_process.hpp"
#include "base/error.hpp"
#include "base/text.hpp"
#include "topo/graph/graph.hpp"
#include "topo/locality.hpp"
#include "topo/probes/host_tree.hpp"
#include "topo/probes/xml.hpp"

namespace busbar::topo {

namespace {

constexpr std::string_view kHwlocRemedy = "write it again with lstopo FILE.xml";

using PciAttributes = hwloc_obj_attr_u::hwloc_pcidev_attr_s;

struct FreeTopology {
  void operator()(hwloc_topology* topology) const { hwloc_topology_destroy(topology); }
};
using Topology = std::unique_ptr<hwloc_topology, FreeTopology>;

/// Asks for the devices, which hwloc leaves out otherwise. Nothing where hwloc is out of memory.
Topology new_topology() {
  hide_hwloc_errors();
  hwloc_topology_t topology = nullptr;
  if (hwloc_topology_init(&topology) != 0) return nullptr;
  Topology owned(topology);
  hwloc_topology_set_io_types_filter(topology, HWLOC_TYPE_FILTER_KEEP_IMPORTANT);
  // CUDA must not start before devices are chosen, and the others add nothing.
  for (const char* component : {"cuda", "opencl", "gl", "levelzero"}) {
    static_cast<void>(hwloc_topology_set_components(
        topology, HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST, component));
  }
  return owned;
}

std::vector<hwloc_obj_t> all_of_type(hwloc_topology_t topology, hwloc_obj_type_t type) {
  std::vector<hwloc_obj_t> objects;
  for (hwloc_obj_t object = nullptr;
       (object = hwloc_get_next_obj_by_type(topology, type, object)) != nullptr;) {
    objects.push_back(object);
  }
  return objects;
}

std::string info(hwloc_obj_t object, const char* key) {
  const char* value = hwloc_obj_get_info_by_name(object, key);
  return value == nullptr ? std::string{} : one_line(value);
}

std::string_view subtype_of(hwloc_obj_t object) {
  return object->subtype == nullptr ? std::string_view{} : object->subtype;
}

std::string cpus_of(hwloc_const_bitmap_t set) {
  std::vector<int> numbers;
  if (set == nullptr || hwloc_bitmap_weight(set) < 0) return {};
  for (int cpu = hwloc_bitmap_first(set); cpu >= 0; cpu = hwloc_bitmap_next(set, cpu)) {
    numbers.push_back(cpu);
  }
  return format_ranges(numbers);
}

std::string bus_id_of(const PciAttributes& pci) {
  return fmt::format("{:04x}:{:02x}:{:02x}.{:x}", static_cast<unsigned>(pci.domain), pci.bus,
                     pci.dev, pci.func);
}

/// Upstream ports of switches and the ports below them take turns from the root port down; only
/// inside a virtual machine a switch has no root port, and then its ports are of one model.
PciKind bridge_kind(hwloc_obj_t object, PciKind above) {
  if (object->attr->bridge.upstream_type == HWLOC_OBJ_BRIDGE_HOST) return PciKind::HostBridge;
  if (above == PciKind::Bridge) return PciKind::Switch;
  if (above == PciKind::Switch) return PciKind::Bridge;
  const PciAttributes& own = object->attr->bridge.upstream.pci;
  for (hwloc_obj_t child = object->io_first_child; child != nullptr; child = child->next_sibling) {
    if (child->type != HWLOC_OBJ_BRIDGE) continue;
    const PciAttributes& port = child->attr->bridge.upstream.pci;
    if (port.vendor_id == own.vendor_id && port.device_id == own.device_id) return PciKind::Switch;
  }
  return PciKind::Bridge;
}

/// Of a text that is a whole number from 0 and nothing else; else -1.
int number_of(std::string_view text) {
  int number = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc{} && end == text.data() + text.size() && number >= 0 ? number : -1;
}

/// That a text is a whole XML file of hwloc 1 or 2. Throws Error (Usage) with FILE:LINE:COLUMN
/// where it is cut short, of hwloc 3, or something else.
void check_hwloc_xml(const std::string& text, const std::string& origin) {
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
  if (root.version.empty()) return;  // hwloc 1 wrote none
  const std::string_view version = root.version;
  const int major = number_of(version.substr(0, version.find('.')));
  if (major < 1) {
    refuse(fmt::format("version '{}' is none of hwloc's", version.substr(0, 40)), kHwlocRemedy);
  }
  if (major > 2) {
    refuse(fmt::format("hwloc 2 cannot import XML version {} of hwloc 3", version.substr(0, 40)),
           "write it with lstopo --export-xml-flags v2 FILE.xml");
  }
}

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
      "NVLinkBandwidth of hwloc only shows which devices NVLink joins: its figures change with the "
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

/// By class and vendor; `subtype` is hwloc's word for the object. GPUs of other vendors are Other.
PciKind device_kind(const PciObject& pci, std::string_view subtype) {
  constexpr unsigned kNvidia = 0x10de;
  constexpr unsigned kInfiniBand = 0x0c06;
  const bool nvidia = pci.vendor_id == kNvidia;
  // A switch that fell off the bus has lost its ids, but hwloc remembers what it was.
  if (subtype == "NVSwitch" || (nvidia && pci.class_code == 0x0680)) return PciKind::NvSwitch;
  if (pci.class_code >> 8U == 0x02 || pci.class_code == kInfiniBand) return PciKind::Nic;
  return nvidia && pci.class_code >> 8U == 0x03 ? PciKind::Gpu : PciKind::Other;
}

/// Adds what a device of the operating system ("nvml3", "cuda0", "card1") reports of its GPU.
void describe_gpu(GpuFact& gpu, std::string_view device, const std::string& model,
                  const std::string& uuid) {
  if (!model.empty()) gpu.model = model;
  if (!uuid.empty()) gpu.uuid = uuid;
  if (!device.starts_with("nvml")) return;
  const int index = number_of(device.substr(4));
  if (index >= 0) gpu.index = index;
}

/// Makes the ends of NVLinks from the matrix and adds the warnings that need the whole tree; `dmi`
/// holds what the firmware says of product and vendor.
void finish_hwloc_tree(HostTree& tree, std::string_view dmi) {
  add_nvlink_ends(tree);
  look_for_hypervisor(tree, dmi);
}

class TreeBuilder {
 public:
  TreeBuilder(hwloc_topology_t topology, std::string origin) : topology_(topology) {
    tree_.origin = std::move(origin);
  }

  [[nodiscard]] HostTree build() {
    const hwloc_obj_t root = hwloc_get_root_obj(topology_);
    arch_ = info(root, "Architecture");
    tree_.name = info(root, "DMIProductName");
    add_packages();
    add_numa();
    visit(root);
    add_nvlinks();
    std::string dmi;
    for (const char* key :
         {"DMIProductName", "DMISysVendor", "DMIProductVersion", "DMIBIOSVendor"}) {
      dmi += info(root, key) + '\n';
    }
    finish_hwloc_tree(tree_, dmi);
    return std::move(tree_);
  }

 private:
  void add_packages();
  void add_numa();
  /// Normal objects; what is attached to them is added with their place.
  void visit(hwloc_obj_t object);
  void add_io(hwloc_obj_t object, int parent, const PciObject& ancestor);
  void add_osdev(hwloc_obj_t object, int parent, const PciObject& ancestor);
  void add_nvlinks();
  /// The package that a set of processors lies in, or -1.
  [[nodiscard]] int package_of(hwloc_const_bitmap_t cpus) const;
  /// The one node of a set that has processors, or -1.
  [[nodiscard]] int numa_of(hwloc_const_bitmap_t nodes) const;
  /// Of a PCI object or of the one that a device belongs to; empty where there is none.
  [[nodiscard]] static std::string bus_id_near(hwloc_obj_t object);
  [[nodiscard]] PciObject& at(int place) { return tree_.pci.at(static_cast<std::size_t>(place)); }

  hwloc_topology_t topology_;
  HostTree tree_{};
  std::string arch_{};
};

int TreeBuilder::package_of(hwloc_const_bitmap_t cpus) const {
  if (cpus == nullptr || hwloc_bitmap_iszero(cpus) != 0) return -1;
  const std::vector<hwloc_obj_t> packages = all_of_type(topology_, HWLOC_OBJ_PACKAGE);
  const auto found = std::find_if(packages.begin(), packages.end(), [&](hwloc_obj_t package) {
    return hwloc_bitmap_isincluded(cpus, package->cpuset) != 0;
  });
  return found == packages.end() ? -1 : static_cast<int>(found - packages.begin());
}

int TreeBuilder::numa_of(hwloc_const_bitmap_t nodes) const {
  int found = -1;
  for (const NumaNode& numa : tree_.numa) {
    if (numa.gpu_memory || hwloc_bitmap_isset(nodes, static_cast<unsigned>(numa.os_index)) == 0) {
      continue;
    }
    if (found >= 0) return -1;
    found = numa.os_index;
  }
  return found;
}

void TreeBuilder::add_packages() {
  for (hwloc_obj_t package = nullptr;
       (package = hwloc_get_next_obj_by_type(topology_, HWLOC_OBJ_PACKAGE, package)) != nullptr;) {
    tree_.packages.push_back({.index = static_cast<int>(package->os_index),
                              .vendor = cpu_vendor(info(package, "CPUVendor"), arch_),
                              .model = info(package, "CPUModel"),
                              .family = number_of(info(package, "CPUFamilyNumber")),
                              .model_number = number_of(info(package, "CPUModelNumber")),
                              .arch = arch_});
  }
}

void TreeBuilder::add_numa() {
  for (hwloc_obj_t node = nullptr;
       (node = hwloc_get_next_obj_by_type(topology_, HWLOC_OBJ_NUMANODE, node)) != nullptr;) {
    const std::string gpu = info(node, "PCIBusID");
    const bool marked = subtype_of(node) == "GPUMemory";
    // On POWER9 Linux shows the memory of GPUs as nodes without processors, from 255 down.
    const bool power = arch_.starts_with("ppc64") && hwloc_bitmap_iszero(node->cpuset) != 0;
    tree_.numa.push_back({.os_index = static_cast<int>(node->os_index),
                          .package = package_of(node->cpuset),
                          .cpus = cpus_of(node->cpuset),
                          .memory = node->attr->numanode.local_memory,
                          .gpu_memory = marked || power || !gpu.empty(),
                          .gpu_bus_id = normal_bus_id(gpu)});
  }
}

void TreeBuilder::visit(hwloc_obj_t object) {
  if (object->io_first_child != nullptr) {
    const PciObject ancestor{.numa = numa_of(object->nodeset),
                             .package = package_of(object->cpuset),
                             .cpus = cpus_of(object->cpuset)};
    for (hwloc_obj_t io = object->io_first_child; io != nullptr; io = io->next_sibling) {
      add_io(io, -1, ancestor);
    }
  }
  for (hwloc_obj_t child = object->first_child; child != nullptr; child = child->next_sibling) {
    visit(child);
  }
}

void TreeBuilder::add_io(hwloc_obj_t object, int parent, const PciObject& ancestor) {
  if (object->type == HWLOC_OBJ_OS_DEVICE) return add_osdev(object, parent, ancestor);
  if (object->type != HWLOC_OBJ_BRIDGE && object->type != HWLOC_OBJ_PCI_DEVICE) return;
  PciObject pci = ancestor;
  pci.parent = parent;
  pci.model = info(object, "PCIDevice");
  const bool bridge = object->type == HWLOC_OBJ_BRIDGE;
  const bool host_bridge = bridge && object->attr->bridge.upstream_type == HWLOC_OBJ_BRIDGE_HOST;
  if (!host_bridge) {
    const PciAttributes& attributes =
        bridge ? object->attr->bridge.upstream.pci : object->attr->pcidev;
    pci.bus_id = bus_id_of(attributes);
    pci.vendor_id = attributes.vendor_id;
    pci.class_code = attributes.class_id;
    pci.link_GBps = std::isnormal(attributes.linkspeed) ? std::max(attributes.linkspeed, 0.0F) : 0;
  }
  const PciKind above = parent < 0 ? PciKind::HostBridge : at(parent).kind;
  pci.kind = bridge ? bridge_kind(object, above) : device_kind(pci, subtype_of(object));
  if (pci.kind == PciKind::Gpu) {
    tree_.gpus.push_back({.bus_id = pci.bus_id, .model = pci.model});
  }
  const auto place = static_cast<int>(tree_.pci.size());
  tree_.pci.push_back(std::move(pci));
  for (hwloc_obj_t child = object->io_first_child; child != nullptr; child = child->next_sibling) {
    add_io(child, place, ancestor);
  }
}

void TreeBuilder::add_osdev(hwloc_obj_t object, int parent, const PciObject& ancestor) {
  const std::string name = object->name == nullptr ? std::string{} : one_line(object->name);
  if (parent >= 0) {
    at(parent).names.push_back(name);
    if (at(parent).kind != PciKind::Gpu) return;
    return describe_gpu(tree_.gpus.back(), name, info(object, "GPUModel"),
                        info(object, "NVIDIAUUID"));
  }
  const hwloc_obj_osdev_type_t type = object->attr->osdev.type;
  if (type != HWLOC_OBJ_OSDEV_NETWORK && type != HWLOC_OBJ_OSDEV_OPENFABRICS) return;
  PciObject nic = ancestor;
  nic.kind = PciKind::Nic;
  nic.names.push_back(name);
  tree_.pci.push_back(std::move(nic));
}

std::string TreeBuilder::bus_id_near(hwloc_obj_t object) {
  while (object != nullptr && object->type == HWLOC_OBJ_OS_DEVICE) object = object->parent;
  if (object == nullptr) return {};
  if (object->type == HWLOC_OBJ_PCI_DEVICE) return bus_id_of(object->attr->pcidev);
  const bool port = object->type == HWLOC_OBJ_BRIDGE &&
                    object->attr->bridge.upstream_type == HWLOC_OBJ_BRIDGE_PCI;
  return port ? bus_id_of(object->attr->bridge.upstream.pci) : std::string{};
}

/// The matrix as it stands: to merge a switch's ports and close over them, as hwloc offers, zeroes
/// the matrix of machines without switches, and the figures are of no use anyway.
void TreeBuilder::add_nvlinks() {
  hwloc_distances_s* found = nullptr;
  unsigned count = 1;
  if (hwloc_distances_get_by_name(topology_, "NVLinkBandwidth", &count, &found, 0) != 0 ||
      count == 0) {
    return;
  }
  NvlinkMatrix matrix;
  for (unsigned i = 0; i < found->nbobjs; ++i) {
    matrix.bus_ids.push_back(bus_id_near(found->objs[i]));
    std::vector<double>& row = matrix.GBps.emplace_back();
    for (unsigned j = 0; j < found->nbobjs; ++j) {
      const std::size_t cell = std::size_t{i} * found->nbobjs + j;
      row.push_back(static_cast<double>(found->values[cell]) / 1000);  // MB/s
    }
  }
  hwloc_distances_release(topology_, found);
  tree_.nvlink_matrix = std::move(matrix);
}

/// A topology of an XML text; nothing where hwloc cannot import it.
Topology import_xml(const std::string& text) {
  Topology topology = new_topology();
  // hwloc counts the closing zero byte in.
  if (!topology || text.size() >= std::size_t{std::numeric_limits<int>::max()} ||
      hwloc_topology_set_xmlbuffer(topology.get(), text.c_str(),
                                   static_cast<int>(text.size() + 1)) != 0 ||
      hwloc_topology_load(topology.get()) != 0) {
    return nullptr;
  }
  return topology;
}

/// The same topology as hwloc writes it; empty where it cannot be imported.
std::string rewritten(const std::string& text) {
  const Topology topology = import_xml(text);
  char* buffer = nullptr;
  int size = 0;
  if (!topology || hwloc_topology_export_xmlbuffer(topology.get(), &buffer, &size, 0) != 0) {
    return {};
  }
  std::string xml(buffer);
  hwloc_free_xmlbuffer(topology.get(), buffer);
  return xml;
}

/// Throws where hwloc cannot import what it wrote itself.
HostTree tree_of(const std::string& xml, const std::string& origin) {
  const Topology topology = import_xml(xml);
  if (!topology) {
    throw usage_error(fmt::format("{}: hwloc cannot import it; {}", origin, kHwlocRemedy));
  }
  return TreeBuilder(topology.get(), origin).build();
}

}  // namespace

HostTree probe_hwloc() {
  const Topology topology = new_topology();
  if (!topology || hwloc_topology_load(topology.get()) != 0) {
    throw runtime_failure("hwloc cannot look at this machine; give a file with --hwloc");
  }
  return TreeBuilder(topology.get(), "hwloc").build();
}

/// hwloc 2.9 fails assertions and follows null pointers on some well-formed files: whether it can
/// import this one and what it made of it is tried in a process of its own.
HostTree parse_hwloc_xml(const std::string& text, const std::string& origin) {
  check_hwloc_xml(text, origin);
  const std::optional<std::string> xml = run_isolated([&] {
    std::string written = rewritten(text);
    static_cast<void>(tree_of(written, origin));
    return written;
  });
  return tree_of(xml.value_or(""), origin);
}

}  // namespace busbar::topo
