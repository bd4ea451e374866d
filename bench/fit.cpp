// SPDX-License-Identifier: BSD-3-Clause
#include "bench/fit.hpp"

#include <cmath>

#include "bench/nccl_model.hpp"

namespace busbar::topo {
namespace {

using Figures = std::vector<double*>;  // that change by one factor

/// Everything that a fit changes. The whole share of the simple and direct forms is not: large
/// messages are what the efficiency is for.
std::vector<Figures> figures_of(Protocol& protocol) {
  const auto of = [&](Sending sending) -> StepTimes& {
    return protocol.steps.at(static_cast<std::size_t>(sending));
  };
  std::vector<Figures> groups;
  constexpr std::array<std::array<Sending, 2>, 3> kPairs{
      {{Sending::RingLowLatency, Sending::TreeLowLatency},
       {Sending::RingLl128, Sending::TreeLl128},
       {Sending::Ring, Sending::Tree}}};
  for (const auto& [ring_sending, tree_sending] : kPairs) {
    StepTimes& ring = of(ring_sending);
    StepTimes& tree = of(tree_sending);
    groups.push_back({&ring.launch_us, &tree.launch_us});
    if (ring_sending != Sending::Ring) {
      groups.push_back({&ring.share, &tree.share});
      groups.push_back({&ring.network_share, &tree.network_share});
    }
    for (StepTimes* const times : {&ring, &tree}) {
      groups.push_back({&times->nvlink_us, &times->pcie_us, &times->smp_us});
      groups.push_back({&times->network_us});
    }
  }
  groups.push_back({&of(Sending::Nvls).launch_us});
  groups.push_back({&of(Sending::Nvls).network_us});
  for (const Sending sending : {Sending::Direct, Sending::DirectLowLatency}) {
    StepTimes& times = of(sending);
    groups.push_back({&times.launch_us});
    if (sending == Sending::DirectLowLatency) groups.push_back({&times.share});
    groups.push_back({&times.nvlink_us, &times.pcie_us, &times.smp_us, &times.network_us});
  }
  for (double* const figure :
       {&protocol.issue_us, &protocol.direct_issue_us, &protocol.channel_GBps}) {
    groups.push_back({figure});
  }
  return groups;
}

/// Shares are at most 1.
void limit_shares(Protocol& protocol) {
  const auto limit = [](double& share) { share = std::min(share, 1.0); };
  for (StepTimes& times : protocol.steps) {
    limit(times.share);
    limit(times.network_share);
  }
}

double distance(const MeasuredCurve& curve) {
  constexpr double kMost = 1;
  constexpr double kSmallWeight = 0.4;
  double sum = 0;
  double weights = 0;
  for (const MeasuredTime& measured : curve.times) {
    const double ratio = simulated_ratio(curve, measured);
    if (ratio <= 0) continue;
    const double weight = measured.bytes >= kLargeBytes ? 1 : kSmallWeight;
    sum += weight * std::min(std::abs(std::log(ratio)), kMost);
    weights += weight;
  }
  return weights > 0 ? sum / weights : 0;
}

/// Three digits: more are not in the data.
double rounded(double value) {
  if (value <= 0) return value;
  const double unit = std::pow(10, std::floor(std::log10(value)) - 2);
  return std::stod(fmt::format("{:.3g}", std::round(value / unit) * unit));
}

/// Coordinate descent over the logarithms of the factors.
class Fit {
 public:
  Fit(std::span<MeasuredCurve> curves, Protocol start, double stiffness)
      : curves_(curves), start_(std::move(start)), stiffness_(stiffness) {
    for (const MeasuredCurve& curve : curves) own_.push_back(curve.predictor.protocol());
    logs_.resize(figures_of(start_).size(), 0);
    steps_.resize(logs_.size(), 0.5);
  }

  Protocol run() {
    constexpr int kRounds = 25;
    best_ = loss();
    for (int round = 0; round < kRounds; ++round) {
      for (std::size_t i = 0; i < logs_.size(); ++i) improve(i);
    }
    Protocol fitted = protocol();
    for (const Figures& group : figures_of(fitted)) {
      for (double* const figure : group) *figure = rounded(*figure);
    }
    for (std::size_t i = 0; i < curves_.size(); ++i) {
      curves_[i].predictor.set_protocol(with_times(own_[i], fitted));
    }
    return fitted;
  }

 private:
  Protocol protocol() {
    Protocol changed = start_;
    const std::vector<Figures> groups = figures_of(changed);
    for (std::size_t i = 0; i < groups.size(); ++i) {
      for (double* const figure : groups[i]) *figure *= std::exp(logs_[i]);
    }
    limit_shares(changed);
    return changed;
  }

  double loss() {
    const Protocol changed = protocol();
    double sum = 0;
    for (std::size_t i = 0; i < curves_.size(); ++i) {
      curves_[i].predictor.set_protocol(with_times(own_[i], changed));
      sum += distance(curves_[i]);
    }
    sum /= static_cast<double>(curves_.size());
    for (const double log : logs_) sum += stiffness_ * log * log;
    return sum;
  }

  void improve(std::size_t i) {
    constexpr double kShrink = 0.6;
    constexpr double kLeast = 1e-9;
    const double before = logs_[i];
    for (const double step : {steps_[i], -steps_[i]}) {
      logs_[i] = before + step;
      const double now = loss();
      if (now < best_ - kLeast) {
        best_ = now;
        return;
      }
    }
    logs_[i] = before;
    steps_[i] *= kShrink;
  }

  std::span<MeasuredCurve> curves_;
  Protocol start_;
  double stiffness_;
  std::vector<Protocol> own_{};
  std::vector<double> logs_{};
  std::vector<double> steps_{};
  double best_ = 0;
};

}  // namespace

Protocol fit(std::span<MeasuredCurve> curves, const Protocol& start, double stiffness) {
  return Fit(curves, start, stiffness).run();
}

double simulated_ratio(const MeasuredCurve& curve, const MeasuredTime& measured) {
  const auto prediction = curve.predictor.predict(*curve.collective, measured.bytes);
  if (!prediction || !std::isfinite(prediction->time_us)) return 0;
  return measured.time_us / prediction->time_us;
}

std::vector<double> errors_of(const MeasuredCurve& curve, bool large) {
  std::vector<double> errors;
  for (const MeasuredTime& measured : curve.times) {
    if ((measured.bytes >= kLargeBytes) != large) continue;
    const double ratio = simulated_ratio(curve, measured);
    if (ratio > 0) errors.push_back(std::abs(ratio - 1));
  }
  return errors;
}

}  // namespace busbar::topo
