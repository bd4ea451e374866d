// SPDX-License-Identifier: BSD-3-Clause
#include "judge/observation.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/text.hpp"
#include "model/flag.hpp"

namespace busbar::judge {
namespace {

/// Groups as they were measured, each once.
std::vector<Instance> groups_of(const DeviceSetRule& set,
                                std::span<const Observation> observations) {
  std::vector<Instance> groups;
  std::set<std::vector<std::string>> seen;
  for (const Observation& o : observations) {
    if (o.device_set != set.id || o.purpose == Purpose::Confirm) continue;
    std::vector<std::string> members = o.nodes;
    std::ranges::sort(members);
    if (seen.insert(members).second) groups.push_back({.name = o.instance, .nodes = o.nodes});
  }
  return groups;
}

}  // namespace

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

bool is_bisected(const DeviceSetRule& set, std::size_t nodes) {
  return set.kind == SetKind::Pairwise && nodes > static_cast<std::size_t>(set.all_pairs_up_to);
}

std::vector<Instance> instances_of(const DeviceSetRule& set, std::span<const std::string> nodes,
                                   std::span<const Observation> observations) {
  const std::vector<std::string> all(nodes.begin(), nodes.end());
  if (set.kind == SetKind::Whole) return {{.name = "all", .nodes = all}};
  if (set.kind == SetKind::List) return {{.name = "all", .nodes = set.nodes}};
  if (is_bisected(set, nodes.size())) return groups_of(set, observations);
  std::vector<Instance> instances;
  for (int rail = 0; set.kind == SetKind::Rails && rail < set.ranks_per_node; ++rail) {
    instances.push_back({.name = fmt::format("rail {}", rail), .nodes = all, .group = rail});
  }
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (set.kind == SetKind::PerNode) instances.push_back({.name = nodes[i], .nodes = {nodes[i]}});
    for (std::size_t j = i + 1; set.kind == SetKind::Pairwise && j < nodes.size(); ++j) {
      instances.push_back({.name = nodes[i] + "+" + nodes[j], .nodes = {nodes[i], nodes[j]}});
    }
  }
  return instances;
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
