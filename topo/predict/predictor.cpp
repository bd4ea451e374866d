// SPDX-License-Identifier: BSD-3-Clause
#include "topo/predict/predictor.hpp"

#include <algorithm>

#include "topo/predict/schedule.hpp"

namespace busbar::topo {
namespace {

/// What software reaches of each medium; everything else is computed from it as from the figures.
std::vector<Medium> real_media(std::vector<Medium> media, const Protocol& protocol) {
  for (Medium& medium : media) {
    const double efficiency = medium.efficiency > 0 ? medium.efficiency : protocol.efficiency;
    medium.nominal_GBps *= efficiency;
    medium.flow_GBps *= efficiency;
  }
  return media;
}

SetLimits real_limits(const Predictor& predictor, const Cluster& real) {
  const Protocol& protocol = predictor.protocol();
  const std::vector<Medium>& media = real.graph().media;
  SetLimits limits = predictor.limits();
  const double in_switch_GBps = limits.in_switch_GBps * protocol.in_switch_efficiency;
  // Where all media lose the same share, so does every rate.
  if (std::none_of(media.begin(), media.end(), [](const Medium& m) { return m.efficiency > 0; })) {
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
