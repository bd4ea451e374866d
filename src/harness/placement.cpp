// SPDX-License-Identifier: BSD-3-Clause
#include "harness/placement.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <unistd.h>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/text.hpp"
#include "harness/host.hpp"
#include "topo/locality.hpp"

namespace busbar {
namespace {

constexpr unsigned kBits = 64;

template <std::size_t N>
void copy_text(const std::string& text, std::array<char, N>& to) {
  const std::size_t length = std::min(text.size(), N - 1);
  std::copy_n(text.begin(), length, to.begin());
}

/// This rank's index among the ranks of its kernel, and their number.
struct HostIndex {
  int index = 0;
  int count = 0;
};

HostIndex index_on_host(Bootstrap& bootstrap) {
  std::array<char, 40> mine{};
  copy_text(first_line_of("/proc/sys/kernel/random/boot_id"), mine);
  const auto all = bootstrap.gather(mine);
  HostIndex result;
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    if (all[rank] != mine) continue;
    if (static_cast<int>(rank) < bootstrap.rank()) ++result.index;
    ++result.count;
  }
  return result;
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

/// Auto: near the rank's device; for host memory to a core each while the ranks fit or where all
/// share all cores in turn; what a launcher has bound stays.
bool bind_rank(const topo::Machine& machine, const PlaceWish& wish, HostIndex host) {
  const Bind bind = wish.bind;
  if (bind == Bind::None) return false;
  if (wish.devices) return bind_to_place(machine, bind, *wish.devices, host);
  if (bind == Bind::Auto && machine.locality().bound) return false;
  if (bind == Bind::Auto && machine.bind_near(wish.near, host.index, host.count)) return true;
  const bool bound = bind == Bind::Numa ? machine.bind_to_numa(host.index, host.count)
                                        : machine.bind_to_core(host.index, host.count);
  if (!bound && bind != Bind::Auto) {
    throw Error{
        Status::Unavailable,
        "--bind: the operating system refuses to bind this process; go without by --bind none"};
  }
  return bound;
}

}  // namespace

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
  const HostIndex host = index_on_host(bootstrap);
  const topo::Machine machine;
  RankPlace mine;
  // What all ranks of a host may use together counts for oversubscription, so look before binding.
  for (const int processor : machine.locality().processors) {
    const auto bit = static_cast<unsigned>(processor);
    if (bit < mine.processor_mask.size() * kBits) {
      mine.processor_mask.at(bit / kBits) |= std::uint64_t{1} << bit % kBits;
    }
  }
  mine.bound_by_us = bind_rank(machine, wish, host) ? 1 : 0;
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
