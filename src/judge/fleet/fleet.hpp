// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace busbar::judge {

/// A value of a pair of nodes, which are numbers from 0; a table has every pair once at most.
struct PairValue {
  std::size_t first = 0;
  std::size_t second = 0;
  std::optional<double> value{};  ///< none, or not finite: no data, which is not low
};

/// When a value is an outlier: below a fraction of the median and beyond this many scaled MADs.
struct OutlierRule {
  double fail_below = 0;
  double min_robust_z = 0;
  double max_fleet_mad = 0;  ///< raw MAD over median above this: not homogeneous
};

/// The middle of a fleet and how far it scatters.
struct FleetSpread {
  double median = 0;
  double mad = 0;  ///< raw: median of absolute deviations
  /// (value - median) / (1.4826 mad); infinite where mad is 0 and value differs.
  [[nodiscard]] double robust_z(double value) const;
};

[[nodiscard]] FleetSpread spread_of(std::span<const double> values);

/// What low pairs say of nodes and links.
struct BlamedNode {
  std::size_t node = 0;
  std::size_t low = 0;    ///< of its pairs with nodes that were not blamed before it
  std::size_t pairs = 0;  ///< of these
  double median = 0;      ///< of these pairs' values
};
struct Blame {
  std::vector<BlamedNode> nodes{};  ///< in the order of blame
  std::vector<PairValue> links{};   ///< low pairs of nodes that are not blamed
};

/// How values look, and what low is measured by.
struct FleetView {
  FleetSpread spread{};
  bool homogeneous = true;  ///< see judge_pairs
  double reference = 0;     ///< 0 where there are no values
  double top = 0;           ///< 90th percentile
};

/// The view is of all values; but the reference is the median of the values without blamed nodes,
/// or where these are not homogeneous their 90th percentile.
struct FleetFinding : FleetView {
  bool of_median = true;    ///< the reference is a median, not the 90th percentile
  std::vector<bool> low{};  ///< per value, as given
  Blame blame{};
};

/// A row effect is a node: most low pairs first (then fewest others, then by number), at least half
/// of its pairs and two; what stays low is a link.
[[nodiscard]] Blame blame_of(std::size_t nodes, std::span<const PairValue> pairs,
                             const std::vector<bool>& low);

/// The three gates on a table of pairs, first on nodes by the median of their pairs, then on the
/// pairs of the others. A fleet is also not homogeneous where its 90th percentile stands above the
/// rest by the same rule and the fast pairs join the same few nodes: then most pairs are slow.
/// Where more than half of the nodes would be blamed none is, and all low pairs are links.
[[nodiscard]] FleetFinding judge_pairs(std::size_t nodes, std::span<const PairValue> pairs,
                                       const OutlierRule& rule);

/// The same gates on one value per member: nodes alone, rails. Low members are blamed, 1 of 1.
[[nodiscard]] FleetFinding judge_members(std::span<const double> values, const OutlierRule& rule);

}  // namespace busbar::judge
