// SPDX-License-Identifier: BSD-3-Clause
#include "judge/observation.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/text.hpp"
#include "model/flag.hpp"

namespace busbar::judge {

bool Observation::hung_or_crashed() const {
  constexpr std::array kOrderly{Status::Ok, Status::Wrong, Status::Usage, Status::Unavailable,
                                Status::Skipped};
  return !failure.empty() && exit_code != kNotMade &&
         std::ranges::find(kOrderly, exit_code, busbar::exit_code) == kOrderly.end();
}

std::string file_failure(const study::Dataset& dataset) {
  const bool none = dataset.cut.empty() && dataset.records.empty();
  const std::string why = none ? "no row in it" : dataset.cut;
  return why.empty() ? "" : fmt::format("{}: {}", dataset.path, why);
}

std::vector<Instance> instances_of(const DeviceSetRule& set, std::span<const std::string> nodes) {
  const std::vector<std::string> all(nodes.begin(), nodes.end());
  std::vector<Instance> instances;
  switch (set.kind) {
    case SetKind::Whole: return {{.name = "all", .nodes = all}};
    case SetKind::Rails:
      for (int rail = 0; rail < set.ranks_per_node; ++rail) {
        instances.push_back({.name = fmt::format("rail {}", rail), .nodes = all, .group = rail});
      }
      return instances;
    case SetKind::PerNode:
    case SetKind::Pairwise: break;
  }
  for (const std::string& node : nodes) instances.push_back({.name = node, .nodes = {node}});
  return instances;
}

Instance pair_instance(std::span<const std::string> nodes, const NumberPair& pair) {
  const std::vector<std::string> both{nodes[pair.first], nodes[pair.second]};
  return {.name = join(both, "+"), .nodes = both};
}

std::set<std::string> hosts_of(const Observation& observation) {
  const std::vector<std::string> hosts = split_words(value_of(observation.facts, fact::kHosts));
  for (const Record& row : observation.records) {
    if (has_flag(row, Flag::Imported)) return {};  // logs cut names
  }
  return {hosts.begin(), hosts.end()};
}

bool shares_machine(const Observation& observation) {
  const std::set<std::string> hosts = hosts_of(observation);
  return !hosts.empty() && hosts.size() < observation.nodes.size();
}

bool belongs_to(const Observation& observation, const DeviceSetRule& set,
                const Instance& instance) {
  if (observation.device_set != set.id || observation.purpose == Purpose::Confirm) return false;
  const bool has_group = observation.group == -1 || observation.group == instance.group;
  const std::vector<std::string>& nodes = observation.nodes;
  return has_group && nodes.size() == instance.nodes.size() &&
         std::is_permutation(nodes.begin(), nodes.end(), instance.nodes.begin());
}

std::vector<std::string> nodes_to_judge(const std::vector<std::string>& given,
                                        const Specification& specification,
                                        std::span<const Observation> observations) {
  if (!given.empty()) return given;
  if (!specification.system.nodes.empty()) return specification.system.nodes;
  std::vector<std::string> nodes;
  for (const Observation& observation : observations) {
    for (const std::string& node : observation.nodes) add_new(nodes, node);
  }
  return nodes;
}

std::vector<std::string> collectives_of(const Specification& specification,
                                        const std::string& device_set) {
  std::vector<std::string> collectives;
  for (const Rule& rule : specification.rules) {
    if (rule.device_set != device_set) continue;
    for (const std::string& collective : rule.collectives) add_new(collectives, collective);
  }
  return collectives;
}

bool has_all(std::span<const std::string> nodes, std::span<const std::string> wanted) {
  return std::ranges::all_of(wanted,
                             [&](const std::string& node) { return contains(nodes, node); });
}

}  // namespace busbar::judge
