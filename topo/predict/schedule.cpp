// SPDX-License-Identifier: BSD-3-Clause
#include "topo/predict/schedule.hpp"

#include <algorithm>
#include <cmath>

namespace busbar::topo {
namespace {

constexpr double kBytesPerUs = 1e3;  // of 1 GB/s

/// Steps that follow one another.
struct Steps {
  double within = 0;
  double between = 0;
};

Schedule made_of(const SetLimits& limits, const StepTimes& times, Steps steps,
                 double seconds_per_size) {
  return {.fixed_us = times.launch_us + steps.within * step_us(times, limits.within) +
                      steps.between * times.network_us,
          .us_per_byte = seconds_per_size / times.share / kBytesPerUs};
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

/// What every host exchanges with others, in sizes over GB/s: each but its own share, out and back.
double between_hosts(const SetLimits& limits) {
  if (limits.hosts < 2) return 0;
  return 2.0 * (limits.hosts - 1) / limits.hosts / limits.network_GBps;
}

bool joined(const SetLimits& limits) {
  return limits.hosts < 2 || (limits.network_GBps > 0 && std::isfinite(limits.network_GBps));
}

/// Chains in the hosts, up and down at the same time, and two trees between them with half the
/// data each.
std::optional<Schedule> tree(const SetLimits& limits, const StepTimes& times) {
  if (!joined(limits) || limits.host_GBps <= 0) return std::nullopt;
  const double seconds = std::max(2 / limits.host_GBps, between_hosts(limits));
  if (!std::isfinite(seconds) || seconds <= 0) return std::nullopt;
  return made_of(limits, times,
                 {.within = 2.0 * (limits.most_on_host - 1),
                  .between = 2 * std::ceil(std::log2(limits.hosts))},
                 seconds);
}

std::optional<Schedule> hierarchical(const SetLimits& limits, const StepTimes& times) {
  if (limits.hosts < 2 || !joined(limits) || limits.host_GBps <= 0) return std::nullopt;
  const double k = limits.most_on_host;
  const double seconds = 2 * (k - 1) / k / limits.host_GBps + between_hosts(limits);
  return made_of(limits, times, {.within = 2 * (k - 1), .between = 2.0 * (limits.hosts - 1)},
                 seconds);
}

std::optional<Schedule> nvls(const Collective& collective, const SetLimits& limits,
                             const StepTimes& times) {
  if (limits.in_switch_GBps <= 0) return std::nullopt;
  return made_of(limits, times, {}, collective.bus_factor(limits.ranks) / limits.in_switch_GBps);
}

}  // namespace

Algorithm algorithm_of(Sending sending) {
  switch (sending) {
    case Sending::Ring:
    case Sending::RingLowLatency: return Algorithm::Ring;
    case Sending::Tree:
    case Sending::TreeLowLatency: return Algorithm::Tree;
    case Sending::Hierarchical: return Algorithm::Hierarchical;
    default: return Algorithm::Nvls;
  }
}

double step_us(const StepTimes& times, LinkKind kind) {
  switch (kind) {
    case LinkKind::NvLink: return times.nvlink_us;
    case LinkKind::Smp: return times.smp_us;
    case LinkKind::Network: return times.network_us;
    default: return times.pcie_us;
  }
}

std::optional<Schedule> schedule(const Collective& collective, Sending sending,
                                 const SetLimits& limits, const StepTimes& times) {
  if (limits.ranks < 2 || !is_ringed(collective.movement)) return std::nullopt;
  const Algorithm algorithm = algorithm_of(sending);
  if (algorithm == Algorithm::Ring) return ring(collective, limits, times);
  if (collective.movement != Movement::AllReduce) return std::nullopt;
  if (algorithm == Algorithm::Tree) return tree(limits, times);
  if (algorithm == Algorithm::Hierarchical) return hierarchical(limits, times);
  return nvls(collective, limits, times);
}

}  // namespace busbar::topo
