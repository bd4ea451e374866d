// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "judge/fleet/screen.hpp"
#include "judge/fleet/simulated_fleet.hpp"
#include "judge/spec/specification.hpp"

namespace busbar::judge {

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
