// SPDX-License-Identifier: BSD-3-Clause
#include "judge/fleet/screen.hpp"

#include <cmath>
#include <random>
#include <set>

#include "judge/fleet/rehearsal.hpp"

namespace busbar::judge {
namespace {

using Loss = std::function<double(std::size_t, std::size_t, std::size_t)>;

/// A healthy pair is at 50, within 1 %, by a number that only depends on it.
double healthy(std::size_t first, std::size_t second, std::size_t launch) {
  std::mt19937 random(static_cast<unsigned>(first * 1009 + second * 31 + launch));
  return std::log(50.0) + std::uniform_real_distribution(-0.01, 0.01)(random);
}

/// What 6 partners in 3 launches show of nodes that are healthy but for what pairs lose in one.
Screening screened(const std::vector<NodePath>& paths, const Loss& loss) {
  FleetRates rates{.paths = paths, .launches = 3};
  for (std::size_t launch = 0; launch < 3; ++launch) {
    for (const RoundOfPairs& round : level_matchings(paths, 6, launch + 1)) {
      for (const auto& [first, second] : round) {
        const double rate = healthy(first, second, launch) - loss(first, second, launch);
        rates.pairs.push_back({first, second, launch, rate});
      }
    }
  }
  return screen(rates, {});
}

std::vector<std::size_t> blamed(const Screening& found) {
  std::vector<std::size_t> nodes;
  for (const NodeFinding& each : found.nodes) {
    if (each.blamed) nodes.push_back(each.node);
  }
  return nodes;
}

TEST(UpperMedian, TakesTheUpperOfTwo) {
  EXPECT_EQ(upper_median({3, 1}), 3);
  EXPECT_EQ(upper_median({4, 1, 3, 2}), 3);
}

TEST(Screen, BlamesTheSlowNodeAndNoPartner) {
  const auto found = screened(std::vector<NodePath>(16), [](auto first, auto second, auto) {
    return first == 5 || second == 5 ? 0.2 : 0;
  });
  ASSERT_EQ(blamed(found), std::vector<std::size_t>{5});
  EXPECT_NEAR(found.nodes.front().log_effect, -0.2, 0.02);
  EXPECT_TRUE(found.links.empty());
  EXPECT_NEAR(std::exp(found.centers[0]), 50, 0.5);
}

TEST(Screen, WantsANodeToBeLowInEveryLaunchBesideTheOthers) {
  for (const bool all : {true, false}) {  // a launch that is slow as a whole, or a node in two
    const auto found = screened(std::vector<NodePath>(16), [=](auto first, auto second,
                                                               auto launch) {
      return all ? (launch == 1 ? 0.5 : 0) : launch > 0 && (first == 5 || second == 5) ? 0.3 : 0;
    });
    EXPECT_TRUE(blamed(found).empty());
    EXPECT_TRUE(!all || found.nodes.empty());
  }
}

TEST(Screen, BlamesNobodyWithoutPairs) {
  EXPECT_TRUE(screen({.paths = std::vector<NodePath>(3)}, {}).nodes.empty());
}

TEST(Screen, BlamesAPodsUplinkAndNotItsLeaves) {
  const std::vector<NodePath> paths = simulated_paths(128, {8, 4});
  const auto found = screened(paths, [&](auto first, auto second, auto) {
    return (paths[first][0] == "pod1") != (paths[second][0] == "pod1") ? 0.4 : 0.0;
  });
  ASSERT_EQ(found.units.size(), 1U);
  EXPECT_EQ(found.units[0].unit, NodePath{"pod1"});
  EXPECT_TRUE(found.nodes.empty());
}

TEST(Screen, BlamesTheWayBetweenTwoLeaves) {
  const std::vector<NodePath> paths = simulated_paths(64, {16});
  const auto found = screened(paths, [&](auto first, auto second, auto) {
    const std::set<std::string> leaves{paths[first].back(), paths[second].back()};
    return leaves == std::set<std::string>{"leaf1", "leaf3"} ? 0.6 : 0.0;
  });
  ASSERT_EQ(found.units.size(), 1U);
  EXPECT_EQ(found.units[0].unit, NodePath{"leaf1"});
  EXPECT_EQ(found.units[0].other, NodePath{"leaf3"});
  EXPECT_TRUE(found.links.empty());
}

}  // namespace
}  // namespace busbar::judge
