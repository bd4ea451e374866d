// SPDX-License-Identifier: BSD-3-Clause
#include "bootstrap/node_map.hpp"

namespace busbar {
namespace {

using ::testing::ElementsAre;

TEST(NodeMap, NodesAreNumberedByTheirLowestRank) {
  const NodeMap map = NodeMap::numbered(std::vector<std::string>{"z", "a", "z", "b", "a"});
  EXPECT_THAT(map.of_rank, ElementsAre(0, 1, 0, 2, 1));
  EXPECT_EQ(map.count, 3);
}

TEST(NodeMap, SomeRanksNumberTheirNodesAnew) {
  const NodeMap map{.of_rank = {0, 1, 0, 2, 1}, .count = 3};
  const NodeMap part = map.among(std::vector<int>{3, 4, 1});
  EXPECT_THAT(part.of_rank, ElementsAre(0, 1, 1));
  EXPECT_EQ(part.count, 2);
}

}  // namespace
}  // namespace busbar
