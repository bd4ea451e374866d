// SPDX-License-Identifier: BSD-3-Clause
#include "judge/failed_launches.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "base/text.hpp"

namespace busbar::judge {

void FailedLaunches::NodeLaunches::count(const Observation& launch, const std::string& name) {
  if (launch.failure.empty()) {
    ++good;
    return;
  }
  const bool is_crash = launch.hung_or_crashed();
  const bool is_named = launch.unreachable == name;
  const bool is_explained = !launch.unreachable.empty() && !is_named;
  named = named || (is_named && is_crash);
  if (is_named && !is_crash) silent = launch.failure;
  if (is_crash && !is_explained) ++crashed;
  if (is_crash && quoted.empty()) quoted = fmt::format("{}: {}", launch.instance, launch.failure);
  failures.push_back({.reason = launch.failure,
                      .unreachable = launch.unreachable,
                      .crashed = is_crash && !is_explained});
}

FailedLaunches::FailedLaunches(const std::string& device_set, const std::string& collective,
                               std::span<const Observation> observations,
                               std::span<const std::string> nodes)
    : nodes_(nodes.size()) {
  std::map<std::string, NodeLaunches*> by_name;
  for (std::size_t i = 0; i < nodes.size(); ++i) by_name[nodes[i]] = &nodes_[i];
  for (const Observation& launch : observations) {
    if (launch.device_set != device_set || launch.collective != collective) continue;
    if (launch.failure.empty()) ++good_;
    for (const std::string& name : launch.nodes) {
      const auto found = by_name.find(name);
      if (found != by_name.end()) found->second->count(launch, name);
    }
  }
  for (const auto& [name, node] : by_name) {
    std::erase_if(node->failures, [&own = name, good = node->good](const LaunchFailure& one) {
      return good > 0 && !one.unreachable.empty() && one.unreachable != own;
    });
  }
}

void FailedLaunches::judge(std::span<CheckedRow> rows, int fewest) const {
  const auto least = static_cast<std::size_t>(std::max(1, fewest));
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    const NodeLaunches& node = nodes_[i];
    CheckedRow& row = rows[i];
    const std::size_t without = good_ - node.good;
    const bool fell_silent = !node.silent.empty() && !node.quoted.empty();
    const bool mostly = node.crashed >= least && node.crashed > node.good;
    if (without > 0 && (node.named || fell_silent || mostly)) {
      const std::size_t with = std::max<std::size_t>(node.crashed, 1);
      decide(row, Outcome::Fail,
             fmt::format("{} of {} with it hung or crashed{}; {} without it went well ({})", with,
                         counted(with + node.good, "launch"),
                         node.silent.empty() ? "" : ", and then it did not answer", without,
                         node.quoted),
             DecidedBy::FailedLaunches);
    } else if (!node.silent.empty()) {
      decide(row, Outcome::Error, node.silent);
      row.unreachable = row.nodes.front();
    }
  }
}

}  // namespace busbar::judge
