// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string_view>

#include "topo/graph/graph.hpp"

namespace busbar::topo {

/// AMD's generations of GPUs, by the rate of their xGMI links.
enum class XgmiGeneration { None, Mi200, Mi300, Mi350 };

/// What a GPU's name says about its links to other GPUs.
struct GpuModel {
  std::string_view name;       ///< a part of nvidia-smi's or amd-smi's, in lower case
  int nvlink_generation = 0;   ///< 1 to 5; 0: none
  XgmiGeneration xgmi{};       ///< of GPUs of AMD
  int links = 0;               ///< that the board has at most
  int peer_links = 1;          ///< side by side to each GPU that it is joined to, at least
  int pcie_generation = 0;     ///< of the board; 0: not in the name
  bool small_links = false;    ///< NVLink 3 of GA102 boards: 14 GB/s instead of 25
  bool always_linked = false;  ///< made for a board with NVLink (SXM), so a missing link is a fault
};

/// What is known of a GPU with this name, or nothing.
[[nodiscard]] std::optional<GpuModel> gpu_model(std::string_view name);

/// In place of a name that no tool of AMD has.
inline constexpr std::string_view kUnnamedAmdGpu = "AMD GPU";
/// Whether a driver gives this name to GPUs that it does not know, so that it says nothing of the
/// GPU: "AMD Radeon Graphics", "NVIDIA Graphics Device", "Device 74a5", and an empty one.
[[nodiscard]] bool is_generic_gpu(std::string_view name);

/// The name of AMD's GPU with this PCI device id, as amd-smi writes it; empty where it is not
/// known.
[[nodiscard]] std::string_view amd_gpu_name(unsigned device_id);
/// One xGMI link of a generation, per direction; None: unknown, taken as MI200's.
[[nodiscard]] Medium xgmi_medium(XgmiGeneration generation);
/// One NVLink of a generation (1 to 5; 0: unknown, taken as 25 GB/s), per direction.
[[nodiscard]] Medium nvlink_medium(int generation, bool small_links = false);
/// The standard's rate of an NVLink of which the tools report this one, which is up to 6 % above;
/// the reported rate where it is near none.
[[nodiscard]] double nominal_nvlink_GBps(double reported_GBps);
/// PCIe of a generation (1 to 6) and a number of lanes, per direction after line coding.
[[nodiscard]] Medium pcie_medium(int generation, int lanes);
/// What joins two processors of this vendor ("intel", "amd", "ibm", "arm") and CPUID model; without
/// a limit where it is not known.
[[nodiscard]] Medium smp_medium(std::string_view vendor, int model);
/// What joins parts of one processor: nothing that limits.
[[nodiscard]] Medium memory_medium();

}  // namespace busbar::topo
