// SPDX-License-Identifier: BSD-3-Clause
#include "judge/fleet/screen.hpp"

#include <cmath>
#include <random>

#include "judge/fleet/rehearsal.hpp"

namespace busbar::judge {
namespace {

using Rate = std::function<double(std::size_t, std::size_t, std::size_t)>;

/// 6 partners in 3 launches.
FleetRates measured(const std::vector<NodePath>& paths, const Rate& rate,
                    std::size_t launches = 3) {
  FleetRates rates{.paths = paths, .launches = launches};
  for (std::size_t launch = 0; launch < launches; ++launch) {
    for (const RoundOfPairs& round : level_matchings(paths, 6, launch + 1)) {
      for (const auto& [first, second] : round) {
        rates.pairs.push_back({first, second, launch, rate(first, second, launch)});
      }
    }
  }
  return rates;
}

/// A healthy pair is at 50, within 1 %, by a number that only depends on it.
double healthy(std::size_t first, std::size_t second, std::size_t launch) {
  std::mt19937 random(static_cast<unsigned>(first * 1009 + second * 31 + launch));
  return std::log(50.0) + std::uniform_real_distribution(-0.01, 0.01)(random);
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
  EXPECT_EQ(upper_median({1, 2, 3}), 2);
  EXPECT_EQ(upper_median({4, 1, 3, 2}), 3);
}

TEST(Screen, BlamesTheSlowNodeAndNoPartner) {
  const std::vector<NodePath> paths(16);
  const auto found = screen(measured(paths,
                                     [](auto first, auto second, auto launch) {
                                       const bool slow = first == 5 || second == 5;
                                       return healthy(first, second, launch) + (slow ? -0.2 : 0);
                                     }),
                            {});
  ASSERT_EQ(blamed(found), std::vector<std::size_t>{5});
  EXPECT_NEAR(found.nodes.front().log_effect, -0.2, 0.02);
  EXPECT_TRUE(found.links.empty());
  EXPECT_NEAR(std::exp(found.centers[0]), 50, 0.5);
}

TEST(Screen, ToleratesALaunchThatIsSlowAsAWhole) {
  const auto found =
      screen(measured(std::vector<NodePath>(16),
                      [](auto first, auto second, auto launch) {
                        return healthy(first, second, launch) - (launch == 1 ? 0.5 : 0.0);
                      }),
             {});
  EXPECT_TRUE(found.nodes.empty());
}

TEST(Screen, WantsANodeToBeLowInEveryLaunch) {
  const auto found = screen(measured(std::vector<NodePath>(16),
                                     [](auto first, auto second, auto launch) {
                                       const bool slow = launch > 0 && (first == 5 || second == 5);
                                       return healthy(first, second, launch) - (slow ? 0.3 : 0.0);
                                     }),
                            {});
  EXPECT_TRUE(blamed(found).empty());
}

TEST(Screen, NamesALink) {
  const FleetRates rates = measured(std::vector<NodePath>(8), [](auto first, auto second, auto l) {
    return healthy(first, second, l) - (first == 2 && second == 6 ? 0.7 : 0.0);
  });
  const auto found = screen(rates, {});
  EXPECT_TRUE(blamed(found).empty());
  ASSERT_EQ(found.links.size(), 1U);
  EXPECT_EQ(found.links[0].first, 2U);
  EXPECT_EQ(found.links[0].second, 6U);
}

TEST(Screen, BlamesNobodyWithoutPairs) {
  EXPECT_TRUE(screen({.paths = std::vector<NodePath>(3)}, {}).nodes.empty());
}

TEST(Screen, BlamesAnUplinkAndNotItsNodes) {
  const std::vector<NodePath> paths = simulated_paths(32, {8});
  const auto found = screen(
      measured(paths,
               [&](auto first, auto second, auto launch) {
                 const bool crosses = paths[first] != paths[second];
                 const NodePath leaf{"leaf2"};
                 const bool low = crosses && (paths[first] == leaf || paths[second] == leaf);
                 return healthy(first, second, launch) - (low ? 0.3 : 0.0) - (crosses ? 0.05 : 0.0);
               }),
      {});
  ASSERT_EQ(found.units.size(), 1U);
  EXPECT_EQ(found.units[0].unit, NodePath{"leaf2"});
  EXPECT_NEAR(found.units[0].log_effect, -0.3, 0.03);
  EXPECT_TRUE(found.nodes.empty());
  EXPECT_TRUE(found.links.empty());
  EXPECT_NEAR(found.offsets[1], 0.05, 0.01);  // pairs of one leaf, beside those across
}

TEST(Screen, BlamesAPodsUplinkAndNotItsLeaves) {
  const std::vector<NodePath> paths = simulated_paths(128, {8, 4});
  const auto found = screen(measured(paths,
                                     [&](auto first, auto second, auto launch) {
                                       const std::string pod = "pod1";
                                       const bool low =
                                           (paths[first][0] == pod) != (paths[second][0] == pod);
                                       return healthy(first, second, launch) - (low ? 0.4 : 0.0);
                                     }),
                            {});
  ASSERT_EQ(found.units.size(), 1U);
  EXPECT_EQ(found.units[0].unit, NodePath{"pod1"});
  EXPECT_TRUE(found.nodes.empty());
}

TEST(Screen, BlamesTheWayBetweenTwoLeaves) {
  const std::vector<NodePath> paths = simulated_paths(64, {16});
  const auto found = screen(measured(paths,
                                     [&](auto first, auto second, auto launch) {
                                       const std::string& one = paths[first].back();
                                       const std::string& two = paths[second].back();
                                       const bool low = (one == "leaf1" && two == "leaf3") ||
                                                        (one == "leaf3" && two == "leaf1");
                                       return healthy(first, second, launch) - (low ? 0.6 : 0.0);
                                     }),
                            {});
  ASSERT_EQ(found.units.size(), 1U);
  EXPECT_EQ(found.units[0].unit, NodePath{"leaf1"});
  EXPECT_EQ(found.units[0].other, NodePath{"leaf3"});
  EXPECT_TRUE(found.links.empty());
}

TEST(Screen, JudgesNodesAlone) {
  FleetRates rates{.paths = std::vector<NodePath>(12), .launches = 3};
  for (std::size_t launch = 0; launch < 3; ++launch) {
    for (std::size_t node = 0; node < 12; ++node) {
      const double slow = node == 7 ? -0.1 : 0;
      rates.pairs.push_back({node, node, launch, healthy(node, node, launch) + slow});
    }
  }
  EXPECT_EQ(blamed(screen(rates, {})), std::vector<std::size_t>{7});
}

}  // namespace
}  // namespace busbar::judge
