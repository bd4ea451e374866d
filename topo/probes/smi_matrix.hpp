// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "topo/graph/graph.hpp"

namespace busbar::topo {

/// What `nvidia-smi topo -m` or `-mp` of any driver or AMD's tools (amd_smi.hpp) print: devices
/// ordered by label, the GPUs first. The texts are as printed and empty where the driver has no
/// such column.
struct SmiMatrix {
  std::vector<int> gpus{};          ///< indices as nvidia-smi numbers them, rising
  std::vector<std::string> nics{};  ///< labels, "NIC0" or "mlx5_0", by their numbers
  /// [i][j] of GPUs, then NICs: X, NV#, XGMI, PSB, PIX, PXB, PHB, NODE or SYS (old drivers' SOC is
  /// SYS). Symmetric. Empty only between two NICs, where the text lacks both rows.
  std::vector<std::vector<std::string>> cells{};
  std::vector<std::string> cpu_affinity{};  ///< per GPU; never bind by it: nvidia-smi cuts it short
  std::vector<std::string> numa_affinity{};        ///< per GPU: "0", "0-1", "N/A"
  std::map<std::string, std::string> nic_names{};  ///< "NIC0" -> "mlx5_0", as far as the text says
  std::vector<std::string> bus_ids{};  ///< per GPU, as normal_bus_id writes them; amd-smi only
  bool shows_host = true;  ///< false where nothing but links between GPUs is in the text
  bool pcie_only = false;  ///< made by -mp: does not show whether there is NVLink
  std::vector<std::string>
      notes{};  ///< what is missing though the GPUs' part is whole: one line each
};

/// Reads a matrix; blanks for tabs, CR LF, colours and prefixes do no harm. Throws Error (Usage)
/// "ORIGIN:LINE:COLUMN: what; how to fix it" for a text that is damaged, cut short, or not such a
/// matrix.
[[nodiscard]] SmiMatrix parse_smi_matrix(std::string_view text, std::string_view origin);

/// The operating system's name of a NIC: "mlx5_0" of "NIC0" by the legend, else the label itself.
[[nodiscard]] std::string nic_name(const SmiMatrix& matrix, std::size_t nic);

/// What `nvidia-smi topo -p2p r|w|n|a|p|rw` prints, ordered by index; symmetric.
struct P2pMatrix {
  std::vector<int> gpus{};                        ///< indices as nvidia-smi numbers them, rising
  std::vector<std::vector<std::string>> cells{};  ///< X, OK, or a label of kP2pReasons
};

/// Why two GPUs have no P2P, or U where it is not known whether they have.
struct P2pReason {
  std::string_view label{};  ///< as nvidia-smi prints it
  std::string_view text{};   ///< for people
};
inline constexpr std::array<P2pReason, 6> kP2pReasons{{
    {"CNS", "the chipset does not support it"},
    {"GNS", "the GPU does not support it"},
    {"TNS", "the topology does not support it"},
    {"NS", "not supported"},
    {"DR", "disabled in the driver's settings"},
    {"U", "unknown"},
}};

/// What the graph makes of a cell: Works for OK and X, Unknown for U, else Off.
[[nodiscard]] P2p works(std::string_view cell);

/// Reads a matrix, and throws, as parse_smi_matrix does.
[[nodiscard]] P2pMatrix parse_smi_p2p(std::string_view text, std::string_view origin);

}  // namespace busbar::topo
