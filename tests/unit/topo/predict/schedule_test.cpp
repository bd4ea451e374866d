// SPDX-License-Identifier: BSD-3-Clause
#include <numeric>

#include "tests/unit/topo/bounds/small_graphs.hpp"
#include "tests/unit/topo/tree_machine.hpp"
#include "topo/predict/predictor.hpp"
#include "topo/systems/joined_hosts.hpp"

// Each formula of docs/simulation.md in numbers.
namespace busbar::topo {
namespace {

/// Every kind of step has its own digits, so that a sum shows how many of which there are.
constexpr StepTimes kTimes{.share = 0.5,
                           .launch_us = 7e-3,
                           .nvlink_us = 1,
                           .pcie_us = 1e3,
                           .smp_us = 1e6,
                           .network_us = 1e9};

/// Ranks on hosts: rings of 20 GB/s, 30 in a host, 12.5 between hosts, and a switch of 450.
SetLimits limits_of(const std::vector<int>& ranks) {
  const int n = std::accumulate(ranks.begin(), ranks.end(), 0);
  return {.ranks = n,
          .hosts = static_cast<int>(ranks.size()),
          .most_on_host = *std::max_element(ranks.begin(), ranks.end()),
          .ring_GBps = 20,
          .host_GBps = 30,
          .network_GBps = 12.5,
          .in_switch_GBps = in_switch_GBps(450, n)};
}

TEST(Schedule, HasTheStepsAndTheDataOfEachForm) {
  struct Case {
    std::vector<int> ranks;  ///< on each host
    const char* collective;
    Sending sending;
    double within;   ///< steps over NVLink
    double between;  ///< steps over the network
    double seconds;  ///< of the links, for 1 GB
  };
  const std::vector<Case> cases{
      // n - 1 steps of a ring, of which one in n leaves each host, twice for all-reduce. Each hop
      // has (n - 1)/n of the data, or all of a root's.
      {{8}, "allreduce", Sending::Ring, 14, 0, 1.75 / 20},
      {{8}, "allreduce", Sending::RingLl128, 14, 0, 1.75 / 20},
      {{8}, "allgather", Sending::Ring, 7, 0, 0.875 / 20},
      {{8}, "reducescatter", Sending::Ring, 7, 0, 0.875 / 20},
      {{8}, "reduce", Sending::RingLowLatency, 7, 0, 1.0 / 20},
      {{4, 4}, "allreduce", Sending::Ring, 10.5, 3.5, 1.75 / 20},
      {{3, 2}, "allgather", Sending::Ring, 2.4, 1.6, 0.8 / 20},
      {{2, 2, 2}, "broadcast", Sending::Ring, 2.5, 2.5, 1.0 / 20},
      // Up the chain of the fullest host, up the tree, and the same way down: twice the data in a
      // host, and two trees between hosts with half of it on each edge, up and down.
      {{8}, "allreduce", Sending::TreeLowLatency, 14, 0, 2.0 / 30},
      {{4, 4}, "allreduce", Sending::Tree, 6, 2, 1 / 12.5},
      {{3, 2}, "allreduce", Sending::TreeLowLatency, 4, 2, 1 / 12.5},
      {{2, 2, 2}, "allreduce", Sending::Tree, 2, 4, 4.0 / 3 / 12.5},
      {{1, 1, 1, 1, 1}, "allreduce", Sending::Tree, 0, 6, 1.6 / 12.5},
      // In a host k pieces are added and their sums sent; across hosts each rank's piece.
      {{4, 4}, "allreduce", Sending::Hierarchical, 6, 2, 1.5 / 30 + 1 / 12.5},
      {{3, 2}, "allreduce", Sending::Hierarchical, 4, 2, 4.0 / 3 / 30 + 1 / 12.5},
      {{2, 2, 2}, "allreduce", Sending::Hierarchical, 2, 4, 1.0 / 30 + 4.0 / 3 / 12.5},
      // Each sends all of its data once, and its own part of the sums for all.
      {{8}, "allreduce", Sending::Nvls, 0, 0, 1.125 / 450},
      {{72}, "allreduce", Sending::Nvls, 0, 0, 73.0 / 72 / 450},
      // A tree between switches.
      {{8, 8}, "allreduce", Sending::Nvls, 0, 2, 1 / 12.5}};
  for (const Case& one : cases) {
    SCOPED_TRACE(fmt::format("{} {} {}", one.collective, name(one.sending), one.ranks.size()));
    const auto way =
        schedule(*find_collective(one.collective), one.sending, limits_of(one.ranks), kTimes);
    ASSERT_TRUE(way);
    EXPECT_NEAR(way->fixed_us, 7e-3 + one.within + one.between * 1e9, 1e-6);
    EXPECT_NEAR(way->us_per_byte, 2 * one.seconds / 1e3, 1e-12);  // half a share
    EXPECT_NEAR(way->time_us(3e9), way->fixed_us + 6e6 * one.seconds, 1e-3);
  }
}

TEST(Schedule, TakesTheTimeOfTheKindOfStep) {
  SetLimits limits = limits_of({4});
  const auto fixed = [&](LinkKind within) {
    limits.within = within;
    return schedule(kAllGather, Sending::Ring, limits, kTimes)->fixed_us;
  };
  EXPECT_NEAR(fixed(LinkKind::NvLink), 3.007, 1e-9);
  EXPECT_NEAR(fixed(LinkKind::Xgmi), 3.007, 1e-9);
  EXPECT_NEAR(fixed(LinkKind::Pcie), 3e3 + 7e-3, 1e-9);
  EXPECT_NEAR(fixed(LinkKind::Memory), 3e3 + 7e-3, 1e-9);
  EXPECT_NEAR(fixed(LinkKind::Smp), 3e6 + 7e-3, 1e-6);
}

constexpr std::array kExchanges{Movement::AllToAll, Movement::Gather, Movement::Scatter,
                                Movement::SendReceive};

/// What `from` has for `to`, in sizes as nccl-tests defines them.
double sent(Movement movement, int from, int to, int root, int ranks) {
  const double part = 1.0 / ranks;
  if (movement == Movement::AllToAll) return part;
  if (movement == Movement::Gather) return to == root ? part : 0;
  if (movement == Movement::Scatter) return from == root ? part : 0;
  return to - from == 1 || (from == ranks - 1 && to == 0) ? 1 : 0;
}

/// Seconds a GB by adding up every pair's data on each link of its way within a host, and on its
/// host's way out and in between hosts, for which `network_GBps` is known. `devices`: of each rank,
/// in a graph that has all hosts.
double slow_seconds(Movement movement, int root, const Graph& graph,
                    const std::vector<int>& devices, double network_GBps) {
  const int ranks = static_cast<int>(devices.size());
  std::vector<double> load(graph.links.size(), 0);
  std::map<int, double> out;
  std::map<int, double> in;
  for (int from = 0; from < ranks; ++from) {
    for (int to = 0; to < ranks; ++to) {
      if (from == to) continue;
      const double share = sent(movement, from, to, root, ranks);
      const int start = devices[to_size(from)];
      const int end = devices[to_size(to)];
      if (device(graph, start).host != device(graph, end).host) {
        out[device(graph, start).host] += share;
        in[device(graph, end).host] += share;
        continue;
      }
      const auto way = way_between(graph, start, end, false);
      for (const int link : way.value()) load[to_size(link)] += share;
    }
  }
  double seconds = 0;
  for (std::size_t k = 0; k < load.size(); ++k) {
    seconds = std::max(seconds, load[k] / width_GBps(graph, k));
  }
  for (const auto& sums : {out, in}) {
    for (const auto& [host, sum] : sums) seconds = std::max(seconds, sum / network_GBps);
  }
  return seconds;
}

double seconds_of(Movement movement, int root, const EqualHosts& machine, const RankSet& set,
                  const Traffic* traffic = nullptr) {
  const Cluster cluster(machine);
  const SetLimits limits = limits_of(cluster, set, {});
  return exchange(movement, {.root = root, .traffic = traffic}, cluster, set, limits, {})
      .value()
      .seconds;
}

TEST(Exchange, AddsUpThePairsOfAHost) {
  for (unsigned seed = 0; seed < 12; ++seed) {
    const TreeMachine machine({.gpus = 5, .nvlink = seed % 2 > 0 ? 0.5 : 0}, seed);
    const std::vector<int> devices{0, 2, 3, 4};
    const RankSet set{.parts = {{.devices = devices}}, .ranks = 4};
    for (const Movement movement : kExchanges) {
      for (int root = 0; root < 4; ++root) {
        EXPECT_NEAR(seconds_of(movement, root, {.host = machine.graph()}, set),
                    slow_seconds(movement, root, machine.graph(), devices, 1), 1e-12)
            << seed << " root " << root;
      }
    }
  }
}

TEST(Exchange, AddsUpThePairsOfEqualHosts) {
  for (unsigned seed = 0; seed < 3; ++seed) {
    const TreeMachine machine({.gpus = 3, .nvlink = 0.5}, seed);
    const EqualHosts hosts{.host = machine.graph(), .hosts = 4};
    const Graph graph = copy_hosts(machine.graph(), 4);
    // Three hosts alike, the last with two ranks.
    const RankSet set{.parts = {{.host = 0, .devices = {0, 1, 2}},
                                {.host = 1, .devices = {0, 1, 2}},
                                {.host = 2, .devices = {0, 1, 2}},
                                {.host = 3, .devices = {0, 2}}},
                      .ranks = 11};
    const std::vector<int> devices{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 11};
    const double network = limits_of(Cluster(hosts), set, {}).network_GBps;
    for (const Movement movement : kExchanges) {
      for (const int root : {0, 2, 3, 7, 8, 9, 10}) {
        EXPECT_NEAR(seconds_of(movement, root, hosts, set),
                    slow_seconds(movement, root, graph, devices, network), 1e-12)
            << seed << " root " << root;
      }
    }
  }
}

TEST(Exchange, SharesSeveralCablesOfAPair) {
  // Three cables of 25, 50 and 75 GB/s carry one path of 150 together: a half of a size each way.
  Graph graph = nvlink_graph({"01", "10"}, 25);
  add_cable(graph, graph.devices[0], graph.devices[1], 0, 2);
  add_cable(graph, graph.devices[0], graph.devices[1], 0, 3);
  const RankSet set{.parts = {{.devices = {0, 1}}}, .ranks = 2};
  EXPECT_NEAR(seconds_of(Movement::AllToAll, 0, {.host = graph}, set), 0.5 / 150, 1e-12);
  EXPECT_NEAR(seconds_of(Movement::SendReceive, 0, {.host = graph}, set), 1.0 / 150, 1e-12);
}

/// What each rank has for each, or for rank 3 only.
Traffic traffic_of(int ranks, bool incast) {
  Traffic traffic(ranks, "made");
  for (int pair = 0; pair < ranks * ranks; ++pair) {
    if (!incast || pair % ranks == 3) traffic.set(pair / ranks, pair % ranks, 1);
  }
  return traffic;
}

TEST(Exchange, OfUnequalPartsIsOfTheFullestPortOrHost) {
  EqualHosts machine = load_machine("dgx-h100");
  const auto seconds = [&](const Traffic* traffic) {
    const RankSet set = Cluster(machine).place(8 * machine.hosts, {}, {});
    return seconds_of(Movement::AllToAll, 0, machine, set, traffic);
  };
  const Traffic eight = traffic_of(8, true);
  EXPECT_DOUBLE_EQ(seconds(&eight), 7.0 / 8 / 450);
  machine.host = with_network(std::move(machine.host), parse_network("--nic", "8x50"));
  machine.hosts = 2;
  const Traffic even = traffic_of(16, false);
  EXPECT_DOUBLE_EQ(seconds(&even), seconds(nullptr));
  const Traffic incast = traffic_of(16, true);
  EXPECT_DOUBLE_EQ(seconds(&incast), 0.5 / 400);  // of 8 ranks, into its host
}

TEST(Exchange, IsNoneWhereAPairHasNoWay) {
  const RankSet set{.parts = {{.devices = {0, 1, 2}}}, .ranks = 3};
  const Cluster cluster({.host = nvlink_graph({"011", "100", "100"}, 25)});
  const SetLimits limits = limits_of(cluster, set, {});
  const auto has = [&](Movement movement, int root) {
    return exchange(movement, {.root = root}, cluster, set, limits, {}).has_value();
  };
  EXPECT_FALSE(has(Movement::AllToAll, 0));
  EXPECT_TRUE(has(Movement::Gather, 0)) << "1 and 2 have nothing for each other";
  EXPECT_FALSE(has(Movement::Gather, 1));
  const RankSet hosts{.parts = {{.host = 0, .devices = {0}}, {.host = 1, .devices = {0}}},
                      .ranks = 2};
  const Cluster apart({.host = nvlink_graph({"01", "10"}, 25), .hosts = 2});
  EXPECT_FALSE(exchange(Movement::AllToAll, {}, apart, hosts, limits_of(apart, hosts, {}), {}))
      << "no network";
}

}  // namespace
}  // namespace busbar::topo
