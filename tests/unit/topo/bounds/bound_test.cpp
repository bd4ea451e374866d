// SPDX-License-Identifier: BSD-3-Clause
#include "topo/bounds/bound.hpp"

#include <cmath>

#include "tests/unit/topo/bounds/ring_cases.hpp"
#include "tests/unit/topo/bounds/small_graphs.hpp"
#include "tests/unit/topo/tree_machine.hpp"
#include "topo/bounds/host_limits.hpp"
#include "topo/bounds/paths.hpp"
#include "topo/systems/system_file.hpp"

namespace busbar::topo {
namespace {

// The bounds of the built-in systems are those of system_bounds_test.
TEST(BoundOf, IsThatOfEachKindOfMachine) {
  const Graph off = pcie_graph({.p2p = P2p::Off});
  const Graph p3dn = cluster_of(dgx1v_rows(), 25, 2, 12.5, 1.25);
  struct Case {
    Graph graph;
    std::vector<int> set;
    double GBps;
    std::string kind;
    std::string limit{};  ///< a part of it
    BoundOptions options{};
  };
  const std::vector<Case> cases{
      {dgx1(dgx1v_rows(), 25), prefix(4), 100, "nvlink", "NVLink of GPU0 and GPU1"},
      {power_graph(1, 2, 3), prefix(4), 32, "nvlink+smp", "X-Bus CPU0↔CPU1"},
      {power_graph(1, 3, 2, 64), {0, 3}, 50, "nvlink+smp"},
      {power_graph(4, 2, 3), prefix(16), 24, "nvlink+smp+network"},  // two cards of 12
      {p3dn, prefix(16), 5, "nvlink+network", "Ethernet of host0/NIC0 and", {.flows = 4}},
      {cluster_of({"0222", "2022", "2202", "2220"}, 25, 8, 12.5), prefix(20), 12.5,
       "nvlink+network", "Ethernet"},
      {pcie_graph({}), prefix(2), 15.75, "pcie", "PCIe 3.0 x16 of every GPU"},
      {off, prefix(2), 7.875, "shared memory", "PCIe 3.0 x16 PLX0↔CPU0"},
      // Both GPUs of a switch send up through it, whoever they send to: its way up carries twice
      // the ring, and so does its way down, though no ring enters a GPU of it twice.
      {off, prefix(8), 7.875, "shared memory", "PCIe 3.0 x16 of PLX0, PLX1, PLX2 and PLX3"},
      {off, prefix(4), 7.875, "shared memory", "PCIe 3.0 x16 of CPU0"},
      {star_graph(72, 18, 50, true, 40.1), prefix(72), 900, "nvswitch", "NVLink of every GPU"},
      {load_system("mi300x"), prefix(8), 448, "xgmi", "xGMI (MI300) of every GPU"},
      {load_system("mi250x"), prefix(2), 200, "xgmi", "xGMI (MI200) GPU0↔GPU1"}};
  for (const Case& one : cases) {
    SCOPED_TRACE(fmt::format("{} {} {}", one.graph.name, one.set.size(), one.GBps));
    const Bound bound = bound_of(one.graph, one.set, one.options);
    EXPECT_NEAR(bound.ring_GBps, one.GBps, 1e-7);
    EXPECT_NEAR(bound.bound_GBps, one.GBps, 1e-7);
    EXPECT_EQ(bound.kind, one.kind);
    EXPECT_EQ(bound.gpu_link, one.kind == "xgmi" ? LinkKind::Xgmi : LinkKind::NvLink);
    EXPECT_THAT(bound.limit, HasSubstr(one.limit));
    EXPECT_TRUE(bound.exact);
    EXPECT_EQ(bound.tree_GBps.has_value(), one.kind.ends_with("network"));
  }
}

/// A bound over the only ways that there are, which packing_test proves, and by a list of all parts
/// of the nodes.
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
  std::set<int> used;
  for (int k = 0; k < n * n; ++k) {
    Hop& hop = problem.hops.emplace_back();
    if (k / n == k % n) continue;
    const auto way = way_between(graph, k / n, k % n, nvlink_only);
    if (!way) continue;
    hop.emplace();
    for (const int link : *way) hop->push_back({.resource = link});
    used.insert(way->begin(), way->end());
  }
  const auto parts_devices = [&](const auto& has) {
    const auto inside = std::count_if(graph.devices.begin(), graph.devices.end(), has);
    return inside > 0 && inside < n;
  };
  return {.packing_GBps = pack_rings(problem).value,
          .cut_GBps = least_cut(graph, {used.begin(), used.end()}, parts_devices)};
}

/// The rings of a bound are as fast as they say, together, within each link's width.
void expect_rings_fit(const Graph& graph, const Bound& bound) {
  std::vector<double> load(graph.links.size(), 0);
  double sum = 0;
  for (const RatedRing& ring : bound.rings) {
    sum += ring.GBps;
    EXPECT_EQ(ring.devices.size(), bound.devices.size());
    EXPECT_EQ(ring.devices.front(), bound.devices.front());
    for (std::size_t k = 0; k < ring.devices.size(); ++k) {
      const int next = ring.devices[(k + 1) % ring.devices.size()];
      const auto way = way_between(graph, ring.devices[k], next, false);
      for (const int link : way.value()) load[to_size(link)] += ring.GBps;
    }
  }
  EXPECT_NEAR(sum, bound.lower_GBps, 1e-7);
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
    std::vector<int> devices = prefix(static_cast<int>(device_count(graph)));
    std::rotate(devices.begin(), devices.begin() + 1, devices.end());  // rings begin with the first
    const Bound bound = bound_of(graph, devices);
    EXPECT_EQ(bound.devices, devices);
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
    const bool has_nvlink = first_level(graph) == Level::GpuLink;
    // NVLink in the hosts counts unless PCIe there carries more.
    const bool by_nvlink = has_nvlink && spared.packing_GBps > all.packing_GBps - 1e-7;
    const SlowBound& expected = by_nvlink ? spared : all;
    EXPECT_NEAR(bound.bound_GBps, expected.packing_GBps, 1e-7);
    EXPECT_NEAR(bound.ring_GBps, expected.packing_GBps, 1e-7);
    EXPECT_NEAR(bound.cut_GBps, expected.cut_GBps, 1e-7);
    // Trees pass the cards of both hosts once, and the links of each GPU in a host twice.
    double once = kInfinity;
    double twice = kInfinity;
    for (const int first : {0, gpus}) {
      std::vector<int> host(to_size(gpus));
      std::iota(host.begin(), host.end(), first);
      once = std::min(once, network_cut(graph, host, {}).GBps);
      if (gpus > 1) twice = std::min(twice, bound_of(graph, host).bound_GBps);
    }
    const double n = 2.0 * gpus;
    EXPECT_NEAR(bound.tree_GBps.value_or(0), std::min(once, twice / 2) * 2 * (n - 1) / n, 1e-7);
    expect_rings_fit(graph, bound);
  }
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
  // Each of eight exchanges half of a size with the other host, and counts 15/16 of it.
  EXPECT_NEAR(rate(hosts, "alltoall"), 12.5 * 15 / 64, 1e-6);
  EXPECT_EQ(rate(hosts, "gather"), -1);
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
  for (const auto& [devices, token] : {std::pair{std::vector{0, 2}, "2 is not a device of 'mesh'"},
                                       {std::vector{-1, 0}, "-1 is not a device"},
                                       {std::vector{1, 1}, "1 appears twice"}}) {
    busbar::test::expect_failure(Status::Usage, token,
                                 [&, &set = devices] { (void)bound_of(graph, set); });
  }
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

TEST(SwitchedDomain, AddsTheSwitchesThatAllShare) {
  Graph graph = star_graph(3, 5, 25);
  const int other = add_node(graph, {.kind = NodeKind::NvSwitch, .name = "other"});
  for (const int gpu : graph.devices) add_cable(graph, gpu, other, 0, 4);
  EXPECT_DOUBLE_EQ(switched_domain(graph, prefix(3), {})->port_GBps, 225);
  std::swap(graph.links[2].to, graph.links[8].to);  // GPU1 has 4 to the first and 5 to the other
  std::swap(graph.links[3].from, graph.links[9].from);
  EXPECT_FALSE(switched_domain(graph, prefix(3), {}).has_value());
  EXPECT_NEAR(bound_of(graph, prefix(3)).ring_GBps, 200, 1e-9) << "4 links of each switch";
}

TEST(SwitchedDomain, HasNoDeviceOffTheFabric) {
  Graph lost = star_graph(4, 18, 25);
  std::erase_if(lost.links, [&](const Link& link) {
    return link.from == lost.devices[3] || link.to == lost.devices[3];
  });
  EXPECT_FALSE(switched_domain(lost, prefix(4), {}).has_value());
  EXPECT_TRUE(switched_domain(lost, prefix(3), {}).has_value());
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
}

}  // namespace
}  // namespace busbar::topo
