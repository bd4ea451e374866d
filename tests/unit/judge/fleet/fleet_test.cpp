// SPDX-License-Identifier: BSD-3-Clause
#include "judge/fleet/fleet.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <limits>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "tests/unit/judge/fleet/generated_fleet.hpp"

namespace busbar::judge {
namespace {

using Table = std::vector<PairValue>;

constexpr double kInfinite = std::numeric_limits<double>::infinity();
constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

/// Pairs of nodes of these speeds without any noise.
Table exact(const std::vector<double>& speed) { return GeneratedFleet(0).pairs(speed, 0); }
Table equal(std::size_t nodes) { return exact(std::vector<double>(nodes, 1)); }

/// Pairs 0-1, 0-2, ... 1-2, ... of these values; the table lacks those of kNone.
Table triangle(std::size_t nodes, const std::vector<double>& values) {
  Table table = equal(nodes);
  for (std::size_t i = 0; i < values.size(); ++i) table.at(i).value = values[i];
  std::erase_if(table, [](const PairValue& pair) { return std::isnan(*pair.value); });
  return table;
}

PairValue& at(Table& table, std::size_t first, std::size_t second) {
  return *std::find_if(table.begin(), table.end(), [&](const PairValue& pair) {
    return pair.first == first && pair.second == second;
  });
}

std::string judged(std::size_t nodes, const Table& table, const OutlierRule& rule = kDesignRule) {
  return text_of(judge_pairs(nodes, table, rule));
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
    EXPECT_EQ(judged(nodes, equal(nodes)), "even 100, 0 low");
  }
  EXPECT_EQ(judged(2, exact({1, 0.1})), "even 10, 0 low") << "the only pair";
  // What a fleet cannot show of itself: an absolute or theoretical rule must.
  EXPECT_EQ(judged(6, exact(std::vector<double>(6, 0.1))), "even 10, 0 low");
  for (const Table& table : {Table{}, {{.first = 0, .second = 1}}}) {
    const FleetFinding finding = judge_pairs(2, table, kDesignRule);
    EXPECT_EQ(text_of(finding).substr(text_of(finding).find(' ')), " 0, 0 low");
    EXPECT_EQ(finding.low.size(), table.size());
  }
}

TEST(JudgePairs, BlamesSlowNodes) {
  const std::vector<std::tuple<std::vector<double>, std::string>> cases{
      {{1, 0.5, 1}, "uneven 100, 2 low; 1: 2/2 50"},
      {{1, 1, 0.5, 1}, "uneven 100, 3 low; 2: 3/3 50"},
      {{0.5, 1, 0.5, 1}, "uneven 100, 5 low; 0: 3/3 50; 2: 2/2 50"},
      {{1, 0.5, 1, 1, 0.6}, "uneven 100, 7 low; 1: 4/4 50; 4: 3/3 60"},
      {{1, 1, 1, 0, 1}, "even 100, 4 low; 3: 4/4 0"},
      // Of nodes that are equally slow the first goes first.
      {{1, 0.5, 1, 1, 0.5, 1, 1, 1}, "even 100, 13 low; 1: 7/7 50; 4: 6/6 50"}};
  for (const auto& [speed, text] : cases) EXPECT_EQ(judged(speed.size(), exact(speed)), text);
  const FleetFinding one = judge_pairs(4, exact({1, 1, 0.5, 1}), kDesignRule);
  EXPECT_TRUE(one.of_median) << "of the pairs without node 2";
  const FleetFinding two = judge_pairs(4, exact({0.5, 1, 0.5, 1}), kDesignRule);
  EXPECT_EQ(two.spread.mad, 0) << "most pairs are slow alike";
  // One fast pair, or three slow nodes of five: they would be more than half.
  EXPECT_TRUE(judge_pairs(5, exact({0.5, 0.5, 0.5, 1, 1}), kDesignRule).blame.nodes.empty());
}

struct ChangedCase {
  std::string name{};
  std::vector<double> speed{};
  std::function<void(Table&)> change{};
  std::string text{};
};

TEST(JudgePairs, TakesPairsThatDifferForLinksNodesOrGaps) {
  const std::vector<double> six(6, 1);
  const std::vector<ChangedCase> cases{
      {"a link of three",
       {1, 1, 1},
       [](Table& t) { at(t, 0, 2).value = 50; },
       "even 100, 1 low; 0-2"},
      {"a link of six", six, [](Table& t) { at(t, 1, 4).value = 60; }, "even 100, 1 low; 1-4"},
      {"a link beside a slow node",
       {1, 1, 1, 0.3, 1, 1, 1},
       [](Table& t) { at(t, 1, 4).value = 60; },
       "even 100, 7 low; 3: 6/6 30; 1-4"},
      {"far by MAD 0, but above 90 %",
       {1, 1, 1, 1, 1},
       [](Table& t) { at(t, 0, 1).value = 91; },
       "even 100, 0 low"},
      {"gaps in the row of a slow node",
       {1, 1, 0.5, 1, 1, 1},
       [](Table& t) {
         at(t, 0, 2).value = std::nullopt;
         at(t, 1, 2).value = kNone;
       },
       "even 100, 3 low; 2: 3/3 50"},
      {"a low pair that is the only one of its node",
       {1, 1, 0.5, 1, 1, 1},
       [](Table& t) {
         for (PairValue& pair : t) {
           if (pair.first == 0 && pair.second == 2) continue;
           if (pair.first == 2 || pair.second == 2) pair.value = std::nullopt;
         }
       },
       "even 100, 1 low; 0-2"},
      {"exactly half of the pairs of a node",
       {1, 1, 1, 1, 1},
       [](Table& t) { at(t, 0, 1).value = at(t, 0, 2).value = 50; },
       "even 100, 2 low; 0: 2/4 75"}};
  for (const ChangedCase& one : cases) {
    Table table = exact(one.speed);
    one.change(table);
    EXPECT_EQ(judged(one.speed.size(), table), one.text) << one.name;
  }
  Table racks = equal(16);
  for (PairValue& pair : racks) {
    if (pair.first / 4 == pair.second / 4) pair.value = 150;
  }
  EXPECT_EQ(judged(16, racks), "even 100, 0 low") << "pairs within racks are faster";
  Table noisy = GeneratedFleet(3).pairs(std::vector<double>(12, 1), 0.04);
  noisy[5].value = 85;
  EXPECT_EQ(judge_pairs(12, noisy, kDesignRule).low, std::vector<bool>(66, false))
      << "below 90 %, but within 6 MADs";
}

TEST(JudgePairs, AcquitsByPairsWithNodesThatAreNotBlamedAlone) {
  // Node 5 has 20 with all but node 0, with which it has 100. Node 0 has two of four pairs low, or
  // with node 5 two of five.
  const Table table =
      triangle(6, {50, 50, 100, 100, 100, 100, 100, 100, 20, 100, 100, 20, 100, 20, 20});
  EXPECT_EQ(blamed(judge_pairs(6, table, kDesignRule)), (std::vector<std::size_t>{0, 5}));
}

TEST(JudgePairs, CountsOnlyNodesWithValuesForMoreThanHalf) {
  // Nodes 2, 0 and 3 are low by the ninth of ten, 105, and then by 122: three of five.
  const Table table = triangle(5, {105, 47, 81, 105, 47, 80, 122, 46, 45, 80});
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
  const Table table = triangle(5, {100, 100, kNone, 40, 110, kNone, 50, 10, 95, 80});
  EXPECT_EQ(judged(5, table, {.fail_below = 0.95, .min_robust_z = 6, .max_fleet_mad = 0.3}),
            "even 87.5, 0 low");
}

TEST(JudgePairs, AcquitsByTheErrorOfAMedian) {
  // The pairs of nodes 1 to 5 have the median 100 and deviations of 0, 0, 4, 4, 4, 4, 5, 5, 6, 6: a
  // MAD of 4. The median of five has the error sqrt(pi / 2) * 1.4826 * 4 / sqrt(5) = 3.324, and
  // node 0's, 86, is 14 / 3.324 = 4.21 of it below. All fifteen together scatter by 8 of 96.
  const Table table =
      triangle(6, {86, 86, 86, 86, 86, 94, 100, 104, 106, 104, 95, 100, 105, 96, 96});
  const auto blamed_at = [&](double min_robust_z) {
    OutlierRule rule = kDesignRule;
    rule.min_robust_z = min_robust_z;
    return blamed(judge_pairs(6, table, rule));
  };
  EXPECT_EQ(blamed_at(4.1), std::vector<std::size_t>{0});
  EXPECT_TRUE(blamed_at(4.3).empty());
  EXPECT_TRUE(blamed_at(14 / (1.4826 * (4 * 1.2533 / std::sqrt(5.0)))).empty()) << "not beyond it";
}

TEST(JudgePairs, AcquitsWhereLessThanHalfIsBelowTheOthersMedian) {
  // All ten scatter; half of the ninth of ten, 120, is 60: node 0 has 40 and 50 below it. Half of
  // the others' median, 100, is 50, which 50 is not below.
  const Table table = triangle(5, {40, 50, 100, 100, 80, 100, 120, 120, 100, 80});
  const OutlierRule rule{.fail_below = 0.5, .min_robust_z = 1, .max_fleet_mad = 0.1};
  EXPECT_TRUE(blamed(judge_pairs(5, table, rule)).empty());
}

TEST(JudgePairs, BlamesTheMiddleOfAStarWhoseOthersHaveNoPairs) {
  // The reference is the highest of four: without node 0 there is no value.
  EXPECT_EQ(judged(5, {{0, 1, 100.0}, {0, 2, 100.0}, {0, 3, 20.0}, {0, 4, 20.0}}),
            "uneven 100, 2 low; 0: 2/4 60");
}

TEST(JudgePairs, CountsAPairAtTheBoundAsNotLow) {
  // Node 0's last pair is a half of the others', and the others are 100: in a row that is blamed
  // the fraction alone decides.
  OutlierRule rule = kDesignRule;
  rule.fail_below = 0.5;
  EXPECT_EQ(judged(6, triangle(6, {20, 10, 30, 40, 50}), rule), "even 100, 4 low; 0: 4/5 30");
}

/// Is it not homogeneous because its fast pairs stand above the rest?
bool stands_above(std::size_t nodes, const Table& table, double fail_below,
                  double min_robust_z = 6) {
  return !judge_pairs(nodes, table,
                      {.fail_below = fail_below, .min_robust_z = min_robust_z, .max_fleet_mad = 1})
              .homogeneous;
}

TEST(FastPairs, StandAboveAMedianThatIsBelowTheFractionOfTheirs) {
  const Table table = exact({0.5, 1, 0.5, 1});  // five of 50, one of 100
  EXPECT_FALSE(stands_above(4, table, 0.5));
  EXPECT_TRUE(stands_above(4, table, 0.501));
}

TEST(FastPairs, StandAboveBeyondTheDistance) {
  // The median of six is 50.5, the deviations are 0.5, 0.5, 1.5, 1.5, 2.5 and 49.5: a MAD of 1.5,
  // and 100 is 49.5 / (1.4826 * 1.5) = 22.26 scaled ones above.
  const Table table = triangle(4, {48, 49, 50, 51, 100, 52});
  EXPECT_TRUE(stands_above(4, table, 0.9, 22.2));
  EXPECT_FALSE(stands_above(4, table, 0.9, 22.3));
  EXPECT_FALSE(stands_above(4, table, 0.9, 49.5 / (1.4826 * 1.5))) << "not beyond it";
}

TEST(FastPairs, IncludeAPairAtTheFraction) {
  // Nodes 0 to 2 have 100, 100 and 50, a half of it; the twelve other pairs have 20. The 14th of
  // fifteen is 100.
  Table table = exact(std::vector<double>(6, 0.2));
  at(table, 0, 1).value = at(table, 0, 2).value = 100;
  at(table, 1, 2).value = 50;
  EXPECT_TRUE(stands_above(6, table, 0.5));
  EXPECT_FALSE(stands_above(6, table, 0.51)) << "two of three pairs are less than three quarters";
}

TEST(FastPairs, MakeBothOfTheirNodesFast) {
  // 100 between 0 and 1, 50 between 2 and 3, else 20: of the six pairs of four nodes two are fast.
  const Table table = triangle(4, {100, 20, 20, 20, 20, 50});
  EXPECT_FALSE(stands_above(4, table, 0.5));
  EXPECT_TRUE(stands_above(4, table, 0.51)) << "nodes 2 and 3 have no fast pair";
}

TEST(FastPairs, AreEnoughWithThreeQuartersOfTheirNodesPairs) {
  // Nodes 0 to 3 have four pairs with a value, three of them fast; the others have 20.
  Table table = exact(std::vector<double>(6, 0.2));
  at(table, 0, 1).value = at(table, 1, 2).value = at(table, 2, 3).value = 100;
  at(table, 1, 3).value = at(table, 0, 3).value = std::nullopt;
  EXPECT_TRUE(stands_above(6, table, 0.9));
  at(table, 0, 3).value = 20;  // three of five
  EXPECT_FALSE(stands_above(6, table, 0.9));
}

TEST(JudgeMembers, BlamesTheLowOnesByTheMedianOrWhereTheyScatterByTheNinthOfTen) {
  const auto members = [](const std::vector<double>& values, const OutlierRule& rule) {
    return text_of(judge_members(values, rule));
  };
  EXPECT_EQ(members({100, 101, 60, 99, 100, 98}, kDesignRule), "even 99.5, 1 low; 2: 1/1 60");
  EXPECT_EQ(members({100, 50, 50, 100}, kDesignRule), "uneven 100, 2 low; 1: 1/1 50; 2: 1/1 50");
  EXPECT_EQ(members({5}, kDesignRule), "even 5, 0 low");
  EXPECT_EQ(members({}, kDesignRule), "even 0, 0 low");
  EXPECT_TRUE(judge_members(std::vector<double>{}, kDesignRule).low.empty());
  EXPECT_EQ(
      members({100, 50, 100, 100}, {.fail_below = 0.5, .min_robust_z = 6, .max_fleet_mad = 0.05}),
      "even 100, 0 low");
  const auto finding =
      judge_members(std::vector<double>{140, 50, 60, 70, 80, 90, 100, 110, 120, 130}, kDesignRule);
  EXPECT_FALSE(finding.homogeneous);
  EXPECT_FALSE(finding.of_median);
  EXPECT_EQ(finding.reference, 130);
  EXPECT_EQ(finding.top, 130);
  EXPECT_EQ(finding.spread.median, 95);
}

TEST(JudgeMembers, NeedsADistanceBeyondAndAScatterWithinTheirBounds) {
  // The median is 128, and the MAD of 2 is a 64th of it. 120 is 8 / (1.4826 * 2) scaled ones away.
  const std::vector<double> values{120, 124, 126, 127, 128, 128, 129, 130, 132};
  OutlierRule rule{.fail_below = 0.95, .min_robust_z = 8 / (1.4826 * 2), .max_fleet_mad = 1.0 / 64};
  EXPECT_EQ(text_of(judge_members(values, rule)), "even 128, 0 low");
  rule.min_robust_z *= 0.999;
  EXPECT_TRUE(text_of(judge_members(values, rule)).starts_with("even 128, 1 low"));
  rule.max_fleet_mad *= 0.999;
  EXPECT_FALSE(judge_members(values, rule).homogeneous);
}

/// All pairs of nodes: 1 where it is low, else 10.
struct LowPairs {
  std::size_t nodes = 0;
  std::vector<PairValue> pairs{};
  std::vector<bool> low{};

