// SPDX-License-Identifier: BSD-3-Clause
// What the specification's table of worked results says of the built-in systems.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

#include <gtest/gtest.h>

#include "tests/unit/topo/systems/sets.hpp"
#include "topo/bounds/bound.hpp"
#include "topo/systems/system_file.hpp"

namespace busbar::topo {
namespace {

using Set = std::vector<int>;

double ring(const Graph& graph, const Set& set) { return bound_of(graph, set).ring_GBps; }

double bound(const Graph& graph, const Set& set, ConstantSet constants = ConstantSet::Nominal) {
  return bound_of(graph, set, {.constants = constants}).bound_GBps;
}

void expect_prefixes(const std::string& system, const std::vector<double>& from_two) {
  const Graph graph = load_system(system);
  for (std::size_t i = 0; i < from_two.size(); ++i)
    EXPECT_NEAR(ring(graph, prefix(static_cast<int>(i) + 2)), from_two[i], 1e-6)
        << system << ", first " << i + 2;
}

/// How many sets of k devices have which ring bound.
using Classes = std::map<double, int>;

Classes classes(const Graph& graph, int k) {
  Classes found;
  for (const Set& set : sets_of(static_cast<int>(device_count(graph)), k))
    ++found[std::round(ring(graph, set) * 1e6) / 1e6];
  return found;
}

/// The same links with other figures: what differs between two products of one shape.
Graph with_nvlink(Graph graph, double nominal_GBps, double count) {
  for (Medium& medium : graph.media)
    if (medium.kind == LinkKind::NvLink) medium.nominal_GBps = nominal_GBps;
  for (Link& link : graph.links)
    if (graph.media[static_cast<std::size_t>(link.medium)].kind == LinkKind::NvLink)
      link.count = count;
  return graph;
}

TEST(SystemTable, HasThePrefixesOfADgx1P) {
  expect_prefixes("dgx-1p", {20, 40, 60, 0, 40, 60, 80});
}

TEST(SystemTable, HasThePrefixesOfADgx1V) {
  expect_prefixes("dgx-1v", {25, 50, 100, 0, 50, 100, 150});
  EXPECT_NEAR(ring(load_system("dgx-1v"), {0, 3}), 50, 1e-6);
}

TEST(SystemTable, FallsBackToTwelveWhereFiveOfADgx1CloseNoRing) {
  for (const char* system : {"dgx-1p", "dgx-1v"})
    EXPECT_NEAR(bound(load_system(system), prefix(5), ConstantSet::Nccl), 12, 1e-6) << system;
}

TEST(SystemTable, HasTheClassesOfADgx1V) {
  const Graph graph = load_system("dgx-1v");
  EXPECT_EQ(classes(graph, 2), (Classes{{50, 8}, {25, 8}, {0, 12}}));
  EXPECT_EQ(classes(graph, 3), (Classes{{50, 8}, {0, 48}}));
  EXPECT_EQ(classes(graph, 4), (Classes{{100, 2}, {50, 6}, {0, 62}}));
  EXPECT_EQ(classes(graph, 5), (Classes{{50, 24}, {0, 32}}));
  EXPECT_EQ(classes(graph, 6), (Classes{{100, 4}, {50, 24}}));
  EXPECT_EQ(classes(graph, 7), (Classes{{100, 8}}));
  EXPECT_EQ(classes(graph, 8), (Classes{{150, 1}}));
}

TEST(SystemTable, HasTheClassesOfADgx1P) {
  const Graph graph = load_system("dgx-1p");
  EXPECT_EQ(classes(graph, 2), (Classes{{20, 16}, {0, 12}}));
  EXPECT_EQ(classes(graph, 3), (Classes{{40, 8}, {0, 48}}));
  EXPECT_EQ(classes(graph, 4), (Classes{{60, 2}, {40, 6}, {0, 62}}));
  EXPECT_EQ(classes(graph, 5), (Classes{{40, 24}, {0, 32}}));
  EXPECT_EQ(classes(graph, 6), (Classes{{60, 4}, {40, 24}}));
  EXPECT_EQ(classes(graph, 7), (Classes{{60, 8}}));
  EXPECT_EQ(classes(graph, 8), (Classes{{80, 1}}));
}

TEST(SystemTable, HasTheFallbacksOfFourOfADgx1V) {
  const Graph graph = load_system("dgx-1v");
  Classes found;
  for (const Set& set : sets_of(8, 4))
    if (ring(graph, set) == 0)
      ++found[std::round(bound(graph, set, ConstantSet::Nccl) * 1e6) / 1e6];
  EXPECT_EQ(found, (Classes{{12, 48}, {6, 14}}));
}

TEST(SystemTable, HasOneValueForEverySetOfASwitchedSystem) {
  const std::map<std::string, double> values{{"dgx-2", 150},
                                             {"dgx-a100", 300},
                                             {"dgx-h100", 450},
                                             {"hgx-b200", 900},
                                             {"gb200-nvl72", 900}};
  for (const auto& [system, value] : values) {
    const Graph graph = load_system(system);
    const int n = static_cast<int>(device_count(graph));
    for (int k = 2; k <= n; ++k) {
      const Bound found = bound_of(graph, prefix(k));
      EXPECT_NEAR(found.ring_GBps, value, 1e-6) << system << ", first " << k;
      EXPECT_TRUE(found.exact) << system << ", first " << k;
    }
    EXPECT_NEAR(ring(graph, {0, n / 2, n - 1}), value, 1e-6) << system;
  }
  const Graph a800 = with_nvlink(load_system("dgx-a100"), 25, 8);
  for (int k = 2; k <= 8; ++k) EXPECT_NEAR(ring(a800, prefix(k)), 200, 1e-6) << k;
}

TEST(SystemTable, HasTheSocketsOfPower9) {
  const Graph ac922 = load_system("ac922");
  EXPECT_NEAR(bound(ac922, {0, 1}), 75, 1e-6);
  EXPECT_NEAR(bound(ac922, {2, 3}), 75, 1e-6);
  for (const Set& set : {Set{0, 2}, Set{1, 2}, Set{0, 1, 2}, Set{1, 2, 3}, Set{0, 1, 2, 3}})
    EXPECT_NEAR(bound(ac922, set), 32, 1e-6);
  const Graph summit = load_system("summit");
  EXPECT_NEAR(bound(summit, {0, 1}), 50, 1e-6);
  EXPECT_NEAR(bound(summit, {0, 1, 2}), 100, 1e-6);
  for (const Set& set : {Set{0, 3}, Set{0, 1, 3}, Set{0, 1, 2, 3}, Set{0, 1, 3, 4}, prefix(6)})
    EXPECT_NEAR(bound(summit, set), 32, 1e-6);
}

TEST(SystemTable, HasTheSocketsOfPower9WithTwiceTheXBus) {
  const auto with_64 = [](const std::string& system) {
    Graph graph = load_system(system);
    for (Medium& medium : graph.media)
      if (medium.kind == LinkKind::Smp) medium.nominal_GBps = 64;
    return graph;
  };
  for (const Set& set : {Set{0, 2}, Set{0, 1, 2}, Set{0, 1, 2, 3}})
    EXPECT_NEAR(bound(with_64("ac922"), set), 64, 1e-6);
  EXPECT_NEAR(bound(with_64("summit"), {0, 3}), 50, 1e-6);
  EXPECT_NEAR(bound(with_64("summit"), prefix(6)), 64, 1e-6);
}

TEST(SystemTable, HasTheQuads) {
  expect_prefixes("c4140-sxm2", {50, 100, 150});
  expect_prefixes("hgx-a100-x4", {100, 200, 300});
  expect_prefixes("hgx-h100-x4", {150, 300, 450});
  expect_prefixes("dgx-station", {25, 50, 100});
  EXPECT_NEAR(ring(load_system("p3.8xlarge"), {0, 3}), 50, 1e-6);
}

/// Four V100 in a square whose sides have these links; the diagonals have none.
Graph square(const std::vector<int>& sides) {
  Graph graph{.name = "square"};
  for (int i = 0; i < 4; ++i)
    graph.devices.push_back(
        add_node(graph, {.kind = NodeKind::Gpu, .name = "GPU" + std::to_string(i)}));
  const int nvlink = add_medium(graph, {.name = "NVLink 2", .nominal_GBps = 25});
  for (int i = 0; i < 4; ++i)
    add_cable(graph, i, (i + 1) % 4, nvlink, sides.at(static_cast<std::size_t>(i)));
  return graph;
}

TEST(SystemTable, HasTheSquaresOfV100) {
  const Graph delos = square({2, 2, 1, 2});
  EXPECT_NEAR(ring(delos, {0, 1}), 50, 1e-6);
  EXPECT_NEAR(ring(delos, {2, 3}), 25, 1e-6);
  EXPECT_EQ(ring(delos, {0, 2}), 0);
  EXPECT_EQ(classes(delos, 3), (Classes{{0, 4}}));
  EXPECT_NEAR(ring(delos, prefix(4)), 50, 1e-6);
  // The other square of a DGX-1V: two of each half.
  const Graph cube = load_system("dgx-1v");
  EXPECT_NEAR(ring(cube, {0, 3, 4, 7}), 50, 1e-6);
}

TEST(SystemTable, HasOneValueForEverySetBehindOneSwitch) {
  const Graph graph = load_system("c4140-pcie");
  for (int k = 2; k <= 4; ++k) {
    EXPECT_NEAR(bound(graph, prefix(k)), 15.75, 1e-6);
    EXPECT_NEAR(bound(graph, prefix(k), ConstantSet::Nccl), 12, 1e-6);
  }
}

TEST(SystemTable, HasWhatNcclReckonsWith) {
  const auto nccl = [](const std::string& system, int k) {
    return bound(load_system(system), prefix(k), ConstantSet::Nccl);
  };
  EXPECT_NEAR(nccl("dgx-1v", 8), 120, 1e-6);
  EXPECT_NEAR(nccl("dgx-2", 16), 120, 1e-6);
  EXPECT_NEAR(nccl("dgx-a100", 8), 240, 1e-6);
  EXPECT_NEAR(nccl("dgx-h100", 8), 370.8, 1e-6);
  EXPECT_NEAR(nccl("hgx-b200", 8), 721.8, 1e-6);
  EXPECT_NEAR(nccl("c4140-sxm2", 4), 120, 1e-6);
  Graph older = load_system("c4140-sxm2");
  for (Medium& medium : older.media)
    if (medium.kind == LinkKind::NvLink) medium.nccl_GBps = 22;  // NCCL 2.10 to 2.16
  EXPECT_NEAR(bound(older, prefix(4), ConstantSet::Nccl), 132, 1e-6);
}

TEST(SystemTable, HasTheReductionInTheSwitch) {
  const Graph graph = load_system("dgx-h100");
  const auto in_switch = [&](int k) {
    return bound_of(graph, prefix(k)).in_switch_GBps.value_or(0);
  };
  EXPECT_NEAR(in_switch(2), 300, 1e-6);
  EXPECT_NEAR(in_switch(3), 450, 1e-6);
  EXPECT_NEAR(in_switch(8), 700, 1e-6);
  EXPECT_FALSE(bound_of(load_system("dgx-a100"), prefix(8)).in_switch_GBps.has_value());
}

// --- PCIe: eight GPUs of the third generation, two a switch, two switches a socket
// -------------------
struct PcieRow {
  Set set;
  double raw_p2p, raw_staged, skylake_p2p, skylake_staged, broadwell_p2p, broadwell_staged;
};

Graph pcie_box(P2p p2p, bool broadwell) {
  Graph graph = load_system("exxact-ts4");
  for (auto& row : graph.p2p) std::fill(row.begin(), row.end(), p2p);
  if (broadwell)
    for (Medium& medium : graph.media)
      if (medium.kind == LinkKind::Smp) medium.nccl_GBps = 6;
  return graph;
}

TEST(SystemTable, HasThePcieBox) {
  const std::vector<PcieRow> rows{
      {{0, 1}, 15.75, 7.875, 12, 6, 12, 6},       {{0, 2}, 15.75, 15.75, 10, 12, 10, 12},
      {{0, 4}, 15.75, 15.75, 10, 10, 6, 6},       {{0, 2, 4, 6}, 15.75, 15.75, 10, 10, 6, 6},
      {{0, 1, 2, 3}, 15.75, 7.875, 10, 6, 10, 6}, {prefix(8), 15.75, 7.875, 10, 6, 6, 6}};
  const Graph works = pcie_box(P2p::Works, false);
  const Graph off = pcie_box(P2p::Off, false);
  const Graph broadwell_works = pcie_box(P2p::Works, true);
  const Graph broadwell_off = pcie_box(P2p::Off, true);
  for (const PcieRow& row : rows) {
    SCOPED_TRACE(testing::PrintToString(row.set));
    EXPECT_NEAR(bound(works, row.set), row.raw_p2p, 1e-6);
    EXPECT_NEAR(bound(off, row.set), row.raw_staged, 1e-6);
    EXPECT_NEAR(bound(works, row.set, ConstantSet::Nccl), row.skylake_p2p, 1e-6);
    EXPECT_NEAR(bound(off, row.set, ConstantSet::Nccl), row.skylake_staged, 1e-6);
    EXPECT_NEAR(bound(broadwell_works, row.set, ConstantSet::Nccl), row.broadwell_p2p, 1e-6);
    EXPECT_NEAR(bound(broadwell_off, row.set, ConstantSet::Nccl), row.broadwell_staged, 1e-6);
  }
}

TEST(SystemTable, HasThePairOfOneSwitchAsTheWorstWithoutPeerAccess) {
  const Graph graph = load_system("exxact-ts4");
  for (const Set& pair : sets_of(8, 2)) {
    const bool one_switch = pair[0] / 2 == pair[1] / 2;
    EXPECT_NEAR(bound(graph, pair), one_switch ? 7.875 : 15.75, 1e-6)
        << testing::PrintToString(pair);
  }
}

TEST(SystemTable, HasFourBehindASwitchWithoutPeerAccess) {
  Graph graph = load_system("c4140-pcie");
  for (auto& row : graph.p2p) std::fill(row.begin(), row.end(), P2p::Off);
  EXPECT_NEAR(bound(graph, prefix(4)), 15.75 / 4, 1e-6);
  EXPECT_NEAR(bound(graph, prefix(4), ConstantSet::Nccl), 3, 1e-6);
}

TEST(SystemTable, HasEightDirectlyAttached) {
  Graph graph = load_system("pcie-gen4-x8");
  EXPECT_NEAR(bound(graph, prefix(8), ConstantSet::Nccl), 20, 1e-6);
  EXPECT_NEAR(bound(graph, prefix(4), ConstantSet::Nccl), 20, 1e-6);
  for (auto& row : graph.p2p) std::fill(row.begin(), row.end(), P2p::Off);
  EXPECT_NEAR(bound(graph, prefix(4), ConstantSet::Nccl), 24, 1e-6);
  EXPECT_NEAR(bound(graph, prefix(8), ConstantSet::Nccl), 22, 1e-6);
}

}  // namespace
}  // namespace busbar::topo
