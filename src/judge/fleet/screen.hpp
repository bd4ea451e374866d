// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <vector>

#include "judge/fleet/fabric_path.hpp"
#include "model/matching.hpp"

namespace busbar::judge {

/// The rate of two nodes in a launch. Nodes and launches are numbered from 0.
struct PairRate {
  std::size_t first = 0;
  std::size_t second = 0;
  std::size_t launch = 0;
  double log_rate = 0;    ///< natural logarithm, of any unit
  std::size_t round = 0;  ///< of the launch
};

/// All pairs of a fleet that were measured, in any order.
struct FleetRates {
  std::vector<NodePath> paths{};  ///< of each node
  std::size_t launches = 0;
  std::vector<PairRate> pairs{};
};

/// What counts as low, and how often a healthy fleet may be blamed.
struct ScreenLimits {
  double alarms = 0.01;     ///< healthy fleets with any alarm, as a share
  double node_loss = 0.03;  ///< the least loss of a node that matters; 5 times the healthy spread
  double link_loss = 0.20;
  double unit_loss = 0.10;  ///< of an uplink
};

/// A node that is low in all launches (from five on: in all but one).
struct NodeFinding {
  std::size_t node = 0;
  double log_effect = 0;  ///< median over launches
  double expected = 0;    ///< healthy nodes of a fleet that would be as low: p times nodes
  bool blamed = false;    ///< else it is only to be measured again
};

struct LinkFinding {
  std::size_t first = 0;
  std::size_t second = 0;
  double log_effect = 0;
  bool blamed = true;  ///< not in a fleet of which too few nodes are good
};

/// What the launches over all nodes say; only measuring again confirms it.
struct Screening {
  std::vector<UnitFinding> units{};  ///< in the order of blame
  std::vector<NodeFinding> nodes{};  ///< in the order of blame, then others that are not blamed
  std::vector<LinkFinding> links{};  ///< of nodes that are not blamed; of a small fleet all
  std::vector<std::vector<double>> launch_effects{};  ///< of each node: of its launches, sorted
  std::vector<bool> has_value{};  ///< of each node: it has such, and bounds do not blame it
  std::vector<double> offsets{};  ///< of pairs that share so many units, beside the widest
  std::vector<double> centers{};  ///< of each launch: what a healthy pair of the widest has
  std::size_t again = 3;          ///< launches in which suspects are measured again
};

/// Of fewer nodes with values none is compared: of three with a bad one, two agree by chance.
inline constexpr std::size_t kFewestCompared = 4;

/// Of so few nodes all pairs meet in every launch, also when suspects are measured again.
inline constexpr std::size_t kSmallFleet = 8;

/// A rank test of each node's launches against the fleet's, uplinks first: no scale, no
/// distribution. Judged by launches, since the pairs of one share its faults.
[[nodiscard]] Screening screen(const FleetRates& rates, const ScreenLimits& limits);

/// What stands for a node in a launch: the middle of its pairs, sorted or not, of two the upper,
/// since a bad partner can only lower a pair. Precondition: not empty.
[[nodiscard]] double upper_median(std::vector<double> values);

/// How many of so many launches must be low: all, from five on all but one.
[[nodiscard]] constexpr std::size_t launches_low(std::size_t launches) {
  return launches <= 4 ? launches : launches - 1;
}

/// The share of a healthy fleet's alarms that is for nodes, and for units of the fabric; measured
/// again, nodes and links have half of the nodes' each.
inline constexpr double kNodeShare = 0.8;
inline constexpr double kUnitShare = 0.1;

}  // namespace busbar::judge
