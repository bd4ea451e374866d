// SPDX-License-Identifier: BSD-3-Clause
#include "harness/placement.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <unistd.h>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/fixed_text.hpp"
#include "base/text.hpp"
#include "harness/host.hpp"
#include "topo/locality.hpp"

namespace busbar {
namespace {

constexpr unsigned kBits = 64;

/// This rank's index among the ranks of its kernel, and their number.
struct HostIndex {
  int index = 0;
  int count = 0;
};

HostIndex index_on_host(const std::vector<Neighbour>& ranks, int rank) {
  HostIndex result;
  for (std::size_t other = 0; other < ranks.size(); ++other) {
    if (ranks[other].boot_id != ranks[static_cast<std::size_t>(rank)].boot_id) continue;
    if (static_cast<int>(other) < rank) ++result.index;
    ++result.count;
  }
  return result;
}

/// The cores near the rank's device, where it is to be bound there.
std::vector<topo::Core> near_cores(const topo::Machine& machine, const PlaceWish& wish) {
  const bool wanted = wish.bind == Bind::Auto && !wish.near.empty() && !machine.locality().bound;
  return wanted ? machine.cores_near(wish.near) : std::vector<topo::Core>{};
}

Neighbour neighbour(const std::vector<topo::Core>& near) {
  Neighbour mine;
  copy_text(first_line_of("/proc/sys/kernel/random/boot_id"), mine.boot_id);
  if (near.empty()) return mine;
  mine.first_near = near.front().front();
  mine.cores_near = static_cast<int>(near.size());
  return mine;
}

/// Binds to the core or NUMA node that --devices means; false where there is none.
bool bind_to_place(const topo::Machine& machine, Bind bind, const topo::Selection& wish,
                   HostIndex host) {
  const int places = bind == Bind::Numa ? machine.numa_nodes() : machine.cores();
  const auto place = place_of(wish, host.index, host.count, places);
  if (!place) return false;
  return bind == Bind::Numa ? machine.bind_to_numa(*place, places)
                            : machine.bind_to_core(*place, places);
}

/// Near the rank's device, but never to a single core: the library's threads share it.
bool bind_near(const topo::Machine& machine, const std::vector<topo::Core>& near,
               topo::CoreShare share) {
  return near.size() > 1 && machine.bind_to_processors(topo::share_of(near, share));
}

/// Auto on host memory: to a core each while the ranks fit or where all share all cores in turn;
/// what a launcher has bound stays.
bool bind_rank(const topo::Machine& machine, const PlaceWish& wish, HostIndex host) {
  const Bind bind = wish.bind;
  if (bind == Bind::None) return false;
  if (wish.devices) return bind_to_place(machine, bind, *wish.devices, host);
  if (bind == Bind::Auto && machine.locality().bound) return false;
  const bool bound = bind == Bind::Numa ? machine.bind_to_numa(host.index, host.count)
                                        : machine.bind_to_core(host.index, host.count);
  if (!bound && bind != Bind::Auto) {
    throw Error{
        Status::Unavailable,
        "--bind: the operating system refuses to bind this process; go without by --bind none"};
  }
  return bound;
}

/// Whether this rank was bound.
bool bind_where_wanted(Bootstrap& bootstrap, const topo::Machine& machine, const PlaceWish& wish) {
  const std::vector<topo::Core> near = near_cores(machine, wish);
  const std::vector<Neighbour> ranks = bootstrap.gather(neighbour(near));
  const bool near_a_device = wish.bind == Bind::Auto && !wish.near.empty();
  return near_a_device ? bind_near(machine, near, share_of_near_cores(ranks, bootstrap.rank()))
                       : bind_rank(machine, wish, index_on_host(ranks, bootstrap.rank()));
}

}  // namespace

topo::CoreShare share_of_near_cores(const std::vector<Neighbour>& ranks, int rank) {
  constexpr int kLeastCores = 2;
  constexpr int kLeastCoresOfMany = 4;
  const Neighbour& mine = ranks[static_cast<std::size_t>(rank)];
  topo::CoreShare share{.count = 0, .least = kLeastCores};
  for (std::size_t other = 0; other < ranks.size(); ++other) {
    const Neighbour& place = ranks[other];
    const bool same_host = place.boot_id == mine.boot_id;
    if (!same_host) share.least = kLeastCoresOfMany;
    const bool same_cores =
        place.first_near == mine.first_near && place.cores_near == mine.cores_near;
    if (!same_host || !same_cores) continue;
    if (static_cast<int>(other) < rank) ++share.index;
    ++share.count;
  }
  return share;
}

std::string short_of_processors(const Placements& placements) {
  constexpr int kLeast = 2;
  for (std::size_t rank = 0; rank < placements.ranks.size(); ++rank) {
    const RankPlace& place = placements.ranks[rank];
    if (place.processors < kLeast) return fmt::format("rank {} on {}", rank, place.host.data());
  }
  return {};
}

std::optional<int> place_of(const topo::Selection& wish, int index, int count, int places) {
  if (places < 1) return std::nullopt;
  if (wish.policy == topo::Policy::Best) {
    return count <= places ? index * places / count : index % places;
  }
  if (wish.policy != topo::Policy::List) return index % places;
  for (const int device : wish.devices) {
    if (device >= places) return std::nullopt;
  }
  return wish.devices[static_cast<std::size_t>(index) % wish.devices.size()];
}

Placements place_ranks(Bootstrap& bootstrap, const PlaceWish& wish) {
  const topo::Machine machine;
  RankPlace mine;
  // What all ranks of a host may use together counts for oversubscription, so look before binding.
  for (const int processor : machine.locality().processors) {
    const auto bit = static_cast<unsigned>(processor);
    if (bit < mine.processor_mask.size() * kBits) {
      mine.processor_mask.at(bit / kBits) |= std::uint64_t{1} << bit % kBits;
    }
  }
  mine.bound_by_us = bind_where_wanted(bootstrap, machine, wish) ? 1 : 0;
  if (wish.devices && !bootstrap.agree(mine.bound_by_us == 1)) {
    throw usage_error(fmt::format(
        "--devices: a host has {} and {}; name those that every host has and lets ranks use",
        counted(static_cast<std::size_t>(machine.cores()), "core"),
        counted(static_cast<std::size_t>(machine.numa_nodes()), "NUMA node")));
  }
  const topo::Locality locality = machine.locality();
  copy_text(host_name(), mine.host);
  copy_text(machine.processor_model(), mine.processor_model);
  copy_text(first_line_of("/proc/sys/kernel/random/boot_id"), mine.boot_id);
  mine.node = bootstrap.node();
  mine.pid = getpid();
  mine.core = locality.core.value_or(-1);
  mine.numa = locality.numa.value_or(-1);
  mine.processors = static_cast<int>(locality.processors.size());
  mine.processor_quota = processor_quota().value_or(0);
  mine.memory_available = available_memory();
  mine.last_level_cache = machine.last_level_cache();
  return summarize_places(bootstrap.gather(mine));
}

Placements summarize_places(std::vector<RankPlace> ranks) {
  struct Host {
    int ranks = 0;
    std::array<std::uint64_t, 16> mask{};
    const RankPlace* first = nullptr;
    Bytes memory = 0;
  };
  std::map<std::array<char, 40>, Host> hosts;
  Placements result;
  result.ranks = std::move(ranks);
  for (const RankPlace& place : result.ranks) {
    Host& host = hosts[place.boot_id];
    if (host.first == nullptr) {
      host.first = &place;
      host.memory = place.memory_available;
    }
    ++host.ranks;
    host.memory = std::min(host.memory, place.memory_available);
    for (std::size_t i = 0; i < host.mask.size(); ++i) {
      host.mask.at(i) |= place.processor_mask.at(i);
    }
    result.largest_cache = std::max(result.largest_cache, place.last_level_cache);
  }
  result.hosts = static_cast<int>(hosts.size());
  result.least_memory = std::numeric_limits<Bytes>::max();
  result.processors = std::numeric_limits<double>::max();
  for (const auto& [boot_id, host] : hosts) {
    int processors = 0;
    for (const std::uint64_t word : host.mask) processors += std::popcount(word);
    const double quota = host.first->processor_quota;
    result.processors =
        std::min({result.processors, 1.0 * processors, quota > 0 ? quota : 1.0 * processors});
    if (quota > 0) {
      processors = std::min(processors, std::max(1, static_cast<int>(std::floor(quota))));
    }
    result.most_ranks_per_host = std::max(result.most_ranks_per_host, host.ranks);
    result.least_memory =
        std::min(result.least_memory, host.memory / static_cast<Bytes>(host.ranks));
    if (host.ranks <= processors || result.oversubscribed) continue;
    result.oversubscribed = true;
    result.oversubscription = fmt::format(
        "{} ranks on {} of host {}", host.ranks,
        counted(static_cast<std::size_t>(processors), "processor"), host.first->host.data());
  }
  return result;
}

}  // namespace busbar
