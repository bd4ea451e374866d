// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "topo/probes/host_tree.hpp"

namespace busbar::topo {

/// This machine as hwloc sees it. Throws Error (Runtime) where hwloc cannot look at it.
[[nodiscard]] HostTree probe_hwloc();

/// Reads an XML file of lstopo (hwloc 1.x or 2.x). `origin` names it in errors. Throws Error
/// (Usage), with FILE:LINE:COLUMN where a place is to blame.
[[nodiscard]] HostTree parse_hwloc_xml(const std::string& text, const std::string& origin);

}  // namespace busbar::topo
