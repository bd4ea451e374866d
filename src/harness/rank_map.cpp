// SPDX-License-Identifier: BSD-3-Clause
#include "harness/rank_map.hpp"

#include <cmath>
#include <limits>
#include <unistd.h>

#include "model/agreement.hpp"

namespace busbar {
namespace {

/// The index of a rank among those that are like it in some respect, and their number.
template <class IsLike>
topo::CoreShare share_among(const std::vector<Neighbour>& ranks, int rank, const IsLike& is_like) {
  topo::CoreShare share{.count = 0};
  for (std::size_t other = 0; other < ranks.size(); ++other) {
    if (!is_like(ranks[other])) continue;
    if (static_cast<int>(other) < rank) ++share.index;
    ++share.count;
  }
  return share;
}

/// To a core or NUMA node for the `index`-th of `count` ranks of a host. Auto on host memory: to a
/// core each while the ranks fit or where all share all cores in turn; what a launcher has bound
/// stays. Whether this rank was bound.
bool bind_on_host(const topo::Machine& machine, Bind bind,
                  const std::optional<topo::Selection>& devices, int index, int count) {
  const topo::Spot spot = bind == Bind::Numa ? topo::Spot::NumaNode : topo::Spot::CpuCore;
  if (bind == Bind::None) return false;
  if (devices) {
    const int places = machine.count(spot);
    const auto place = place_of(*devices, index, count, places);
    return place && machine.bind_to(spot, *place, places);
  }
  if (bind == Bind::Auto && machine.locality().bound) return false;
  const bool bound = machine.bind_to(spot, index, count);
  if (!bound && bind != Bind::Auto) {
    throw Error{Status::Unavailable,
                "--bind: the operating system refuses to bind this process; use --bind none"};
  }
  return bound;
}

/// Near the rank's device, but never to a single core: the library's threads share it. Whether this
/// rank was bound. Collective.
bool bind_rank(Bootstrap& bootstrap, const topo::Machine& machine, Bind bind,
               const std::string& device, const std::optional<topo::Selection>& devices) {
  const bool near_a_device = bind == Bind::Auto && !device.empty();
  std::vector<topo::Core> near;
  if (near_a_device && !machine.locality().bound) near = machine.cores_near(device);
  Neighbour mine{.boot_id = boot_id()};
  if (!near.empty()) {
    mine.first_near = near.front().front();
    mine.cores_near = static_cast<int>(near.size());
  }
  const std::vector<Neighbour> ranks = bootstrap.gather(mine);
  const int rank = bootstrap.rank();
  if (near_a_device) {
    return near.size() > 1 &&
           machine.bind_to_processors(topo::share_of(near, share_of_near_cores(ranks, rank)));
  }
  const topo::CoreShare host = share_among(
      ranks, rank, [&](const Neighbour& other) { return other.boot_id == mine.boot_id; });
  return bind_on_host(machine, bind, devices, host.index, host.count);
}

std::string numbered(std::string_view what, const std::set<int>& numbers) {
  return fmt::format("{} {}", what, format_ranges({numbers.begin(), numbers.end()}));
}

/// What these ranks of one host are bound to, or the processors that they were allowed.
std::string places_text(const RankMap& rank_map, const std::vector<std::size_t>& ranks) {
  std::set<int> cores;
  std::set<int> numas;
  std::bitset<1024> allowed;
  bool bound = false;
  for (const std::size_t rank : ranks) {
    const RankInfo& info = rank_map.ranks[rank];
    cores.insert(info.core);
    numas.insert(info.numa);
    allowed |= info.processor_mask;
    bound = bound || info.bound_by_us != 0;
  }
  if (*cores.begin() >= 0) return numbered("cores", cores);
  // A machine of one NUMA node holds every rank in it, bound or not.
  if (*numas.begin() >= 0 && (bound || numas.size() > 1)) return numbered("numa", numas);
  std::set<int> processors;
  for (std::size_t i = 0; i < allowed.size(); ++i) {
    if (allowed[i]) processors.insert(static_cast<int>(i));
  }
  return numbered("processors", processors);
}

std::string gpus_text(const std::vector<Device>& devices, const std::vector<std::size_t>& ranks) {
  const auto index_of = [&](std::size_t rank) { return devices.at(rank).index; };
  return fmt::format("{}", fmt::join(set_of(ranks, index_of), ","));
}

}  // namespace

topo::CoreShare share_of_near_cores(const std::vector<Neighbour>& ranks, int rank) {
  constexpr int kLeastCores = 2;
  constexpr int kLeastCoresOfMany = 4;
  const Neighbour& mine = ranks[static_cast<std::size_t>(rank)];
  topo::CoreShare share =
      share_among(ranks, rank, [&](const Neighbour& other) { return other == mine; });
  const bool one_host = std::ranges::all_of(
      ranks, [&](const Neighbour& other) { return other.boot_id == mine.boot_id; });
  share.least = one_host ? kLeastCores : kLeastCoresOfMany;
  return share;
}

std::string short_of_processors(const RankMap& rank_map) {
  constexpr int kLeast = 2;
  for (std::size_t rank = 0; rank < rank_map.ranks.size(); ++rank) {
    const RankInfo& info = rank_map.ranks[rank];
    if (info.processors < kLeast) return fmt::format("rank {} on {}", rank, info.host.data());
  }
  return {};
}

std::optional<int> place_of(const topo::Selection& request, int index, int count, int places) {
  if (places < 1) return std::nullopt;
  if (request.policy == topo::Policy::Best && count <= places) return index * places / count;
  if (request.policy != topo::Policy::List) return index % places;
  const bool all_there =
      std::ranges::all_of(request.devices, [&](int device) { return device < places; });
  if (!all_there) return std::nullopt;
  return request.devices[static_cast<std::size_t>(index) % request.devices.size()];
}

RankMap map_ranks(Bootstrap& bootstrap, Bind bind, const std::string& near,
                  const std::optional<topo::Selection>& devices) {
  const topo::Machine machine;
  RankInfo mine{.boot_id = boot_id(), .node = bootstrap.node(), .pid = getpid()};
  // What all ranks of a host may use together counts for oversubscription, so look before binding.
  for (const int processor : machine.locality().processors) {
    const auto bit = static_cast<std::size_t>(processor);
    if (bit < mine.processor_mask.size()) mine.processor_mask.set(bit);
  }
  agree_on(bootstrap, [&] {
    mine.bound_by_us = bind_rank(bootstrap, machine, bind, near, devices) ? 1 : 0;
    if (devices && mine.bound_by_us == 0) {
      throw usage_error(
          "--devices: a host has {} and {}; name those that every host has and lets ranks use",
          counted(machine.count(topo::Spot::CpuCore), "core"),
          counted(machine.count(topo::Spot::NumaNode), "NUMA node"));
    }
  });
  const topo::Locality locality = machine.locality();
  copy_text(host_name(), mine.host);
  copy_text(machine.processor_model(), mine.processor_model);
  mine.core = locality.core.value_or(-1);
  mine.numa = locality.numa.value_or(-1);
  mine.processors = static_cast<int>(locality.processors.size());
  mine.processor_quota = processor_quota().value_or(0);
  mine.memory_available = available_memory();
  mine.last_level_cache = machine.last_level_cache();
  return summarize_ranks(bootstrap.gather(mine));
}

RankMap summarize_ranks(std::vector<RankInfo> ranks) {
  std::vector<RankInfo> hosts;  // the first rank of each, with the sum or minimum of all its ranks
  std::vector<int> ranks_on;
  RankMap result;
  for (RankInfo& rank : ranks) {
    auto host = std::ranges::find(hosts, rank.boot_id, &RankInfo::boot_id);
    rank.kernel = static_cast<int>(host - hosts.begin());
    if (host == hosts.end()) {
      host = hosts.insert(host, rank);
      ranks_on.push_back(0);
    }
    ++ranks_on[static_cast<std::size_t>(rank.kernel)];
    host->processor_mask |= rank.processor_mask;
    host->memory_available = std::min(host->memory_available, rank.memory_available);
    result.largest_cache = std::max(result.largest_cache, rank.last_level_cache);
  }
  result.ranks = std::move(ranks);
  result.hosts = static_cast<int>(hosts.size());
  result.least_memory = std::numeric_limits<Bytes>::max();
  result.processors = std::numeric_limits<double>::max();
  for (const RankInfo& host : hosts) {
    const int count = ranks_on[static_cast<std::size_t>(host.kernel)];
    const auto allowed = static_cast<double>(host.processor_mask.count());
    const double quota = host.processor_quota > 0 ? host.processor_quota : allowed;
    const double processors = std::min(allowed, quota);
    const auto whole = static_cast<int>(std::min(allowed, std::max(1.0, std::floor(quota))));
    result.processors = std::min(result.processors, processors);
    result.most_ranks_per_host = std::max(result.most_ranks_per_host, count);
    result.least_memory =
        std::min(result.least_memory, host.memory_available / static_cast<Bytes>(count));
    if (count <= whole || result.oversubscribed) continue;
    result.oversubscribed = true;
    result.oversubscription = fmt::format("{} ranks on {} of host {}", count,
                                          counted(whole, "processor"), host.host.data());
  }
  return result;
}

std::string device_set(const RankMap& rank_map, const std::vector<Device>& devices,
                       std::span<const int> ranks) {
  std::map<int, std::vector<std::size_t>> ranks_on;
  std::vector<int> hosts;  // in the order of their first ranks
  for (const int rank : ranks) {
    const auto index = static_cast<std::size_t>(rank);
    const int host = rank_map.ranks.at(index).kernel;
    if (ranks_on[host].empty()) hosts.push_back(host);
    ranks_on[host].push_back(index);
  }
  std::vector<std::string> texts;
  for (const int host : hosts) {
    texts.push_back(devices.empty() ? places_text(rank_map, ranks_on[host])
                                    : gpus_text(devices, ranks_on[host]));
  }
  const bool equal = std::ranges::adjacent_find(texts, std::not_equal_to<>()) == texts.end();
  if (equal && !texts.empty()) texts.resize(1);
  return join(texts, ";");
}

}  // namespace busbar
