// SPDX-License-Identifier: BSD-3-Clause
#include "topo/predict/predictor.hpp"

#include <cmath>

#include "topo/bounds/bottleneck.hpp"
#include "topo/bounds/paths.hpp"
#include "topo/systems/joined_hosts.hpp"

namespace busbar::topo {
namespace {

constexpr double kBytesPerUs = 1e3;  // of 1 GB/s

/// Steps that follow one another.
struct Steps {
  double within = 0;
  double between = 0;
};

/// Time of a step between two devices of a host over a kind of link.
double step_us(const StepTimes& times, LinkKind kind) {
  switch (kind) {
    case LinkKind::NvLink:
    case LinkKind::Xgmi: return times.nvlink_us;
    case LinkKind::Smp: return times.smp_us;
    case LinkKind::Network: return times.network_us;
    default: return times.pcie_us;
  }
}

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

/// What limits an algorithm on a set: the ring through all ranks, the links of a host, or what
/// leads out of it.
const std::string& limit_of(Algorithm algorithm, const SetLimits& limits) {
  if (algorithm == Algorithm::Ring) return limits.limit;
  const double between = between_hosts_seconds(limits).value_or(0);
  const double seconds = algorithm == Algorithm::Nvls   ? switch_tree_seconds(limits).value_or(0)
                         : algorithm == Algorithm::Tree ? chain_tree_seconds(limits).value_or(0)
                                                        : std::max(within_seconds(limits), between);
  const bool network = between > 0 && between >= seconds * (1 - kTolerance);
  return network ? limits.network_limit : limits.host_limit;
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

/// What software reaches of each medium; everything else is computed from it as from the figures.
Cluster real_cluster(const Cluster& nominal, const Protocol& protocol) {
  std::vector<Medium> media = nominal.graph().media;
  for (Medium& medium : media) {
    const double efficiency = medium.efficiency > 0 ? medium.efficiency : protocol.efficiency;
    medium.nominal_GBps *= efficiency;
    medium.flow_GBps *= efficiency;
  }
  return nominal.with_media(std::move(media));
}

/// More than eight GPUs add no faster than eight: 72 of a GB200 reach 839 GB/s (CoreWeave), 64 of a
/// GB300 930 (Oracle), eight of a B200 838.
double added_share(int ranks) {
  constexpr int kMost = 8;
  return ranks > kMost ? in_switch_GBps(1, kMost) / in_switch_GBps(1, ranks) : 1;
}

/// Seconds a GB of what a rank sends to one other. NCCL gives the pair a share of its 32 channels,
/// and more of them once each has 16 MiB (src/enqueue.cc of 2.28).
double pair_seconds(double channel_GBps, int ranks, double bytes) {
  constexpr int kChannels = 32;
  constexpr double kMostOfChannel = 16.0 * (1U << 20U);
  const double channels = std::max(1, kChannels / ranks);
  return bytes > 0 ? std::min(bytes / channels, kMostOfChannel) / channel_GBps / bytes : 0;
}

SetLimits real_limits(const Predictor& predictor, const Cluster& real) {
  const Protocol& protocol = predictor.protocol();
  const std::vector<Medium>& media = real.graph().media;
  SetLimits limits = predictor.limits();
  const double in_switch_GBps =
      limits.in_switch_GBps * protocol.in_switch_efficiency * added_share(limits.most_on_host);
  // Where all media lose the same share, so does every rate.
  if (std::ranges::none_of(media, [](const Medium& m) { return m.efficiency > 0; })) {
    limits.ring_GBps *= protocol.efficiency;
    limits.host_GBps *= protocol.efficiency;
    limits.network_GBps *= protocol.efficiency;
  } else {
    limits = limits_of(real, predictor.set(), predictor.bound_options());
  }
  limits.in_switch_GBps = in_switch_GBps;
  return limits;
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

Predictor::Predictor(const EqualHosts& machine, const PredictOptions& options)
    : options_(options),
      nominal_cluster_(machine),
      protocol_(completed(machine.host.protocol)),
      bound_options_{.flows = options.flows.value_or(protocol_.flows)},
      set_(nominal_cluster_.place(options.ranks, options.devices, bound_options_)),
      nominal_(limits_of(nominal_cluster_, set_, bound_options_)),
      real_cluster_(real_cluster(nominal_cluster_, protocol_)),
      real_(real_limits(*this, real_cluster_)) {
  check_hosts(machine.host, machine.hosts);
}

bool Predictor::may_take(Sending sending) const {
  const Algorithm algorithm = algorithm_of(sending);
  if (options_.algorithm) return algorithm == *options_.algorithm;
  const auto& known = protocol_.algorithms;
  return std::ranges::find(known, algorithm) != known.end();
}

void Predictor::set_protocol(const Protocol& protocol) {
  const Protocol before = std::exchange(protocol_, completed(protocol));
  if (before.efficiency == protocol_.efficiency &&
      before.in_switch_efficiency == protocol_.in_switch_efficiency) {
    return;
  }
  real_cluster_ = real_cluster(nominal_cluster_, protocol_);
  real_ = real_limits(*this, real_cluster_);
  exchanges_.clear();
}

/// A step for each peer of the rank that has the most.
Schedule Predictor::straight(Movement movement, double seconds, const StepTimes& times) const {
  const bool network = real_.hosts > 1;
  const int peers = movement == Movement::SendReceive ? 1 : real_.ranks - 1;
  const int away = std::min(peers, network ? real_.ranks - real_.most_on_host : 0);
  return {.fixed_us = times.launch_us + (peers - away) * step_us(times, real_.within) +
                      away * times.network_us + (network ? protocol_.network_latency_us : 0),
          .us_per_byte = seconds / times.share / 1e3};
}

std::optional<double> Predictor::exchange_seconds(Movement movement, double bytes,
                                                  const Routed& routed) const {
  const auto [at, added] = exchanges_.try_emplace({movement, routed.root});
  if (added || routed.traffic != nullptr) {
    const auto found = exchange(movement, routed, real_cluster_, set_, real_, bound_options_);
    if (found) at->second = found->seconds;
  }
  if (!at->second || movement != Movement::SendReceive || real_.kind != "nvswitch") {
    return at->second;
  }
  return std::max(*at->second, pair_seconds(protocol_.channel_GBps, real_.most_on_host, bytes));
}

std::optional<Schedule> Predictor::way_of(const Collective& collective, Sending sending,
                                          std::optional<double> seconds) const {
  StepTimes times = protocol_.steps.at(static_cast<std::size_t>(sending));
  if (seconds && is_direct(sending)) return straight(collective.movement, *seconds, times);
  times.network_us += protocol_.network_latency_us;
  return schedule(collective, sending, real_, times);
}

std::optional<Prediction> Predictor::predict(const Collective& collective, double bytes,
                                             const Routed& routed) const {
  const bool direct = !is_ringed(collective.movement) && set_.ranks > 1;
  const auto seconds = direct ? exchange_seconds(collective.movement, bytes, routed) : std::nullopt;
  std::optional<Prediction> best;
  for (const Sending sending : kSendings) {
    const auto way = may_take(sending) ? way_of(collective, sending, seconds) : std::nullopt;
    if (!way) continue;
    const double time_us = way->time_us(bytes);
    if (!best || time_us < best->time_us) best = {.time_us = time_us, .sending = sending};
  }
  if (best) {
    const double issue_us = direct ? protocol_.direct_issue_us : protocol_.issue_us;
    best->time_us = std::max(best->time_us, issue_us * options_.gpus_per_process);
  }
  return best;
}

std::optional<Exchange> Predictor::quickest(const Collective& collective,
                                            const Routed& routed) const {
  constexpr StepTimes kNoLoss{.share = 1};
  std::optional<Exchange> best;
  if (!is_ringed(collective.movement) && set_.ranks > 1) {
    best = exchange(collective.movement, routed, nominal_cluster_, set_, nominal_, bound_options_);
  }
  for (const Sending sending : kSendings) {
    if (!may_take(sending)) continue;
    const auto way = schedule(collective, sending, nominal_, kNoLoss);
    const double seconds = way ? way->us_per_byte * 1e3 : 0;
    if (!way || (best && seconds >= best->seconds)) continue;
    best = {.seconds = seconds, .limit = limit_of(algorithm_of(sending), nominal_)};
  }
  return best && best->seconds > 0 ? best : std::nullopt;
}

std::optional<double> Predictor::bound_GBps(const Collective& collective,
                                            const Routed& routed) const {
  const auto best = quickest(collective, routed);
  if (!best) return std::nullopt;
  return bus_factor_of(collective, set_.ranks, routed.traffic) / best->seconds;
}

std::string Predictor::bottleneck(const Collective& collective, const Routed& routed) const {
  const auto best = quickest(collective, routed);
  return best ? best->limit : std::string();
}

}  // namespace busbar::topo
