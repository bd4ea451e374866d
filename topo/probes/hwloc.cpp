// SPDX-License-Identifier: BSD-3-Clause
#include <limits>

#include <hwloc.h>

#include "base/child_process.hpp"
#include "topo/graph/graph.hpp"
#include "topo/locality.hpp"
#include "topo/probes/host_tree.hpp"
#include "topo/probes/xml.hpp"

namespace busbar::topo {
namespace {

constexpr std::string_view kHwlocRemedy = "write it again with lstopo FILE.xml";

using PciAttributes = hwloc_obj_attr_u::hwloc_pcidev_attr_s;

std::string info(hwloc_obj_t object, const char* key) {
  const char* value = hwloc_obj_get_info_by_name(object, key);
  return value == nullptr ? std::string{} : one_line(value);
}

std::string_view subtype_of(hwloc_obj_t object) {
  return object->subtype == nullptr ? std::string_view{} : object->subtype;
}

int number_of(std::string_view text) { return std::max(to_number<int>(text).value_or(-1), -1); }

/// Null of a host bridge and of what is not on the PCI bus.
const PciAttributes* pci_of(hwloc_obj_t object) {
  if (object->type == HWLOC_OBJ_PCI_DEVICE) return &object->attr->pcidev;
  const bool port = object->type == HWLOC_OBJ_BRIDGE &&
                    object->attr->bridge.upstream_type == HWLOC_OBJ_BRIDGE_PCI;
  return port ? &object->attr->bridge.upstream.pci : nullptr;
}

std::string bus_id_of(const PciAttributes* pci) {
  return pci == nullptr
             ? std::string{}
             : fmt::format("{:04x}:{:02x}:{:02x}.{:x}", static_cast<unsigned>(pci->domain),
                           pci->bus, pci->dev, pci->func);
}

/// Upstream ports of switches and the ports below them take turns from the root port down; only
/// inside a virtual machine a switch has no root port, and then its ports are of one model.
PciKind bridge_kind(hwloc_obj_t object, PciKind above) {
  const PciAttributes* own = pci_of(object);
  if (own == nullptr) return PciKind::HostBridge;
  if (above == PciKind::Bridge) return PciKind::Switch;
  if (above == PciKind::Switch) return PciKind::Bridge;
  for (hwloc_obj_t child = object->io_first_child; child != nullptr; child = child->next_sibling) {
    const PciAttributes* port = child->type == HWLOC_OBJ_BRIDGE ? pci_of(child) : nullptr;
    if (port != nullptr && port->vendor_id == own->vendor_id && port->device_id == own->device_id) {
      return PciKind::Switch;
    }
  }
  return PciKind::Bridge;
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

/// On bare metal every GPU has a port above it; a hypervisor may hang all of them right under the
/// host bridge.
bool is_flat(const HostTree& tree) {
  const auto has_port = [&](const PciObject& pci) {
    return pci.kind == PciKind::Gpu && pci.parent >= 0 &&
           tree.pci[static_cast<std::size_t>(pci.parent)].kind != PciKind::HostBridge;
  };
  return tree.gpus.size() > 1 && std::ranges::none_of(tree.pci, has_port);
}

/// `dmi` holds what the firmware says of product and vendor.
void look_for_hypervisor(HostTree& tree, std::string_view dmi) {
  // "Amazon EC2" is not a sign: its bare metal has that name too.
  constexpr std::array<std::string_view, 12> kHypervisors{
      "KVM",   "Virtual",   "QEMU",          "VMware", "HVM domU", "Google Compute Engine",
      "Bochs", "OpenStack", "Standard PC (", "Xen",    "BHYVE",    "SeaBIOS"};
  const auto* const hypervisor = std::ranges::find_if(kHypervisors, [&](std::string_view word) {
    return dmi.find(word) != std::string_view::npos;
  });
  const bool flat = is_flat(tree);
  tree.virtual_machine = flat || hypervisor != kHypervisors.end();
  if (!tree.virtual_machine || tree.gpus.empty()) return;
  tree.warnings.push_back(
      fmt::format("a virtual machine ({}): {}, and the links' speeds may be invented",
                  hypervisor == kHypervisors.end() ? "no PCIe port above any GPU" : *hypervisor,
                  flat ? "the PCIe tree is flattened" : "the PCIe tree may not be the hardware's"));
}

class HwlocReader {
 public:
  HwlocReader(const HwlocTopology& topology, const std::string& origin)
      : topology_(topology),
        packages_(all_of_type(topology, HWLOC_OBJ_PACKAGE)),
        root_(hwloc_get_root_obj(topology.get())) {
    tree_.origin = origin;
  }

  [[nodiscard]] HostTree read() {
    add_processors();
    visit(root_);
    add_nvlinks();
    std::string dmi;
    for (const char* key :
         {"DMIProductName", "DMISysVendor", "DMIProductVersion", "DMIBIOSVendor"}) {
      dmi += info(root_, key) + '\n';
    }
    look_for_hypervisor(tree_, dmi);
    return std::move(tree_);
  }

 private:
  [[nodiscard]] PciObject& at(int place) { return tree_.pci.at(static_cast<std::size_t>(place)); }

  void add_processors() {
    const std::string arch = info(root_, "Architecture");
    for (hwloc_obj_t package : packages_) {
      const std::string model = info(package, "CPUModel");
      tree_.packages.push_back(
          {.index = static_cast<int>(package->os_index),
           .vendor = cpu_vendor(info(package, "CPUVendor"), arch.empty() ? lower(model) : arch),
           .model = model,
           .model_number = number_of(info(package, "CPUModelNumber"))});
    }
    for (hwloc_obj_t node : all_of_type(topology_, HWLOC_OBJ_NUMANODE)) {
      const bool has_cpus = hwloc_bitmap_iszero(node->cpuset) == 0;
      const bool marked = subtype_of(node) == "GPUMemory" || !info(node, "PCIBusID").empty();
      // On POWER9 Linux shows the memory of GPUs as nodes without processors, from 255 down.
      const bool power = arch.starts_with("ppc64") && !has_cpus;
      tree_.numa.push_back({.os_index = static_cast<int>(node->os_index),
                            .package = package_of(node->cpuset),
                            .has_cpus = has_cpus,
                            .gpu_memory = marked || power});
    }
  }

  /// The package that a set of processors lies in, or -1.
  [[nodiscard]] int package_of(hwloc_const_bitmap_t cpus) const {
    if (cpus == nullptr || hwloc_bitmap_iszero(cpus) != 0) return -1;
    const auto found = std::ranges::find_if(packages_, [&](hwloc_obj_t package) {
      return hwloc_bitmap_isincluded(cpus, package->cpuset) != 0;
    });
    return found == packages_.end() ? -1 : static_cast<int>(found - packages_.begin());
  }

  /// The one node of a set that has processors, or -1.
  [[nodiscard]] int numa_of(hwloc_const_bitmap_t nodes) const {
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

  /// Normal objects; what is attached to them is added with their place.
  void visit(hwloc_obj_t object) {
    const PciObject near{.numa = numa_of(object->nodeset), .package = package_of(object->cpuset)};
    add_attached(object, near);
    for (hwloc_obj_t child = object->first_child; child != nullptr; child = child->next_sibling) {
      visit(child);
    }
  }

  void add_attached(hwloc_obj_t object, const PciObject& near) {
    for (hwloc_obj_t child = object->io_first_child; child != nullptr;
         child = child->next_sibling) {
      if (child->type == HWLOC_OBJ_OS_DEVICE) {
        add_device(child, near);
      } else if (child->type == HWLOC_OBJ_BRIDGE || child->type == HWLOC_OBJ_PCI_DEVICE) {
        add_pci(child, near);
      }
    }
  }

  /// `near`: its parent, or the normal object that it is attached to, as far as it inherits.
  void add_pci(hwloc_obj_t object, const PciObject& near) {
    PciObject pci = near;
    pci.model = info(object, "PCIDevice");
    if (const PciAttributes* attributes = pci_of(object)) {
      pci.bus_id = bus_id_of(attributes);
      pci.vendor_id = attributes->vendor_id;
      pci.class_code = attributes->class_id;
      pci.link_GBps =
          std::isnormal(attributes->linkspeed) ? std::max(attributes->linkspeed, 0.0F) : 0;
    }
    const PciKind above = pci.parent < 0 ? PciKind::HostBridge : at(pci.parent).kind;
    pci.kind = object->type == HWLOC_OBJ_BRIDGE ? bridge_kind(object, above)
                                                : device_kind(pci, subtype_of(object));
    // Of an adapter that has virtual functions the physical one comes first.
    const auto is_virtual = [](const PciObject& nic) {
      return nic.model.find("Virtual Function") != std::string::npos;
    };
    const auto is_physical = [&](const PciObject& nic) {
      return nic.kind == PciKind::Nic && nic.parent == pci.parent && !is_virtual(nic);
    };
    if (pci.kind == PciKind::Nic && is_virtual(pci) &&
        std::ranges::any_of(tree_.pci, is_physical)) {
      pci.kind = PciKind::Other;
    }
    if (pci.kind == PciKind::Gpu) tree_.gpus.push_back({.name = pci.model, .bus_id = pci.bus_id});
    const auto place = static_cast<int>(tree_.pci.size());
    tree_.pci.push_back(std::move(pci));
    add_attached(object, {.parent = place, .numa = near.numa, .package = near.package});
  }

  /// What the operating system has on a PCI object: "nvml3", "cuda0", "card1", "mlx5_0".
  void add_device(hwloc_obj_t object, const PciObject& near) {
    const std::string name = object->name == nullptr ? std::string{} : one_line(object->name);
    if (near.parent >= 0) {
      at(near.parent).names.push_back(name);
      if (at(near.parent).kind == PciKind::Gpu) describe_gpu(tree_.gpus.back(), object, name);
      return;
    }
    const hwloc_obj_osdev_type_t type = object->attr->osdev.type;
    if (type != HWLOC_OBJ_OSDEV_NETWORK && type != HWLOC_OBJ_OSDEV_OPENFABRICS) return;
    PciObject nic = near;
    nic.kind = PciKind::Nic;
    nic.names.push_back(name);
    tree_.pci.push_back(std::move(nic));
  }

  static void describe_gpu(GpuFacts& gpu, hwloc_obj_t device, std::string_view name) {
    if (const std::string model = info(device, "GPUModel"); !model.empty()) gpu.name = model;
    if (const std::string uuid = info(device, "NVIDIAUUID"); !uuid.empty()) gpu.uuid = uuid;
    const int index = name.starts_with("nvml") ? number_of(name.substr(4)) : -1;
    if (index >= 0) gpu.index = index;
  }

  /// The matrix as it stands: to merge a switch's ports and close over them, as hwloc offers,
  /// zeroes the matrix of machines without switches, and the figures are of no use anyway.
  void add_nvlinks() {
    hwloc_distances_s* found = nullptr;
    unsigned count = 1;
    if (hwloc_distances_get_by_name(topology_.get(), "NVLinkBandwidth", &count, &found, 0) != 0 ||
        count == 0) {
      return;
    }
    NvlinkMatrix matrix;
    for (unsigned i = 0; i < found->nbobjs; ++i) {
      hwloc_obj_t object = found->objs[i];
      while (object != nullptr && object->type == HWLOC_OBJ_OS_DEVICE) object = object->parent;
      matrix.bus_ids.push_back(object == nullptr ? "" : bus_id_of(pci_of(object)));
    }
    matrix.GBps = square_matrix(found->nbobjs, [&](std::size_t i, std::size_t j) {
      return static_cast<double>(found->values[i * found->nbobjs + j]) / 1000;  // MB/s
    });
    hwloc_distances_release(topology_.get(), found);
    tree_.nvlink_matrix = std::move(matrix);
    tree_.warnings.emplace_back(
        "NVLinkBandwidth of hwloc only shows which devices NVLink joins: its figures change with "
        "the version of hwloc that wrote them");
  }

  const HwlocTopology& topology_;
  std::vector<hwloc_obj*> packages_;
  hwloc_obj_t root_;
  HostTree tree_{};
};

/// That a text is a whole XML file of hwloc 1 or 2. Throws Error (Usage) with FILE:LINE:COLUMN
/// where it is cut short, of hwloc 3, or something else.
void check_hwloc_xml(const std::string& text, const std::string& origin) {
  const XmlFile xml(text, origin, kHwlocRemedy);
  const std::string name = xml.root().name();
  if (name == "system") {
    xml.fail_with(xml.root(), "give it as --nccl-xml", "an NCCL topology, not hwloc's");
  }
  if (name != "topology") {
    xml.fail(xml.root(), "<{}>: an hwloc file begins with <topology>", name.substr(0, 40));
  }
  const std::string version = xml.root().attribute("version").value();
  if (version.empty()) return;  // hwloc 1 wrote none
  const int major = number_of(version.substr(0, version.find('.')));
  if (major < 1) {
    xml.fail(xml.root(), "'{}' is not a version of hwloc's format", version.substr(0, 40));
  }
  if (major > 2) {
    xml.fail_with(xml.root(), "write it with lstopo --export-xml-flags v2 FILE.xml",
                  "hwloc 2 cannot import XML version {} of hwloc 3", version.substr(0, 40));
  }
}

HostTree import_tree(const std::string& text, const std::string& origin) {
  const HwlocTopology topology = new_topology_with_devices(true);
  // hwloc counts the closing zero byte in.
  if (!topology || text.size() >= std::size_t{std::numeric_limits<int>::max()} ||
      hwloc_topology_set_xmlbuffer(topology.get(), text.c_str(),
                                   static_cast<int>(text.size() + 1)) != 0 ||
      hwloc_topology_load(topology.get()) != 0) {
    throw usage_error("{}: hwloc cannot import it; {}", origin, kHwlocRemedy);
  }
  return HwlocReader(topology, origin).read();
}

}  // namespace

HostTree probe_hwloc() {
  const HwlocTopology topology = new_topology_with_devices(true);
  if (!topology || hwloc_topology_load(topology.get()) != 0) {
    throw runtime_failure("hwloc cannot read this machine's topology; give a file with --hwloc");
  }
  return HwlocReader(topology, "hwloc").read();
}

/// hwloc 2.9 fails assertions and follows null pointers on some well-formed files: whether it can
/// import this one is tried in a process of its own.
HostTree parse_hwloc_xml(const std::string& text, const std::string& origin) {
  check_hwloc_xml(text, origin);
  const bool sound = run_isolated([&] { return import_tree(text, origin).origin; }).has_value();
  return import_tree(sound ? text : "", origin);
}

}  // namespace busbar::topo
