// SPDX-License-Identifier: BSD-3-Clause
#include "topo/predict/cluster.hpp"

#include "tests/unit/topo/bounds/small_graphs.hpp"

namespace busbar::topo {
namespace {

RankSet place(const EqualHosts& machine, int ranks, const std::string& devices) {
  return Cluster(machine).place(ranks, parse_selection("--devices", devices), {});
}

/// One host of eight GPUs in a cube mesh, so many times.
EqualHosts cubes(int hosts) {
  return {.host = cluster_of(dgx1v_rows(), 25, 1, 12.5), .hosts = hosts};
}

TEST(Cluster, FillsHostAfterHost) {
  const RankSet twenty = place(cubes(3), 20, "prefix");
  ASSERT_EQ(twenty.parts.size(), 3U);
  EXPECT_EQ(twenty.parts[0], (HostPart{0, prefix(8)}));
  EXPECT_EQ(twenty.parts[1], (HostPart{1, prefix(8)}));
  EXPECT_EQ(twenty.parts[2], (HostPart{2, prefix(4)}));
  EXPECT_EQ(twenty.ranks, 20);
  EXPECT_EQ(twenty.to_text(), "0,1,2,3,4,5,6,7;0,1,2,3");
  EXPECT_EQ(twenty.reason, "the first");
  EXPECT_EQ(place(cubes(3), 24, "prefix").to_text(), "0,1,2,3,4,5,6,7");
  EXPECT_EQ(place(cubes(3), 8, "prefix").parts.size(), 1U);
}

TEST(Cluster, ChoosesWithinTheHostThatIsNotFull) {
  const RankSet ten = place(cubes(3), 10, "best");
  ASSERT_EQ(ten.parts.size(), 2U);
  EXPECT_EQ(ten.parts[0].devices, prefix(8));
  EXPECT_EQ(ten.parts[1].devices, (std::vector{0, 3})) << "the first pair with two links";
  EXPECT_THAT(ten.reason, StartsWith("best of 28 sets"));
  EXPECT_EQ(place(cubes(3), 9, "best").parts[1].devices, std::vector{0}) << "one is like another";
  EXPECT_EQ(place(cubes(3), 16, "best").reason, "the first") << "all devices of each host";
}

TEST(Cluster, TakesListsOverAllHosts) {
  const RankSet four = place(cubes(2), 4, "7,8,3,15");
  ASSERT_EQ(four.parts.size(), 2U);
  EXPECT_EQ(four.parts[0], (HostPart{0, {7, 3}}));
  EXPECT_EQ(four.parts[1], (HostPart{1, {0, 7}}));
  EXPECT_EQ(four.reason, "as given");
  for (const auto& [ranks, list, token] : {std::tuple{2, "3,16", "16 is not a device"},
                                           {3, "3,4", "--ranks 2"},
                                           {17, "prefix", "--ranks 17"}}) {
    EXPECT_TRUE(
        test::failure_of([n = ranks, set = list] { (void)place(cubes(2), n, set); }).says(token))
        << list;
  }
}

}  // namespace
}  // namespace busbar::topo
