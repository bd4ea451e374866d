// SPDX-License-Identifier: BSD-3-Clause
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "judge/fleet/fleet.hpp"

namespace busbar::judge {
namespace {

/// All pairs of nodes: 1 where it is low, else 10.
struct Table {
  std::size_t nodes = 0;
  std::vector<PairValue> pairs{};
  std::vector<bool> low{};

  explicit Table(std::size_t count) : nodes(count) {
    for (std::size_t first = 0; first < count; ++first) {
      for (std::size_t second = first + 1; second < count; ++second) {
        pairs.push_back({.first = first, .second = second, .value = 10});
        low.push_back(false);
      }
    }
  }

  Table& slow(std::size_t first, std::size_t second) {
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      if (pairs[i].first != first || pairs[i].second != second) continue;
      pairs[i].value = 1;
      low[i] = true;
    }
    return *this;
  }

  [[nodiscard]] Blame blame() const { return blame_of(nodes, pairs, low); }
};

TEST(BlameOf, BlamesNobodyWhereNothingIsLow) {
  const Blame blame = Table(4).blame();
  EXPECT_TRUE(blame.nodes.empty());
  EXPECT_TRUE(blame.links.empty());
}

TEST(BlameOf, CallsARowEffectANodeAndTheRestLinks) {
  const Blame blame =
      Table(6).slow(0, 2).slow(1, 2).slow(2, 3).slow(2, 4).slow(2, 5).slow(3, 5).blame();
  ASSERT_EQ(blame.nodes.size(), 1U);
  EXPECT_EQ(blame.nodes[0].node, 2U);
  EXPECT_EQ(blame.nodes[0].low, 5U);
  EXPECT_EQ(blame.nodes[0].pairs, 5U);
  EXPECT_EQ(blame.nodes[0].median, 1);
  ASSERT_EQ(blame.links.size(), 1U);
  EXPECT_EQ(blame.links[0].first, 3U);
  EXPECT_EQ(blame.links[0].second, 5U);
}

TEST(BlameOf, CountsTheSecondNodeWithoutTheFirst) {
  const Blame blame = Table(4).slow(0, 1).slow(0, 2).slow(0, 3).slow(1, 2).slow(1, 3).blame();
  ASSERT_EQ(blame.nodes.size(), 2U);
  EXPECT_EQ(blame.nodes[0].node, 0U);
  EXPECT_EQ(blame.nodes[1].node, 1U);
  EXPECT_EQ(blame.nodes[1].low, 2U);
  EXPECT_EQ(blame.nodes[1].pairs, 2U);
  EXPECT_TRUE(blame.links.empty());
}

TEST(BlameOf, CallsOneLowPairOfThreeALink) {
  const Blame blame = Table(3).slow(0, 1).blame();
  EXPECT_TRUE(blame.nodes.empty());
  EXPECT_EQ(blame.links.size(), 1U);
}

TEST(BlameOf, CallsTheOnlyPairOfTwoNodesALink) {
  const Blame blame = Table(2).slow(0, 1).blame();
  EXPECT_TRUE(blame.nodes.empty());
  EXPECT_EQ(blame.links.size(), 1U);
}

TEST(BlameOf, BlamesANodeWithHalfOfItsPairsLowButNotWithLess) {
  EXPECT_EQ(Table(5).slow(0, 1).slow(0, 2).blame().nodes.size(), 1U);
  const Blame less = Table(6).slow(0, 1).slow(0, 2).blame();
  EXPECT_TRUE(less.nodes.empty());
  EXPECT_EQ(less.links.size(), 2U);
}

TEST(BlameOf, BlamesTheFirstOfEqualNodes) {
  // A ring of four low pairs: each node has two of three.
  const Blame blame = Table(4).slow(0, 1).slow(1, 2).slow(2, 3).slow(0, 3).blame();
  ASSERT_FALSE(blame.nodes.empty());
  EXPECT_EQ(blame.nodes[0].node, 0U);
}

TEST(BlameOf, BlamesOfEqualCountsTheNodeWithFewerGoodPairs) {
  // Nodes 2 and 3 are slow and their own pair gave nothing; 0 and 1 have two low pairs of three.
  Table table(4);
  table.slow(0, 2).slow(0, 3).slow(1, 2).slow(1, 3);
  table.pairs.back().value = std::nullopt;
  const Blame blame = table.blame();
  ASSERT_EQ(blame.nodes.size(), 2U);
  EXPECT_EQ(blame.nodes[0].node, 2U);
  EXPECT_EQ(blame.nodes[1].node, 3U);
  EXPECT_TRUE(blame.links.empty());
}

TEST(RowEffect, DoesNotCountPairsWithoutAFiniteValue) {
  std::vector<PairValue> pairs{
      {.first = 0, .second = 1, .value = std::numeric_limits<double>::quiet_NaN()},
      {.first = 0, .second = 2},
      {.first = 1, .second = 2, .value = 0.0}};
  const Blame blame = blame_of(3, pairs, {true, true, true});
  EXPECT_TRUE(blame.nodes.empty()) << "each node has one pair at most";
  ASSERT_EQ(blame.links.size(), 1U);
  EXPECT_EQ(blame.links[0].first, 1U);
}

}  // namespace
}  // namespace busbar::judge
