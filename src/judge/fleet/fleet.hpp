// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "base/round_robin.hpp"
#include "judge/fleet/fabric_path.hpp"
#include "judge/spec/specification.hpp"

namespace busbar::judge {

/// A pair of nodes, which are numbers from 0; a table has every pair once at most.
struct JudgedPair {
  std::size_t first = 0;
  std::size_t second = 0;
  bool low = false;
};

/// What low pairs say of nodes and links.
struct BlamedNode {
  std::size_t node = 0;
  LowCount count{};  ///< of its pairs with nodes that were not blamed before it
};
struct Blame {
  std::vector<BlamedNode> nodes{};  ///< in the order of blame
  std::vector<NumberPair> links{};  ///< low pairs of nodes that are not blamed
};

/// How values look, and what low is measured by.
struct FleetFinding {
  double median = 0;
  double mad = 0;           ///< raw: median of absolute deviations
  bool homogeneous = true;  ///< raw MAD over median is as the rule wants it
  /// The median, or where values are not homogeneous the 90th percentile; 0: no values.
  double reference = 0;
  std::vector<bool> low{};  ///< per value, as given

  /// (value - median) / (1.4826 mad); infinite where mad is 0 and value differs.
  [[nodiscard]] double robust_z(double value) const;
};

/// A row effect is a node: most low pairs first (then fewest others, then by number), at least half
/// of its pairs and two; what stays low is a link.
[[nodiscard]] Blame blame_of(std::size_t nodes, std::vector<JudgedPair> pairs);

/// Whether so many are blamed that it is the fleet: all pairs are low, or more than half of the
/// nodes; half of them unless these are low with all and each other, and the others good.
[[nodiscard]] bool is_of_fleet(const Blame& blame, std::size_t nodes,
                               std::span<const JudgedPair> pairs);

/// One value per member. Low is what is below fail_below times the median, and by min_robust_z
/// scaled MADs below it.
[[nodiscard]] FleetFinding judge_members(std::span<const double> values, const Rule& rule);

}  // namespace busbar::judge
