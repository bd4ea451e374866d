// SPDX-License-Identifier: BSD-3-Clause
// What the specification's table of worked results and the papers (T-1 to T-19 of the notes on the
// sources) say about the built-in systems, or lets be derived from them.

#include "tests/unit/topo/bounds/small_graphs.hpp"
#include "topo/bounds/host_limits.hpp"
#include "topo/systems/joined_hosts.hpp"
#include "topo/systems/system_file.hpp"

namespace busbar::topo {
namespace {

using Set = std::vector<int>;

double ring(const Graph& graph, const Set& set) { return bound_of(graph, set).ring_GBps; }

double bound(const Graph& graph, const Set& set, ConstantSet constants = ConstantSet::Nominal) {
  return bound_of(graph, set, {.constants = constants}).bound_GBps;
}

struct RingRow {
  const char* system;
  std::vector<Set> sets;
  double GBps;
};

TEST(SystemBounds, HaveTheRingsOfTheTables) {
  for (const RingRow& row : std::vector<RingRow>{
           {"dgx-1v", {{0, 3}, {0, 4}, prefix(3), prefix(6)}, 50},  // T-2 to T-8
           {"dgx-1v", {{0, 1}}, 25},
           {"dgx-1v", {{0, 3, 4, 7}, {0, 1, 4, 5}, {0, 2, 4, 6}}, 50},
           {"dgx-1v", {prefix(4), {4, 5, 6, 7}, {0, 1, 2, 4, 5, 6}, prefix(7)}, 100},
           {"dgx-1v", {prefix(8)}, 150},
           {"dgx-1v", {{0, 5}, {0, 1, 6, 7}, prefix(5)}, 0},
           {"dgx-1p", {prefix(2)}, 20},  // T-13
           {"dgx-1p", {prefix(3), prefix(6)}, 40},
           {"dgx-1p", {prefix(4), prefix(7)}, 60},
           {"dgx-1p", {prefix(8)}, 80},
           {"dgx-1p", {prefix(5)}, 0},
           {"c4140-sxm2", {prefix(2)}, 50},  // T-14 and T-15
           {"c4140-sxm2", {prefix(3)}, 100},
           {"c4140-sxm2", {prefix(4)}, 150},
           {"p100-sxm2-x4", {{0, 1}}, 20},
           {"p100-sxm2-x4", {{0, 3}}, 40},
           {"p100-sxm2-x4", {prefix(4)}, 80},
           {"hgx-a100-x4", {prefix(4)}, 300},
           {"hgx-h100-x4", {prefix(4)}, 450},
           {"dgx-station", {prefix(2)}, 25},
           {"dgx-station", {prefix(3), {0, 3}}, 50},
           {"dgx-station", {prefix(4)}, 100}}) {
    const Graph graph = load_system(row.system);
    for (const Set& set : row.sets) {
      EXPECT_NEAR(ring(graph, set), row.GBps, 1e-6)
          << row.system << ' ' << testing::PrintToString(set);
    }
  }
}

struct BoundRow {
  const char* system;
  std::vector<Set> sets;
  double GBps;
  BoundOptions options{};
  const char* limit = "";  ///< what Bound::limit names
};

TEST(SystemBounds, HaveTheBoundsOfTheTables) {
  constexpr BoundOptions kNccl{.constants = ConstantSet::Nccl};
  for (const BoundRow& row : std::vector<BoundRow>{
           {"ac922", {{0, 1}, {2, 3}}, 75},  // T-9 and T-10
           {"ac922", {{0, 2}, {1, 2}, {0, 1, 2}, {1, 2, 3}, prefix(4)}, 32, {}, "X-Bus"},
           {"summit", {{0, 1}}, 50},
           {"summit", {{0, 1, 2}}, 100},
           {"summit", {{0, 3}, {0, 1, 3}, prefix(4), {0, 1, 3, 4}, prefix(6)}, 32},
           {"ac922-x4", {prefix(8), prefix(16)}, 24},        // T-11
           {"p3dn-x2", {prefix(16)}, 12.5, {}, "Ethernet"},  // T-12
           {"p3dn-x2", {prefix(16)}, 1.25, {.flows = 1}},
           {"p3dn-x2", {prefix(16)}, 5, {.flows = 4}},
           {"c4140-pcie-x8", {prefix(8), prefix(12), prefix(16), prefix(32)}, 12.5, {}, "EDR"},
           {"knl-omnipath", {prefix(2), prefix(5), prefix(8)}, 12.5},  // T-18
           {"knl-aries", {prefix(2), prefix(5), prefix(8)}, 8},
           {"c4140-pcie", {prefix(2), prefix(3), prefix(4)}, 15.75},
           {"c4140-pcie", {prefix(2), prefix(3), prefix(4)}, 12, kNccl},
           {"dgx-1p", {prefix(5)}, 12, kNccl},
           {"dgx-1v", {prefix(5)}, 12, kNccl},
           {"dgx-1v", {prefix(8)}, 120, kNccl},
           {"dgx-2", {prefix(16)}, 120, kNccl},
           {"dgx-a100", {prefix(8)}, 240, kNccl},
           {"dgx-h100", {prefix(8)}, 370.8, kNccl},
           {"hgx-b200", {prefix(8)}, 721.8, kNccl},
           {"h100-nvl-pair", {prefix(2)}, 300},
           {"h100-nvl-pair", {prefix(2)}, 247.2, kNccl},
           {"h200-nvl-x8", {prefix(4)}, 450},
           {"rtx-pro-6000-x8", {prefix(2), prefix(8)}, 63},
           {"dgx-spark-pair", {prefix(2)}, 25},
           {"p6e-gb300", {prefix(4)}, 900},
           {"mi300x", {prefix(8)}, 448},
           {"mi300x", {prefix(2)}, 64},
           {"mi300x", {prefix(8)}, 336, kNccl},
           {"mi325x", {prefix(8)}, 448},
           {"mi355x", {prefix(8)}, 537.6},
           {"mi250x", {prefix(2), prefix(8)}, 200},
           {"mi250-x16", {prefix(16)}, 300},
           {"c4140-sxm2", {prefix(4)}, 120, kNccl},
           {"pcie-gen4-x8", {prefix(4), prefix(8)}, 20, kNccl}}) {
    const Graph graph = load_system(row.system);
    for (const Set& set : row.sets) {
      const Bound found = bound_of(graph, set, row.options);
      EXPECT_NEAR(found.bound_GBps, row.GBps, 1e-6)
          << row.system << ' ' << testing::PrintToString(set);
      EXPECT_NE(found.limit.find(row.limit), std::string::npos) << found.limit;
    }
  }
}

TEST(SystemBounds, AreOneForEverySetOfASwitchedSystem) {  // T-1
  for (const auto& [system, value] : std::map<std::string, double>{{"dgx-2", 150},
                                                                   {"dgx-a100", 300},
                                                                   {"dgx-h100", 450},
                                                                   {"hgx-h200", 450},
                                                                   {"hgx-b200", 900},
                                                                   {"hgx-b300", 900},
                                                                   {"gb300-nvl72", 900},
                                                                   {"gb200-nvl72", 900}}) {
    const Graph graph = load_system(system);
    const int n = static_cast<int>(device_count(graph));
    for (int k = 2; k <= n; ++k) {
      const Bound found = bound_of(graph, prefix(k));
      EXPECT_NEAR(found.ring_GBps, value, 1e-6) << system << ", first " << k;
      EXPECT_TRUE(found.exact) << system << ", first " << k;
    }
    EXPECT_NEAR(ring(graph, {0, n / 2, n - 1}), value, 1e-6) << system;
  }
}

/// The same machine where each medium of a kind has another figure.
Graph with_medium(Graph graph, LinkKind kind, double Medium::*figure, double GBps) {
  for (Medium& medium : graph.media) {
    if (medium.kind == kind) medium.*figure = GBps;
  }
  return graph;
}

/// Two hosts of a system.
Graph pair_of(const std::string& system) { return copy_hosts(load_machine(system).host, 2); }

TEST(SystemBounds, HaveTheNetworkBetweenTwoHostsOfEachCloud) {
  for (const auto& [system, GBps] : std::map<std::string, double>{{"dgx-h100", 400},
                                                                  {"p5", 400},
                                                                  {"p5en", 400},
                                                                  {"a3-highgpu-8g", 100},
                                                                  {"a3-megagpu-8g", 200},
                                                                  {"a3-ultragpu-8g", 400},
                                                                  {"p4d", 50},
                                                                  {"p6-b200", 400},
                                                                  {"a4-highgpu-8g", 400},
                                                                  {"hgx-b300", 800},
                                                                  {"p6-b300", 800},
                                                                  {"mi300x", 400},
                                                                  {"mi355x", 400}}) {
    const Bound both = bound_of(pair_of(system), prefix(16));
    EXPECT_NEAR(both.cut_GBps, GBps, 1e-6) << system;
    // B_nic_per_gpu x (N - 1) / (N - n)
    EXPECT_NEAR(both.alltoall_GBps.value_or(0), GBps / 8 * 15 / 8, 1e-6) << system;
  }
}

TEST(SystemBounds, HaveTheFourAdaptersOfAFrontierNode) {
  EXPECT_NEAR(network_cut(load_system("mi250x"), prefix(8), {}).GBps, 100, 1e-6);
  EXPECT_NEAR(network_cut(load_system("mi250x"), prefix(1), {}).GBps, 25, 1e-6)
      << "one Slingshot adapter, though 36 GB/s lead to the processor";
}

TEST(SystemBounds, HaveTheNetworkOfARackThroughTheC2cOfItsGpus) {
  for (const auto& [system, GBps] :
       std::map<std::string, double>{{"gb200-nvl72-x2", 50}, {"gb300-nvl72-x2", 100}}) {
    const Graph racks = load_system(system);
    EXPECT_NEAR(network_cut(racks, prefix(64), {}).GBps, 64 * GBps, 1e-6) << system;
    const Graph slow = with_medium(racks, LinkKind::Memory, &Medium::nominal_GBps, 20);
    EXPECT_NEAR(network_cut(slow, prefix(64), {}).GBps, 64 * 20, 1e-6) << system;
    // The first of one rack and the first of the other: C2C is wider than an adapter.
    EXPECT_NEAR(bound(racks, {0, 72}), GBps, 1e-6) << system;
    EXPECT_NEAR(bound(slow, {0, 72}), 20, 1e-6) << system;
  }
}

Graph with_p2p(const char* system, P2p p2p) {
  Graph graph = load_system(system);
  for (auto& row : graph.p2p) std::fill(row.begin(), row.end(), p2p);
  return graph;
}

// Eight GPUs of PCIe 3.0, two a switch, two switches a socket.
TEST(SystemBounds, HaveThePcieBoxWithAndWithoutPeerAccess) {
  struct Row {
    Set set;
    double raw_p2p, raw_staged, skylake_p2p, skylake_staged, broadwell_p2p, broadwell_staged;
  };
  const Graph works = with_p2p("exxact-ts4", P2p::Works);
  const Graph off = with_p2p("exxact-ts4", P2p::Off);
  const auto broadwell = [](const Graph& graph) {
    return with_medium(graph, LinkKind::Smp, &Medium::nccl_GBps, 6);
  };
  for (const Row& row : std::vector<Row>{{{0, 1}, 15.75, 7.875, 12, 6, 12, 6},
                                         {{0, 2}, 15.75, 15.75, 10, 12, 10, 12},
                                         {{0, 4}, 15.75, 15.75, 10, 10, 6, 6},
                                         {{0, 2, 4, 6}, 15.75, 15.75, 10, 10, 6, 6},
                                         {{0, 1, 2, 3}, 15.75, 7.875, 10, 6, 10, 6},
                                         {prefix(8), 15.75, 7.875, 10, 6, 6, 6}}) {
    SCOPED_TRACE(testing::PrintToString(row.set));
    EXPECT_NEAR(bound(works, row.set), row.raw_p2p, 1e-6);
    EXPECT_NEAR(bound(off, row.set), row.raw_staged, 1e-6);
    EXPECT_NEAR(bound(works, row.set, ConstantSet::Nccl), row.skylake_p2p, 1e-6);
    EXPECT_NEAR(bound(off, row.set, ConstantSet::Nccl), row.skylake_staged, 1e-6);
    EXPECT_NEAR(bound(broadwell(works), row.set, ConstantSet::Nccl), row.broadwell_p2p, 1e-6);
    EXPECT_NEAR(bound(broadwell(off), row.set, ConstantSet::Nccl), row.broadwell_staged, 1e-6);
  }
  EXPECT_NEAR(bound(with_p2p("c4140-pcie", P2p::Off), prefix(4)), 15.75 / 4, 1e-6);
  const Graph direct = with_p2p("pcie-gen4-x8", P2p::Off);
  EXPECT_NEAR(bound(direct, prefix(4), ConstantSet::Nccl), 24, 1e-6);
  EXPECT_NEAR(bound(direct, prefix(8), ConstantSet::Nccl), 22, 1e-6);
}

}  // namespace
}  // namespace busbar::topo
