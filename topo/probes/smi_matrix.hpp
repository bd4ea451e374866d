// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "topo/graph/graph.hpp"

namespace busbar::topo {

/// What `nvidia-smi topo -m` or `-mp` prints, of any driver: devices ordered by label, the GPUs
/// first. The texts are as printed and empty where the driver has no such column.
struct SmiMatrix {
  std::vector<int> gpus{};          ///< indices as nvidia-smi numbers them, rising
  std::vector<std::string> nics{};  ///< labels, "NIC0" or "mlx5_0", by their numbers
  /// [i][j] of GPUs, then NICs: X, NV#, PSB, PIX, PXB, PHB, NODE or SYS (old drivers' SOC is SYS).
  /// Symmetric. Empty only between two NICs, where the text lacks both rows.
  std::vector<std::vector<std::string>> cells{};
  std::vector<std::string> cpu_affinity{};  ///< per GPU; never bind by it: nvidia-smi cuts it short
  std::vector<std::string> numa_affinity{};  ///< per GPU: "0", "0-1", "N/A"
  std::vector<std::string> gpu_numa_id{};    ///< per GPU: a number where its memory is a NUMA node
  std::map<std::string, std::string> nic_names{};  ///< "NIC0" -> "mlx5_0", as far as the text says
  bool pcie_only = false;  ///< made by -mp: does not show whether there is NVLink
  std::vector<std::string>
      notes{};  ///< what is missing though the GPUs' part is whole: one line each
};

/// Reads the first matrix of the text; blanks for tabs, CR LF, colours, prefixes and words around
/// it do no harm. Throws Error (Usage) "ORIGIN:LINE:COLUMN: what; how to mend" for a text that is
/// damaged, cut short, or not such a matrix.
[[nodiscard]] SmiMatrix parse_smi_matrix(std::string_view text, std::string_view origin);

/// Number of NVLinks of a cell: 4 of "NV4", 0 of what is no NVLink.
[[nodiscard]] int nvlink_count(std::string_view cell);

/// The operating system's name of a NIC: "mlx5_0" of "NIC0" by the legend, else the label itself.
[[nodiscard]] std::string nic_name(const SmiMatrix& matrix, std::size_t nic);

/// A cell of `nvidia-smi topo -p2p`.
enum class P2pState {
  Self,
  Ok,
  ChipsetNotSupported,
  GpuNotSupported,
  TopologyNotSupported,
  NotSupported,
  Disabled,
  Unknown
};

/// "X", "OK", "CNS", "GNS", "TNS", "NS", "DR", "U": as nvidia-smi prints it.
[[nodiscard]] std::string_view label(P2pState state);
/// "the chipset does not support it": for people.
[[nodiscard]] std::string_view words(P2pState state);
/// What the graph makes of it: Works for Ok and Self, Unknown for Unknown, else Off.
[[nodiscard]] P2p works(P2pState state);

/// What `nvidia-smi topo -p2p r|w|n|a|p|rw` prints, ordered by index; symmetric.
struct P2pMatrix {
  std::vector<int> gpus{};  ///< indices as nvidia-smi numbers them, rising
  std::vector<std::vector<P2pState>> cells{};
};

/// Reads the first matrix of the text, as robust as parse_smi_matrix. Throws Error (Usage)
/// "ORIGIN:LINE:COLUMN: what; how to mend" for a text that is damaged, cut short, or no such
/// matrix.
[[nodiscard]] P2pMatrix parse_smi_p2p(std::string_view text, std::string_view origin);

}  // namespace busbar::topo
