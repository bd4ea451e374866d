// SPDX-License-Identifier: BSD-3-Clause
#include "judge/fleet/fleet.hpp"

namespace busbar::judge {
namespace {

TEST(BlameOf, BlamesOfEqualCountsTheNodeWithFewerGoodPairs) {
  // Nodes 2 and 3 are slow and their own pair gave nothing; 0 and 1 have two low pairs of three.
  const std::vector<JudgedPair> pairs{
      {0, 1, false}, {0, 2, true}, {0, 3, true}, {1, 2, true}, {1, 3, true}};
  const Blame blame = blame_of(4, pairs);
  ASSERT_EQ(blame.nodes.size(), 2U);
  for (const std::size_t i : {0U, 1U}) {
    EXPECT_EQ(blame.nodes[i].node, 2 + i);
    EXPECT_EQ(blame.nodes[i].count.low, 2U);
    EXPECT_EQ(blame.nodes[i].count.all, 2U);
  }
  EXPECT_TRUE(blame.links.empty());
}

}  // namespace
}  // namespace busbar::judge
