// SPDX-License-Identifier: BSD-3-Clause
#include "bootstrap/node_map.hpp"

namespace busbar {
namespace {

TEST(NodeMap, NodesAreNumberedByTheirLowestRank) {
  const NodeMap map = NodeMap::numbered(std::vector<std::string>{"z", "a", "z", "b", "a"});
  EXPECT_THAT(map.of_rank, ElementsAre(0, 1, 0, 2, 1));
  EXPECT_EQ(map.count, 3);
}

}  // namespace
}  // namespace busbar
