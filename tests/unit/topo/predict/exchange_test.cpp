// SPDX-License-Identifier: BSD-3-Clause
#include "topo/predict/exchange.hpp"

#include <algorithm>
#include <array>
#include <map>

#include <gtest/gtest.h>

#include "tests/unit/topo/bounds/small_graphs.hpp"
#include "tests/unit/topo/tree_machine.hpp"
#include "topo/systems/host_copies.hpp"

namespace busbar::topo {
namespace {

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
      const int start = devices[static_cast<std::size_t>(from)];
      const int end = devices[static_cast<std::size_t>(to)];
      if (device(graph, start).host != device(graph, end).host) {
        out[device(graph, start).host] += share;
        in[device(graph, end).host] += share;
        continue;
      }
      const auto way = way_between(graph, start, end, false);
      for (const int link : way.value()) load[static_cast<std::size_t>(link)] += share;
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

double seconds_of(Movement movement, int root, const EqualHosts& machine, const RankSet& set) {
  const Cluster cluster(machine);
  return exchange_seconds(movement, root, cluster, set, limits_of(cluster, set, {}), {}).value();
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

TEST(Exchange, PassesEachPortOfASwitchOnce) {
  // 300 GB/s: each of eight sends seven eighths of a size, or all of it to one.
  const RankSet set{.parts = {{.devices = prefix(8)}}, .ranks = 8};
  const EqualHosts machine{.host = star_graph(8, 12, 25)};
  EXPECT_NEAR(seconds_of(Movement::AllToAll, 0, machine, set), 0.875 / 300, 1e-12);
  EXPECT_NEAR(seconds_of(Movement::Gather, 3, machine, set), 0.875 / 300, 1e-12);
  EXPECT_NEAR(seconds_of(Movement::Scatter, 3, machine, set), 0.875 / 300, 1e-12);
  EXPECT_NEAR(seconds_of(Movement::SendReceive, 0, machine, set), 1.0 / 300, 1e-12);
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

TEST(Exchange, IsNoneWhereAPairHasNoWay) {
  const RankSet set{.parts = {{.devices = {0, 1, 2}}}, .ranks = 3};
  const Cluster cluster({.host = nvlink_graph({"011", "100", "100"}, 25)});
  const SetLimits limits = limits_of(cluster, set, {});
  const auto has = [&](Movement movement, int root) {
    return exchange_seconds(movement, root, cluster, set, limits, {}).has_value();
  };
  EXPECT_FALSE(has(Movement::AllToAll, 0));
  EXPECT_TRUE(has(Movement::Gather, 0)) << "1 and 2 have nothing for each other";
  EXPECT_FALSE(has(Movement::Gather, 1));
  const RankSet hosts{.parts = {{.host = 0, .devices = {0}}, {.host = 1, .devices = {0}}},
                      .ranks = 2};
  const Cluster apart({.host = nvlink_graph({"01", "10"}, 25), .hosts = 2});
  EXPECT_FALSE(
      exchange_seconds(Movement::AllToAll, 0, apart, hosts, limits_of(apart, hosts, {}), {}))
      << "no network";
}

}  // namespace
}  // namespace busbar::topo
