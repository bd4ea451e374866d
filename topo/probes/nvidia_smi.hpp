// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/child_process.hpp"
#include "topo/probes/smi_matrix.hpp"
#include "topo/probes/smi_nvlink.hpp"
#include "topo/probes/smi_p2p.hpp"
#include "topo/probes/smi_query.hpp"

namespace busbar::topo {

/// All that nvidia-smi tells of this machine; what it could not tell is absent, with a warning.
struct SmiProbe {
  std::optional<SmiMatrix> matrix{};
  std::optional<P2pMatrix> p2p_read{};
  std::optional<P2pMatrix> p2p_write{};
  std::optional<NvlinkStatus> nvlink{};
  std::optional<NvlinkRemotes> remotes{};
  std::vector<GpuFacts> gpus{};         ///< empty: no GPU here
  std::vector<std::string> warnings{};  ///< one line each, for people
};

/// Asks `path` (a program's name or path) with a timeout per question. Never throws for what
/// nvidia-smi does or says: that is a warning, and its source is left out.
[[nodiscard]] SmiProbe probe_nvidia_smi(const std::string& path = "nvidia-smi",
                                        Seconds timeout = kCommandTimeout);

/// The whole of a file. Throws Error (Usage) that begins with `option` where it cannot be read.
[[nodiscard]] std::string read_text_file(const std::string& option, const std::string& path);

}  // namespace busbar::topo
