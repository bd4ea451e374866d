// SPDX-License-Identifier: BSD-3-Clause
#include "topo/predict/limits.hpp"

#include <algorithm>

namespace busbar::topo {

namespace {

/// Parts that are not alike: of equal hosts every list of devices once.
std::vector<HostPart> different(const Cluster& cluster, const RankSet& set) {
  std::vector<HostPart> parts;
  for (const HostPart& part : set.parts) {
    const bool known =
        cluster.equal_hosts() && std::any_of(parts.begin(), parts.end(), [&](const HostPart& one) {
          return one.devices == part.devices;
        });
    if (!known) parts.push_back(part);
  }
  return parts;
}

std::vector<int> devices_of_two(const Cluster& cluster, const HostPart& one,
                                const HostPart& other) {
  std::vector<int> devices = cluster.indices(one);
  const std::vector<int> more = cluster.indices(other, true);
  devices.insert(devices.end(), more.begin(), more.end());
  return devices;
}

/// Limits of one NVLink domain of any number of hosts; false where the set is none.
bool take_switched(const Cluster& cluster, const RankSet& set, const BoundOptions& options,
                   SetLimits& limits) {
  const HostPart& first = set.parts.front();
  const std::vector<int> devices = set.parts.size() > 1
                                       ? devices_of_two(cluster, first, set.parts.back())
                                       : cluster.indices(first);
  if (devices.size() < 2 || !switched_domain(cluster.graph(), devices, options)) return false;
  const Bound bound = bound_of(cluster.graph(), devices, options);
  limits.hosts = 1;
  limits.most_on_host = set.ranks;
  limits.ring_GBps = limits.host_GBps = bound.bound_GBps;
  limits.kind = bound.kind;
  limits.limit = limits.host_limit = bound.limit;
  if (bound.in_switch_GBps) limits.in_switch_GBps = in_switch_GBps(bound.bound_GBps, set.ranks);
  return true;
}

/// Rings through two hosts, which stand for any number.
void take_two(const Cluster& cluster, const HostPart& one, const HostPart& other,
              const BoundOptions& options, SetLimits& limits) {
  constexpr std::size_t kMostExact = 16;
  if (one.devices.size() + other.devices.size() <= kMostExact) {
    const Bound bound = bound_of(cluster.graph(), devices_of_two(cluster, one, other), options);
    limits.exact = limits.exact && bound.exact;
    take_ring(limits, bound.bound_GBps, bound.kind, bound.limit);
    return;
  }
  take_ring(limits, limits.network_GBps, "network", limits.network_limit);
}

}  // namespace

SetLimits limits_of(const Cluster& cluster, const RankSet& set, const BoundOptions& options) {
  SetLimits limits{.ranks = set.ranks, .hosts = static_cast<int>(set.parts.size()), .kind = "none"};
  if (set.ranks < 2) return limits;
  if (take_switched(cluster, set, options, limits)) return limits;
  const std::vector<HostPart> parts = different(cluster, set);
  std::vector<std::vector<int>> hosts;
  for (const HostPart& part : parts) {
    hosts.push_back(cluster.indices(part));
    add_host(cluster.graph(), hosts.back(), options, limits);
  }
  if (limits.hosts < 2) return limits;
  // The limit names the links of both hosts where they are alike.
  if (parts.size() == 1) hosts.push_back(cluster.indices(parts.front(), true));
  add_networks(cluster.graph(), hosts, options, limits);
  // Equal hosts with equal parts stand beside each other; what differs stands beside the first.
  const bool alike = cluster.equal_hosts() && (parts.size() == 1 || set.parts.size() > 2);
  for (std::size_t i = alike ? 0 : 1; i < parts.size(); ++i) {
    take_two(cluster, parts.front(), parts[i], options, limits);
  }
  return limits;
}

}  // namespace busbar::topo
