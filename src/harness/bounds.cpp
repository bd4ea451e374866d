// SPDX-License-Identifier: BSD-3-Clause
#include "harness/bounds.hpp"

#include <cmath>

#include "harness/job.hpp"
#include "harness/rank_map.hpp"

namespace busbar {
namespace {

/// "40.10 and 31.00 from 256 KiB on", fastest first.
std::string rates_text(const HostBandwidth& bandwidth) {
  return join_each(bandwidth.rates, ", ", [](const MemoryRates& rates) {
    return fmt::format("{:.2f} and {:.2f} from {} on", rates.copy_GBps, rates.reduce_GBps,
                       format_bytes(rates.set));
  });
}

/// What is measured nearest to the processors is for the record; people ask for these two.
std::string note_text(int ranks, Bytes last_level_cache, const Collective& collective,
                      const HostBandwidth& bandwidth) {
  const MemoryRates& memory = bandwidth.rates.back();
  std::string text = fmt::format("copy {:.2f} GB/s and reduce {:.2f} GB/s per rank (memory)",
                                 memory.copy_GBps, memory.reduce_GBps);
  const MemoryRates& cache = bandwidth.of(last_level_cache);
  if (cache.set < memory.set) {
    text += fmt::format(", {:.2f} and {:.2f} (cache)", cache.copy_GBps, cache.reduce_GBps);
  }
  const auto most =
      host_bound_GBps(bandwidth, {.collective = &collective, .ranks = ranks, .size = memory.set});
  if (most) text += fmt::format("; {} at most {:.2f} GB/s (memory)", collective.title, *most);
  return text;
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
  return fmt::format("GPUs {}{}: {}", fmt::join(bound.devices, ","), how, what);
}

/// "Host: 2 ranks on cores 0-1: ".
std::string head_text(int ranks, const std::string& device_set) {
  return fmt::format("Host: {} ranks on {}: ", ranks, device_set);
}

/// Why host memory has no bound that holds for this job, or empty: then it is worth measuring.
std::string host_obstacle(const Job& job) {
  if (job.world.nodes() > 1) {
    return fmt::format("{} nodes, and what joins them is not known", job.world.nodes());
  }
  if (job.plan.kind != GroupPlan::Kind::World) {
    return "rows are not of all ranks that share the memory";
  }
  return job.options.host_limits ? "" : "not measured (--host-limits off)";
}

SetBound bound_of_host(const Job& job, Communicator& communicator, const std::string& device_set) {
  const int ranks = job.world.size();
  if (ranks < 2) return {.device_set = device_set};
  const auto no_bound = [&](const std::string& why) {
    return SetBound{.device_set = device_set,
                    .note = fmt::format("{}no bound: {}", head_text(ranks, device_set), why)};
  };
  const std::string obstacle = host_obstacle(job);
  if (!obstacle.empty()) return no_bound(obstacle);
  const RankMap& rank_map = job.rank_map;
  // What is taken to measure with is given back, but must not be what breaks a small host.
  Bytes spare = rank_map.least_memory;
  if (job.options.memory_limit) {
    const auto most_ranks = static_cast<Bytes>(rank_map.most_ranks_per_host);
    spare = std::min(spare, *job.options.memory_limit / most_ranks);
  }
  const HostBandwidth bandwidth =
      measure_host_bandwidth(job.world, communicator, rank_map, spare / 4);
  if (bandwidth.rates.empty()) return no_bound("no memory to measure with");
  return host_bound(device_set, ranks, rank_map.largest_cache, job.collective, bandwidth);
}

/// The bound of GPUs, computed, so that every group can have its own.
SetBound bound_of_gpus(const Job& job, const std::vector<int>& ranks) {
  const auto kernel_of = [&](int rank) {
    return job.rank_map.ranks[static_cast<std::size_t>(rank)].kernel;
  };
  const auto device_of = [&](int rank) { return job.devices[static_cast<std::size_t>(rank)]; };
  const bool all_here = set_of(ranks, kernel_of).size() == 1;
  SetBound bound = device_bound(*job.topology, mapped(ranks, device_of), all_here, job.collective);
  if (bound.device_set.empty()) bound.device_set = device_set(job.rank_map, job.devices, ranks);
  return bound;
}

}  // namespace

std::optional<double> host_bound_GBps(const HostBandwidth& bandwidth, const BoundRow& row) {
  if (row.ranks < 2 || bandwidth.rates.empty()) return std::nullopt;
  if (!row.collective->equal_parts && row.traffic == nullptr) return std::nullopt;
  const MinTraffic traffic = min_traffic_of(*row.collective, row.ranks, row.in_place, row.traffic);
  const double touched =
      traffic.touched * static_cast<double>(row.size) * static_cast<double>(row.slots);
  const MemoryRates& rates = bandwidth.of(static_cast<Bytes>(touched));
  const double per_size = (traffic.copied / rates.copy_GBps + traffic.reduced / rates.reduce_GBps) /
                          static_cast<double>(row.ranks);  // seconds per GB of the size
  return bus_factor_of(*row.collective, row.ranks, row.traffic) / per_size;
}

SetBound host_bound(const std::string& device_set, int ranks, Bytes last_level_cache,
                    const Collective& collective, const HostBandwidth& bandwidth) {
  return {
      .device_set = device_set,
      .kind = "host-memory",
      .limit = fmt::format("copy and reduce, GB/s of each of {} ranks at once, by bytes in use: {}",
                           ranks, rates_text(bandwidth)),
      .note =
          head_text(ranks, device_set) + note_text(ranks, last_level_cache, collective, bandwidth),
      .bus_GBps = [bandwidth](const BoundRow& row) { return host_bound_GBps(bandwidth, row); }};
}

SetBound device_bound(const HostTopology& topology, std::span<const Device> devices, bool all_here,
                      const Collective& collective) {
  if (!topology.missing.empty()) {
    return {.note = fmt::format("no bound: {}", topology.missing)};
  }
  if (!all_here) {
    return {.note = "no bound: the bandwidth of the network between the hosts is not known"};
  }
  const auto numbers = numbers_of(topology.graph, devices);
  if (!numbers) return {.note = "no bound: nvidia-smi does not show the GPUs that CUDA does"};
  SetBound result{.device_set = fmt::format("{}", fmt::join(*numbers, ",")),
                  .warnings = topology.graph.warnings};
  if (std::set(numbers->begin(), numbers->end()).size() < numbers->size()) {
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

SetBound find_bound(const Job& job, Communicator& communicator, const std::vector<int>& ranks) {
  if (ranks.empty()) return {};
  if (job.topology) return bound_of_gpus(job, ranks);
  return bound_of_host(job, communicator, device_set(job.rank_map, job.devices, ranks));
}

}  // namespace busbar
