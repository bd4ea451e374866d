// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string_view>
#include <vector>

#include "topo/probes/host_tree.hpp"

namespace busbar::topo {

/// Reads `nvidia-smi nvlink -s`: each GPU with all its links, the inactive ones too; none of an
/// empty text, where no GPU has NVLink. Throws Error (Usage) "ORIGIN:LINE:COLUMN: what; how to fix
/// it" for a line cut short or unknown, a GPU or link twice, and for the text of -c or -R.
[[nodiscard]] std::vector<GpuFacts> parse_nvlink_status(std::string_view text,
                                                        std::string_view origin);

/// Reads `nvidia-smi nvlink -R`: each GPU with the other ends of its active links. Errors as
/// parse_nvlink_status.
[[nodiscard]] std::vector<GpuFacts> parse_nvlink_remotes(std::string_view text,
                                                         std::string_view origin);

}  // namespace busbar::topo
