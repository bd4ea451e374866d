// SPDX-License-Identifier: BSD-3-Clause
#include "topo/predict/schedule.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include "tests/unit/topo/bounds/small_graphs.hpp"
#include "tests/unit/topo/tree_machine.hpp"
#include "topo/systems/joined_hosts.hpp"

// Each formula of docs/simulation.md against a walk over ranks, steps and pieces.
namespace busbar::topo {
namespace {

constexpr double kGB = 1e9;
const Collective& kAllReduce = *find_collective("allreduce");
const Collective& kAllGather = *find_collective("allgather");
const Collective& kAllToAll = *find_collective("alltoall");

/// Every kind of step has its own digits, so that a sum shows how many of which there are.
constexpr StepTimes kTimes{.share = 0.5,
                           .launch_us = 7e-3,
                           .nvlink_us = 1,
                           .pcie_us = 1e3,
                           .smp_us = 1e6,
                           .network_us = 1e9};

/// Ranks on each host, and what carries them.
struct Machine {
  std::vector<int> ranks{};
  double ring_GBps = 20;
  double host_GBps = 30;
  double network_GBps = 12.5;
  double port_GBps = 450;
};

int count(const Machine& machine) {
  return std::accumulate(machine.ranks.begin(), machine.ranks.end(), 0);
}

SetLimits limits_of(const Machine& machine) {
  const int n = count(machine);
  return {.ranks = n,
          .hosts = static_cast<int>(machine.ranks.size()),
          .most_on_host = *std::max_element(machine.ranks.begin(), machine.ranks.end()),
          .ring_GBps = machine.ring_GBps,
          .host_GBps = machine.host_GBps,
          .network_GBps = machine.network_GBps,
          .in_switch_GBps = 2 * machine.port_GBps * (n - 1) / (n + 1)};
}

/// The host of each rank, host after host.
std::vector<int> hosts_of(const Machine& machine) {
  std::vector<int> hosts;
  for (std::size_t host = 0; host < machine.ranks.size(); ++host) {
    hosts.insert(hosts.end(), static_cast<std::size_t>(machine.ranks[host]),
                 static_cast<int>(host));
  }
  return hosts;
}

/// Pieces go round the ring step by step: what most crosses one hop, in sizes, and how long a piece
/// is under way, on average over where it starts.
struct Walk {
  double sizes = 0;
  double steps_us = 0;
};

Walk walk_ring(Movement movement, const Machine& machine) {
  const std::vector<int> hosts = hosts_of(machine);
  const std::size_t n = hosts.size();
  const std::size_t rounds = movement == Movement::AllReduce ? 2 : 1;
  const bool whole = movement == Movement::Chain;
  std::vector<double> load(n, 0);
  Walk walk;
  for (std::size_t start = 0; start < n; ++start) {
    for (std::size_t step = 0; step < rounds * (n - 1); ++step) {
      const std::size_t from = (start + step) % n;
      const bool leaves = hosts[from] != hosts[(from + 1) % n];
      walk.steps_us += (leaves ? kTimes.network_us : kTimes.nvlink_us) / static_cast<double>(n);
      // A root sends all by one chain; else each rank starts a piece of its own.
      if (!whole) load[from] += 1.0 / static_cast<double>(n);
      if (whole && start == 0) load[from] += 1;
    }
  }
  walk.sizes = *std::max_element(load.begin(), load.end());
  return walk;
}

const std::vector<Machine> kMachines{{{2}},    {{3}},    {{8}},       {{1, 1}},
                                     {{4, 4}}, {{3, 2}}, {{2, 2, 2}}, {{1, 1, 1, 1, 1}}};

double time_us(const Collective& collective, Sending sending, const SetLimits& limits,
               double bytes) {
  return schedule(collective, sending, limits, kTimes).value().time_us(bytes);
}

TEST(Schedule, OfARingIsWhatAWalkRoundItTakes) {
  for (const Machine& machine : kMachines) {
    for (const Collective* collective : measured_collectives()) {
      if (!is_ringed(collective->movement)) continue;
      const Walk walk = walk_ring(collective->movement, machine);
      for (const double GB : {0.0, 1e-6, 3.0}) {
        const double data_us = walk.sizes * GB / machine.ring_GBps / kTimes.share * 1e6;
        for (const Sending sending : {Sending::Ring, Sending::RingLowLatency}) {
          EXPECT_NEAR(time_us(*collective, sending, limits_of(machine), GB * kGB),
                      kTimes.launch_us + walk.steps_us + data_us, 1e-3)
              << count(machine) << " ranks on " << machine.ranks.size();
        }
      }
    }
  }
}

/// Rounds until all hosts have what one had, where each that has it sends to one other.
int rounds_to_all(std::size_t hosts) {
  int rounds = 0;
  for (std::size_t reached = 1; reached < hosts; reached *= 2) ++rounds;
  return rounds;
}

TEST(Schedule, OfATreeIsAChainInEachHostAndTwoTreesBetween) {
  for (const Machine& machine : kMachines) {
    if (machine.ranks == std::vector{1, 1, 1, 1, 1}) continue;
    const SetLimits limits = limits_of(machine);
    const std::size_t hosts = machine.ranks.size();
    // Up the chain of the fullest host, up the tree, and the same way down.
    double steps_us = 0;
    for (const int down : {0, 1}) {
      for (int hop = 1; hop < limits.most_on_host; ++hop) steps_us += kTimes.nvlink_us;
      for (int round = 0; round < rounds_to_all(hosts); ++round) steps_us += kTimes.network_us;
      static_cast<void>(down);
    }
    // Each of two trees has half of the data on each edge, once up and once down; what all hosts
    // send together is shared equally.
    double sent = 0;
    for (int tree = 0; tree < 2; ++tree) {
      for (std::size_t edge = 1; edge < hosts; ++edge) sent += 0.5 + 0.5;
    }
    const double between = sent / static_cast<double>(hosts) / machine.network_GBps;
    const double chain = (1 + 1) / machine.host_GBps;  // up and down
    for (const double GB : {0.0, 1e-6, 3.0}) {
      const double data_us = std::max(chain, between) * GB / kTimes.share * 1e6;
      for (const Sending sending : {Sending::Tree, Sending::TreeLowLatency}) {
        EXPECT_NEAR(time_us(kAllReduce, sending, limits, GB * kGB),
                    kTimes.launch_us + steps_us + data_us, 1e-3)
            << count(machine) << " ranks on " << hosts;
      }
    }
  }
}

TEST(Schedule, OfATreeIsLimitedByTheSlowerOfHostAndNetwork) {
  Machine machine{.ranks = {4, 4}, .host_GBps = 10, .network_GBps = 100};
  // 2 / 10 in the host against 2 x 1/2 / 100 between; half a share doubles it: 0.4 s a GB.
  EXPECT_NEAR(schedule(kAllReduce, Sending::Tree, limits_of(machine), kTimes)->us_per_byte, 0.4e-3,
              1e-12);
  machine.network_GBps = 2;  // 1 / 2 between: 1 s a GB
  EXPECT_NEAR(schedule(kAllReduce, Sending::Tree, limits_of(machine), kTimes)->us_per_byte, 1e-3,
              1e-12);
}

TEST(Schedule, OfTheHierarchicalFormIsARingInEachHostAndOneAcross) {
  for (const Machine& machine : kMachines) {
    const auto hosts = static_cast<int>(machine.ranks.size());
    const SetLimits limits = limits_of(machine);
    if (hosts < 2) {
      EXPECT_FALSE(schedule(kAllReduce, Sending::Hierarchical, limits, kTimes));
      continue;
    }
    const int k = limits.most_on_host;
    double steps_us = 0;
    double in_host = 0;
    double across = 0;
    for (int step = 1; step < k; ++step) {  // sums of k pieces, and later the results
      steps_us += 2 * kTimes.nvlink_us;
      in_host += 2.0 / k;
    }
    for (int step = 1; step < hosts; ++step) {
      steps_us += 2 * kTimes.network_us;
      for (int piece = 0; piece < k; ++piece) across += 2.0 / k / hosts;  // one for each rank
    }
    for (const double GB : {0.0, 1e-6, 3.0}) {
      const double seconds = in_host / machine.host_GBps + across / machine.network_GBps;
      EXPECT_NEAR(time_us(kAllReduce, Sending::Hierarchical, limits, GB * kGB),
                  kTimes.launch_us + steps_us + seconds * GB / kTimes.share * 1e6, 1e-3)
          << count(machine) << " ranks on " << hosts;
    }
  }
}

TEST(Schedule, OfTheSwitchSendsAllOnceAndTheOwnSumsOnce) {
  for (const int n : {2, 3, 8, 72}) {
    const Machine machine{.ranks = {n}};
    for (const double GB : {0.0, 1e-6, 3.0}) {
      double sent = 1.0 / n;  // its own part of the sums, for all
      for (int piece = 0; piece < n; ++piece) sent += 1.0 / n;
      EXPECT_NEAR(time_us(kAllReduce, Sending::Nvls, limits_of(machine), GB * kGB),
                  kTimes.launch_us + sent * GB / machine.port_GBps / kTimes.share * 1e6, 1e-6);
    }
  }
}

TEST(Schedule, TakesTheTimeOfTheKindOfStep) {
  SetLimits limits = limits_of({.ranks = {4}});
  const auto fixed = [&](LinkKind within) {
    limits.within = within;
    return schedule(kAllGather, Sending::Ring, limits, kTimes)->fixed_us;
  };
  EXPECT_NEAR(fixed(LinkKind::NvLink), 3.007, 1e-9);
  EXPECT_NEAR(fixed(LinkKind::Pcie), 3e3 + 7e-3, 1e-9);
  EXPECT_NEAR(fixed(LinkKind::Memory), 3e3 + 7e-3, 1e-9);
  EXPECT_NEAR(fixed(LinkKind::Smp), 3e6 + 7e-3, 1e-6);
}

TEST(Schedule, IsNoneWhereTheWayIsNotThere) {
  const SetLimits two = limits_of({.ranks = {2, 2}});
  const auto has = [](const Collective& collective, Sending sending, const SetLimits& limits) {
    return schedule(collective, sending, limits, kTimes).has_value();
  };
  for (const Sending sending : kSendings) {
    EXPECT_TRUE(has(kAllReduce, sending, two)) << name(sending);
    EXPECT_EQ(has(kAllGather, sending, two), algorithm_of(sending) == Algorithm::Ring);
    EXPECT_FALSE(has(kAllToAll, sending, two));
    SetLimits alone = two;
    alone.ranks = 1;
    EXPECT_FALSE(has(kAllReduce, sending, alone));
  }
  SetLimits broken = two;
  broken.ring_GBps = 0;
  EXPECT_FALSE(has(kAllReduce, Sending::Ring, broken));
  EXPECT_TRUE(has(kAllReduce, Sending::Tree, broken));
  broken = two;
  broken.network_GBps = 0;
  EXPECT_FALSE(has(kAllReduce, Sending::Tree, broken));
  EXPECT_FALSE(has(kAllReduce, Sending::Hierarchical, broken));
  broken = two;
  broken.host_GBps = 0;
  EXPECT_FALSE(has(kAllReduce, Sending::Tree, broken));
  EXPECT_FALSE(has(kAllReduce, Sending::Hierarchical, broken));
  broken = two;
  broken.in_switch_GBps = 0;
  EXPECT_FALSE(has(kAllReduce, Sending::Nvls, broken));
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