  explicit LowPairs(std::size_t count) : nodes(count) {
    for (std::size_t first = 0; first < count; ++first) {
      for (std::size_t second = first + 1; second < count; ++second) {
        pairs.push_back({.first = first, .second = second, .value = 10});
        low.push_back(false);
      }
    }
  }

  LowPairs& slow(std::size_t first, std::size_t second) {
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      if (pairs[i].first != first || pairs[i].second != second) continue;
      pairs[i].value = 1;
      low[i] = true;
    }
    return *this;
  }

  [[nodiscard]] std::string blame() const { return text_of(blame_of(nodes, pairs, low)); }
};

TEST(BlameOf, BlamesNodesWithHalfOfTheirPairsLowAndLinksForTheRest) {
  EXPECT_EQ(LowPairs(4).blame(), "");
  EXPECT_EQ(LowPairs(3).slow(0, 1).blame(), "; 0-1");
  EXPECT_EQ(LowPairs(2).slow(0, 1).blame(), "; 0-1");
  EXPECT_EQ(LowPairs(5).slow(0, 1).slow(0, 2).blame(), "; 0: 2/4 5.5");
  EXPECT_EQ(LowPairs(6).slow(0, 1).slow(0, 2).blame(), "; 0-1; 0-2");
  EXPECT_EQ(LowPairs(6).slow(0, 2).slow(1, 2).slow(2, 3).slow(2, 4).slow(2, 5).slow(3, 5).blame(),
            "; 2: 5/5 1; 3-5");
  // The second node is counted without the first.
  EXPECT_EQ(LowPairs(4).slow(0, 1).slow(0, 2).slow(0, 3).slow(1, 2).slow(1, 3).blame(),
            "; 0: 3/3 1; 1: 2/2 1");
  // A ring of four low pairs: each node has two of three, and the first is blamed.
  EXPECT_TRUE(
      LowPairs(4).slow(0, 1).slow(1, 2).slow(2, 3).slow(0, 3).blame().starts_with("; 0: 2/3 "));
}

TEST(BlameOf, BlamesOfEqualCountsTheNodeWithFewerGoodPairs) {
  // Nodes 2 and 3 are slow and their own pair gave nothing; 0 and 1 have two low pairs of three.
  LowPairs table(4);
  table.slow(0, 2).slow(0, 3).slow(1, 2).slow(1, 3);
  table.pairs.back().value = std::nullopt;
  EXPECT_EQ(table.blame(), "; 2: 2/2 1; 3: 2/2 1");
}

TEST(BlameOf, DoesNotCountPairsWithoutAFiniteValue) {
  const Table pairs{{0, 1, kNone}, {0, 2, std::nullopt}, {1, 2, 0.0}};
  EXPECT_EQ(text_of(blame_of(3, pairs, {true, true, true})), "; 1-2") << "one pair at most each";
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
  EXPECT_EQ(text_of(finding.blame), "; 0-1; 2-3; 4-5; 6-7");
}

}  // namespace
}  // namespace busbar::judge
