// SPDX-License-Identifier: BSD-3-Clause
#include "study/report_crossing.hpp"

#include <algorithm>
#include <optional>

namespace busbar {
namespace {

std::optional<double> rate_at(std::span<const SizedRate> curve, Bytes size) {
  const auto found =
      std::lower_bound(curve.begin(), curve.end(), size,
                       [](const SizedRate& rate, Bytes wanted) { return rate.size < wanted; });
  if (found == curve.end() || found->size != size) return std::nullopt;
  return found->GBps;
}

}  // namespace

int leader(double first_GBps, double second_GBps, double level) {
  const double least = level * std::max(first_GBps, second_GBps);
  if (first_GBps - second_GBps > least) return 1;
  return second_GBps - first_GBps > least ? -1 : 0;
}

std::vector<Bytes> common_sizes(std::span<const SizedRate> first,
                                std::span<const SizedRate> second) {
  std::vector<Bytes> sizes;
  for (const SizedRate& rate : first) {
    if (rate_at(second, rate.size)) sizes.push_back(rate.size);
  }
  return sizes;
}

std::vector<Crossing> crossings(std::span<const SizedRate> first, std::span<const SizedRate> second,
                                double level) {
  std::vector<Crossing> found;
  int leads = 0;
  Bytes last = 0;  // where `leads` was seen
  for (const SizedRate& rate : first) {
    const std::optional<double> other = rate_at(second, rate.size);
    if (!other) continue;
    const int now = leader(rate.GBps, *other, level);
    if (now == 0) continue;
    if (leads != 0 && now != leads) {
      found.push_back({.after = last, .until = rate.size, .first_leads = now > 0});
    }
    leads = now;
    last = rate.size;
  }
  return found;
}

}  // namespace busbar
