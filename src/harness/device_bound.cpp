// SPDX-License-Identifier: BSD-3-Clause
#include "harness/device_bound.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/text.hpp"
#include "topo/bounds/bound.hpp"

namespace busbar {
namespace {

std::string list_of(const std::vector<int>& numbers) {
  std::vector<std::string> words;
  for (const int number : numbers) words.push_back(fmt::format("{}", number));
  return join(words, ",");
}

/// Highest bus bandwidth of a collective on a set, in GB/s.
std::optional<double> rate_of(const topo::Bound& bound, const Collective& collective) {
  if (bound.devices.size() < 2) return std::nullopt;
  if (collective.ring_bound) {
    const double in_switch = collective.name == "allreduce" ? bound.in_switch_GBps.value_or(0) : 0;
    return std::max(bound.bound_GBps, in_switch);
  }
  // All else passes each device's port once, whatever its order; a mesh would need paths of its
  // own.
  if (bound.kind == "nvswitch") return bound.bound_GBps;
  return std::nullopt;
}

std::string note_of(const topo::Bound& bound, const HostTopology& topology,
                    const Collective& collective) {
  const std::string how = topology.choice ? fmt::format(" ({})", topology.choice->reason) : "";
  const auto rate = rate_of(bound, collective);
  const std::string what =
      rate ? fmt::format("{} at most {:.4g} GB/s over {}, limited by {}{}", collective.title, *rate,
                         bound.kind, bound.limit, bound.exact ? "" : " (not exact)")
           : fmt::format("rings at most {:.4g} GB/s over {}; {} is not modelled", bound.bound_GBps,
                         bound.kind, collective.title);
  return fmt::format("GPUs {}{}: {}", list_of(bound.devices), how, what);
}

bool any_twice(std::vector<int> numbers) {
  std::sort(numbers.begin(), numbers.end());
  return std::adjacent_find(numbers.begin(), numbers.end()) != numbers.end();
}

}  // namespace

SetBound device_bound(const HostTopology& topology, std::span<const Device> devices, bool all_here,
                      const Collective& collective) {
  if (!topology.missing.empty()) {
    return {.note = fmt::format("no bound: {}", topology.missing)};
  }
  if (!all_here) {
    return {.note = "no bound: what the network between the hosts carries is not known"};
  }
  const auto numbers = numbers_of(topology.graph, devices);
  if (!numbers) return {.note = "no bound: nvidia-smi does not show the GPUs that CUDA does"};
  SetBound result{.device_set = list_of(*numbers), .warnings = topology.graph.warnings};
  if (any_twice(*numbers)) {
    result.note = "no bound: ranks share a GPU";
    return result;
  }
  const topo::Bound bound = topo::bound_of(topology.graph, *numbers);
  if (!std::isfinite(bound.bound_GBps)) {
    result.note = "no bound: nothing is known of what joins these GPUs";
    return result;
  }
  if (bound.devices.size() < 2 || bound.bound_GBps <= 0) return result;
  result.note = note_of(bound, topology, collective);
  const auto rate = rate_of(bound, collective);
  if (!rate) return result;
  result.kind = bound.kind;
  result.limit = bound.limit;
  result.bus_GBps = [rate](const BoundRow& /*row*/) { return rate; };
  return result;
}

}  // namespace busbar
