// SPDX-License-Identifier: BSD-3-Clause
#include "judge/fleet/fleet.hpp"

#include <limits>

namespace busbar::judge {
namespace {

/// "; 2: 3/3; 0-1": nodes with their low pairs and all pairs, then links.
std::string text_of(const Blame& blame) {
  std::string text;
  for (const BlamedNode& one : blame.nodes) {
    text += fmt::format("; {}: {}/{}", one.node, one.count.low, one.count.all);
  }
  for (const NumberPair& link : blame.links)
    text += fmt::format("; {}-{}", link.first, link.second);
  return text;
}

TEST(FleetFinding, IsInfinitelyFarWhereAllOthersAreEqual) {
  const FleetFinding spread{.median = 100, .mad = 0};
  EXPECT_EQ(spread.robust_z(99), -std::numeric_limits<double>::infinity());
  EXPECT_EQ(spread.robust_z(100), 0);
}

TEST(JudgeMembers, NeedsADistanceBeyondAndAScatterWithinTheirBounds) {
  // The median is 128, and the MAD of 2 is a 64th of it. 120 is 8 / (1.4826 * 2) scaled ones away.
  const std::vector<double> values{120, 124, 126, 127, 128, 128, 129, 130, 132};
  Rule rule{
      .bounds = {.fail_below = 0.95}, .min_robust_z = 8 / (1.4826 * 2), .max_fleet_mad = 1.0 / 64};
  EXPECT_THAT(judge_members(values, rule).low, testing::Each(false));
  EXPECT_TRUE(judge_members(values, rule).homogeneous);
  rule.min_robust_z *= 0.999;
  EXPECT_THAT(judge_members(values, rule).low, Contains(true).Times(1));
  rule.max_fleet_mad *= 0.999;
  EXPECT_FALSE(judge_members(values, rule).homogeneous);
}

/// All pairs of nodes.
struct LowPairs {
  std::size_t nodes = 0;
  std::vector<JudgedPair> pairs{};

  explicit LowPairs(std::size_t count) : nodes(count) {
    for (std::size_t first = 0; first < count; ++first) {
      for (std::size_t second = first + 1; second < count; ++second) {
        pairs.push_back({first, second});
      }
    }
  }

  LowPairs& slow(std::size_t first, std::size_t second) {
    for (JudgedPair& pair : pairs) {
      if (pair.first == first && pair.second == second) pair.low = true;
    }
    return *this;
  }

  [[nodiscard]] std::string blame() const { return text_of(blame_of(nodes, pairs)); }
};

TEST(BlameOf, BlamesNodesWithHalfOfTheirPairsLowAndLinksForTheRest) {
  EXPECT_EQ(LowPairs(4).blame(), "");
  EXPECT_EQ(LowPairs(3).slow(0, 1).blame(), "; 0-1");
  EXPECT_EQ(LowPairs(2).slow(0, 1).blame(), "; 0-1");
  EXPECT_EQ(LowPairs(5).slow(0, 1).slow(0, 2).blame(), "; 0: 2/4");
  EXPECT_EQ(LowPairs(6).slow(0, 1).slow(0, 2).blame(), "; 0-1; 0-2");
  EXPECT_EQ(LowPairs(6).slow(0, 2).slow(1, 2).slow(2, 3).slow(2, 4).slow(2, 5).slow(3, 5).blame(),
            "; 2: 5/5; 3-5");
  // The second node is counted without the first.
  EXPECT_EQ(LowPairs(4).slow(0, 1).slow(0, 2).slow(0, 3).slow(1, 2).slow(1, 3).blame(),
            "; 0: 3/3; 1: 2/2");
  // A ring of four low pairs: each node has two of three, and the first is blamed.
  EXPECT_TRUE(
      LowPairs(4).slow(0, 1).slow(1, 2).slow(2, 3).slow(0, 3).blame().starts_with("; 0: 2/3"));
}

TEST(BlameOf, BlamesOfEqualCountsTheNodeWithFewerGoodPairs) {
  // Nodes 2 and 3 are slow and their own pair gave nothing; 0 and 1 have two low pairs of three.
  LowPairs table(4);
  table.slow(0, 2).slow(0, 3).slow(1, 2).slow(1, 3);
  table.pairs.pop_back();
  EXPECT_EQ(table.blame(), "; 2: 2/2; 3: 2/2");
}

}  // namespace
}  // namespace busbar::judge
