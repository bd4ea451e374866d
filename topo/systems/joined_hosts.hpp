// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string_view>

#include "topo/graph/graph.hpp"

namespace busbar::topo {

[[nodiscard]] bool has_nvlink_domain(const Graph& host);

/// The most hosts that one NVLink domain joins; unlimited if nothing limits them.
[[nodiscard]] int most_hosts(const Graph& one);
/// Throws Error (Usage) where a switch between the hosts joins fewer: an NVLink domain ends there.
void check_hosts(const Graph& one, int hosts);

/// So many equal hosts from a graph of one: its nodes are copied and renamed "host0/GPU0", those of
/// host -1 (a network, a switch between hosts) are there once. Labels are not copied.
[[nodiscard]] Graph copy_hosts(const Graph& one, int hosts);

/// The adapters by which a host joins a network.
struct NetworkRequest {
  int adapters = 0;         ///< of each host; 0: all that the graph has, else one for each device
  double adapter_GBps = 0;  ///< per direction, of each

  [[nodiscard]] bool operator==(const NetworkRequest&) const = default;
};

/// "8x50": adapters of each host and GB/s per direction of each; "50" leaves their number open.
/// Throws Error (Usage) that begins with `option`.
[[nodiscard]] NetworkRequest parse_network(std::string_view option, std::string_view text);

/// A host whose adapters are cabled to a network without a bottleneck of its own: those of the
/// graph that are nearest to its devices, or assumed ones beside devices where it has none. Without
/// a request the graph must have a network or an NVSwitch between hosts; a request replaces both:
/// then each host has a switch of its own. Throws Error (Usage) where it has none, or fewer
/// adapters than requested, or is of several hosts.
[[nodiscard]] Graph with_network(Graph host, const std::optional<NetworkRequest>& request);

/// Takes the host out of the NVLink domain that it shares with others: the switches are its own
/// then. False where it is in none.
bool leave_domain(Graph& host);

}  // namespace busbar::topo
