// SPDX-License-Identifier: BSD-3-Clause
#include "study/expect/expect.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include <toml++/toml.h>

#include "base/embedded_text.hpp"
#include "base/error.hpp"
#include "base/text.hpp"
#include "base/toml_fields.hpp"
#include "stats/summary.hpp"
#include "topo/choice/choose.hpp"
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

class SameMachine {
 public:
  explicit SameMachine(const ExpectRequest& request)
      : own_{request.system}, has_domain_(has_nvlink_domain(request.machine.host)) {
    const auto known = topo::built_in_systems();
    for (const topo::BuiltInSystem& system : known) {
      if (system.is_called(request.system)) own_ = system.names;
    }
    const topo::MachineIdentity machine = topo::identity_of(request.machine.host);
    for (const topo::BuiltInSystem& system : known) {
      const topo::MachineIdentity other = topo::identity_of(system.machine.host);
      if (other.gpus == machine.gpus && other.gpu_links == machine.gpu_links &&
          has_nvlink_domain(system.machine.host) == has_domain_) {
        alike_.push_back(system.name());
      }
    }
  }

  /// By the system's name or its cloud's. Where only GPUs and their links matter, on one node and
  /// in one NVLink domain, also of systems with the same of these.
  [[nodiscard]] bool has(const PublishedRate& rate) const {
    return is_one_of(rate.system, own_) || is_one_of(rate.instance, own_) ||
           ((rate.nodes == 1 || has_domain_) && is_one_of(rate.system, alike_));
  }

  /// Whether a system has this name, or the same GPUs and links between them.
  [[nodiscard]] bool is_like(const std::string& system) const {
    return is_one_of(system, own_) || is_one_of(system, alike_);
  }

 private:
  static bool is_one_of(const std::string& name, const std::vector<std::string>& names) {
    return std::ranges::any_of(names,
                               [&](const std::string& each) { return lower(each) == lower(name); });
  }

  std::vector<std::string> own_;
  std::vector<std::string> alike_{};
  bool has_domain_ = false;
};

void take_published(const ExpectRequest& request, const PublishedRates& published,
                    Answer& expected) {
  if (expected.nodes > 1 && !request.own_network) return;
  const SameMachine machine(request);
  for (const PublishedRate& rate : published) {
    const bool is_of_set = rate.collective == request.collective->name &&
                           rate.ranks == request.ranks && rate.nodes == expected.nodes;
    if (!is_of_set || !rate.busbw_GBps || !is_near(rate.size, request.size) || !machine.has(rate)) {
      continue;
    }
    const bool is_floor = rate.evidence == RateEvidence::Floor;
    (is_floor ? expected.floors : expected.published).push_back(rate);
  }
  const auto order = [&](const PublishedRate& rate) {
    return std::pair(rate.evidence, rate.size != request.size);
  };
  std::ranges::stable_sort(expected.published, {}, order);
}

/// The published logs that predictions of this kind of machine are checked by.
std::size_t count_checking_logs(const ExpectRequest& request) {
  constexpr std::string_view kField = "bench/field.toml";
  static const std::vector<std::string> kSystems = [&] {
    std::vector<std::string> names;
    const toml::table table = parse_toml(embedded_text(kField), kField, "docs/simulation.md");
    for (const toml::node* curve : TomlFields(table, kField, "the file").list("curve")) {
      names.push_back(TomlFields(*curve, kField, "[[curve]]").text("system"));
    }
    return names;
  }();
  const SameMachine machine(request);
  return count_of(kSystems, [&](const std::string& system) { return machine.is_like(system); });
}

/// The prediction; where no log checks it, what is published without a measurement, if that agrees
/// with the measured one.
void take_prediction(const ExpectRequest& request, Answer& expected) {
  expected.reference = ReferenceKind::Prediction;
  expected.reference_GBps = expected.predicted_GBps;
  std::vector<double> stated;
  for (const PublishedRate& rate : expected.published) {
    if (rate.usual) stated.push_back(*rate.busbw_GBps);
  }
  if (stated.empty() || expected.checking_logs > 0 || !request.measured_GBps) return;
  const double share = *request.measured_GBps / stats::median(stated);
  if (share < kAsExpected || share > 1 / kAsExpected) return;
  expected.reference = ReferenceKind::Published;
  expected.reference_GBps = stats::median(stated);
}

/// Takes what others measured at this size; if nothing, at the sizes near it.
void take_reference(const ExpectRequest& request, Answer& expected) {
  std::vector<double> same;
  std::vector<double> near;
  for (const PublishedRate& rate : expected.published) {
    if (rate.evidence != RateEvidence::Measured || !rate.usual) continue;
    (rate.size == request.size ? same : near).push_back(*rate.busbw_GBps);
  }
  expected.reference = same.empty() ? ReferenceKind::NearSize : ReferenceKind::SameSize;
  const std::vector<double>& measured = same.empty() ? near : same;
  if (measured.empty()) return take_prediction(request, expected);
  expected.reference_GBps = stats::median(measured);
}

/// Large sizes over a network have at least kLeastOfNetwork, where predictions take kEfficiency.
double least_share_of(const ExpectRequest& request, ReferenceKind reference) {
  if (reference != ReferenceKind::Prediction) return kAsExpected;
  const bool by_network =
      request.size >= kLarge && topo::has_usual_network(request.machine, request.ranks);
  return by_network ? topo::kLeastOfNetwork / topo::kEfficiency : kAsPredicted;
}

/// What the bound takes for granted: on several hosts also the way to their network.
std::vector<std::string> assumptions_of(const topo::EqualHosts& machine, int nodes) {
  if (machine.host.assumptions.empty()) return {};
  const std::vector<int> devices = first_numbers(device_count(machine.host));
  std::vector<std::string> texts;
  if (devices.size() > 1) texts = topo::bound_of(machine.host, devices, {}).assumptions;
  for (const topo::Assumption& assumption : machine.host.assumptions) {
    if (nodes > 1 && !topo::is_gpu_link(assumption.kind)) add_new(texts, assumption.text);
  }
  return texts;
}

