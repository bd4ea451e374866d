// SPDX-License-Identifier: BSD-3-Clause
// What the fleet rule promises, on generated tables (no machine measured them) with fixed seeds.
#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/unit/judge/fleet/generated_fleet.hpp"

namespace busbar::judge {
namespace {

using Nodes = std::vector<std::size_t>;

constexpr int kFleets = 1000;
constexpr double kCv = 0.04;

bool is_quiet(const FleetFinding& finding) {
  return finding.homogeneous && finding.blame.nodes.empty() && finding.blame.links.empty() &&
         std::find(finding.low.begin(), finding.low.end(), true) == finding.low.end();
}

/// In how many fleets exactly the bad nodes, which change, are blamed.
int exactly_blamed(GeneratedFleet& generated, std::size_t nodes, std::size_t bad, double speed,
                   double cv = kCv, int fleets = kFleets) {
  int exact = 0;
  for (int fleet = 0; fleet < fleets; ++fleet) {
    std::vector<double> speeds(nodes, 1.0);
    Nodes chosen;
    while (chosen.size() < bad) {
      const std::size_t node = generated.below(nodes);
      if (speeds[node] < 1) continue;
      speeds[node] = speed;
      chosen.push_back(node);
    }
    std::sort(chosen.begin(), chosen.end());
    if (blamed(judge_pairs(nodes, generated.pairs(speeds, cv), kDesignRule)) == chosen) ++exact;
  }
  return exact;
}

TEST(FleetPromises, NoFalseAlarmInAThousandHealthyFleets) {
  GeneratedFleet generated(20251121);
  for (int fleet = 0; fleet < kFleets; ++fleet) {
    const auto table = generated.pairs(std::vector<double>(16, 1.0), kCv);
    EXPECT_TRUE(is_quiet(judge_pairs(16, table, kDesignRule))) << "generated fleet " << fleet;
  }
}

TEST(FleetPromises, ExactlyTheSlowNodesAreBlamedInAtLeast99Percent) {
  struct Case {
    unsigned seed = 0;
    std::size_t bad = 0;  ///< of 16 nodes
    double speed = 0;
    int fleets = kFleets;
  };
  for (const Case& one : {Case{1, 1, 0.73}, Case{2, 4, 0.5}, Case{3, 8, 0.5, 200}}) {
    GeneratedFleet generated(one.seed);
    const int exact = exactly_blamed(generated, 16, one.bad, one.speed, kCv, one.fleets);
    RecordProperty("exact_" + std::to_string(one.bad), exact);
    EXPECT_GE(100 * exact, 99 * one.fleets) << one.bad;
  }
}

TEST(FleetPromises, SlowNodesOfSmallFleetsAreNamedAtOnePercentNoise) {
  GeneratedFleet generated(4);
  for (const auto& [nodes, bad] : {std::pair<std::size_t, std::size_t>{3, 1},
                                   {4, 1},
                                   {4, 2},
                                   {5, 1},
                                   {5, 2},
                                   {6, 2},
                                   {8, 2},
                                   {8, 3}}) {
    const int exact = exactly_blamed(generated, nodes, bad, 0.5, 0.01, 100);
    RecordProperty("exact_" + std::to_string(bad) + "_of_" + std::to_string(nodes), exact);
    EXPECT_GE(exact, 99) << bad << " of " << nodes;
  }
}

TEST(FleetPromises, OneBadLinkIsFoundAndNoNodeIsBlamed) {
  GeneratedFleet generated(5);
  int found = 0;
  for (int fleet = 0; fleet < kFleets; ++fleet) {
    auto table = generated.pairs(std::vector<double>(16, 1.0), kCv);
    PairValue& bad = table[generated.below(table.size())];
    bad.value = *bad.value * 0.5;
    const FleetFinding finding = judge_pairs(16, table, kDesignRule);
    if (finding.blame.nodes.empty() && finding.blame.links.size() == 1 &&
        finding.blame.links[0].first == bad.first && finding.blame.links[0].second == bad.second) {
      ++found;
    }
  }
  RecordProperty("found", found);
  EXPECT_GE(found, 990);
}

TEST(FleetPromises, ABroadlyBadFleetIsNeverHomogeneous) {
  GeneratedFleet generated(6);
  int most = 0;
  for (int fleet = 0; fleet < kFleets / 4; ++fleet) {
    // A raw MAD of 17 % is a standard deviation of 25 %.
    const auto table = generated.pairs(std::vector<double>(16, 1.0), 0.17 * 1.4826);
    const FleetFinding finding = judge_pairs(16, table, kDesignRule);
    EXPECT_FALSE(finding.homogeneous) << "generated fleet " << fleet;
    EXPECT_NE(std::find(finding.low.begin(), finding.low.end(), true), finding.low.end());
    if (!finding.blame.nodes.empty()) ++most;
  }
  RecordProperty("with_blamed_nodes", most);
}

TEST(FleetPromises, NoiseWithoutSlowNodesBlamesNoNodeWhereItOnlyExceedsTheLimit) {
  GeneratedFleet generated(7);
  int blamed_fleets = 0;
  for (int fleet = 0; fleet < 100; ++fleet) {
    const auto table = generated.pairs(std::vector<double>(16, 1.0), 0.10);
    if (!judge_pairs(16, table, kDesignRule).blame.nodes.empty()) ++blamed_fleets;
  }
  RecordProperty("with_blamed_nodes", blamed_fleets);
  EXPECT_LE(blamed_fleets, 5) << "5 % of the fleets";
}

}  // namespace
}  // namespace busbar::judge
