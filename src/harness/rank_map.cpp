// SPDX-License-Identifier: BSD-3-Clause
#include "harness/rank_map.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <set>
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
std::vector<topo::Core> near_cores(const topo::Machine& machine, const BindRequest& request) {
  const bool wanted =
      request.bind == Bind::Auto && !request.near.empty() && !machine.locality().bound;
  return wanted ? machine.cores_near(request.near) : std::vector<topo::Core>{};
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
bool bind_to_place(const topo::Machine& machine, Bind bind, const topo::Selection& request,
                   HostIndex host) {
  const int places = bind == Bind::Numa ? machine.numa_nodes() : machine.cores();
  const auto place = place_of(request, host.index, host.count, places);
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
bool bind_rank(const topo::Machine& machine, const BindRequest& request, HostIndex host) {
  const Bind bind = request.bind;
  if (bind == Bind::None) return false;
  if (request.devices) return bind_to_place(machine, bind, *request.devices, host);
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
bool bind_where_wanted(Bootstrap& bootstrap, const topo::Machine& machine,
                       const BindRequest& request) {
  const std::vector<topo::Core> near = near_cores(machine, request);
  const std::vector<Neighbour> ranks = bootstrap.gather(neighbour(near));
  const bool near_a_device = request.bind == Bind::Auto && !request.near.empty();
  return near_a_device ? bind_near(machine, near, share_of_near_cores(ranks, bootstrap.rank()))
                       : bind_rank(machine, request, index_on_host(ranks, bootstrap.rank()));
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

std::string short_of_processors(const RankMap& rank_map) {
  constexpr int kLeast = 2;
  for (std::size_t rank = 0; rank < rank_map.ranks.size(); ++rank) {
    const RankInfo& place = rank_map.ranks[rank];
    if (place.processors < kLeast) return fmt::format("rank {} on {}", rank, place.host.data());
  }
  return {};
}

std::optional<int> place_of(const topo::Selection& request, int index, int count, int places) {
  if (places < 1) return std::nullopt;
  if (request.policy == topo::Policy::Best) {
    return count <= places ? index * places / count : index % places;
  }
  if (request.policy != topo::Policy::List) return index % places;
  for (const int device : request.devices) {
    if (device >= places) return std::nullopt;
  }
  return request.devices[static_cast<std::size_t>(index) % request.devices.size()];
}

RankMap map_ranks(Bootstrap& bootstrap, const BindRequest& request) {
  const topo::Machine machine;
  RankInfo mine;
  // What all ranks of a host may use together counts for oversubscription, so look before binding.
  for (const int processor : machine.locality().processors) {
    const auto bit = static_cast<unsigned>(processor);
    if (bit < mine.processor_mask.size() * kBits) {
      mine.processor_mask.at(bit / kBits) |= std::uint64_t{1} << bit % kBits;
    }
  }
  mine.bound_by_us = bind_where_wanted(bootstrap, machine, request) ? 1 : 0;
  if (request.devices && !bootstrap.agree(mine.bound_by_us == 1)) {
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
  return summarize_ranks(bootstrap.gather(mine));
}

RankMap summarize_ranks(std::vector<RankInfo> ranks) {
  struct Host {
    int ranks = 0;
    std::array<std::uint64_t, 16> mask{};
    const RankInfo* first = nullptr;
    Bytes memory = 0;
  };
  std::map<std::array<char, 40>, Host> hosts;
  RankMap result;
  result.ranks = std::move(ranks);
  for (const RankInfo& place : result.ranks) {
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

namespace {

using Places = std::vector<const RankInfo*>;

std::string numbered(std::string_view what, const std::set<int>& numbers) {
  return fmt::format("{} {}", what, format_ranges({numbers.begin(), numbers.end()}));
}

/// The processors that the ranks of one host were allowed before anything was bound.
std::set<int> processors_of(const Places& places) {
  std::set<int> numbers;
  for (const RankInfo* place : places) {
    for (std::size_t word = 0; word < place->processor_mask.size(); ++word) {
      for (unsigned bit = 0; bit < kBits; ++bit) {
        const bool allowed = (place->processor_mask.at(word) >> bit & 1U) != 0;
        if (allowed) numbers.insert(static_cast<int>(word * kBits + bit));
      }
    }
  }
  return numbers;
}

std::string host_words(const Places& places) {
  std::set<int> cores;
  std::set<int> numas;
  for (const RankInfo* place : places) {
    cores.insert(place->core);
    numas.insert(place->numa);
  }
  if (*cores.begin() >= 0) return numbered("cores", cores);
  // A machine of one NUMA node holds every rank in it, bound or not.
  const bool bound = std::any_of(places.begin(), places.end(),
                                 [](const RankInfo* place) { return place->bound_by_us != 0; });
  if (*numas.begin() >= 0 && (bound || numas.size() > 1)) return numbered("numa", numas);
  return numbered("processors", processors_of(places));
}

std::string gpu_words(const std::set<int>& indices) {
  std::vector<std::string> words;
  for (const int index : indices) words.push_back(fmt::format("{}", index));
  return join(words, ",");
}

}  // namespace

std::string device_set(const RankMap& rank_map, const std::vector<Device>& devices,
                       std::span<const int> ranks) {
  struct Host {
    std::array<char, 40> boot_id{};
    Places places{};
    std::set<int> gpus{};
  };
  std::vector<Host> hosts;  // by their first rank
  for (const int rank : ranks) {
    const auto index = static_cast<std::size_t>(rank);
    const RankInfo& place = rank_map.ranks.at(index);
    auto host = std::find_if(hosts.begin(), hosts.end(),
                             [&](const Host& known) { return known.boot_id == place.boot_id; });
    if (host == hosts.end()) host = hosts.insert(host, Host{.boot_id = place.boot_id});
    host->places.push_back(&place);
    if (!devices.empty()) host->gpus.insert(devices.at(index).index);
  }
  std::vector<std::string> words;
  for (const Host& host : hosts) {
    words.push_back(devices.empty() ? host_words(host.places) : gpu_words(host.gpus));
  }
  const bool equal =
      std::adjacent_find(words.begin(), words.end(), std::not_equal_to<>()) == words.end();
  if (equal && !words.empty()) words.resize(1);
  return join(words, ";");
}

}  // namespace busbar