/// Floors that are for such a size and above what was measured.
std::vector<PublishedRate> missed_floors(const ExpectRequest& request,
                                         const std::vector<PublishedRate>& floors) {
  return filtered(floors, [&](const PublishedRate& floor) {
    const bool is_for_size = request.size >= std::min(kUsualSize, floor.size.value_or(kUsualSize));
    return is_for_size && *floor.busbw_GBps > *request.measured_GBps;
  });
}

Grade grade_of(double measured, const Answer& expected) {
  constexpr double kRounding = 1.02;
  if (expected.bound_GBps && measured > *expected.bound_GBps * kRounding) {
    return Grade::AboveBound;
  }
  if (!expected.reference_GBps) return Grade::Unknown;
  const double share = measured / *expected.reference_GBps;
  const bool predicted = expected.reference == ReferenceKind::Prediction;
  if (share < (predicted ? kFarBelowPrediction : kLow)) return Grade::TooLow;
  const bool misses_all =
      !expected.floors.empty() && expected.missed_floors.size() == expected.floors.size();
  const bool is_low = share < expected.least_share || misses_all;
  return is_low ? Grade::Low : Grade::AsExpected;
}

topo::Graph best_of(const topo::Graph& host, int gpus) {
  if (gpus > static_cast<int>(device_count(host))) {
    throw usage_error("--gpus {}: '{}' has {} on each node", gpus, host.name, device_count(host));
  }
  topo::Graph labelled = host;
  if (labelled.labels.empty()) label_devices(labelled);
  if (gpus == 1) return keep_devices(labelled, {0});
  if (gpus == static_cast<int>(device_count(host))) return labelled;
  return keep_devices(labelled, topo::choose(labelled, gpus, topo::Policy::Best, {}).bound.devices);
}

void take_curve_findings(const ExpectRequest& request, Answer& expected) {
  Dataset rows{.records = request.rows};
  std::erase_if(rows.records, [&](const Record& row) { return row.ranks != request.ranks; });
  const SizeCurves curves = size_curves({rows}, PlotPlacement::Both);
  expected.curve_findings = curve_findings(curves.curves);
}

void take_causes(const ExpectRequest& request, Answer& expected) {
  const double measured = *request.measured_GBps;
  for (const topo::Cause& cause : topo::known_causes()) {
    if (cause.id == "gdr-off" && request.gpudirect.starts_with("yes")) continue;
    const auto left = topo::bandwidth_under(cause, request.machine, {.ranks = request.ranks},
                                            *request.collective, static_cast<double>(request.size));
    if (!left || left->low <= 0) continue;
    const double distance = std::max({1.0, left->low / measured, measured / left->high});
    expected.causes.push_back(
        {.cause = &cause, .busbw_GBps = *left, .distance = distance, .fits = distance <= kFit});
  }
  const auto order = [&](const CauseResult& each) {
    return std::tuple(!each.fits, each.fits ? topo::rank_of(*each.cause, expected.nodes) : 0,
                      each.fits ? 0 : each.distance);
  };
  std::ranges::stable_sort(expected.causes, {}, order);
}

}  // namespace

topo::EqualHosts part_of(topo::EqualHosts machine, int gpus, int nodes,
                         const std::optional<topo::NetworkRequest>& network) {
  if (nodes > machine.hosts && machine.hosts > 1) {
    throw usage_error("--nodes {}: '{}' has {} nodes", nodes, machine.host.name, machine.hosts);
  }
  const bool is_joined = machine.hosts > 1 && !network;
  machine.host = best_of(machine.host, gpus);
  if (nodes > 1 && !is_joined) {
    machine.host = topo::with_network(std::move(machine.host), network);
  }
  machine.host.labels.clear();
  machine.hosts = nodes;
  return machine;
}

Answer expect(const ExpectRequest& request, const PublishedRates& published) {
  const topo::Predictor predictor(request.machine, {.ranks = request.ranks});
  const auto bytes = static_cast<double>(request.size);
  Answer expected{.nodes = static_cast<int>(predictor.set().parts.size()),
                  .bound_GBps = predictor.bound_GBps(*request.collective),
                  .bottleneck = predictor.bottleneck(*request.collective)};
  if (const auto prediction = predictor.predict(*request.collective, bytes)) {
    expected.predicted_GBps =
        bytes / prediction->time_us / 1e3 * request.collective->bus_factor(request.ranks);
    expected.algorithm = std::string(name(prediction->sending));
  }
  expected.checking_logs = count_checking_logs(request);
  take_published(request, published, expected);
  take_reference(request, expected);
  expected.least_share = least_share_of(request, expected.reference);
  expected.assumptions = assumptions_of(request.machine, expected.nodes);
  if (!request.measured_GBps) return expected;
  take_curve_findings(request, expected);
  expected.missed_floors = missed_floors(request, expected.floors);
  expected.grade = grade_of(*request.measured_GBps, expected);
  const bool is_low = expected.grade == Grade::Low || expected.grade == Grade::TooLow;
  if (is_low || expected.grade == Grade::Unknown) take_causes(request, expected);
  return expected;
}

bool is_wrong(const Answer& expected) {
  const bool is_impossible = expected.grade == Grade::AboveBound && expected.assumptions.empty();
  const bool falls = std::ranges::any_of(
      expected.curve_findings, [](const CurveFinding& finding) { return finding.size >= kMiB; });
  return is_impossible || expected.grade == Grade::TooLow || falls;
}

}  // namespace busbar::study
