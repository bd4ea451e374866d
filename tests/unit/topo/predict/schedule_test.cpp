// SPDX-License-Identifier: BSD-3-Clause
// Each formula of docs/simulation.md against a walk over ranks, steps and pieces.
#include "topo/predict/schedule.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace busbar::topo
