// SPDX-License-Identifier: BSD-3-Clause
#include "study/report_crossing.hpp"

#include <algorithm>
#include <map>
#include <optional>

namespace busbar {
namespace {

/// Rates at one size, by the number of the curve.
using Rates = std::map<std::size_t, double>;

/// The curve of the highest rate, where all others are behind it by more than the level.
std::optional<std::size_t> lone_leader(const Rates& rates, double level) {
  const auto best = std::max_element(
      rates.begin(), rates.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  const bool alone = std::all_of(rates.begin(), rates.end(), [&](const auto& rate) {
    return rate.first == best->first || leader(best->second, rate.second, level) > 0;
  });
  return alone ? std::optional{best->first} : std::nullopt;
}

/// The last size before `until` at which one curve led another; nothing where it never did.
std::optional<Bytes> last_led(const std::map<Bytes, Rates>& sizes, Bytes until, std::size_t one,
                              std::size_t other, double level) {
  std::optional<Bytes> last;
  for (const auto& [size, rates] : sizes) {
    if (size >= until) break;
    const bool both = rates.contains(one) && rates.contains(other);
    if (both && leader(rates.at(one), rates.at(other), level) > 0) last = size;
  }
  return last;
}

}  // namespace

int leader(double first_GBps, double second_GBps, double level) {
  const double least = level * std::max(first_GBps, second_GBps);
  if (first_GBps - second_GBps > least) return 1;
  return second_GBps - first_GBps > least ? -1 : 0;
}

std::vector<Crossing> crossings(std::span<const std::vector<SizedRate>> curves, double level) {
  std::map<Bytes, Rates> sizes;
  for (std::size_t i = 0; i < curves.size(); ++i) {
    for (const SizedRate& rate : curves[i]) sizes[rate.size][i] = rate.GBps;
  }
  std::vector<Crossing> found;
  std::optional<std::size_t> leads;
  for (const auto& [size, rates] : sizes) {
    if (rates.size() < 2 || (leads && !rates.contains(*leads))) continue;
    const std::optional<std::size_t> now = lone_leader(rates, level);
    if (!now || now == leads) continue;
    if (leads) {
      // A curve that begins beyond its rival's sizes has overtaken nobody.
      const auto after = last_led(sizes, size, *leads, *now, level);
      if (after) found.push_back({.after = *after, .until = size, .loser = *leads, .winner = *now});
    }
    leads = now;
  }
  return found;
}

}  // namespace busbar
