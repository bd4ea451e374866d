// SPDX-License-Identifier: BSD-3-Clause
#include "topo/predict/predictor.hpp"

#include "topo/systems/joined_hosts.hpp"

namespace busbar::topo {
namespace {

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
    best = {.seconds = seconds, .limit = topo::bottleneck(algorithm_of(sending), nominal_)};
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
