// SPDX-License-Identifier: BSD-3-Clause
#include "topo/predict/schedule.hpp"

#include <cmath>

#include "topo/bounds/bottleneck.hpp"
#include "topo/bounds/paths.hpp"

namespace busbar::topo {
namespace {

constexpr double kBytesPerUs = 1e3;  // of 1 GB/s

/// Steps that follow one another.
struct Steps {
  double within = 0;
  double between = 0;
};

/// Nothing where the links have no rate.
std::optional<Schedule> made_of(const SetLimits& limits, const StepTimes& times, Steps steps,
                                std::optional<double> seconds_per_size) {
  if (!seconds_per_size) return std::nullopt;
  const bool network = limits.hosts > 1 && times.network_share > 0;
  return Schedule{.fixed_us = times.launch_us + steps.within * step_us(times, limits.within) +
                              steps.between * times.network_us,
                  .us_per_byte = *seconds_per_size / (network ? times.network_share : times.share) /
                                 kBytesPerUs};
}

/// All-reduce goes round twice; of n hops of a ring, one leaves each host.
std::optional<Schedule> ring(const Collective& collective, const SetLimits& limits,
                             const StepTimes& times) {
  if (limits.ring_GBps <= 0 || !std::isfinite(limits.ring_GBps)) return std::nullopt;
  const double rounds = collective.movement == Movement::AllReduce ? 2 : 1;
  const double steps = rounds * (limits.ranks - 1);
  const double between = limits.hosts > 1 ? steps * limits.hosts / limits.ranks : 0;
  return made_of(limits, times, {.within = steps - between, .between = between},
                 collective.bus_factor(limits.ranks) / limits.ring_GBps);
}

double within_seconds(const SetLimits& limits) {
  const double k = limits.most_on_host;
  return 2 * (k - 1) / k / limits.host_GBps;
}

/// What each host does one after the other: within it, and then with the others.
std::optional<double> hierarchical_seconds(const SetLimits& limits) {
  const auto between = between_hosts_seconds(limits);
  if (limits.hosts < 2 || !between || limits.host_GBps <= 0) return std::nullopt;
  return within_seconds(limits) + *between;
}

/// Who sends what to whom.
struct Shares {
  Movement movement = Movement::AllToAll;
  Routed routed{};
  int ranks = 1;

  /// What rank `from` sends rank `to`, in sizes.
  [[nodiscard]] double of(int from, int to) const {
    const auto& [root, traffic] = routed;
    if (traffic != nullptr) {
      return static_cast<double>(traffic->count(from, to)) / static_cast<double>(traffic->most());
    }
    switch (movement) {
      case Movement::AllToAll: return 1.0 / ranks;
      case Movement::Gather: return to == root ? 1.0 / ranks : 0;
      case Movement::Scatter: return from == root ? 1.0 / ranks : 0;
      default: return to == (from + 1) % ranks ? 1 : 0;
    }
  }
  /// What passes the port of the busiest rank.
  [[nodiscard]] double fullest_port() const {
    if (routed.traffic != nullptr) return routed.traffic->port_share();
    return movement == Movement::SendReceive ? 1 : (ranks - 1.0) / ranks;
  }
};

/// The consecutive ranks of a part.
struct Part {
  const HostPart* host = nullptr;
  int first = 0;
  int ranks = 0;

