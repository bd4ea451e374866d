// SPDX-License-Identifier: BSD-3-Clause
#include "judge/fleet/fleet.hpp"

#include <algorithm>
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
