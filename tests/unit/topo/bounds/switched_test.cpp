// SPDX-License-Identifier: BSD-3-Clause
#include "topo/bounds/switched.hpp"

#include <algorithm>

#include <gtest/gtest.h>

#include "tests/unit/topo/bounds/small_graphs.hpp"
#include "tests/unit/topo/nccl_source.hpp"

namespace busbar::topo {
namespace {

/// GPUs on several switches: digits of a row are the links to each switch.
Graph switches_graph(const std::vector<std::string>& rows) {
  Graph graph{.name = "switches"};
  const int medium = add_medium(graph, {.name = "NVLink 4", .nominal_GBps = 25});
  std::vector<int> hubs;
  for (std::size_t k = 0; k < rows.front().size(); ++k) {
    hubs.push_back(add_node(graph, {.kind = NodeKind::NvSwitch, .name = fmt::format("SW{}", k)}));
  }
  for (std::size_t k = 0; k < rows.size(); ++k) {
    graph.devices.push_back(add_node(graph, {.name = fmt::format("GPU{}", k)}));
    for (std::size_t s = 0; s < hubs.size(); ++s) {
      const int count = rows[k][s] - '0';
      if (count > 0) add_cable(graph, graph.devices.back(), hubs[s], medium, count);
    }
  }
  return graph;
}

TEST(SwitchedDomain, IsAsWideAsItsNarrowestPort) {
  Graph graph = star_graph(8, 18, 25);
  graph.links[4].count = 12;  // GPU2 lost links on its way out
  const auto domain = switched_domain(graph, prefix(8), {});
  ASSERT_TRUE(domain.has_value());
  EXPECT_DOUBLE_EQ(domain->port_GBps, 300);
  EXPECT_EQ(domain->narrowest, (std::vector<int>{4, 5}));
  EXPECT_DOUBLE_EQ(switched_domain(graph, std::vector<int>{0, 1, 3}, {})->port_GBps, 450);
}

TEST(SwitchedDomain, AddsTheSwitchesThatAllShare) {
  const auto domain = switched_domain(switches_graph({"5544", "5544", "5544"}), prefix(3), {});
  ASSERT_TRUE(domain.has_value());
  EXPECT_DOUBLE_EQ(domain->port_GBps, 450);
  const Graph uneven = switches_graph({"54", "45", "54"});
  EXPECT_FALSE(switched_domain(uneven, prefix(3), {}).has_value());
  EXPECT_NEAR(bound_of(uneven, prefix(3)).ring_GBps, 200, 1e-9) << "4 links of each switch";
}

TEST(SwitchedDomain, IsNoMeshAndNoPcieTree) {
  EXPECT_FALSE(switched_domain(dgx1(dgx1v_rows(), 25), prefix(4), {}).has_value());
  EXPECT_FALSE(switched_domain(pcie_graph({}), prefix(4), {}).has_value());
  Graph lost = star_graph(4, 18, 25);
  std::erase_if(lost.links, [&](const Link& link) {
    return link.from == lost.devices[3] || link.to == lost.devices[3];
  });
  EXPECT_FALSE(switched_domain(lost, prefix(4), {}).has_value()) << "off the fabric";
  EXPECT_TRUE(switched_domain(lost, prefix(3), {}).has_value());
}

TEST(SwitchedDomain, ReducesWhereTheSwitchCan) {
  const auto in_switch = [](const Graph& graph, int n, ConstantSet constants) {
    return switched_domain(graph, prefix(n), {.constants = constants})->in_switch_GBps;
  };
  const Graph hopper = star_graph(8, 18, 25, true, 20.6);
  EXPECT_DOUBLE_EQ(in_switch(hopper, 8, ConstantSet::Nominal).value_or(0), 700);
  EXPECT_DOUBLE_EQ(in_switch(hopper, 2, ConstantSet::Nominal).value_or(0), 300);
  EXPECT_DOUBLE_EQ(in_switch(hopper, 3, ConstantSet::Nominal).value_or(0), 450);
  EXPECT_DOUBLE_EQ(in_switch(hopper, 8, ConstantSet::Nccl).value_or(0), 476);
  EXPECT_FALSE(in_switch(star_graph(8, 12, 25), 8, ConstantSet::Nominal).has_value());
  EXPECT_FALSE(in_switch(star_graph(72, 18, 50, true, 40.1), 72, ConstantSet::Nccl).has_value())
      << "NCCL lists no speed so low";
}

/// NCCL's in-switch all-reduce of so many GPUs with 18 links each.
double nccl_GBps(int gpus, bool blackwell) {
  const Graph graph = star_graph(gpus, 18, blackwell ? 50 : 25, true, blackwell ? 40.1 : 20.6);
  return switched_domain(graph, prefix(gpus), {.constants = ConstantSet::Nccl})
      ->in_switch_GBps.value_or(0);
}

TEST(SwitchedDomain, AddsAtTheGreatestSpeedOfNcclThatAPortCarriesOnceMoreThanThereAreGpus) {
  struct Case {
    int gpus;
    double speed;  ///< the greatest on NCCL's list that is at most port / (gpus + 1)
  };
  // 18 x 20.6 = 370.8 over 3, 6, 7, 8, 9, 12, 13, 15, 16, 19, 24, 25, 31, 61, 62 and 124.
  for (const auto& [gpus, speed] :
       {Case{2, 60}, Case{5, 60}, Case{6, 50}, Case{7, 40}, Case{8, 40}, Case{11, 30}, Case{12, 24},
        Case{14, 24}, Case{15, 20}, Case{18, 15}, Case{23, 15}, Case{24, 12}, Case{30, 11},
        Case{60, 6}, Case{61, 3}, Case{123, 0}}) {
    EXPECT_NEAR(nccl_GBps(gpus, false), 2 * 0.85 * speed * (gpus - 1), 1e-9) << gpus;
  }
  // 18 x 40.1 = 721.8 over 8, 9, 10, 11, 13, 15, 16, 17, 19, 25, 30, 31, 37, 38 and 41.
  for (const auto& [gpus, speed] :
       {Case{7, 90}, Case{8, 80}, Case{9, 70}, Case{10, 60}, Case{12, 50}, Case{14, 45},
        Case{15, 45}, Case{16, 40}, Case{18, 30}, Case{24, 24}, Case{29, 24}, Case{30, 20},
        Case{36, 19}, Case{37, 18}, Case{40, 0}}) {
    EXPECT_NEAR(nccl_GBps(gpus, true), 2 * 0.74 * speed * (gpus - 1), 1e-9) << gpus;
  }
  EXPECT_NEAR(nccl_GBps(8, true), 828.8, 1e-9);
  EXPECT_NEAR(nccl_GBps(6, false), 425, 1e-9);
}

TEST(SwitchedDomain, HasTheSpeedsAndEfficienciesOfNcclsSource) {
  const auto search = test::nccl_source("search.cc");
  const auto tuning = test::nccl_source("tuning.cc");
  if (!search || !tuning) GTEST_SKIP() << "no ../shared/data/nccl-2.28.9.tar.xz";
  const auto efficiency = test::numbers_between(*tuning, "nvlsEfficiency[NCCL_NUM_COMPCAPS]", ";");
  ASSERT_EQ(efficiency.size(), 4U);
  const auto expected = [](double port, double n, std::vector<double> speeds, double share) {
    std::erase_if(speeds, [&](double speed) { return speed * (n + 1) > port; });
    return speeds.empty() ? 0
                          : 2 * share * *std::max_element(speeds.begin(), speeds.end()) * (n - 1);
  };
  const auto hopper = test::numbers_between(*search, "sm90SpeedArrayIntra[]", ";");
  auto blackwell = test::numbers_between(*search, "sm100SpeedArrayIntra[]", ";");
  ASSERT_EQ(hopper.size(), 11U);
  ASSERT_EQ(blackwell.size(), 11U);
  blackwell.push_back(45);  // since NCCL 2.29.2
  for (int gpus = 2; gpus < 128; ++gpus) {
    EXPECT_NEAR(nccl_GBps(gpus, false), expected(18 * 20.6, gpus, hopper, efficiency[2]), 1e-9);
    EXPECT_NEAR(nccl_GBps(gpus, true), expected(18 * 40.1, gpus, blackwell, efficiency[3]), 1e-9);
  }
}

}  // namespace
}  // namespace busbar::topo
