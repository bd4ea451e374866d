// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/enum_names.hpp"
#include "judge/fleet/screen.hpp"
#include "judge/spec/specification.hpp"

namespace busbar::judge {

/// Faults that can be planted.
enum class FaultKind { SlowNode, Bimodal, Link, Uplink, Trunk, Dead, Hang };

constexpr auto enum_names(FaultKind) {
  return std::array{Named{FaultKind::SlowNode, "slow-node"}, Named{FaultKind::Bimodal, "bimodal"},
                    Named{FaultKind::Link, "link"},          Named{FaultKind::Uplink, "uplink"},
                    Named{FaultKind::Trunk, "trunk"},        Named{FaultKind::Dead, "dead"},
                    Named{FaultKind::Hang, "hang"}};
}

/// So many of a kind, each at this share of its healthy rate.
struct PlantedFault {
  FaultKind kind = FaultKind::SlowNode;
  std::size_t count = 1;
  double factor = 0.5;
};

/// "slow-node:3:0.9,link:2:0.5,dead:1". Throws Error (Usage).
[[nodiscard]] std::vector<PlantedFault> parse_faults(std::string_view option,
                                                     std::string_view text);

/// How measurements scatter: a standard deviation, or measured factors, which are medians of
/// launches over that of their series.
struct Noise {
  double deviation = 0.03;
  std::vector<double> factors{};
};

/// A standard deviation, or a file with a factor on each line. Throws Error (Usage).
[[nodiscard]] Noise parse_noise(std::string_view option, const std::string& text);

/// Units of so many members each, from the narrowest: {32, 8} is 32 nodes a leaf, 8 leaves a pod.
[[nodiscard]] std::vector<NodePath> simulated_paths(std::size_t nodes,
                                                    const std::vector<std::size_t>& levels);

/// How a fleet is tested: what a specification asks for, on so many nodes.
struct FleetPlan {
  std::size_t nodes = 0;
  std::vector<std::size_t> levels{};  ///< members of each unit, from the narrowest
  std::vector<NodePath> paths{};      ///< of a real fabric's nodes, instead of levels
  std::size_t partners = 6;           ///< of each node in a launch
  std::size_t launches = 3;
  std::size_t tests = 1;      ///< rules, collectives and sizes, which share the alarms
  std::size_t low_tests = 0;  ///< of these by a low quantile of samples, which finds bimodal nodes
  ScreenLimits limits{};      ///< of all tests together
};

/// Whether a rule compares pairs of nodes with each other: all others are not rehearsed.
[[nodiscard]] bool is_rehearsed(const Specification& specification, const Rule& rule);

/// What such rules ask for; without one there are no tests.
[[nodiscard]] FleetPlan fleet_plan_of(const Specification& specification, std::size_t nodes);

/// What starting launches, making communicators and measuring take, in seconds.
struct LaunchTimes {
  double start = 20;
  double connect = 2;  ///< of a round
  double row = 1;      ///< of a size
};

/// One simulated test of a fleet: no measurement of anything real. Names are of nodes ("n17"),
/// links ("n3-n17"), uplinks ("uplink leaf2") and paths between leaves ("leaf2-leaf5").
struct Rehearsal {
  std::vector<std::string> found{};
  std::vector<std::string> missed{};
  std::vector<std::string> not_measured{};  ///< planted links whose pair had no turn
  std::vector<std::string> falsely_blamed{};
  std::vector<std::string> suspected_only{};  ///< healthy, and cleared when measured again
  std::size_t launches = 0;                   ///< of all stages, those that hung too
  std::size_t rounds = 0;
  double measured_pairs = 0;  ///< as a share of all
  double seconds = 0;         ///< that it would take
};

/// Runs the plan on a simulated fleet: screens it, measures suspects again and judges.
[[nodiscard]] Rehearsal rehearse(const FleetPlan& plan, const Noise& noise,
                                 const std::vector<PlantedFault>& faults, const LaunchTimes& times,
                                 std::uint64_t seed);

/// How well a plan does, by rehearsals.
struct FleetPower {
  double least_loss = 0;     ///< of a node, found in 99 % of rehearsals, as are larger; 0: none is
  std::size_t fleets = 0;    ///< healthy ones
  std::size_t alarms = 0;    ///< of these, with any alarm
  std::size_t screened = 0;  ///< of these, with a node, unit or link that was blamed before
  double seconds = 0;        ///< that a healthy fleet takes
};

/// How many rehearsals the power is measured by.
struct PowerEffort {
  std::size_t healthy = 100;  ///< fleets
  std::size_t planted = 100;  ///< slow nodes of each loss, at least
};

/// Measures the power of a plan. The losses are searched by halves: more is found of a larger one.
[[nodiscard]] FleetPower find_power(const FleetPlan& plan, const Noise& noise,
                                    const LaunchTimes& times, const PowerEffort& effort,
                                    std::uint64_t seed);

}  // namespace busbar::judge
