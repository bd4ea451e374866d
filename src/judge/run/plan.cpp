// SPDX-License-Identifier: BSD-3-Clause
#include "judge/run/plan.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.hpp"
#include "judge/fleet/fleet.hpp"

namespace busbar::judge {
namespace {

Job job_of(const DeviceSetRule& set, const Instance& instance, const std::string& collective,
           int launch) {
  return {.device_set = set.id,
          .instances = {instance},
          .nodes = instance.nodes,
          .launch = launch,
          .collective = collective};
}

/// A launch of instances at the same time.
Unit unit_of(const DeviceSetRule& set, std::span<const Instance> instances,
             const std::string& collective, int launch) {
  Unit unit;
  for (const Instance& instance : instances) {
    unit.push_back(job_of(set, instance, collective, launch));
  }
  return unit;
}

/// The instances of a pair table, round by round.
std::vector<std::vector<Instance>> tournament_instances(std::span<const std::string> nodes) {
  std::vector<std::vector<Instance>> rounds;
  for (const std::vector<PairValue>& round : tournament(nodes.size())) {
    rounds.emplace_back();
    for (const PairValue& pair : round) {
      const std::string& first = nodes[std::min(pair.first, pair.second)];
      const std::string& second = nodes[std::max(pair.first, pair.second)];
      rounds.back().push_back(
          {.name = fmt::format("{}+{}", first, second), .nodes = {first, second}});
    }
  }
  return rounds;
}

std::vector<std::vector<Instance>> disjoint_instances(const DeviceSetRule& set,
                                                      std::span<const std::string> nodes) {
  if (set.kind == SetKind::Pairwise) return tournament_instances(nodes);
  std::vector<Instance> instances = instances_of(set, nodes, {});
  return {std::move(instances)};
}

/// All rails are one launch on all nodes.
Unit rails_unit(const DeviceSetRule& set, std::span<const std::string> nodes,
                const std::string& collective, int launch) {
  Job job{.device_set = set.id, .launch = launch, .collective = collective};
  job.nodes.assign(nodes.begin(), nodes.end());
  job.instances = instances_of(set, nodes, {});
  return {job};
}

void add_launch(std::vector<Unit>& units, const Specification& specification,
                const DeviceSetRule& set, std::span<const std::string> nodes, int launch) {
  for (const std::string& collective : collectives_of(specification, set.id)) {
    if (set.kind == SetKind::Rails) {
      units.push_back(rails_unit(set, nodes, collective, launch));
      continue;
    }
    for (const std::vector<Instance>& instances : disjoint_instances(set, nodes)) {
      if (!instances.empty()) units.push_back(unit_of(set, instances, collective, launch));
    }
  }
}

}  // namespace

std::vector<Unit> apart(std::vector<Unit> units, bool parallel) {
  if (parallel) return units;
  std::vector<Unit> single;
  for (Unit& unit : units) {
    for (Job& job : unit) single.push_back({std::move(job)});
  }
  return single;
}

std::vector<Unit> plan_units(const Specification& specification, std::span<const std::string> nodes,
                             bool parallel, std::mt19937_64& random) {
  std::vector<Unit> units;
  for (int launch = 0; launch < specification.run.launches; ++launch) {
    for (const DeviceSetRule& set : specification.device_sets) {
      if (!is_halved(set, nodes.size())) add_launch(units, specification, set, nodes, launch);
    }
  }
  units = apart(std::move(units), parallel);
  shuffle(units, random);
  return units;
}

std::vector<Unit> launch_units(const Specification& specification, const std::string& device_set,
                               std::span<const Instance> instances, bool parallel) {
  std::vector<Unit> units;
  for (int launch = 0; launch < specification.run.launches; ++launch) {
    for (const std::string& collective : collectives_of(specification, device_set)) {
      units.push_back(unit_of(specification.device_set(device_set), instances, collective, launch));
    }
  }
  return apart(std::move(units), parallel);
}

std::vector<Instance> instances_of_round(std::span<const Halving::Group> groups,
                                         std::span<const std::string> nodes) {
  std::vector<Instance> instances;
  for (const Halving::Group& group : groups) {
    std::vector<std::size_t> numbers = group.members;
    numbers.insert(numbers.end(), group.helpers.begin(), group.helpers.end());
    std::sort(numbers.begin(), numbers.end());
    Instance instance;
    for (const std::size_t number : numbers) instance.nodes.push_back(nodes[number]);
    instance.name = join(instance.nodes, "+");
    instances.push_back(std::move(instance));
  }
  return instances;
}

}  // namespace busbar::judge
