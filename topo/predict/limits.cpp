// SPDX-License-Identifier: BSD-3-Clause
#include "topo/predict/limits.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "topo/bounds/bound.hpp"

namespace busbar::topo {

double host_network_GBps(const Cluster& cluster, const HostPart& part,
                         const BoundOptions& options) {
  return network_cut_GBps(cluster.graph(), cluster.indices(part), options);
}

namespace {

constexpr double kUnlimited = std::numeric_limits<double>::infinity();

LinkKind slowest_step(const std::string& kind) {
  const auto has = [&](const char* part) { return kind.find(part) != std::string::npos; };
  if (has("pcie") || has("shared memory")) return LinkKind::Pcie;
  return has("smp") ? LinkKind::Smp : LinkKind::NvLink;
}

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
  limits.limit = bound.limit;
  if (bound.in_switch_GBps) limits.in_switch_GBps = in_switch_GBps(bound.bound_GBps, set.ranks);
  return true;
}

void take_ring(SetLimits& limits, double GBps, const std::string& kind, const std::string& limit) {
  if (GBps >= limits.ring_GBps) return;
  limits.ring_GBps = GBps;
  limits.kind = kind;
  limits.limit = limit;
}

void take_host(const Cluster& cluster, const HostPart& part, const BoundOptions& options,
               SetLimits& limits) {
  if (part.devices.size() < 2) return;
  const Bound bound = bound_of(cluster.graph(), cluster.indices(part), options);
  limits.exact = limits.exact && bound.exact;
  const double added = bound.in_switch_GBps.value_or(0);
  limits.in_switch_GBps =
      std::isinf(limits.host_GBps) ? added : std::min(limits.in_switch_GBps, added);
  limits.host_GBps = std::min(limits.host_GBps, bound.bound_GBps);
  const LinkKind step = slowest_step(bound.kind);
  if (limits.within == LinkKind::NvLink || step == LinkKind::Pcie) limits.within = step;
  take_ring(limits, bound.bound_GBps, bound.kind, bound.limit);
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
  for (const HostPart& part : {one, other}) {
    take_ring(limits, host_network_GBps(cluster, part, options), "network",
              "the network of a host");
  }
}

}  // namespace

SetLimits limits_of(const Cluster& cluster, const RankSet& set, const BoundOptions& options) {
  SetLimits limits{.ranks = set.ranks,
                   .hosts = static_cast<int>(set.parts.size()),
                   .ring_GBps = kUnlimited,
                   .host_GBps = kUnlimited,
                   .kind = "none"};
  if (set.ranks < 2) return limits;
  if (take_switched(cluster, set, options, limits)) return limits;
  const std::vector<HostPart> parts = different(cluster, set);
  for (const HostPart& part : parts) {
    limits.most_on_host = std::max(limits.most_on_host, static_cast<int>(part.devices.size()));
    take_host(cluster, part, options, limits);
  }
  if (limits.hosts < 2) return limits;
  for (const HostPart& part : parts) {
    limits.network_GBps = std::min(limits.network_GBps, host_network_GBps(cluster, part, options));
  }
  // Equal hosts with equal parts stand beside each other; what differs stands beside the first.
  const bool alike = cluster.equal_hosts() && (parts.size() == 1 || set.parts.size() > 2);
  for (std::size_t i = alike ? 0 : 1; i < parts.size(); ++i) {
    take_two(cluster, parts.front(), parts[i], options, limits);
  }
  return limits;
}

}  // namespace busbar::topo