  [[nodiscard]] bool has(int rank) const { return rank >= first && rank < first + ranks; }
};

std::vector<Part> parts_of(const RankSet& set) {
  std::vector<Part> parts;
  int first = 0;
  for (const HostPart& host : set.parts) {
    const int ranks = static_cast<int>(host.devices.size());
    parts.push_back({.host = &host, .first = first, .ranks = ranks});
    first += ranks;
  }
  return parts;
}

/// By the link with the most sizes for its rate.
Exchange most_loaded(const std::map<int, double>& load, const PathTable& table, const Graph& graph,
                     std::span<const int> devices) {
  Exchange result;
  std::vector<int> links;
  for (const auto& [link, sizes] : load) {
    links.push_back(link);
    result.seconds = std::max(result.seconds, sizes / table.capacity_GBps(link));
  }
  Limiting limit;
  for (const auto& [link, sizes] : load) {
    const double seconds = sizes / table.capacity_GBps(link);
    if (seconds >= result.seconds * (1 - kTolerance)) limit.resources.push_back(link);
  }
  result.limit = limit_text(graph, limit, links, devices);
  return result;
}

/// Within a host.
std::optional<Exchange> within(const Shares& shares, const Cluster& cluster, const Part& part,
                               const BoundOptions& options) {
  const std::vector<int> devices = cluster.indices(*part.host);
  const PathTable table(cluster.graph(), devices, Level::All, options);
  std::map<int, double> load;  // in sizes
  for (int i = 0; i < part.ranks; ++i) {
    for (int j = 0; j < part.ranks; ++j) {
      const double share = shares.of(part.first + i, part.first + j);
      if (i == j || share <= 0) continue;
      if (!table.between(i, j)) return std::nullopt;
      for (const Use& use : table.between(i, j)->uses) load[use.resource] += share * use.times;
    }
  }
  return most_loaded(load, table, cluster.graph(), devices);
}

/// What leaves or reaches a host, whichever is more, in sizes.
double across(const Shares& shares, const Part& part) {
  const double here = part.ranks;
  const double ranks = shares.ranks;
  if (shares.routed.traffic != nullptr) {
    double leaves = 0;
    double reaches = 0;
    for (int rank = part.first; rank < part.first + part.ranks; ++rank) {
      for (int other = 0; other < shares.ranks; ++other) {
        if (part.has(other)) continue;
        leaves += shares.of(rank, other);
        reaches += shares.of(other, rank);
      }
    }
    return std::max(leaves, reaches);
  }
  switch (shares.movement) {
    case Movement::AllToAll: return here * (ranks - here) / ranks;
    case Movement::Gather:
    case Movement::Scatter: return (part.has(shares.routed.root) ? ranks - here : here) / ranks;
    default: return 1;
  }
}

bool is_like_before(const Shares& shares, const Cluster& cluster, const std::vector<Part>& parts,
                    std::size_t i) {
  if (i < 2 || !cluster.equal_hosts() || shares.routed.traffic != nullptr) return false;
  const int root = shares.routed.root;
  const bool rooted = shares.movement == Movement::Gather || shares.movement == Movement::Scatter;
  if (rooted && (parts[i].has(root) || parts[i - 1].has(root))) return false;
  return parts[i].host->devices == parts[i - 1].host->devices;
}

/// The slower one; if both take as long, the second.
Exchange slower(const Exchange& one, const Exchange& other) {
  return other.seconds >= one.seconds ? other : one;
}

}  // namespace

Algorithm algorithm_of(Sending sending) {
  switch (sending) {
    case Sending::Tree:
    case Sending::TreeLowLatency:
    case Sending::TreeLl128: return Algorithm::Tree;
    case Sending::Hierarchical: return Algorithm::Hierarchical;
    case Sending::Nvls: return Algorithm::Nvls;
    default: return Algorithm::Ring;
  }
}

bool is_direct(Sending sending) {
  return sending == Sending::Direct || sending == Sending::DirectLowLatency;
}

double step_us(const StepTimes& times, LinkKind kind) {
  switch (kind) {
    case LinkKind::NvLink:
    case LinkKind::Xgmi: return times.nvlink_us;
    case LinkKind::Smp: return times.smp_us;
    case LinkKind::Network: return times.network_us;
    default: return times.pcie_us;
  }
}

std::optional<Schedule> schedule(const Collective& collective, Sending sending,
                                 const SetLimits& limits, const StepTimes& times) {
  if (limits.ranks < 2 || !is_ringed(collective.movement) || is_direct(sending)) {
    return std::nullopt;
  }
  const Algorithm algorithm = algorithm_of(sending);
  if (algorithm == Algorithm::Ring) return ring(collective, limits, times);
  if (collective.movement != Movement::AllReduce) return std::nullopt;
  const double chain = 2.0 * (limits.most_on_host - 1);
  if (algorithm == Algorithm::Hierarchical) {
    return made_of(limits, times, {.within = chain, .between = 2.0 * (limits.hosts - 1)},
                   hierarchical_seconds(limits));
  }
  // Up and down the tree of the hosts; within a host along the chain, or by its switches.
  const double tree = 2 * std::ceil(std::log2(limits.hosts));
  if (algorithm == Algorithm::Nvls) {
    return made_of(limits, times, {.between = tree}, switch_tree_seconds(limits));
  }
  return made_of(limits, times, {.within = chain, .between = tree}, chain_tree_seconds(limits));
}

const std::string& bottleneck(Algorithm algorithm, const SetLimits& limits) {
  if (algorithm == Algorithm::Ring) return limits.limit;
  const double between = between_hosts_seconds(limits).value_or(0);
  const double seconds = algorithm == Algorithm::Nvls   ? switch_tree_seconds(limits).value_or(0)
                         : algorithm == Algorithm::Tree ? chain_tree_seconds(limits).value_or(0)
                                                        : std::max(within_seconds(limits), between);
  const bool network = between > 0 && between >= seconds * (1 - kTolerance);
  return network ? limits.network_limit : limits.host_limit;
}

std::optional<Exchange> exchange(Movement movement, const Routed& routed, const Cluster& cluster,
                                 const RankSet& set, const SetLimits& limits,
                                 const BoundOptions& options) {
  const Shares shares{.movement = movement, .routed = routed, .ranks = set.ranks};
  if (limits.hosts == 1 && limits.kind == "nvswitch") {
    return Exchange{.seconds = shares.fullest_port() / limits.ring_GBps, .limit = limits.limit};
  }
  const std::vector<Part> parts = parts_of(set);
  Exchange slowest;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (is_like_before(shares, cluster, parts, i)) continue;
    const auto here = within(shares, cluster, parts[i], options);
    if (!here) return std::nullopt;
    slowest = slower(*here, slowest);
    if (limits.hosts < 2) continue;
    if (limits.network_GBps <= 0) return std::nullopt;
    const double away = across(shares, parts[i]) / limits.network_GBps;
    slowest = slower(slowest, {.seconds = away, .limit = limits.network_limit});
  }
  return slowest;
}

}  // namespace busbar::topo
