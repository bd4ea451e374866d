// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace busbar::topo {

/// What one source reports of one GPU; empty or 0 where it does not.
struct GpuFacts {
  int index = -1;  ///< nvidia-smi's number
  std::string uuid{};
  std::string name{};
  std::string bus_id{};         ///< as normal_bus_id writes it
  int pcie_generation = 0;      ///< the most that the slot has
  int pcie_width = 0;           ///< lanes
  int numa = -1;                ///< by amd-smi
  std::optional<bool> mig{};    ///< enabled; nothing where the GPU has no MIG
  std::vector<double> links{};  ///< GB/s per direction of each NVLink by `nvlink -s`; 0: inactive
};

/// A processor socket.
struct Package {
  int index = 0;          ///< the operating system's number
  std::string vendor{};   ///< "intel", "amd", "ibm", "arm", "zhaoxin", or what else was reported
  std::string model{};    ///< "Intel(R) Xeon(R) Platinum 8174 CPU @ 3.10GHz"; empty where unknown
  int model_number = -1;  ///< as CPUID numbers it; -1 where unknown
};

/// A memory with the processors near it.
struct NumaNode {
  int os_index = 0;
  int package = -1;  ///< into HostTree::packages; -1 where it spans several
  bool has_cpus = true;
  bool gpu_memory = false;  ///< a GPU's memory that the operating system shows as a node
};

/// What an object on the PCI bus is. A Switch is a switch's upstream port and stands for the whole
/// switch; its downstream ports (only hwloc shows them) are Bridges, as root ports are.
enum class PciKind { HostBridge, Bridge, Switch, Gpu, Nic, NvSwitch, Other };

/// One object on the PCI bus.
struct PciObject {
  std::string bus_id{};  ///< as normal_bus_id writes it; empty for host bridges and virtual NICs
  PciKind kind = PciKind::Other;
  int parent = -1;         ///< into HostTree::pci, always smaller than its own place; -1 at the top
  int numa = -1;           ///< os_index of the one node that it is near to; -1 where that is none
  int package = -1;        ///< into HostTree::packages; -1 where that is none
  double link_GBps = 0;    ///< of the link upwards by hwloc, per direction; 0: unknown
  int generation = 0;      ///< of PCIe, 1 to 6, by NCCL's file; 0: unknown
  int width = 0;           ///< lanes, by NCCL's file; 0: unknown
  std::string model{};     ///< what the PCI database calls it
  unsigned vendor_id = 0;  ///< 0x10de; 0: unknown
  unsigned class_code = 0;           ///< the upper two bytes: 0x0302; 0: unknown
  std::vector<std::string> names{};  ///< of its devices: "mlx5_0", "eth0", "nvml3", "cuda0"
  double net_GBps = 0;               ///< of a NIC, all its ports together; 0: unknown
};

/// What is at the other end of a GPU's NVLinks. Unknown: a placeholder, or the GPU itself.
enum class NvlinkKind { Gpu, NvSwitch, PowerBridge, Unknown };

/// NVLinks of one GPU that end at the same place.
struct NvlinkEnd {
  std::string from{};  ///< bus id of the GPU
  std::string to{};  ///< bus id, maybe of nothing in this tree; "ffff:ff:ff.f" for a hidden switch
  NvlinkKind kind = NvlinkKind::Unknown;
  int count = 0;
};

/// hwloc's NVLinkBandwidth distances, whose figures depend on the version that wrote them.
struct NvlinkMatrix {
  std::vector<std::string> bus_ids{};
  std::vector<std::vector<double>> GBps{};  ///< [from][to]; the diagonal is unused
};

/// A host as hwloc or an NCCL topology file shows it.
struct HostTree {
  std::string origin{};  ///< the file, or "hwloc" for this machine
  /// NCCL's file has one for each NUMA node, since it knows no packages.
  std::vector<Package> packages{};
  std::vector<NumaNode> numa{};
  std::vector<PciObject> pci{};  ///< parents before children
  /// From NCCL's or RCCL's file; a cable is listed from both ends.
  std::vector<NvlinkEnd> nvlinks{};
  bool xgmi = false;                            ///< they are xGMI, between GPUs of AMD
  std::vector<GpuFacts> gpus{};                 ///< one for each Gpu in pci, in the same order
  std::optional<NvlinkMatrix> nvlink_matrix{};  ///< of hwloc
  bool virtual_machine = false;                 ///< PCIe paths and speeds may not be the hardware's
  std::vector<std::string> warnings{};
};

/// This machine as hwloc sees it. Throws Error (Runtime) where hwloc cannot look at it.
[[nodiscard]] HostTree probe_hwloc();

/// Reads an XML file of lstopo (hwloc 1.x or 2.x). `origin` names it in errors. Throws Error
/// (Usage), with FILE:LINE:COLUMN where a place is to blame.
[[nodiscard]] HostTree parse_hwloc_xml(const std::string& text, const std::string& origin);

/// Reads an NCCL topology (NCCL_TOPO_DUMP_FILE, NCCL_TOPO_FILE), version 1. `origin` names it in
/// errors. Files without gpu and nvlink elements are skeletons and valid. Throws Error (Usage)
/// with FILE:LINE:COLUMN for what is damaged, malformed, or something else.
[[nodiscard]] HostTree parse_nccl_xml(const std::string& text, const std::string& origin);

/// "intel" of "GenuineIntel"; where no vendor is known, by the architecture: "ibm" of "ppc64".
[[nodiscard]] std::string cpu_vendor(std::string_view vendor, std::string_view arch);

/// The object in `pci` of this bus id (in any spelling), or null.
[[nodiscard]] const PciObject* find_pci(const HostTree& tree, const std::string& bus_id);

}  // namespace busbar::topo
