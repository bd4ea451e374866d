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

std::string note_of(const topo::Bound& bound, const HostTopology& topology,
                    const Collective& collective) {
  const std::string how = topology.choice ? fmt::format(" ({})", topology.choice->reason) : "";
  const auto rate = collective_GBps(bound, collective.name);
  const char* most = bound.assumptions.empty() ? "at most" : "about";
  const std::string what =
      rate ? fmt::format("{} {} {:.4g} GB/s over {}, limited by {}{}", collective.title, most,
                         *rate, bound.kind, bound.limit, bound.exact ? "" : " (not exact)")
           : fmt::format("rings {} {:.4g} GB/s over {}; {} is not modelled", most, bound.bound_GBps,
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
  for (const std::string& assumption : bound.assumptions) {
    result.warnings.push_back("assumed: " + assumption);
  }
  const auto rate = collective_GBps(bound, collective.name);
  if (!rate) return result;
  result.kind = bound.kind;
  result.limit = bound.limit;
  result.bus_GBps = [rate](const BoundRow& /*row*/) { return rate; };
  return result;
}

}  // namespace busbar
