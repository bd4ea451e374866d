// SPDX-License-Identifier: BSD-3-Clause
#include "topo/predict/cluster.hpp"

#include <fmt/ranges.h>

#include "topo/systems/joined_hosts.hpp"

namespace busbar::topo {
namespace {

/// Parts that are not alike: of equal hosts every list of devices once.
std::vector<HostPart> different(const Cluster& cluster, const RankSet& set) {
  std::vector<HostPart> parts;
  for (const HostPart& part : set.parts) {
    const bool known = cluster.equal_hosts() && any_has(parts, part.devices, &HostPart::devices);
    if (!known) parts.push_back(part);
  }
  return parts;
}

std::vector<int> devices_of_two(const Cluster& cluster, const HostPart& one,
                                const HostPart& other) {
  std::vector<int> devices = cluster.indices(one);
  append(devices, cluster.indices(other, true));
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

std::string RankSet::to_text() const {
  std::vector<std::string> of_hosts;
  for (const HostPart& part : parts) {
    add_new(of_hosts, fmt::format("{}", fmt::join(part.devices, ",")));
  }
  return join(of_hosts, ";");
}

Cluster::Cluster(const EqualHosts& machine)
    : graph_(machine.hosts > 1 ? copy_hosts(machine.host, 2) : machine.host),
      hosts_(machine.hosts),
      equal_(machine.hosts > 1) {
  if (graph_.labels.empty()) label_devices(graph_);
  for (auto& [host, devices] : by_host(graph_, first_numbers(device_count(graph_)))) {
    by_host_.push_back(std::move(devices));
  }
  if (!equal_) hosts_ = static_cast<int>(by_host_.size());
}

const std::vector<int>& Cluster::devices_of(int host, bool second) const {
  return by_host_.at(equal_ ? (second ? 1 : 0) : to_size(host));
}

std::size_t Cluster::devices() const {
  return equal_ ? on_host(0) * to_size(hosts_) : device_count(graph_);
}

Cluster Cluster::with_media(std::vector<Medium> media) const {
  Cluster other = *this;
  other.graph_.media = std::move(media);
  return other;
}

std::vector<int> Cluster::indices(const HostPart& part, bool second) const {
  const auto& devices = devices_of(part.host, second);
  return mapped(part.devices, [&](int device) { return devices.at(to_size(device)); });
}

std::vector<int> Cluster::chosen(int host, std::size_t count, const Selection& selection,
                                 const BoundOptions& options, std::string& reason) const {
  const std::vector<int>& here = devices_of(host);
  std::vector<int> numbers = first_numbers(count);
  if (selection.policy == Policy::Prefix || count == here.size() || count < 2) return numbers;
  const Choice choice = topo::choose(graph_, static_cast<int>(count), selection.policy, options,
                                     device(graph_, here.front()).host);
  reason = choice.reason;
  for (std::size_t i = 0; i < count; ++i) {
    const auto at = std::ranges::find(here, choice.bound.devices.at(i));
    numbers[i] = static_cast<int>(at - here.begin());
  }
  return numbers;
}

RankSet Cluster::place_list(int ranks, const Selection& selection) const {
  if (selection.devices.size() != to_size(ranks)) {
    throw usage_error("--devices names {} for {}; give as many, or --ranks {}",
                      counted(selection.devices.size(), "device"), counted(to_size(ranks), "rank"),
                      selection.devices.size());
  }
  std::map<int, std::vector<int>> of_hosts;
  for (const int wanted : selection.devices) {
    int left = wanted;
    int host = 0;
    while (host < hosts_ && left >= static_cast<int>(on_host(host))) {
      left -= static_cast<int>(on_host(host++));
    }
    require_device(wanted, devices(), graph_.name);
    of_hosts[host].push_back(left);
  }
  RankSet set{.ranks = ranks, .reason = "as given"};
  for (auto& [host, numbers] : of_hosts) {
    set.parts.push_back({.host = host, .devices = std::move(numbers)});
  }
  return set;
}

RankSet Cluster::place(int ranks, const Selection& selection, const BoundOptions& options) const {
  if (to_size(ranks) > devices()) {
    throw usage_error(
        "--ranks {}: '{}' has {}; give at most as many, or more hosts: --hosts N --nic GBPS", ranks,
        graph_.name, counted(devices(), "device"));
  }
  if (selection.policy == Policy::List) return place_list(ranks, selection);
  RankSet set{.ranks = ranks, .reason = "the first"};
  auto left = to_size(ranks);
  for (int host = 0; left > 0; ++host) {
    const std::size_t here = std::min(left, on_host(host));
    const bool same = equal_ && host > 0 && here == on_host(host);
    set.parts.push_back({.host = host,
                         .devices = same ? set.parts.front().devices
                                         : chosen(host, here, selection, options, set.reason)});
    left -= here;
  }
  return set;
}

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
