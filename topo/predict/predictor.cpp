// SPDX-License-Identifier: BSD-3-Clause
#include "topo/predict/predictor.hpp"

#include <algorithm>

#include "topo/predict/schedule.hpp"

namespace busbar::topo {
namespace {

double efficiency_of(const Medium& medium, const Protocol& protocol) {
  return medium.efficiency > 0 ? medium.efficiency : protocol.efficiency;
}

/// What software reaches of each medium; everything else is computed from it as from the figures.
std::vector<Medium> real_media(std::vector<Medium> media, const Protocol& protocol) {
  for (Medium& medium : media) {
    const double efficiency = efficiency_of(medium, protocol);
    medium.nominal_GBps *= efficiency;
    medium.flow_GBps *= efficiency;
  }
  return media;
}

/// Where all media lose the same share, so does every rate.
std::optional<double> common_efficiency(const Graph& graph, const Protocol& protocol) {
  const double first =
      graph.media.empty() ? protocol.efficiency : efficiency_of(graph.media.front(), protocol);
  const bool all = std::all_of(graph.media.begin(), graph.media.end(), [&](const Medium& medium) {
    return efficiency_of(medium, protocol) == first;
  });
  return all ? std::optional{first} : std::nullopt;
}

SetLimits real_limits(const Predictor& predictor, const Cluster& real) {
  const Protocol& protocol = predictor.protocol();
  const SetLimits& nominal = predictor.limits();
  SetLimits limits = nominal;
  if (const auto efficiency = common_efficiency(predictor.cluster().graph(), protocol)) {
    limits.ring_GBps *= *efficiency;
    limits.host_GBps *= *efficiency;
    limits.network_GBps *= *efficiency;
  } else {
    limits = limits_of(real, predictor.set(), predictor.bound_options());
  }
  limits.in_switch_GBps = nominal.in_switch_GBps * protocol.in_switch_efficiency;
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
      real_cluster_(
          nominal_cluster_.with_media(real_media(nominal_cluster_.graph().media, protocol_))),
      real_(real_limits(*this, real_cluster_)) {}

bool Predictor::may_take(Sending sending) const {
  const Algorithm algorithm = algorithm_of(sending);
  if (options_.algorithm) return algorithm == *options_.algorithm;
  const auto& known = protocol_.algorithms;
  return std::find(known.begin(), known.end(), algorithm) != known.end();
}

Schedule Predictor::straight(double seconds, const StepTimes& times) const {
  const LinkKind kind = real_.hosts > 1 ? LinkKind::Network : real_.within;
  return {.fixed_us = times.launch_us + step_us(times, kind),
          .us_per_byte = seconds / times.share / 1e3};
}

std::optional<Prediction> Predictor::predict(const Collective& collective, double bytes,
                                             int root) const {
  std::optional<double> exchange;
  if (!is_ringed(collective.movement) && set_.ranks > 1) {
    exchange =
        exchange_seconds(collective.movement, root, real_cluster_, set_, real_, bound_options_);
  }
  std::optional<Prediction> best;
  for (const Sending sending : kSendings) {
    if (!may_take(sending)) continue;
    const StepTimes& times = protocol_.steps.at(static_cast<std::size_t>(sending));
    std::optional<Schedule> way = schedule(collective, sending, real_, times);
    if (exchange && algorithm_of(sending) == Algorithm::Ring) way = straight(*exchange, times);
    if (!way) continue;
    const double time_us = way->time_us(bytes);
    if (!best || time_us < best->time_us) best = {.time_us = time_us, .sending = sending};
  }
  return best;
}

std::optional<double> Predictor::bound_GBps(const Collective& collective, int root) const {
  constexpr StepTimes kNoLoss{.share = 1};
  double least = 0;
  if (!is_ringed(collective.movement) && set_.ranks > 1) {
    const auto seconds = exchange_seconds(collective.movement, root, nominal_cluster_, set_,
                                          nominal_, bound_options_);
    if (seconds) least = *seconds / 1e3;
  }
  for (const Sending sending : kSendings) {
    if (!may_take(sending)) continue;
    const auto way = schedule(collective, sending, nominal_, kNoLoss);
    if (way && (least <= 0 || way->us_per_byte < least)) least = way->us_per_byte;
  }
  if (least <= 0) return std::nullopt;
  return collective.bus_factor(set_.ranks) / least / 1e3;
}

}  // namespace busbar::topo
