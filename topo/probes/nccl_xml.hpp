// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "topo/probes/host_tree.hpp"

namespace busbar::topo {

/// Reads an NCCL topology (NCCL_TOPO_DUMP_FILE, NCCL_TOPO_FILE), version 1. `origin` names it in
/// errors. Files without gpu and nvlink elements are skeletons and valid. Throws Error (Usage)
/// with FILE:LINE:COLUMN for what is damaged, malformed, or something else.
[[nodiscard]] HostTree parse_nccl_xml(const std::string& text, const std::string& origin);

}  // namespace busbar::topo
