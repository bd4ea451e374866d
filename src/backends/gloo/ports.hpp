// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <span>
#include <string>

#include <fmt/format.h>

#include "base/text.hpp"

namespace busbar {

/// Of a rank: its host, and how many ports that gives to whoever asks for any.
struct HostPorts {
  int node = 0;
  int ports = 0;
};

/// That of this host by the text of ip_local_port_range, "32768\t60999"; 0: not known.
[[nodiscard]] inline int ports_in(const std::string& range) {
  const Words ends = split(range, '\t');
  const int first = to_number<int>(ends.front()).value_or(0);
  const int last = to_number<int>(ends.back()).value_or(0);
  return first > 0 && last >= first ? last - first + 1 : 0;
}

/// Why these ranks cannot be connected, or empty: each listens at a port for each of the others.
[[nodiscard]] inline std::string port_shortage(std::span<const HostPorts> ranks) {
  for (const HostPorts& host : ranks) {
    const auto here = std::ranges::count(ranks, host.node, &HostPorts::node);
    const auto needed = here * (std::ssize(ranks) - 1);
    if (host.ports == 0 || needed <= host.ports) continue;
    return fmt::format(
        "Gloo needs a port for each pair of ranks: {} of {} on one host need {}, and the system "
        "gives {} (net.ipv4.ip_local_port_range); start fewer on a host, or measure with --backend "
        "mpi",
        here, counted(ranks.size(), "rank"), needed, host.ports);
  }
  return {};
}

}  // namespace busbar
