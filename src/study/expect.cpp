// SPDX-License-Identifier: BSD-3-Clause
#include "study/expect.hpp"

#include <algorithm>
#include <cmath>

#include "base/text.hpp"
#include "topo/systems/recognize.hpp"

namespace busbar::study {
namespace {

/// From here on bandwidth depends little on the size.
constexpr Bytes kLarge = kGiB;

bool is_near(std::optional<Bytes> published, Bytes size) {
  if (!published) return size >= kLarge;  // sources that state no size mean their largest
  if (*published >= kLarge && size >= kLarge) return true;
  return *published * 2 >= size && *published <= size * 2;
}

/// Which published figures are of a machine.
class SameMachine {
 public:
  explicit SameMachine(const ExpectRequest& request) : own_{request.system} {
    const auto known = topo::built_in_systems();
    for (const topo::BuiltInSystem& system : known) {
      if (system.is_called(request.system)) own_ = system.names;
    }
    const topo::MachineIdentity machine = topo::identity_of(request.machine.host);
    for (const topo::BuiltInSystem& system : known) {
      const topo::MachineIdentity other = topo::identity_of(system.machine.host);
      if (other.gpus == machine.gpus && other.gpu_links == machine.gpu_links) {
        alike_.push_back(system.name());
      }
    }
  }

  /// By the system's name or its cloud's; on one node also of systems with the same GPUs and links.
  [[nodiscard]] bool has(const PublishedRate& rate) const {
    return is_one_of(rate.system, own_) || is_one_of(rate.instance, own_) ||
           (rate.nodes == 1 && is_one_of(rate.system, alike_));
  }

 private:
  static bool is_one_of(const std::string& name, const std::vector<std::string>& names) {
    return std::any_of(names.begin(), names.end(),
                       [&](const std::string& each) { return lower(each) == lower(name); });
  }

  std::vector<std::string> own_;
  std::vector<std::string> alike_{};
};

void take_published(const ExpectRequest& request, const Published& published,
                    Expectation& expected) {
  if (expected.nodes > 1 && !request.own_network) return;
  const SameMachine machine(request);
  for (const PublishedRate& rate : published.rates) {
    const bool is_of_set = rate.collective == request.collective->name &&
                           rate.ranks == request.ranks && rate.nodes == expected.nodes;
    if (!is_of_set || !rate.busbw_GBps || !is_near(rate.size, request.size) || !machine.has(rate)) {
      continue;
    }
    const bool is_floor = rate.evidence == Evidence::Floor;
    (is_floor ? expected.floors : expected.published).push_back(rate);
  }
  std::stable_sort(expected.published.begin(), expected.published.end(),
                   [](const auto& a, const auto& b) { return a.evidence < b.evidence; });
}

std::optional<double> median_measured(const std::vector<PublishedRate>& rates) {
  std::vector<double> measured;
  for (const PublishedRate& rate : rates) {
    if (rate.evidence == Evidence::Measured && rate.usual) measured.push_back(*rate.busbw_GBps);
  }
  if (measured.empty()) return std::nullopt;
  std::sort(measured.begin(), measured.end());
  const std::size_t middle = measured.size() / 2;
  return measured.size() % 2 == 1 ? measured[middle]
                                  : (measured[middle - 1] + measured[middle]) / 2;
}

Outcome outcome_of(double measured, const Expectation& expected) {
  constexpr double kRounding = 1.02;
  if (expected.bound_GBps && measured > *expected.bound_GBps * kRounding) {
    return Outcome::AboveBound;
  }
  if (!expected.reference_GBps) return Outcome::Unknown;
  const double share = measured / *expected.reference_GBps;
  const bool published = expected.reference_is_published;
  if (share >= (published ? kAsExpected : kAsPredicted)) return Outcome::AsExpected;
  return share >= (published ? kLow : kFarBelowPrediction) ? Outcome::Low : Outcome::TooLow;
}

void take_causes(const ExpectRequest& request, Expectation& expected) {
  const double measured = *request.measured_GBps;
  for (const topo::Cause& cause : topo::known_causes()) {
    const auto left = topo::bandwidth_under(cause, request.machine, {.ranks = request.ranks},
                                            *request.collective, static_cast<double>(request.size));
    if (!left || left->low <= 0) continue;
    const double distance = std::max({1.0, left->low / measured, measured / left->high});
    expected.causes.push_back(
        {.cause = &cause, .busbw_GBps = *left, .distance = distance, .fits = distance <= kFit});
  }
  std::stable_sort(expected.causes.begin(), expected.causes.end(),
                   [](const auto& a, const auto& b) { return a.distance < b.distance; });
}

}  // namespace

Expectation expect(const ExpectRequest& request, const Published& published) {
  const topo::Predictor predictor(request.machine, {.ranks = request.ranks});
  const auto bytes = static_cast<double>(request.size);
  Expectation expected{.nodes = static_cast<int>(predictor.set().parts.size()),
                       .bound_GBps = predictor.bound_GBps(*request.collective),
                       .bottleneck = predictor.limits().limit};
  if (const auto prediction = predictor.predict(*request.collective, bytes)) {
    expected.predicted_GBps =
        bytes / prediction->time_us / 1e3 * request.collective->bus_factor(request.ranks);
    expected.algorithm = std::string(name(prediction->sending));
  }
  take_published(request, published, expected);
  expected.reference_GBps = median_measured(expected.published);
  expected.reference_is_published = expected.reference_GBps.has_value();
  if (!expected.reference_GBps) expected.reference_GBps = expected.predicted_GBps;
  if (request.measured_GBps) {
    expected.outcome = outcome_of(*request.measured_GBps, expected);
    if (expected.outcome != Outcome::AsExpected) take_causes(request, expected);
  }
  return expected;
}

}  // namespace busbar::study
