// SPDX-License-Identifier: BSD-3-Clause
#include "topo/choice/compare.hpp"

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "tests/unit/topo/choice/machines.hpp"
#include "topo/systems/system_file.hpp"

namespace busbar::topo {
namespace {

TEST(CompareSets, IsAgainstTheFirst) {
  const std::vector<std::vector<int>> sets{{0, 1}, {0, 3}, {0, 5}};
  const auto table = compare_sets(nvlink_graph(dgx1v_rows(), 25), sets);
  ASSERT_EQ(table.size(), 3U);
  EXPECT_EQ(table[0].ratio, 1);
  EXPECT_EQ(table[1].ratio, 2);
  EXPECT_EQ(table[2].ratio, 0);
  EXPECT_EQ(table[1].choice.bound.devices, (std::vector{0, 3}));
  EXPECT_EQ(table[1].choice.policy, Policy::List);
  EXPECT_EQ(table[1].system, "mesh");
}

TEST(CompareSets, HasNoRatioToNothing) {
  const std::vector<std::vector<int>> sets{{0, 5}, {0, 3}};
  EXPECT_EQ(compare_sets(nvlink_graph(dgx1v_rows(), 25), sets)[1].ratio, 0);
}

TEST(CompareSystems, IsAgainstTheFirstSystemOfEachSize) {
  const std::vector<Graph> graphs{nvlink_graph(dgx1v_rows(), 25), star_graph(16, 6, 25)};
  const std::vector<int> sizes{4, 8, 16};
  const auto table = compare_systems(graphs, sizes, Policy::Best);
  ASSERT_EQ(table.size(), 5U);
  EXPECT_EQ(table[0].system, "mesh");
  EXPECT_NEAR(table[1].ratio, 1.5, 1e-6);  // 150 against 100
  EXPECT_NEAR(table[3].ratio, 1, 1e-6);    // 150 against 150
  EXPECT_EQ(table[4].system, "star");
  EXPECT_EQ(table[4].ratio, 1);
  EXPECT_THROW((void)compare_systems(graphs, std::vector{0}, Policy::Best), Error);
}

TEST(Summary, HasAllDevicesThenTheBestAndTheWorstOfEachSize) {
  const auto table = summarize(nvlink_graph(dgx1v_rows(), 25));
  ASSERT_EQ(table.size(), 5U);
  EXPECT_EQ(table[0].system, "all 8");
  EXPECT_NEAR(table[0].choice.bound.bound_GBps, 150, 1e-6);
  EXPECT_EQ(table[1].system, "best 4");
  EXPECT_NEAR(table[1].choice.bound.bound_GBps, 100, 1e-6);
  EXPECT_EQ(table[2].system, "worst 4");
  EXPECT_EQ(table[2].ratio, 0);
  EXPECT_EQ(table[4].system, "worst 2");
}

TEST(Summary, HasSetsOfTheFirstOfSeveralHosts) {
  const Graph pod = load_system("c4140-pcie-x8");
  const auto table = summarize(pod);
  ASSERT_GE(table.size(), 3U);
  EXPECT_EQ(table[0].system, "all 32");
  EXPECT_EQ(table[1].choice.bound.devices, (std::vector{0, 1, 2, 3}));
}

TEST(Summary, HasOneLineWhereAnySetIsAsGood) {
  const auto table = summarize(star_graph(4, 6, 25));
  ASSERT_EQ(table.size(), 2U);
  EXPECT_EQ(table[1].system, "any 2");
  EXPECT_TRUE(summarize(star_graph(1, 6, 25)).empty());
}

}  // namespace
}  // namespace busbar::topo
