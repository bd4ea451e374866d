// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/units.hpp"

namespace busbar::topo {

/// A processor socket.
struct Package {
  int index = 0;         ///< the operating system's number
  std::string vendor{};  ///< "intel", "amd", "ibm", "arm", "zhaoxin", or what else was reported
  std::string model{};   ///< "Intel(R) Xeon(R) Platinum 8174 CPU @ 3.10GHz"; empty where unknown
  int family = -1;       ///< as CPUID numbers it; -1 where unknown
  int model_number = -1;
  std::string arch{};  ///< "x86_64", "ppc64le", "aarch64"
};

/// A memory with the processors near it.
struct NumaNode {
  int os_index = 0;
  int package = -1;          ///< into HostTree::packages; -1 where it spans several
  std::string cpus{};        ///< "0-19,40-59"; empty where it has none
  Bytes memory = 0;          ///< 0 where unknown
  bool gpu_memory = false;   ///< a GPU's memory that the operating system shows as a node
  std::string gpu_bus_id{};  ///< of that GPU, where known
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
  double link_GBps = 0;    ///< of the link upwards after line coding, per direction; 0: unknown
  double nccl_GBps = 0;    ///< the same as NCCL computes (src/graph/topo.cc); 0: not NCCL's file
  int generation = 0;      ///< of PCIe, 1 to 6; 0: unknown
  int width = 0;           ///< lanes; 0: unknown
  std::string model{};     ///< what the PCI database or the driver calls it
  unsigned vendor_id = 0;  ///< 0x10de; 0: unknown
  unsigned class_code = 0;           ///< the upper two bytes: 0x0302; 0: unknown
  std::vector<std::string> names{};  ///< of its devices: "mlx5_0", "eth0", "nvml3", "cuda0"
  double net_GBps = 0;               ///< of a NIC, all its ports together; 0: unknown
  std::string cpus{};                ///< the processors near it, "0-19,40-59"
};

/// What is at the other end of a GPU's NVLinks. Unknown: a placeholder, or the GPU itself.
enum class NvlinkKind { Gpu, NvSwitch, PowerBridge, Unknown };

/// NVLinks of one GPU that end at the same place.
struct NvlinkEnd {
  std::string from{};  ///< bus id of the GPU
  std::string to{};  ///< bus id, maybe of nothing in this tree; "ffff:ff:ff.f" for a hidden switch
  NvlinkKind kind = NvlinkKind::Unknown;
  int count = 0;  ///< links; 0: there are some, but how many is unknown
};

/// What a source reports about a GPU beyond its place on the bus.
struct GpuFact {
  std::string bus_id{};
  int sm = 0;      ///< 70 for compute capability 7.0; 0: unknown
  int index = -1;  ///< NVML's number; -1: unknown
  int rank = -1;   ///< in the communicator that wrote NCCL's file; -1: none
  std::string uuid{};
  std::string model{};
  double c2c_GBps = 0;  ///< to its processor over NVLink-C2C, per direction; 0: unknown
};

/// hwloc's NVLinkBandwidth distances, whose figures depend on the version that wrote them.
struct NvlinkMatrix {
  std::vector<std::string> bus_ids{};
  std::vector<std::vector<double>> GBps{};  ///< [from][to]; the diagonal means nothing
};

/// A host as hwloc or an NCCL topology file shows it.
struct HostTree {
  std::string origin{};  ///< the file, or "hwloc" for this machine
  std::string name{};    ///< the host's or the product's; empty where unknown
  std::vector<Package> packages{};
  /// False: the source knows NUMA nodes only, and each of them stands for a package (NCCL's view).
  bool packages_known = true;
  std::vector<NumaNode> numa{};
  std::vector<PciObject> pci{};      ///< parents before children
  std::vector<NvlinkEnd> nvlinks{};  ///< as every GPU reports them: a cable is there from both ends
  std::vector<GpuFact> gpus{};       ///< NVIDIA's, one for each Gpu in pci, in the same order
  std::optional<NvlinkMatrix> nvlink_matrix{};
  bool virtual_machine = false;  ///< PCIe paths and speeds may not be the hardware's
  std::vector<std::string> warnings{};
};

/// How two devices reach each other over PCIe, as `nvidia-smi topo -mp` calls it.
enum class PciPath { Self, Pix, Pxb, Phb, Node, Sys };

/// "X", "PIX", "PXB", "PHB", "NODE", "SYS".
[[nodiscard]] std::string_view name(PciPath path);
[[nodiscard]] std::string_view name(PciKind kind);

/// "intel" of "GenuineIntel"; where no vendor is known, by the architecture: "ibm" of "ppc64".
[[nodiscard]] std::string cpu_vendor(std::string_view vendor, std::string_view arch);

/// The place in `pci` of this bus id (in any spelling), or -1.
[[nodiscard]] int find_pci(const HostTree& tree, const std::string& bus_id);

/// The nearest object that is above both or one of them, or -1 where they meet in the processor.
[[nodiscard]] int common_ancestor(const HostTree& tree, int one, int other);

/// How two objects of `pci` reach each other. PIX: no switch but the one where they meet; PXB:
/// several switches; PHB: one host bridge (or one NUMA node where the source does not show host
/// bridges); NODE: host bridges of one NUMA node; SYS: all else.
[[nodiscard]] PciPath pci_path(const HostTree& tree, int one, int other);

/// The places in `pci` of all objects of a kind, in the order of the source.
[[nodiscard]] std::vector<int> all_of_kind(const HostTree& tree, PciKind kind);

}  // namespace busbar::topo
