// SPDX-License-Identifier: BSD-3-Clause
#include "judge/fleet/fleet.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/unit/judge/fleet/generated_fleet.hpp"

namespace busbar::judge {
namespace {

using Nodes = std::vector<std::size_t>;

constexpr double kInfinite = std::numeric_limits<double>::infinity();

/// Pairs of nodes of these speeds without any noise.
std::vector<PairValue> exact(const std::vector<double>& speed) {
  return GeneratedFleet(0).pairs(speed, 0);
}

/// A table of these pairs alone; others gave nothing.
std::vector<PairValue> table_of(std::initializer_list<PairValue> pairs) { return pairs; }

PairValue& at(std::vector<PairValue>& table, std::size_t first, std::size_t second) {
  return *std::find_if(table.begin(), table.end(), [&](const PairValue& pair) {
    return pair.first == first && pair.second == second;
  });
}

std::ptrdiff_t count_low(const FleetFinding& finding) {
  return std::count(finding.low.begin(), finding.low.end(), true);
}

TEST(FleetSpread, ScalesTheMadToAStandardDeviation) {
  const FleetSpread spread{.median = 100, .mad = 2};
  EXPECT_NEAR(spread.robust_z(100 - 2 * 1.4826), -1, 1e-12);
  EXPECT_EQ(spread.robust_z(100), 0);
}

TEST(FleetSpread, IsInfinitelyFarWhereAllOthersAreEqual) {
  const FleetSpread spread{.median = 100, .mad = 0};
  EXPECT_EQ(spread.robust_z(99), -kInfinite);
  EXPECT_EQ(spread.robust_z(101), kInfinite);
  EXPECT_EQ(spread.robust_z(100), 0);
}

TEST(JudgePairs, FindsNothingInAFleetOfEqualPairs) {
  for (std::size_t nodes = 2; nodes <= 8; ++nodes) {
    const auto finding = judge_pairs(nodes, exact(std::vector<double>(nodes, 1)), kDesignRule);
    EXPECT_TRUE(finding.homogeneous);
    EXPECT_EQ(finding.reference, 100);
    EXPECT_EQ(count_low(finding), 0);
    EXPECT_TRUE(finding.blame.nodes.empty());
  }
}

TEST(JudgePairs, CannotTellAnythingOfTheOnlyPair) {
  const auto finding = judge_pairs(2, exact({1, 0.1}), kDesignRule);
  EXPECT_TRUE(finding.homogeneous);
  EXPECT_EQ(count_low(finding), 0);
}

TEST(JudgePairs, TellsANodeFromALinkAmongThree) {
  auto link = exact({1, 1, 1});
  at(link, 0, 2).value = 50;
  const auto of_link = judge_pairs(3, link, kDesignRule);
  EXPECT_TRUE(of_link.blame.nodes.empty());
  ASSERT_EQ(of_link.blame.links.size(), 1U);
  EXPECT_EQ(of_link.blame.links[0].second, 2U);

  const auto of_node = judge_pairs(3, exact({1, 0.5, 1}), kDesignRule);
  EXPECT_FALSE(of_node.homogeneous) << "two of three pairs are slow";
  EXPECT_EQ(blamed(of_node), Nodes{1});
  EXPECT_TRUE(of_node.blame.links.empty());
}

TEST(JudgePairs, NamesOneSlowNodeOfFourThoughHalfOfThePairsAreLow) {
  const auto finding = judge_pairs(4, exact({1, 1, 0.5, 1}), kDesignRule);
  EXPECT_FALSE(finding.homogeneous);
  EXPECT_TRUE(finding.of_median) << "of the pairs without node 2";
  EXPECT_EQ(finding.reference, 100);
  EXPECT_EQ(count_low(finding), 3);
  ASSERT_EQ(blamed(finding), Nodes{2});
  EXPECT_EQ(finding.blame.nodes[0].low, 3U);
  EXPECT_EQ(finding.blame.nodes[0].pairs, 3U);
  EXPECT_EQ(finding.blame.nodes[0].median, 50);
}

TEST(JudgePairs, NamesTwoSlowNodesOfFourThoughFiveOfSixPairsAreLow) {
  const auto finding = judge_pairs(4, exact({0.5, 1, 0.5, 1}), kDesignRule);
  EXPECT_FALSE(finding.homogeneous) << "the MAD is 0: most pairs are slow alike";
  EXPECT_EQ(finding.spread.mad, 0);
  EXPECT_EQ(count_low(finding), 5);
  EXPECT_EQ(blamed(finding), (Nodes{0, 2}));
  EXPECT_TRUE(finding.blame.links.empty());
}

TEST(JudgePairs, NamesTwoSlowNodesOfFive) {
  const auto finding = judge_pairs(5, exact({1, 0.5, 1, 1, 0.6}), kDesignRule);
  EXPECT_EQ(blamed(finding), (Nodes{1, 4}));
  EXPECT_EQ(count_low(finding), 7);
}

TEST(JudgePairs, CallsAnIsolatedLowPairALink) {
  auto table = exact(std::vector<double>(6, 1));
  at(table, 1, 4).value = 60;
  const auto finding = judge_pairs(6, table, kDesignRule);
  EXPECT_TRUE(finding.homogeneous);
  EXPECT_TRUE(finding.blame.nodes.empty());
  ASSERT_EQ(finding.blame.links.size(), 1U);
  EXPECT_EQ(finding.blame.links[0].first, 1U);
}

TEST(JudgePairs, FindsALinkBesideASlowNode) {
  auto table = exact({1, 1, 1, 0.3, 1, 1, 1});
  at(table, 1, 4).value = 60;
  const auto finding = judge_pairs(7, table, kDesignRule);
  EXPECT_EQ(blamed(finding), Nodes{3});
  ASSERT_EQ(finding.blame.links.size(), 1U);
  EXPECT_EQ(finding.blame.links[0].first, 1U);
  EXPECT_EQ(finding.blame.links[0].second, 4U);
  EXPECT_EQ(count_low(finding), 7);
}

TEST(JudgePairs, NeedsBothTheFractionAndTheDistance) {
  auto near = exact(std::vector<double>(5, 1));
  at(near, 0, 1).value = 91;
  EXPECT_EQ(count_low(judge_pairs(5, near, kDesignRule)), 0) << "far by MAD 0, but above 90 %";

  auto noisy = GeneratedFleet(3).pairs(std::vector<double>(12, 1), 0.04);
  noisy[5].value = 85;
  EXPECT_EQ(count_low(judge_pairs(12, noisy, kDesignRule)), 0) << "below 90 %, but within 6 MADs";
}

TEST(JudgePairs, TakesAPairWithoutAValueForAGap) {
  auto table = exact({1, 1, 0.5, 1, 1, 1});
  at(table, 0, 2).value = std::nullopt;
  at(table, 1, 2).value = std::numeric_limits<double>::quiet_NaN();
  const auto finding = judge_pairs(6, table, kDesignRule);
  ASSERT_EQ(blamed(finding), Nodes{2});
  EXPECT_EQ(finding.blame.nodes[0].low, 3U);
  EXPECT_EQ(finding.blame.nodes[0].pairs, 3U);
}

TEST(JudgePairs, CountsAValueOfZeroAsLow) {
  const auto finding = judge_pairs(5, exact({1, 1, 1, 0, 1}), kDesignRule);
  EXPECT_EQ(blamed(finding), Nodes{3});
  EXPECT_EQ(finding.blame.nodes[0].median, 0);
}

TEST(JudgePairs, BlamesNobodyForOneLowPairThatIsTheOnlyOneOfItsNode) {
  auto table = exact({1, 1, 0.5, 1, 1, 1});
  for (PairValue& pair : table) {
    if (pair.second == 2 && pair.first == 0) continue;
    if (pair.first == 2 || pair.second == 2) pair.value = std::nullopt;
  }
  const auto finding = judge_pairs(6, table, kDesignRule);
  EXPECT_TRUE(finding.blame.nodes.empty());
  EXPECT_EQ(finding.blame.links.size(), 1U);
}

TEST(JudgePairs, JudgesATableWithoutValues) {
  for (const auto& table : {std::vector<PairValue>{}, {{.first = 0, .second = 1}}}) {
    const auto finding = judge_pairs(2, table, kDesignRule);
    EXPECT_EQ(finding.reference, 0);
    EXPECT_EQ(finding.low.size(), table.size());
    EXPECT_EQ(count_low(finding), 0);
    EXPECT_TRUE(finding.blame.nodes.empty());
  }
}

TEST(JudgePairs, BlamesNoNodesWhereTheyWouldBeMoreThanHalf) {
  const auto finding = judge_pairs(5, exact({0.5, 0.5, 0.5, 1, 1}), kDesignRule);
  EXPECT_TRUE(finding.blame.nodes.empty()) << "one fast pair, or three slow nodes";
}

TEST(JudgePairs, CountsOnlyNodesWithValuesForMoreThanHalf) {
  // Nodes 2, 0 and 3 are low by the ninth of ten, 105, and then by 122: three of five.
  const auto table = table_of({{0, 1, 105.0},
                               {0, 2, 47.0},
                               {0, 3, 81.0},
                               {0, 4, 105.0},
                               {1, 2, 47.0},
                               {1, 3, 80.0},
                               {1, 4, 122.0},
                               {2, 3, 46.0},
                               {2, 4, 45.0},
                               {3, 4, 80.0}});
  const OutlierRule rule{.fail_below = 0.9, .min_robust_z = 0.5, .max_fleet_mad = 0.05};
  for (const std::size_t nodes : {5U, 8U}) {  // the last three gave nothing
    const auto finding = judge_pairs(nodes, table, rule);
    EXPECT_TRUE(finding.blame.nodes.empty()) << nodes;
    EXPECT_EQ(finding.reference, 105) << nodes;
  }
}

TEST(JudgePairs, JudgesAllPairsByTheScatterWhereNoNodeIsBlamed) {
  // The median is 87.5, the deviations are 7.5, 7.5, 12.5, 12.5, 22.5, 37.5, 47.5 and 77.5: a MAD
  // of 17.5, a fifth of it. Six scaled ones, 155.7, below is nothing.
  const auto table = table_of({{0, 1, 100.0},
                               {0, 2, 100.0},
                               {0, 4, 40.0},
                               {1, 2, 110.0},
                               {1, 4, 50.0},
                               {2, 3, 10.0},
                               {2, 4, 95.0},
                               {3, 4, 80.0}});
  const auto finding =
      judge_pairs(5, table, {.fail_below = 0.95, .min_robust_z = 6, .max_fleet_mad = 0.3});
  EXPECT_TRUE(finding.homogeneous);
  EXPECT_EQ(finding.reference, 87.5);
  EXPECT_TRUE(finding.blame.nodes.empty());
  EXPECT_EQ(count_low(finding), 0);
}

TEST(JudgePairs, TakesFastPairsWithinRacksForNoFault) {
  auto table = exact(std::vector<double>(16, 1));
  for (PairValue& pair : table) {
    if (pair.first / 4 == pair.second / 4) pair.value = 150;
  }
  const auto finding = judge_pairs(16, table, kDesignRule);
  EXPECT_TRUE(finding.homogeneous);
  EXPECT_EQ(count_low(finding), 0);
}

TEST(JudgePairs, PassesAFleetThatIsSlowAllOver) {
  // What a fleet cannot show of itself: an absolute or theoretical rule must.
  EXPECT_EQ(count_low(judge_pairs(6, exact(std::vector<double>(6, 0.1)), kDesignRule)), 0);
}

TEST(JudgePairs, BlamesANodeWithExactlyHalfOfItsPairsLow) {
  // Node 0 has 50 with nodes 1 and 2, and 100 with 3 and 4, as all others have with each other.
  auto table = exact(std::vector<double>(5, 1));
  at(table, 0, 1).value = at(table, 0, 2).value = 50;
  const auto finding = judge_pairs(5, table, kDesignRule);
  ASSERT_EQ(blamed(finding), Nodes{0});
  EXPECT_EQ(finding.blame.nodes[0].low, 2U);
  EXPECT_EQ(finding.blame.nodes[0].pairs, 4U);
  EXPECT_TRUE(finding.blame.links.empty());
}

TEST(JudgePairs, AcquitsByPairsWithNodesThatAreNotBlamedAlone) {
  // Node 5 has 20 with all but node 0, with which it has 100. Node 0 has two of four pairs low, or
  // with node 5 two of five.
  auto table = exact({1, 1, 1, 1, 1, 0.2});
  at(table, 0, 1).value = at(table, 0, 2).value = 50;
  at(table, 0, 5).value = 100;
  EXPECT_EQ(blamed(judge_pairs(6, table, kDesignRule)), (Nodes{0, 5}));
}

TEST(JudgePairs, AcquitsByTheErrorOfAMedian) {
  // The pairs of nodes 1 to 5 have the median 100 and deviations of 0, 0, 4, 4, 4, 4, 5, 5, 6, 6: a
  // MAD of 4. The median of five has the error sqrt(pi / 2) * 1.4826 * 4 / sqrt(5) = 3.324, and
  // node 0's, 86, is 14 / 3.324 = 4.21 of it below. All fifteen together scatter by 8 of 96.
  const auto table = table_of({{0, 1, 86.0},
                               {0, 2, 86.0},
                               {0, 3, 86.0},
                               {0, 4, 86.0},
                               {0, 5, 86.0},
                               {1, 2, 94.0},
                               {1, 3, 100.0},
                               {1, 4, 104.0},
                               {1, 5, 106.0},
                               {2, 3, 104.0},
                               {2, 4, 95.0},
                               {2, 5, 100.0},
                               {3, 4, 105.0},
                               {3, 5, 96.0},
                               {4, 5, 96.0}});
  OutlierRule rule = kDesignRule;
  rule.min_robust_z = 4.1;
  EXPECT_EQ(blamed(judge_pairs(6, table, rule)), Nodes{0});
  rule.min_robust_z = 4.3;
  EXPECT_TRUE(blamed(judge_pairs(6, table, rule)).empty());
  rule.min_robust_z = 14 / (1.4826 * (4 * 1.2533 / std::sqrt(5.0)));
  EXPECT_TRUE(blamed(judge_pairs(6, table, rule)).empty()) << "not beyond it";
}

TEST(JudgePairs, AcquitsWhereLessThanHalfIsBelowTheOthersMedian) {
  // All ten scatter; half of the ninth of ten, 120, is 60: node 0 has 40 and 50 below it. Half of
  // the others' median, 100, is 50, which 50 is not below.
  const auto table = table_of({{0, 1, 40.0},
                               {0, 2, 50.0},
                               {0, 3, 100.0},
                               {0, 4, 100.0},
                               {1, 2, 80.0},
                               {1, 3, 100.0},
                               {1, 4, 120.0},
                               {2, 3, 120.0},
                               {2, 4, 100.0},
                               {3, 4, 80.0}});
  const OutlierRule rule{.fail_below = 0.5, .min_robust_z = 1, .max_fleet_mad = 0.1};
  EXPECT_TRUE(blamed(judge_pairs(5, table, rule)).empty());
}

TEST(JudgePairs, BlamesTheMiddleOfAStarWhoseOthersHaveNoPairs) {
  const auto table = table_of({{0, 1, 100.0}, {0, 2, 100.0}, {0, 3, 20.0}, {0, 4, 20.0}});
  const auto finding = judge_pairs(5, table, kDesignRule);
  EXPECT_EQ(blamed(finding), Nodes{0});
  EXPECT_EQ(finding.reference, 100) << "the highest of four: without node 0 there is no value";
  EXPECT_EQ(count_low(finding), 2);
}

TEST(JudgePairs, CountsAPairAtTheBoundAsNotLow) {
  // Node 0's last pair is a half of the others', and the others are 100: in a row that is blamed
  // the fraction alone decides.
  auto table = exact(std::vector<double>(6, 1));
  at(table, 0, 1).value = 20;
  at(table, 0, 2).value = 10;
  at(table, 0, 3).value = 30;
  at(table, 0, 4).value = 40;
  at(table, 0, 5).value = 50;
  OutlierRule rule = kDesignRule;
  rule.fail_below = 0.5;
  const auto finding = judge_pairs(6, table, rule);
  ASSERT_EQ(blamed(finding), Nodes{0});
  EXPECT_EQ(finding.blame.nodes[0].low, 4U);
  EXPECT_EQ(finding.blame.nodes[0].median, 30);
  EXPECT_EQ(count_low(finding), 4);
}

TEST(JudgePairs, BlamesOfEquallySlowNodesTheFirstFirst) {
  const auto finding = judge_pairs(8, exact({1, 0.5, 1, 1, 0.5, 1, 1, 1}), kDesignRule);
  ASSERT_EQ(finding.blame.nodes.size(), 2U);
  EXPECT_EQ(finding.blame.nodes[0].node, 1U);
  EXPECT_EQ(finding.blame.nodes[0].pairs, 7U);
  EXPECT_EQ(finding.blame.nodes[1].node, 4U);
  EXPECT_EQ(finding.blame.nodes[1].pairs, 6U);
}

/// Is it not homogeneous because its fast pairs stand above the rest?
bool stands_above(std::size_t nodes, const std::vector<PairValue>& table, double fail_below,
                  double min_robust_z = 6) {
  return !judge_pairs(nodes, table,
                      {.fail_below = fail_below, .min_robust_z = min_robust_z, .max_fleet_mad = 1})
              .homogeneous;
}

TEST(FastPairs, StandAboveAMedianThatIsBelowTheFractionOfTheirs) {
  const auto table = exact({0.5, 1, 0.5, 1});  // five of 50, one of 100
  EXPECT_FALSE(stands_above(4, table, 0.5));
  EXPECT_TRUE(stands_above(4, table, 0.501));
}

TEST(FastPairs, StandAboveBeyondTheDistance) {
  // The median of six is 50.5, the deviations are 0.5, 0.5, 1.5, 1.5, 2.5 and 49.5: a MAD of 1.5,
  // and 100 is 49.5 / (1.4826 * 1.5) = 22.26 scaled ones above.
  const auto table = table_of(
      {{0, 1, 48.0}, {0, 2, 49.0}, {0, 3, 50.0}, {1, 2, 51.0}, {1, 3, 100.0}, {2, 3, 52.0}});
  EXPECT_TRUE(stands_above(4, table, 0.9, 22.2));
  EXPECT_FALSE(stands_above(4, table, 0.9, 22.3));
  EXPECT_FALSE(stands_above(4, table, 0.9, 49.5 / (1.4826 * 1.5))) << "not beyond it";
}

TEST(FastPairs, IncludeAPairAtTheFraction) {
  // Nodes 0 to 2 have 100, 100 and 50, a half of it; the twelve other pairs have 20. The 14th of
  // fifteen is 100.
  auto table = exact(std::vector<double>(6, 0.2));
  at(table, 0, 1).value = at(table, 0, 2).value = 100;
  at(table, 1, 2).value = 50;
  EXPECT_TRUE(stands_above(6, table, 0.5));
  EXPECT_FALSE(stands_above(6, table, 0.51)) << "two of three pairs are less than three quarters";
}

TEST(FastPairs, MakeBothOfTheirNodesFast) {
  // 100 between 0 and 1, 50 between 2 and 3, else 20: of the six pairs of four nodes two are fast.
  auto table = exact(std::vector<double>(4, 0.2));
  at(table, 0, 1).value = 100;
  at(table, 2, 3).value = 50;
  EXPECT_FALSE(stands_above(4, table, 0.5));
  EXPECT_TRUE(stands_above(4, table, 0.51)) << "nodes 2 and 3 have no fast pair";
}

TEST(FastPairs, AreEnoughWithThreeQuartersOfTheirNodesPairs) {
  // Nodes 0 to 3 have four pairs with a value, three of them fast; the others have 20.
  auto table = exact(std::vector<double>(6, 0.2));
  at(table, 0, 1).value = at(table, 1, 2).value = at(table, 2, 3).value = 100;
  at(table, 1, 3).value = at(table, 0, 3).value = std::nullopt;
  EXPECT_TRUE(stands_above(6, table, 0.9));
  at(table, 0, 3).value = 20;  // three of five
  EXPECT_FALSE(stands_above(6, table, 0.9));
}

TEST(JudgeMembers, BlamesTheLowOnes) {
  const std::vector<double> values{100, 101, 60, 99, 100, 98};
  const auto finding = judge_members(values, kDesignRule);
  EXPECT_TRUE(finding.homogeneous);
  EXPECT_EQ(blamed(finding), Nodes{2});
  EXPECT_EQ(finding.blame.nodes[0].median, 60);
  EXPECT_EQ(finding.reference, 99.5);
}

TEST(JudgeMembers, MeasuresByTheFastOnesWhereHalfAreSlow) {
  const auto finding = judge_members(std::vector<double>{100, 50, 50, 100}, kDesignRule);
  EXPECT_FALSE(finding.homogeneous);
  EXPECT_EQ(finding.reference, 100);
  EXPECT_EQ(blamed(finding), (Nodes{1, 2}));
}

TEST(JudgeMembers, FindsNothingInOneValueOrNone) {
  EXPECT_EQ(count_low(judge_members(std::vector<double>{5}, kDesignRule)), 0);
  EXPECT_TRUE(judge_members(std::vector<double>{}, kDesignRule).low.empty());
}

TEST(JudgeMembers, NeedsADistanceBeyondAndAScatterWithinTheirBounds) {
  // The median is 128, and the MAD of 2 is a 64th of it. 120 is 8 / (1.4826 * 2) scaled ones away.
  const std::vector<double> values{120, 124, 126, 127, 128, 128, 129, 130, 132};
  OutlierRule rule{.fail_below = 0.95, .min_robust_z = 8 / (1.4826 * 2), .max_fleet_mad = 1.0 / 64};
  EXPECT_TRUE(judge_members(values, rule).homogeneous);
  EXPECT_EQ(count_low(judge_members(values, rule)), 0);
  rule.min_robust_z *= 0.999;
  EXPECT_EQ(count_low(judge_members(values, rule)), 1);
  rule.max_fleet_mad *= 0.999;
  EXPECT_FALSE(judge_members(values, rule).homogeneous);
}

TEST(JudgeMembers, AreLowBelowTheFractionOnly) {
  const std::vector<double> values{100, 50, 100, 100};
  EXPECT_EQ(count_low(judge_members(values,
                                    {.fail_below = 0.5, .min_robust_z = 6, .max_fleet_mad = 0.05})),
            0);
}

TEST(JudgeMembers, AreMeasuredByTheNinthOfTenWhereTheyScatter) {
  const auto finding =
      judge_members(std::vector<double>{140, 50, 60, 70, 80, 90, 100, 110, 120, 130}, kDesignRule);
  EXPECT_FALSE(finding.homogeneous);
  EXPECT_FALSE(finding.of_median);
  EXPECT_EQ(finding.reference, 130);
  EXPECT_EQ(finding.top, 130);
  EXPECT_EQ(finding.spread.median, 95);
}

/// The table under this title in a log of p2pBandwidthLatencyTest: the pairs above the diagonal.
std::vector<PairValue> matrix_of(const std::filesystem::path& path, const std::string& title) {
  std::ifstream file(path);
  std::string line;
  while (std::getline(file, line) && line.rfind(title, 0) != 0) {
  }
  std::getline(file, line);  // the columns' names
  std::vector<PairValue> table;
  for (std::size_t row = 0; row < 8 && std::getline(file, line); ++row) {
    std::istringstream cells(line);
    std::size_t name = 0;
    cells >> name;
    double value = 0;
    for (std::size_t column = 0; cells >> value; ++column) {
      if (column > row) table.push_back({.first = row, .second = column, .value = value});
    }
  }
  return table;
}

class RecordedPairs : public testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(kPath)) GTEST_SKIP() << "there is no " << kPath;
  }

  static FleetFinding judge(const std::string& title) {
    const auto table = matrix_of(kPath, title);
    EXPECT_EQ(table.size(), 28U);
    return judge_pairs(8, table, kDesignRule);
  }

  static constexpr const char* kPath =
      "../shared/data/p2p_bandwidth/tartan_scale_up_p2p_test_dgx1_ascending.txt";
};

TEST_F(RecordedPairs, OfADgx1WithPeerAccessHaveTheRoutedPairsAsLinksAndBlameNoGpu) {
  // The cube mesh joins 16 of 28 pairs: every GPU has four fast and three slow partners.
  const auto finding = judge("Bidirectional P2P=Enabled");
  EXPECT_TRUE(finding.blame.nodes.empty());
  EXPECT_EQ(finding.blame.links.size(), 12U);
  for (const auto& pair : finding.blame.links) EXPECT_LT(*pair.value, 10);
}

TEST_F(RecordedPairs, OfADgx1WithoutPeerAccessHaveTheSwitchPairsAsLinks) {
  // 0-1, 2-3, 4-5 and 6-7 share a PCIe switch: through the host they share its one way up.
  const auto finding = judge("Bidirectional P2P=Disabled");
  EXPECT_TRUE(finding.homogeneous);
  EXPECT_TRUE(finding.blame.nodes.empty());
  ASSERT_EQ(finding.blame.links.size(), 4U);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(finding.blame.links[i].first, 2 * i);
    EXPECT_EQ(finding.blame.links[i].second, 2 * i + 1);
  }
}

}  // namespace
}  // namespace busbar::judge
