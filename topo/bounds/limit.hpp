// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <string>

#include "topo/graph/graph.hpp"

namespace busbar::topo {

/// Links in words, short: "X-Bus CPU0→CPU1", "X-Bus CPU0↔CPU1", "NVLink 2 out of GPU4", "NVLink 3
/// of every GPU", "EDR of host0/NIC0 and host1/NIC0". `limiting` are the links that limit a set of
/// devices, and `all` those that its rings may take.
[[nodiscard]] std::string limit_in_words(const Graph& graph, std::span<const int> limiting,
                                         std::span<const int> all, std::span<const int> devices);

}  // namespace busbar::topo
