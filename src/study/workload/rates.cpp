// SPDX-License-Identifier: BSD-3-Clause
#include "study/workload/rates.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/error.hpp"
#include "model/collective.hpp"
#include "stats/summary.hpp"

namespace busbar::study {
namespace {

constexpr double kGiga = 1e9;

bool is_used(const Curve& curve, const RatesRequest& request) {
  return curve.key.ranks > 1 && std::ranges::count(request.collectives, curve.key.collective) > 0;
}

/// Cycles and launches at one size become one point.
RateCurve one_point_per_size(const Curve& curve) {
  std::map<Bytes, std::vector<double>> values;
  for (const Record& record : curve.points) values[record.size].push_back(*record.busbw_GBps);
  RateCurve rates{.key = curve.key};
  for (const auto& [size, all] : values) rates.points[size] = stats::median(all);
  return rates;
}

/// How far a curve is from what was asked for: the least is taken.
int distance(const CurveKey& key, const RatesRequest& request) {
  constexpr int kType = 4;
  constexpr int kPlace = 2;
  return (key.type == request.type ? 0 : kType) + (key.in_place == request.in_place ? 0 : kPlace) +
         (key.op == "sum" || key.op.empty() ? 0 : 1);
}

/// Adds a curve, or replaces one that is further from the request.
void offer(std::vector<RateCurve>& curves, const Curve& curve, const RatesRequest& request) {
  const auto same = std::ranges::find_if(curves, [&](const RateCurve& known) {
    return known.key.collective == curve.key.collective && known.key.ranks == curve.key.ranks;
  });
  if (same == curves.end()) {
    curves.push_back(one_point_per_size(curve));
    return;
  }
  if (same->key.device_set != curve.key.device_set || same->key.nodes != curve.key.nodes ||
      same->key.simulated != curve.key.simulated) {
    throw usage_error(
        "--curve: '{}' has two curves of {} with {} ranks, on '{}' ({} nodes) and on '{}' ({} "
        "nodes); name them apart by --curve NAME=FILE",
        curve.key.label, curve.key.collective, curve.key.ranks, same->key.device_set,
        same->key.nodes, curve.key.device_set, curve.key.nodes);
  }
  if (distance(curve.key, request) < distance(same->key, request)) {
    *same = one_point_per_size(curve);
  }
}

bool can_be_a_rate(const Record& record) {
  return record.busbw_GBps && std::isfinite(*record.busbw_GBps) && *record.busbw_GBps > 0;
}

/// Between two points by linear interpolation in log(size) and log(value); beyond them the value of
/// the nearest one.
MessageTime rate_at(const std::map<Bytes, double>& points, double bytes) {
  const auto size = [](const auto& point) { return static_cast<double>(point->first); };
  const auto last = std::prev(points.end());
  if (bytes < size(points.begin())) return {.GBps = points.begin()->second, .outside = true};
  if (bytes > size(last)) return {.GBps = last->second, .outside = true};
  const auto above = std::ranges::find_if(
      points, [&](const auto& point) { return static_cast<double>(point.first) >= bytes; });
  if (size(above) <= bytes) return {.GBps = above->second};
  const auto below = std::prev(above);
  const double share = std::log(bytes / size(below)) / std::log(size(above) / size(below));
  return {.GBps = below->second * std::pow(above->second / below->second, share)};
}

}  // namespace

double allreduce_factor(int ranks) { return 2.0 * (ranks - 1) / ranks; }

double allreduce_busbw(double bytes, int ranks, double seconds) {
  return allreduce_factor(ranks) * bytes / seconds / kGiga;
}

std::vector<SystemRates> rates_of(std::span<const Dataset> datasets, const RatesRequest& request) {
  std::vector<SystemRates> systems;
  for (const Dataset& dataset : datasets) {
    const std::vector<Curve> curves =
        filtered(curves_of(std::span(&dataset, 1)),
                 [&](const Curve& curve) { return is_used(curve, request); });
    if (curves.empty()) {
      throw usage_error("--curve {}: it has no measured {} of two ranks or more", dataset.path,
                        join_all(request.collectives, ", "));
    }
    std::map<std::string, std::set<std::string>> settings;
    for (const Curve& curve : curves) settings[curve.key.collective].insert(curve.key.setting);
    for (const auto& [collective, all] : settings) {
      if (all.size() < 2) continue;
      throw usage_error("--curve {}: rows of {} of {}", dataset.path, collective,
                        settings_to_choose(all));
    }
    if (!any_has(systems, dataset.label, &SystemRates::system)) {
      systems.push_back({.system = dataset.label});
    }
    SystemRates& system = *find_by(systems, dataset.label, &SystemRates::system);
    system.simulated = system.simulated || dataset.simulated;
    for (const Curve& curve : curves) {
      if (!std::ranges::all_of(curve.points, can_be_a_rate)) {
        throw usage_error(
            "--curve {}: a bus bandwidth of {} with {} ranks is not above 0; leave these rows out",
            dataset.path, curve.key.collective, curve.key.ranks);
      }
      offer(system.curves, curve, request);
    }
  }
  return systems;
}

std::vector<int> measured_ranks(const SystemRates& rates) {
  std::vector<int> ranks;
  for (const RateCurve& curve : rates.curves) {
    if (curve.key.collective == "allreduce") ranks.push_back(curve.key.ranks);
  }
  std::ranges::sort(ranks);
  return ranks;
}

std::optional<MessageTime> message_time(const SystemRates& rates, std::string_view collective,
                                        int ranks, double bytes) {
  MessageTime time{.GBps = rates.constant_GBps.value_or(0)};
  if (!rates.constant_GBps) {
    const auto curve = std::ranges::find_if(rates.curves, [&](const RateCurve& known) {
      return known.key.collective == collective && known.key.ranks == ranks;
    });
    if (curve == rates.curves.end()) return std::nullopt;
    time = rate_at(curve->points, bytes);
  }
  time.seconds = find_collective(collective)->bus_factor(ranks) * bytes / (time.GBps * kGiga);
  return time;
}

std::optional<MessageTime> sync_time(const SystemRates& rates, int ranks, double bytes,
                                     double bucket_bytes) {
  if (bucket_bytes <= 0 || bucket_bytes >= bytes) {
    return message_time(rates, "allreduce", ranks, bytes);
  }
  const double whole = std::floor(bytes / bucket_bytes);
  const double rest = bytes - whole * bucket_bytes;
  std::optional<MessageTime> time = message_time(rates, "allreduce", ranks, bucket_bytes);
  if (!time) return std::nullopt;
  time->seconds *= whole;
  if (rest > 0) {
    const std::optional<MessageTime> last = message_time(rates, "allreduce", ranks, rest);
    time->seconds += last->seconds;
    time->outside = time->outside || last->outside;
  }
  time->GBps = allreduce_busbw(bytes, ranks, time->seconds);
  return time;
}

std::optional<MessageTime> data_parallel_time(const SystemRates& rates, int ranks, double bytes) {
  const std::optional<MessageTime> out = message_time(rates, "broadcast", ranks, bytes);
  const std::optional<MessageTime> back = message_time(rates, "reduce", ranks, bytes);
  if (!out || !back) return std::nullopt;
  const double seconds = out->seconds + back->seconds;
  return MessageTime{.seconds = seconds,
                     .GBps = 2 * bytes / seconds / kGiga,
                     .outside = out->outside || back->outside};
}

}  // namespace busbar::study
