// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "judge/fleet/fleet.hpp"

namespace busbar::judge {

/// Tables of pairs that no machine measured: a pair is as fast as its slower node, times normal
/// noise; 100 GB/s is healthy.
class GeneratedFleet {
 public:
  explicit GeneratedFleet(unsigned seed) : engine_(seed) {}

  /// `speed` has a fraction of the healthy speed per node, `cv` is the noise of a pair.
  [[nodiscard]] std::vector<PairValue> pairs(const std::vector<double>& speed, double cv) {
    std::normal_distribution<double> noise(1, cv);
    std::vector<PairValue> table;
    table.reserve(speed.size() * (speed.size() - 1) / 2);
    for (std::size_t first = 0; first < speed.size(); ++first) {
      for (std::size_t second = first + 1; second < speed.size(); ++second) {
        const double value = 100 * std::min(speed[first], speed[second]) * noise(engine_);
        table.push_back({.first = first, .second = second, .value = value});
      }
    }
    return table;
  }

  /// A number below `end`.
  [[nodiscard]] std::size_t below(std::size_t end) {
    return std::uniform_int_distribution<std::size_t>(0, end - 1)(engine_);
  }

 private:
  std::mt19937 engine_;
};

/// The blamed nodes by number.
inline std::vector<std::size_t> blamed(const FleetFinding& finding) {
  std::vector<std::size_t> nodes;
  for (const BlamedNode& node : finding.blame.nodes) nodes.push_back(node.node);
  std::sort(nodes.begin(), nodes.end());
  return nodes;
}

/// The blame as text: "2: 3/3 50" is node 2 with 3 of 3 pairs low and a median of 50, "1-4" a link.
inline std::string text_of(const Blame& blame) {
  std::string text;
  for (const BlamedNode& node : blame.nodes) {
    text += fmt::format("; {}: {}/{} {:g}", node.node, node.low, node.pairs, node.median);
  }
  for (const PairValue& link : blame.links) text += fmt::format("; {}-{}", link.first, link.second);
  return text;
}

/// "even 100, 0 low": homogeneous, the reference, how many are low; then the blame.
inline std::string text_of(const FleetFinding& finding) {
  return fmt::format("{} {:g}, {} low", finding.homogeneous ? "even" : "uneven", finding.reference,
                     std::count(finding.low.begin(), finding.low.end(), true)) +
         text_of(finding.blame);
}

/// The bounds of the design: 90 % of the median, 6 scaled MADs, at most 5 % raw MAD.
inline constexpr OutlierRule kDesignRule{
    .fail_below = 0.90, .min_robust_z = 6, .max_fleet_mad = 0.05};

}  // namespace busbar::judge
