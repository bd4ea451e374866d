// SPDX-License-Identifier: BSD-3-Clause
#include "topo/bounds/bound.hpp"

#include <cmath>
#include <map>

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "tests/unit/topo/bounds/ring_cases.hpp"
#include "tests/unit/topo/bounds/small_graphs.hpp"
#include "tests/unit/topo/tree_machine.hpp"
#include "topo/bounds/paths.hpp"

namespace busbar::topo {
namespace {

constexpr BoundOptions kNccl{.constants = ConstantSet::Nccl};

double ring_GBps(const Graph& graph, const std::vector<int>& devices,
                 const BoundOptions& options = {}) {
  return bound_of(graph, devices, options).ring_GBps;
}

/// Sets of k of eight devices by their ring bound, rounded.
std::map<int, int> classes(const Graph& graph, int k) {
  std::map<int, int> counts;
  for (unsigned set = 0; set < 256; ++set) {
    std::vector<int> devices;
    for (int d = 0; d < 8; ++d) {
      if ((set >> static_cast<unsigned>(d) & 1U) != 0) devices.push_back(d);
    }
    if (static_cast<int>(devices.size()) != k) continue;
    ++counts[static_cast<int>(std::lround(ring_GBps(graph, devices)))];
  }
  return counts;
}

void expect_prefixes(const Graph& graph, const std::vector<double>& from_two) {
  for (std::size_t k = 0; k < from_two.size(); ++k) {
    EXPECT_NEAR(ring_GBps(graph, prefix(static_cast<int>(k) + 2)), from_two[k], 1e-7) << k + 2;
  }
}

TEST(BoundOf, KnowsTheCubeMeshOfVolta) {
  const Graph graph = dgx1(dgx1v_rows(), 25);
  expect_prefixes(graph, {25, 50, 100, 0, 50, 100, 150});
  EXPECT_NEAR(ring_GBps(graph, {0, 3}), 50, 1e-9);
  EXPECT_NEAR(ring_GBps(graph, {0, 4}), 50, 1e-9);
  EXPECT_NEAR(ring_GBps(graph, {4, 5, 6, 7}), 100, 1e-9);
  for (const auto& set : std::vector<std::vector<int>>{{0, 3, 4, 7}, {0, 1, 4, 5}, {0, 2, 4, 6}}) {
    EXPECT_NEAR(ring_GBps(graph, set), 50, 1e-9);
  }
  EXPECT_EQ(ring_GBps(graph, {0, 1, 6, 7}), 0);
  EXPECT_NEAR(ring_GBps(graph, {0, 1, 2, 4, 5, 6}), 100, 1e-9);
  const Bound quad = bound_of(graph, prefix(4));
  EXPECT_EQ(quad.kind, "nvlink");
  EXPECT_TRUE(quad.exact);
  EXPECT_EQ(quad.limit, "NVLink of GPU0 and GPU1");
  EXPECT_NEAR(bound_of(graph, prefix(6)).cut_GBps, 75, 1e-9) << "a cut is no ring";
}

TEST(BoundOf, FindsTheClassesOfAllSetsOfACubeMesh) {
  using Counts = std::map<int, int>;
  const Graph volta = dgx1(dgx1v_rows(), 25);
  EXPECT_EQ(classes(volta, 2), (Counts{{50, 8}, {25, 8}, {0, 12}}));
  EXPECT_EQ(classes(volta, 3), (Counts{{50, 8}, {0, 48}}));
  EXPECT_EQ(classes(volta, 4), (Counts{{100, 2}, {50, 6}, {0, 62}}));
  EXPECT_EQ(classes(volta, 5), (Counts{{50, 24}, {0, 32}}));
  EXPECT_EQ(classes(volta, 6), (Counts{{100, 4}, {50, 24}}));
  EXPECT_EQ(classes(volta, 7), (Counts{{100, 8}}));
  EXPECT_EQ(classes(volta, 8), (Counts{{150, 1}}));
  const Graph pascal = dgx1(dgx1p_rows(), 20);
  EXPECT_EQ(classes(pascal, 2), (Counts{{20, 16}, {0, 12}}));
  EXPECT_EQ(classes(pascal, 3), (Counts{{40, 8}, {0, 48}}));
  EXPECT_EQ(classes(pascal, 4), (Counts{{60, 2}, {40, 6}, {0, 62}}));
  EXPECT_EQ(classes(pascal, 5), (Counts{{40, 24}, {0, 32}}));
  EXPECT_EQ(classes(pascal, 6), (Counts{{60, 4}, {40, 24}}));
  EXPECT_EQ(classes(pascal, 7), (Counts{{60, 8}}));
  EXPECT_EQ(classes(pascal, 8), (Counts{{80, 1}}));
}

TEST(BoundOf, KnowsThePascalPrefixesAndSmallMeshes) {
  expect_prefixes(dgx1(dgx1p_rows(), 20), {20, 40, 60, 0, 40, 60, 80});
  expect_prefixes(nvlink_graph({"0222", "2022", "2202", "2220"}, 25), {50, 100, 150});
  expect_prefixes(nvlink_graph({"0444", "4044", "4404", "4440"}, 25), {100, 200, 300});
  expect_prefixes(nvlink_graph({"0666", "6066", "6606", "6660"}, 25), {150, 300, 450});
  const Graph station = nvlink_graph({"0112", "1021", "1202", "2120"}, 25);
  expect_prefixes(station, {25, 50, 100});
  EXPECT_NEAR(ring_GBps(station, {0, 3}), 50, 1e-9);
  const Graph p100 = nvlink_graph({"0112", "1021", "1201", "2110"}, 20);
  EXPECT_NEAR(ring_GBps(p100, {0, 1}), 20, 1e-9);
  EXPECT_NEAR(ring_GBps(p100, {0, 3}), 40, 1e-9);
  EXPECT_NEAR(ring_GBps(p100, prefix(4)), 80, 1e-9);
  const Graph square = nvlink_graph({"0201", "2020", "0202", "1020"}, 25);
  EXPECT_NEAR(ring_GBps(square, {0, 1}), 50, 1e-9);
  EXPECT_NEAR(ring_GBps(square, {0, 3}), 25, 1e-9);
  EXPECT_EQ(ring_GBps(square, {0, 2}), 0);
  EXPECT_EQ(ring_GBps(square, {0, 1, 2}), 0);
  EXPECT_NEAR(ring_GBps(square, prefix(4)), 50, 1e-9);
}

TEST(BoundOf, KnowsPowerMachines) {
  const Graph ac922 = power_graph(1, 2, 3);
  EXPECT_EQ(bound_of(ac922, prefix(2)).kind, "nvlink");
  EXPECT_NEAR(ring_GBps(ac922, {0, 1}), 75, 1e-9);
  for (const auto& set : std::vector<std::vector<int>>{{0, 2}, {0, 1, 2}, {0, 1, 2, 3}}) {
    const Bound bound = bound_of(ac922, set);
    EXPECT_NEAR(bound.ring_GBps, 32, 1e-9);
    EXPECT_NEAR(bound.cut_GBps, 32, 1e-9);
    EXPECT_EQ(bound.limit, "X-Bus CPU0↔CPU1");
    EXPECT_TRUE(bound.kind == "nvlink+smp") << bound.kind;
    EXPECT_FALSE(bound.tree_GBps.has_value()) << "one host";
  }
  const Graph wide = power_graph(1, 2, 3, 64);
  EXPECT_NEAR(ring_GBps(wide, {0, 2}), 64, 1e-9);
  EXPECT_NEAR(ring_GBps(wide, prefix(4)), 64, 1e-9);
  const Graph summit = power_graph(1, 3, 2);
  EXPECT_NEAR(ring_GBps(summit, {0, 1}), 50, 1e-9);
  EXPECT_NEAR(ring_GBps(summit, {0, 3}), 32, 1e-9);
  EXPECT_NEAR(ring_GBps(summit, prefix(3)), 100, 1e-9);
  for (const int n : {4, 5, 6}) EXPECT_NEAR(ring_GBps(summit, prefix(n)), 32, 1e-9);
  EXPECT_NEAR(ring_GBps(power_graph(1, 3, 2, 64), {0, 3}), 50, 1e-9);
}

TEST(BoundOf, JoinsHostsThroughTheirCards) {
  const Graph power = power_graph(4, 2, 3);
  for (const int n : {8, 16}) {
    const Bound bound = bound_of(power, prefix(n));
    EXPECT_NEAR(bound.ring_GBps, 24, 1e-7) << "two cards of 12";
    EXPECT_TRUE(bound.exact);
    EXPECT_EQ(bound.kind, "nvlink+smp+network");
  }
  const Graph p3dn = cluster_of(dgx1v_rows(), 25, 2, 12.5, 1.25);
  const Bound single = bound_of(p3dn, prefix(16), {.flows = 1});
  EXPECT_NEAR(single.ring_GBps, 1.25, 1e-9);
  ASSERT_TRUE(single.tree_GBps.has_value());
  EXPECT_NEAR(*single.tree_GBps, 2.34375, 1e-9);
  EXPECT_EQ(single.limit, "Ethernet of host0/NIC0 and host1/NIC0");
  EXPECT_NEAR(ring_GBps(p3dn, prefix(16), {.flows = 4}), 5, 1e-9);
  EXPECT_NEAR(ring_GBps(p3dn, prefix(16)), 12.5, 1e-9);
}

TEST(BoundOf, MeetsItsEndsForManyEqualHosts) {
  const Graph c4140 = cluster_of({"0222", "2022", "2202", "2220"}, 25, 8, 12.5);
  for (const int n : {8, 16, 20, 32}) {
    const Bound bound = bound_of(c4140, prefix(n));
    EXPECT_TRUE(bound.exact) << n;
    EXPECT_NEAR(bound.ring_GBps, 12.5, 1e-9);
    EXPECT_EQ(bound.kind, "nvlink+network");
    EXPECT_NE(bound.limit.find("Ethernet"), std::string::npos) << bound.limit;
  }
}

TEST(BoundOf, KnowsThePcieMachinesUnderEachSetOfConstants) {
  struct Case {
    std::vector<int> set;
    double raw_p2p, raw_off, skylake_p2p, skylake_off, broadwell_p2p, broadwell_off;
  };
  const std::vector<Case> cases{
      {{0, 1}, 15.75, 7.875, 12, 6, 12, 6},       {{0, 2}, 15.75, 15.75, 10, 12, 10, 12},
      {{0, 4}, 15.75, 15.75, 10, 10, 6, 6},       {{0, 2, 4, 6}, 15.75, 15.75, 10, 10, 6, 6},
      {{0, 1, 2, 3}, 15.75, 7.875, 10, 6, 10, 6}, {prefix(8), 15.75, 7.875, 10, 6, 6, 6}};
  const Graph skylake = pcie_graph({});
  const Graph skylake_off = pcie_graph({.p2p = P2p::Off});
  const Graph broadwell = pcie_graph({.smp_nccl_GBps = 6});
  const Graph broadwell_off = pcie_graph({.smp_nccl_GBps = 6, .p2p = P2p::Off});
  for (const Case& one : cases) {
    SCOPED_TRACE(one.set.size() * 10 + static_cast<std::size_t>(one.set[1]));
    EXPECT_NEAR(ring_GBps(skylake, one.set), one.raw_p2p, 1e-9);
    EXPECT_NEAR(ring_GBps(skylake_off, one.set), one.raw_off, 1e-9);
    EXPECT_NEAR(ring_GBps(skylake, one.set, kNccl), one.skylake_p2p, 1e-9);
    EXPECT_NEAR(ring_GBps(skylake_off, one.set, kNccl), one.skylake_off, 1e-9);
    EXPECT_NEAR(ring_GBps(broadwell, one.set, kNccl), one.broadwell_p2p, 1e-9);
    EXPECT_NEAR(ring_GBps(broadwell_off, one.set, kNccl), one.broadwell_off, 1e-9);
  }
  EXPECT_EQ(bound_of(skylake, prefix(2)).kind, "pcie");
  EXPECT_EQ(bound_of(skylake_off, prefix(2)).kind, "shared memory");
  EXPECT_EQ(bound_of(skylake_off, prefix(2)).limit, "PCIe 3.0 x16 PLX0↔CPU0");
  const Graph four = pcie_graph({.per_switch = 4, .switches_per_package = 1, .p2p = P2p::Off});
  EXPECT_NEAR(ring_GBps(four, prefix(4)), 15.75 / 4, 1e-9);
  EXPECT_NEAR(ring_GBps(four, prefix(4), kNccl), 3, 1e-9);
}

TEST(BoundOf, FallsBackToPcieWhereNvlinkClosesNoRing) {
  // What NCCL reckons with on a DGX-1V: QPI of Broadwell, no peers beyond a switch.
  const Graph graph = dgx1(dgx1v_rows(), 25, P2p::Off);
  std::map<int, int> counts;
  for (unsigned set = 0; set < 256; ++set) {
    std::vector<int> devices;
    for (int d = 0; d < 8; ++d) {
      if ((set >> static_cast<unsigned>(d) & 1U) != 0) devices.push_back(d);
    }
    if (devices.size() != 4) continue;
    const Bound bound = bound_of(graph, devices, kNccl);
    if (bound.ring_GBps == 0) ++counts[static_cast<int>(std::lround(bound.bound_GBps))];
  }
  EXPECT_EQ(counts, (std::map<int, int>{{12, 48}, {6, 14}}));
  const Bound five = bound_of(graph, prefix(5), kNccl);
  EXPECT_EQ(five.ring_GBps, 0);
  EXPECT_NEAR(five.bound_GBps, 12, 1e-9);
  EXPECT_EQ(five.kind, "nvlink+shared memory");
}

TEST(BoundOf, GivesSwitchedDomainsInClosedForm) {
  for (const int k : {2, 5, 16}) {
    const Bound bound = bound_of(star_graph(16, 6, 25), prefix(k));
    EXPECT_NEAR(bound.ring_GBps, 150, 1e-9);
    EXPECT_EQ(bound.kind, "nvswitch");
    EXPECT_FALSE(bound.in_switch_GBps.has_value());
  }
  const Graph rack = star_graph(72, 18, 50, true, 40.1);
  const Bound all = bound_of(rack, prefix(72));
  EXPECT_NEAR(all.ring_GBps, 900, 1e-9);
  EXPECT_TRUE(all.exact);
  EXPECT_EQ(all.limit, "NVLink of every GPU");
  EXPECT_NEAR(ring_GBps(star_graph(8, 18, 25, true, 20.6), prefix(8), kNccl), 370.8, 1e-9);
}

/// A bound by lists of all rings and of all parts of the nodes.
struct SlowBound {
  double packing_GBps = 0;
  double cut_GBps = 0;
};

SlowBound slow_bound(const Graph& graph, bool nvlink_only) {
  const int n = static_cast<int>(device_count(graph));
  RingProblem problem{.n = n};
  for (std::size_t k = 0; k < graph.links.size(); ++k) {
    problem.capacity.push_back(width_GBps(graph, k));
  }
  std::vector<int> used;
  for (int k = 0; k < n * n; ++k) {
    Hop& hop = problem.hops.emplace_back();
    if (k / n == k % n) continue;
    const auto way = way_between(graph, k / n, k % n, nvlink_only);
    if (!way) continue;
    hop.emplace();
    for (const int link : *way) hop->push_back({.resource = link});
    used.insert(used.end(), way->begin(), way->end());
  }
  std::sort(used.begin(), used.end());
  used.erase(std::unique(used.begin(), used.end()), used.end());
  const auto parts_devices = [&](const auto& has) {
    const auto inside = std::count_if(graph.devices.begin(), graph.devices.end(), has);
    return inside > 0 && inside < n;
  };
  return {.packing_GBps = brute_force(problem), .cut_GBps = least_cut(graph, used, parts_devices)};
}

/// The rings of a bound are as fast as they say, together, within each link's width.
void expect_rings_fit(const Graph& graph, const Bound& bound) {
  std::vector<double> load(graph.links.size(), 0);
  double sum = 0;
  for (const RatedRing& ring : bound.rings) {
    sum += ring.GBps;
    for (std::size_t k = 0; k < ring.devices.size(); ++k) {
      const int next = ring.devices[(k + 1) % ring.devices.size()];
      const auto way = way_between(graph, ring.devices[k], next, false);
      for (const int link : way.value()) load[static_cast<std::size_t>(link)] += ring.GBps;
    }
  }
  EXPECT_NEAR(sum, bound.bound_GBps, 1e-7);
  for (std::size_t k = 0; k < load.size(); ++k) EXPECT_LE(load[k], width_GBps(graph, k) + 1e-7);
}

TEST(BoundOf, AgreesWithAllRingsAndAllCutsOfHostsWithLinksOfUnequalDirections) {
  int by_nvlink = 0;
  for (unsigned seed = 0; seed < 36; ++seed) {
    SCOPED_TRACE(seed);
    const double nvlink = seed % 3 == 0 ? 0 : seed % 3 == 1 ? 0.6 : 1;
    const TreeMachine machine(
        {.gpus = 2 + static_cast<int>(seed / 3 % 5), .network = false, .nvlink = nvlink}, seed);
    const Graph& graph = machine.graph();
    const Bound bound = bound_of(graph, prefix(static_cast<int>(device_count(graph))));
    const SlowBound all = slow_bound(graph, false);
    const SlowBound over_nvlink = first_level(graph) == Level::All ? all : slow_bound(graph, true);
    const SlowBound& expected = over_nvlink.packing_GBps > 0 ? over_nvlink : all;
    EXPECT_TRUE(bound.exact);
    EXPECT_NEAR(bound.ring_GBps, over_nvlink.packing_GBps, 1e-7);
    EXPECT_NEAR(bound.bound_GBps, expected.packing_GBps, 1e-7);
    EXPECT_NEAR(bound.cut_GBps, expected.cut_GBps, 1e-7);
    EXPECT_FALSE(bound.tree_GBps.has_value());
    expect_rings_fit(graph, bound);
    by_nvlink += bound.kind == "nvlink" ? 1 : 0;
  }
  EXPECT_GT(by_nvlink, 10);
}

TEST(BoundOf, AgreesWithAllRingsAndAllCutsOfTwoHosts) {
  for (unsigned seed = 0; seed < 12; ++seed) {
    SCOPED_TRACE(seed);
    const int gpus = 1 + static_cast<int>(seed % 3);
    const TreeMachine machine(
        {.hosts = 2, .gpus = gpus, .packages = 1, .switches = 1, .nvlink = seed < 8 ? 0.8 : 0},
        seed);
    const Graph& graph = machine.graph();
    const Bound bound = bound_of(graph, prefix(2 * gpus));
    const SlowBound all = slow_bound(graph, false);
    const SlowBound spared = slow_bound(graph, true);
    const bool has_nvlink = first_level(graph) == Level::NvLink;
    // NVLink in the hosts counts unless PCIe there carries more.
    const bool by_nvlink = has_nvlink && spared.packing_GBps > all.packing_GBps - 1e-7;
    const SlowBound& expected = by_nvlink ? spared : all;
    EXPECT_NEAR(bound.bound_GBps, expected.packing_GBps, 1e-7);
    EXPECT_NEAR(bound.ring_GBps, expected.packing_GBps, 1e-7);
    EXPECT_NEAR(bound.cut_GBps, expected.cut_GBps, 1e-7);
    const double n = 2.0 * gpus;
    EXPECT_NEAR(bound.tree_GBps.value_or(0), expected.cut_GBps * 2 * (n - 1) / n, 1e-7);
    expect_rings_fit(graph, bound);
  }
}

TEST(BoundOf, NamesEveryLinkThatEachRingTakesTwiceOneWay) {
  // Without peer access both GPUs of a switch send up through it, whoever they send to: its way up
  // carries twice the ring, and so does its way down, though no ring enters a GPU of it twice.
  const Graph graph = pcie_graph({.p2p = P2p::Off});
  EXPECT_EQ(bound_of(graph, prefix(8)).limit, "PCIe 3.0 x16 of PLX0, PLX1, PLX2 and PLX3");
  EXPECT_EQ(bound_of(graph, prefix(4)).limit, "PCIe 3.0 x16 of CPU0");
}

TEST(CollectiveGBps, IsTheBestOfRingsTreesAndSwitchForAllReduceOnly) {
  const auto rate = [](const Bound& bound, const char* collective) {
    return collective_GBps(bound, collective).value_or(-1);
  };
  // Two hosts of eight on 12.5 GB/s: trees cut it once, 2 x 15/16 of it as bus bandwidth.
  const Bound hosts = bound_of(cluster_of(dgx1v_rows(), 25, 2, 12.5), prefix(16));
  EXPECT_NEAR(rate(hosts, "allreduce"), 12.5 * 2 * 15 / 16, 1e-6);
  const Bound eight = bound_of(star_graph(8, 18, 25, true), prefix(8));
  EXPECT_NEAR(rate(eight, "allreduce"), 700, 1e-6);
  const Bound mesh = bound_of(dgx1(dgx1v_rows(), 25), prefix(8));
  EXPECT_NEAR(rate(mesh, "allreduce"), 150, 1e-6);
  for (const char* ringed : {"allgather", "reducescatter", "broadcast", "reduce"}) {
    EXPECT_NEAR(rate(hosts, ringed), 12.5, 1e-6) << ringed;
    EXPECT_NEAR(rate(eight, ringed), 450, 1e-6) << ringed;
    EXPECT_NEAR(rate(mesh, ringed), 150, 1e-6) << ringed;
  }
  for (const char* straight : {"alltoall", "gather", "scatter", "sendrecv"}) {
    EXPECT_NEAR(rate(eight, straight), 450, 1e-6) << straight;
    EXPECT_EQ(rate(mesh, straight), -1) << straight;
  }
  EXPECT_EQ(rate(eight, "barrier"), -1);
  // Slower than 1 GB/s, with neither a switch nor trees.
  const Bound slow{.devices = prefix(2), .bound_GBps = 0.25};
  EXPECT_EQ(rate(slow, "allreduce"), 0.25);
  EXPECT_EQ(rate(bound_of(star_graph(8, 18, 25), prefix(1)), "allreduce"), -1);
}

TEST(BoundOf, CountsItsRings) {
  const Bound bound = bound_of(dgx1(dgx1v_rows(), 25), std::vector<int>{3, 0, 2, 1});
  EXPECT_EQ(bound.devices, (std::vector<int>{3, 0, 2, 1}));
  double sum = 0;
  for (const RatedRing& ring : bound.rings) {
    EXPECT_EQ(ring.devices.size(), 4U);
    EXPECT_EQ(ring.devices.front(), 3);
    sum += ring.GBps;
  }
  EXPECT_NEAR(sum, bound.lower_GBps, 1e-9);
  EXPECT_NEAR(sum, 100, 1e-9);
}

TEST(BoundOf, AnswersForSetsWithoutRings) {
  const Graph graph = nvlink_graph({"010", "100", "000"}, 25);
  EXPECT_EQ(bound_of(graph, std::vector<int>{}).kind, "none");
  EXPECT_EQ(bound_of(graph, prefix(1)).ring_GBps, 0);
  const Bound alone = bound_of(graph, std::vector<int>{0, 2});
  EXPECT_EQ(alone.bound_GBps, 0);
  EXPECT_EQ(alone.kind, "none");
  EXPECT_EQ(alone.limit, "no ring closes");
}

TEST(BoundOf, RefusesWhatIsNoSet) {
  const Graph graph = nvlink_graph({"01", "10"}, 25);
  const auto refusal = [&](const std::vector<int>& devices) {
    try {
      (void)bound_of(graph, devices);
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), Status::Usage);
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_NE(refusal({0, 2}).find("2 is no device of 'mesh', which has 2 devices, 0 to 1"),
            std::string::npos);
  EXPECT_NE(refusal({-1, 0}).find("-1 is no device"), std::string::npos);
  EXPECT_NE(refusal({1, 1}).find("1 is there twice"), std::string::npos);
}

TEST(BoundOf, HasTheAssumptionsAboutTheLinksThatItsRingsTake) {
  Graph graph = nvlink_graph({"011", "101", "110"}, 25);
  graph.assumptions = {{.kind = LinkKind::NvLink, .text = "rate"},
                       {.kind = LinkKind::Pcie, .text = "slot"}};
  EXPECT_EQ(bound_of(graph, prefix(3)).assumptions, std::vector<std::string>{"rate"});
  Graph open = nvlink_graph({"010", "101", "010"}, 25);
  open.assumptions = graph.assumptions;
  EXPECT_EQ(bound_of(open, prefix(3)).assumptions, (std::vector<std::string>{"rate", "slot"}))
      << "no ring closes: all of them";
}

}  // namespace
}  // namespace busbar::topo
