// SPDX-License-Identifier: BSD-3-Clause
#include "harness/host_bound.hpp"

#include <fmt/format.h>

#include "base/text.hpp"

namespace busbar {
namespace {

/// "40.10 and 31.00 from 256 KiB on", fastest first.
std::string rates_text(const HostLimits& limits) {
  std::vector<std::string> words;
  for (const MemoryRates& rates : limits.rates) {
    words.push_back(fmt::format("{:.2f} and {:.2f} from {} on", rates.copy_GBps, rates.reduce_GBps,
                                format_bytes(rates.set)));
  }
  return join(words, ", ");
}

/// What is measured nearest to the processors is for the record; people ask for these two.
std::string note_text(const HostTeam& team, const Collective& collective,
                      const HostLimits& limits) {
  const MemoryRates& memory = limits.rates.back();
  std::string text = fmt::format("copy {:.2f} GB/s and reduce {:.2f} GB/s per rank (memory)",
                                 memory.copy_GBps, memory.reduce_GBps);
  const MemoryRates& cache = limits.of(team.last_level_cache);
  if (cache.set < memory.set) {
    text += fmt::format(", {:.2f} and {:.2f} (cache)", cache.copy_GBps, cache.reduce_GBps);
  }
  const auto most =
      host_bound_GBps(limits, {.collective = &collective, .ranks = team.ranks, .size = memory.set});
  if (most) text += fmt::format("; {} at most {:.2f} GB/s (memory)", collective.title, *most);
  return text;
}

}  // namespace

std::optional<double> host_bound_GBps(const HostLimits& limits, const BoundRow& row) {
  if (row.ranks < 2 || limits.rates.empty()) return std::nullopt;
  const MinTraffic traffic = row.collective->min_traffic(row.ranks, row.in_place);
  const double touched =
      traffic.touched * static_cast<double>(row.size) * static_cast<double>(row.slots);
  const MemoryRates& rates = limits.of(static_cast<Bytes>(touched));
  const double per_size = (traffic.copied / rates.copy_GBps + traffic.reduced / rates.reduce_GBps) /
                          static_cast<double>(row.ranks);  // seconds per GB of the size
  return row.collective->bus_factor(row.ranks) / per_size;
}

std::string host_bound_obstacle(const HostTeam& team) {
  if (team.ranks < 2) return "one rank";
  if (team.nodes > 1) {
    return fmt::format("{} nodes, and what joins them is not known", team.nodes);
  }
  if (!team.whole) return "rows are not of all ranks that share the memory";
  if (!team.measured) return "not measured (--host-limits off)";
  return {};
}

SetBound host_bound(const HostTeam& team, const Collective& collective, const HostLimits& limits) {
  SetBound bound{.device_set = team.device_set};
  if (team.ranks < 2) return bound;
  const std::string head = fmt::format("Host: {} ranks on {}: ", team.ranks, team.device_set);
  if (limits.rates.empty()) {
    const std::string why = host_bound_obstacle(team);
    bound.note =
        fmt::format("{}no bound: {}", head, why.empty() ? "no memory to measure with" : why);
    return bound;
  }
  bound.kind = "host-memory";
  bound.limit =
      fmt::format("copy and reduce, GB/s of each of {} ranks at once, by bytes in use: {}",
                  team.ranks, rates_text(limits));
  bound.note = head + note_text(team, collective, limits);
  bound.bus_GBps = [limits](const BoundRow& row) { return host_bound_GBps(limits, row); };
  return bound;
}

}  // namespace busbar
