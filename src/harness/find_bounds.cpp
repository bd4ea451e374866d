// SPDX-License-Identifier: BSD-3-Clause
#include "harness/find_bounds.hpp"

#include <algorithm>

#include "harness/device_bound.hpp"
#include "harness/device_set.hpp"
#include "harness/host_bound.hpp"

namespace busbar {
namespace {

/// The ranks of this rank's team.
std::vector<int> teammates(const BoundInput& input) {
  const int mine = input.groups[static_cast<std::size_t>(input.everyone.rank())];
  std::vector<int> ranks;
  for (std::size_t rank = 0; rank < input.groups.size(); ++rank) {
    if (input.groups[rank] == mine) ranks.push_back(static_cast<int>(rank));
  }
  return ranks;
}

/// What a rank may take to measure with: it is given back, but must not be what breaks a small
/// host.
Bytes spare_memory(const BoundInput& input) {
  const Placements& placements = input.placements;
  const auto ranks = static_cast<Bytes>(placements.most_ranks_per_host);
  const Bytes available = input.options.memory_limit ? std::min(placements.least_memory,
                                                                *input.options.memory_limit / ranks)
                                                     : placements.least_memory;
  return available / 4;
}

SetBound host_memory(const BoundInput& input, const HostTeam& team) {
  HostLimits limits;
  if (host_bound_obstacle(team).empty()) {
    limits = measure_host_limits(input.everyone, input.communicator,
                                 {.last_level_cache = team.last_level_cache,
                                  .processors = input.placements.processors,
                                  .most_per_rank = spare_memory(input)});
  }
  return host_bound(team, input.collective, limits);
}

/// Of GPUs: reckoned, so it can be asked for again for every pair of ranks.
SetBound of_devices(const HostTopology& topology, const Placements& placements,
                    const std::vector<Device>& devices, const std::vector<int>& ranks,
                    const Collective& collective) {
  std::vector<Device> taken;
  bool all_here = true;
  for (const int rank : ranks) {
    const auto index = static_cast<std::size_t>(rank);
    taken.push_back(devices[index]);
    all_here = all_here && placements.ranks[index].boot_id ==
                               placements.ranks[static_cast<std::size_t>(ranks.front())].boot_id;
  }
  SetBound bound = device_bound(topology, taken, all_here, collective);
  if (bound.device_set.empty()) bound.device_set = device_set(placements, devices, ranks);
  return bound;
}

}  // namespace

BoundSource find_bounds(const BoundInput& input) {
  const std::vector<int> ranks = teammates(input);
  SetBound whole{.device_set = device_set(input.placements, input.devices, ranks)};
  if (input.topology) {
    whole = of_devices(*input.topology, input.placements, input.devices, ranks, input.collective);
  } else {
    const bool paired = input.options.pairs == Pairs::All;
    whole = host_memory(input, {.device_set = whole.device_set,
                                .ranks = input.everyone.size(),
                                .nodes = input.everyone.nodes(),
                                .whole = !paired && !input.options.split,
                                .measured = input.options.host_limits,
                                .last_level_cache = input.placements.largest_cache});
  }
  return [whole, placements = input.placements, devices = input.devices, topology = input.topology,
          collective = input.collective](const std::optional<Pair>& pair) -> SetBound {
    if (!pair) return whole;
    const std::vector<int> both{pair->sender, pair->receiver};
    if (!topology) return {.device_set = device_set(placements, devices, both)};
    return of_devices(*topology, placements, devices, both, collective);
  };
}

}  // namespace busbar
