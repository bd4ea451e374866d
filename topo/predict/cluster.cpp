// SPDX-License-Identifier: BSD-3-Clause
#include "topo/predict/cluster.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/text.hpp"
#include "topo/systems/joined_hosts.hpp"

namespace busbar::topo {

std::string RankSet::words() const {
  std::vector<std::string> of_hosts;
  for (const HostPart& part : parts) {
    std::vector<std::string> numbers;
    for (const int device : part.devices) numbers.push_back(fmt::format("{}", device));
    const std::string text = join(numbers, ",");
    if (std::find(of_hosts.begin(), of_hosts.end(), text) == of_hosts.end()) {
      of_hosts.push_back(text);
    }
  }
  return join(of_hosts, ";");
}

Cluster::Cluster(const EqualHosts& machine)
    : graph_(machine.hosts > 1 ? copy_hosts(machine.host, 2) : machine.host),
      hosts_(machine.hosts),
      equal_(machine.hosts > 1) {
  if (graph_.labels.empty()) label_devices(graph_);
  std::map<int, std::vector<int>> by_host;
  for (std::size_t i = 0; i < device_count(graph_); ++i) {
    by_host[device(graph_, static_cast<int>(i)).host].push_back(static_cast<int>(i));
  }
  for (auto& [host, devices] : by_host) by_host_.push_back(std::move(devices));
  if (!equal_) hosts_ = static_cast<int>(by_host_.size());
}

std::size_t Cluster::on_host(int host) const {
  return by_host_.at(equal_ ? 0 : static_cast<std::size_t>(host)).size();
}

std::size_t Cluster::devices() const {
  if (equal_) return by_host_.front().size() * static_cast<std::size_t>(hosts_);
  return device_count(graph_);
}

Cluster Cluster::with_media(std::vector<Medium> media) const {
  Cluster other = *this;
  other.graph_.media = std::move(media);
  return other;
}

std::vector<int> Cluster::indices(const HostPart& part, bool second) const {
  const std::size_t copy = second ? 1 : 0;
  const auto& here = by_host_.at(equal_ ? copy : static_cast<std::size_t>(part.host));
  std::vector<int> indices;
  for (const int device : part.devices) {
    indices.push_back(here.at(static_cast<std::size_t>(device)));
  }
  return indices;
}

int Cluster::host_number(const HostPart& part) const {
  return device(graph_, indices(part).front()).host;
}

std::vector<int> Cluster::chosen(int host, std::size_t count, const Selection& selection,
                                 const BoundOptions& options, std::string& reason) const {
  const auto& here = by_host_.at(equal_ ? 0 : static_cast<std::size_t>(host));
  std::vector<int> numbers(count);
  for (std::size_t i = 0; i < count; ++i) numbers[i] = static_cast<int>(i);
  if (selection.policy == Policy::Prefix || count == here.size() || count < 2) return numbers;
  const Choice choice = topo::choose(graph_, static_cast<int>(count), selection.policy, options,
                                     device(graph_, here.front()).host);
  reason = choice.reason;
  for (std::size_t i = 0; i < count; ++i) {
    const auto at = std::find(here.begin(), here.end(), choice.bound.devices.at(i));
    numbers[i] = static_cast<int>(at - here.begin());
  }
  return numbers;
}

RankSet Cluster::place_list(int ranks, const Selection& selection) const {
  if (selection.devices.size() != static_cast<std::size_t>(ranks)) {
    throw usage_error(fmt::format("--devices names {} for {}; give as many, or --ranks {}",
                                  counted(selection.devices.size(), "device"),
                                  counted(static_cast<std::size_t>(ranks), "rank"),
                                  selection.devices.size()));
  }
  std::map<int, std::vector<int>> by_host;
  for (const int wanted : selection.devices) {
    int left = wanted;
    int host = 0;
    while (host < hosts_ && left >= static_cast<int>(on_host(host))) {
      left -= static_cast<int>(on_host(host++));
    }
    require_device(wanted, devices(), graph_.name);
    by_host[host].push_back(left);
  }
  RankSet set{.ranks = ranks, .reason = "as given"};
  for (auto& [host, numbers] : by_host) {
    set.parts.push_back({.host = host, .devices = std::move(numbers)});
  }
  return set;
}

RankSet Cluster::place(int ranks, const Selection& selection, const BoundOptions& options) const {
  if (static_cast<std::size_t>(ranks) > devices()) {
    throw usage_error(
        fmt::format("--ranks {}: '{}' has {}; give at most as many, or a system of "
                    "more hosts (busbar topo save --hosts)",
                    ranks, graph_.name, counted(devices(), "device")));
  }
  if (selection.policy == Policy::List) return place_list(ranks, selection);
  RankSet set{.ranks = ranks, .reason = "the first"};
  auto left = static_cast<std::size_t>(ranks);
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

}  // namespace busbar::topo
