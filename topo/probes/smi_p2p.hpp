// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string_view>
#include <vector>

#include "topo/graph/graph.hpp"

namespace busbar::topo {

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
