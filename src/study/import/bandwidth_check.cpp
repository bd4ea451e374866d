// SPDX-License-Identifier: BSD-3-Clause
#include "study/import/bandwidth_check.hpp"

#include <algorithm>

namespace busbar::study {
namespace {

constexpr int kMostRanks = 65536;
constexpr double kSlack = 1e-6;  // of the arithmetic itself

struct Observation {
  Printed busbw;
  Range rate;
};

std::vector<Observation> observations_of(std::span<const LogRow> rows) {
  std::vector<Observation> seen;
  for (const LogRow& row : rows) {
    for (const LogHalf& half : row.halves) {
      const auto rate = rate_range(row.size, half);
      if (rate && half.busbw_GBps) seen.push_back({*half.busbw_GBps, *rate});
    }
  }
  return seen;
}

}  // namespace

std::optional<Range> rate_range(Bytes size, const LogHalf& half) {
  const auto bytes = static_cast<double>(size);
  constexpr double kBytesPerMicrosecond = 1e-3;  // in GB/s
  if (size == 0) return std::nullopt;
  if (half.time_us && half.time_us->value > half.time_us->half_unit) {
    const Printed& time = *half.time_us;
    return Range{bytes / (time.value + time.half_unit) * kBytesPerMicrosecond,
                 bytes / (time.value - time.half_unit) * kBytesPerMicrosecond};
  }
  if (!half.time_us && half.algbw_GBps && half.algbw_GBps->value > half.algbw_GBps->half_unit) {
    const Printed& rate = *half.algbw_GBps;
    return Range{rate.value - rate.half_unit, rate.value + rate.half_unit};
  }
  return std::nullopt;
}

bool can_be(const Printed& printed, const Range& rate, double factor) {
  const double slack = kSlack * printed.value;
  return printed.value + printed.half_unit + slack >= rate.low * factor &&
         printed.value - printed.half_unit - slack <= rate.high * factor;
}

bool contradicts(std::span<const LogRow> rows, double factor) {
  std::size_t telling = 0;
  std::size_t others = 0;
  for (const Observation& seen : observations_of(rows)) {
    if (seen.busbw.value > 0) ++telling;
    if (!can_be(seen.busbw, seen.rate, factor)) ++others;
  }
  constexpr std::size_t kGoodPart = 4;
  return others > 0 && (others >= telling || (others > 1 && others * kGoodPart > telling));
}

std::optional<double> measured_factor(std::span<const LogRow> rows) {
  const std::vector<Observation> seen = observations_of(rows);
  const auto unsure = [](const Observation& one) {
    return one.busbw.value > 0 ? one.busbw.half_unit / one.busbw.value : 1;
  };
  const auto best = std::min_element(
      seen.begin(), seen.end(),
      [&](const Observation& a, const Observation& b) { return unsure(a) < unsure(b); });
  if (best == seen.end() || best->busbw.value <= 0) return std::nullopt;
  return best->busbw.value / ((best->rate.low + best->rate.high) / 2);
}

RanksAllowed ranks_allowed(std::span<const LogRow> rows, const Collective& collective) {
  const std::vector<Observation> seen = observations_of(rows);
  RanksAllowed allowed;
  if (seen.empty()) return allowed;
  const auto fits = [&](int ranks) {
    const double factor = collective.bus_factor(ranks);
    return std::all_of(seen.begin(), seen.end(), [&](const Observation& observation) {
      return can_be(observation.busbw, observation.rate, factor);
    });
  };
  const bool constant = collective.bus_factor(2) == collective.bus_factor(3);
  if (constant) return fits(2) ? RanksAllowed{.least = 2, .most = kMostRanks} : allowed;
  for (int ranks = 2; ranks <= kMostRanks; ++ranks) {
    if (!fits(ranks)) continue;
    if (allowed.least == 0) allowed.least = ranks;
    allowed.most = ranks;
  }
  return allowed;
}

namespace {

/// What a row's algorithm bandwidth is by its own time and size.
enum class Algbw { Unknown, OfNow, Old, Neither };

Algbw algbw_of(const LogRow& row, const LogHalf& half, double factor) {
  const auto rate = half.time_us ? rate_range(row.size, half) : std::nullopt;
  if (!rate || !half.algbw_GBps) return Algbw::Unknown;
  if (can_be(*half.algbw_GBps, *rate, 1)) return Algbw::OfNow;
  return can_be(*half.algbw_GBps, *rate, factor) ? Algbw::Old : Algbw::Neither;
}

}  // namespace

bool has_old_algbw(std::span<const LogRow> rows, const Collective& collective, int ranks) {
  const double factor = collective.bus_factor(ranks);
  bool differs = false;
  for (const LogRow& row : rows) {
    for (const LogHalf& half : row.halves) {
      const Algbw kind = algbw_of(row, half, factor);
      if (kind == Algbw::Neither) return false;
      differs = differs || kind == Algbw::Old;
    }
  }
  return differs;
}

}  // namespace busbar::study
