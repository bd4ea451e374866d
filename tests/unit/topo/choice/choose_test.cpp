// SPDX-License-Identifier: BSD-3-Clause
#include "topo/choice/choose.hpp"

#include <algorithm>
#include <cmath>
#include <random>
#include <tuple>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "tests/unit/topo/choice/machines.hpp"
#include "topo/choice/ranking.hpp"

namespace busbar::topo {
namespace {

std::vector<int> chosen(const Graph& graph, int k, Policy policy, int host = -1) {
  return choose(graph, k, policy, {}, host).bound.devices;
}

std::string message_of(const Graph& graph, int k, Policy policy, int host = -1) {
  try {
    (void)choose(graph, k, policy, {}, host);
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), Status::Usage);
    return error.what();
  }
  return "no error";
}

TEST(Choose, TakesTheDoubleLinkOfACubeMesh) {
  const Graph graph = dgx1(dgx1v_rows(), 25);
  const Choice best = choose(graph, 2, Policy::Best);
  EXPECT_EQ(best.bound.devices, (std::vector{0, 3}));
  EXPECT_NEAR(best.bound.ring_GBps, 50, 1e-6);
  EXPECT_EQ(best.reason,
            "best of 28 sets: 50 GB/s in 8 of them, worst 15.75 GB/s without an NVLink ring; "
            "lowest index");
  EXPECT_EQ(chosen(graph, 4, Policy::Best), (std::vector{0, 1, 2, 3}));
  EXPECT_EQ(chosen(graph, 2, Policy::Median), (std::vector{4, 5}));  // the fourteenth of 28
}

TEST(Choose, TakesTheFirstDevicesForPrefix) {
  const Graph graph = dgx1(dgx1v_rows(), 25);
  const Choice five = choose(graph, 5, Policy::Prefix);
  EXPECT_EQ(five.bound.devices, prefix(5));
  EXPECT_EQ(five.bound.ring_GBps, 0);
  EXPECT_EQ(five.reason, "the first 5 of 8 devices");
  EXPECT_EQ(choose(graph, 8, Policy::Prefix).reason, "all of 8 devices");
}

TEST(Choose, FindsThePairUnderOneSwitchTheWorstWithoutPeerAccess) {
  Graph graph = pcie_graph({.p2p = P2p::Off});
  const Choice worst = choose(graph, 2, Policy::Worst);
  EXPECT_EQ(worst.bound.devices, (std::vector{0, 1}));
  EXPECT_EQ(worst.reason,
            "worst of 28 sets: 7.875 GB/s in 4 of them, instead of 15.75 GB/s: half of the best, "
            "{0,2}; lowest index");
  EXPECT_EQ(chosen(graph, 4, Policy::Best), (std::vector{0, 2, 4, 6}));
}

TEST(Choose, BreaksTiesByNumaThenNicThenIndex) {
  Graph graph = star_graph(8, 12, 25);
  EXPECT_EQ(chosen(graph, 2, Policy::Best), (std::vector{0, 1}));
  for (const int device : {1, 4, 6}) gpu(graph, device).numa = 1;
  for (const int device : {0, 2, 3, 5, 7}) gpu(graph, device).numa = 0;
  EXPECT_EQ(chosen(graph, 2, Policy::Best), (std::vector{0, 2}));
  const int pcie =
      add_medium(graph, {.name = "PCIe", .kind = LinkKind::Pcie, .nominal_GBps = 15.75});
  const int nic = add_node(graph, {.kind = NodeKind::Nic, .name = "NIC"});
  for (const std::size_t near : {2U, 4U, 6U}) add_cable(graph, nic, graph.devices[near], pcie);
  const Choice best = choose(graph, 2, Policy::Best);
  EXPECT_EQ(best.bound.devices, (std::vector{4, 6}));
  EXPECT_EQ(best.reason,
            "best of 28 sets: all have 300 GB/s; fewest NUMA nodes, then nearest NIC, then lowest "
            "index");
  EXPECT_EQ(chosen(graph, 2, Policy::Worst), (std::vector{0, 1}));  // two nodes, far from the NIC
}

TEST(Choose, BreaksTheSameTiesWhereSetsAreTried) {
  Graph graph = dgx1(dgx1v_rows(), 25);
  set_two_numa_nodes(graph);
  add_nic(graph, "PLX2");
  const Choice pair = choose(graph, 2, Policy::Best);  // double links only: 03 12 47 56 and across
  EXPECT_EQ(pair.bound.devices, (std::vector{4, 7}));
  EXPECT_NE(pair.reason.find("; fewest NUMA nodes, then nearest NIC"), std::string::npos)
      << pair.reason;
}

/// The order of sets in words of the header, on what bound_of says of each.
std::vector<int> brute(const Graph& graph, int k, Policy policy) {
  const TieBreaker ties(graph);
  const int n = static_cast<int>(device_count(graph));
  const auto rounded = [](double GBps) { return std::llround(GBps * 1e4); };
  using Row = std::tuple<long long, long long, Tie, DeviceSet>;
  std::vector<Row> rows;
  for (const DeviceSet& set : all_sets(prefix(n), static_cast<std::size_t>(k))) {
    const Bound bound = bound_of(graph, set);
    rows.emplace_back(-rounded(bound.ring_GBps), -rounded(bound.bound_GBps), ties.of(set), set);
  }
  std::sort(rows.begin(), rows.end(), [&](const Row& one, const Row& other) {
    if (policy == Policy::Worst) {
      return std::tuple(std::get<0>(other), std::get<1>(other), std::get<2>(other),
                        std::get<3>(one)) <
             std::tuple(std::get<0>(one), std::get<1>(one), std::get<2>(one), std::get<3>(other));
    }
    return one < other;
  });
  return std::get<3>(policy == Policy::Median ? rows[(rows.size() - 1) / 2] : rows.front());
}

TEST(Choose, AgreesWithAllSetsOfRandomMachines) {
  for (const unsigned seed : {1U, 2U, 3U, 4U}) {
    const int n = seed % 2 == 0 ? 8 : 7;  // sets of seven are 7, 21 and 35: odd numbers
    Graph graph = random_machine(n, seed);
    set_two_numa_nodes(graph);
    add_nic(graph, "PLX1");
    for (const int k : {1, 2, 3, 4}) {
      for (const Policy policy : {Policy::Best, Policy::Worst, Policy::Median}) {
        EXPECT_EQ(chosen(graph, k, policy), brute(graph, k, policy))
            << k << ' ' << name(policy) << " of " << n << " seed " << seed;
      }
    }
  }
}

/// GPUs on one switch with ports of 6, 9 or 12 links, narrower one way here and there; some near
/// to a card.
Graph random_star(int gpus, unsigned seed) {
  std::mt19937 random(seed);
  Graph graph = star_graph(gpus, 12, 25);
  for (Link& link : graph.links) link.count = random() % 3 > 0 ? 12 : random() % 2 > 0 ? 9 : 6;
  set_two_numa_nodes(graph);
  const int pcie =
      add_medium(graph, {.name = "PCIe", .kind = LinkKind::Pcie, .nominal_GBps = 15.75});
  const int nic = add_node(graph, {.kind = NodeKind::Nic, .name = "NIC"});
  for (const int node : graph.devices) {
    if (random() % 2 > 0) add_cable(graph, nic, node, pcie);
  }
  return graph;
}

TEST(Choose, AgreesWithAllSetsOfRandomStars) {
  for (unsigned seed = 0; seed < 24; ++seed) {
    const int n = 4 + static_cast<int>(seed % 4);
    const Graph graph = random_star(n, seed);
    for (int k = 2; k <= n; ++k) {
      SCOPED_TRACE(fmt::format("{} of {} seed {}", k, n, seed));
      EXPECT_EQ(chosen(graph, k, Policy::Best), brute(graph, k, Policy::Best));
      EXPECT_EQ(chosen(graph, k, Policy::Worst), brute(graph, k, Policy::Worst));
      // Of the middle's class the first by ties stands for all.
      const Bound middle = bound_of(graph, brute(graph, k, Policy::Median));
      EXPECT_NEAR(choose(graph, k, Policy::Median).bound.ring_GBps, middle.ring_GBps, 1e-9);
    }
  }
}

TEST(Choose, TakesTheBetterClassWhereHalfOfTheSetsOfAStarAreWide) {
  Graph graph = star_graph(4, 12, 25);
  for (Link& link : graph.links) {
    if (link.from == graph.devices[3] || link.to == graph.devices[3]) link.count = 10;
  }
  // Three pairs without the last have 300 GB/s, three with it 250: the third of six is wide.
  const Choice middle = choose(graph, 2, Policy::Median);
  EXPECT_EQ(middle.bound.devices, (std::vector{0, 1}));
  EXPECT_EQ(middle.reason,
            "median of 6 sets: 300 GB/s in 3 of them, best 300 GB/s, worst 250 GB/s; lowest index");
}

TEST(FindBest, TakesTheSetThatRankingAllTakes) {
  for (const unsigned seed : {1U, 2U, 3U}) {
    for (Graph graph : {random_machine(9, seed), pcie_graph({.p2p = P2p::Off})}) {
      set_two_numa_nodes(graph);
      const std::vector<int> pool = prefix(static_cast<int>(device_count(graph)));
      const Rater rater(graph, pool, {});
      for (const std::size_t k : {2U, 3U, 5U}) {
        const auto candidates = candidates_of(pool, k, rater, TieBreaker(graph));
        const Groups groups = rater.first().groups(sets_of(candidates));
        EXPECT_EQ(find_best(candidates, groups, rater).set,
                  rank_all(candidates, groups, rater, Policy::Best).set)
            << k << " seed " << seed;
      }
    }
  }
}

TEST(FindBest, LooksOnWhereFiguresDifferByRoundingOnly) {
  // Three pairs, each a hair's breadth behind the one before: one class, of which 0,1 come first.
  Graph graph = nvlink_graph(std::vector<std::string>(6, "000000"), 25);
  for (const auto& [first, GBps] : {std::pair{2U, 25.00002}, {4U, 25.00001}, {0U, 25.0}}) {
    const int medium = add_medium(graph, {.name = fmt::format("{}", GBps), .nominal_GBps = GBps});
    add_cable(graph, graph.devices[first], graph.devices[first + 1], medium);
  }
  const Rater rater(graph, prefix(6), {});
  const auto candidates = candidates_of(prefix(6), 2, rater, TieBreaker(graph));
  const Groups groups = rater.first().groups(sets_of(candidates));
  EXPECT_EQ(find_best(candidates, groups, rater).set, (DeviceSet{0, 1}));
  EXPECT_EQ(chosen(graph, 2, Policy::Best), (DeviceSet{0, 1}));
}

TEST(FindBest, ComparesFallbacksWhereNoRingCloses) {
  Graph graph = nvlink_graph({"0100", "1000", "0001", "0010"}, 25);
  add_pcie(graph, {.gpus = 4, .p2p = P2p::Off});
  const Rater rater(graph, prefix(4), {});
  const auto candidates = candidates_of(prefix(4), 3, rater, TieBreaker(graph));
  const Groups groups = rater.first().groups(sets_of(candidates));
  const Ranked best = find_best(candidates, groups, rater);
  EXPECT_EQ(best.set, rank_all(candidates, groups, rater, Policy::Best).set);
  EXPECT_EQ(best.own.ring_GBps, 0);
  EXPECT_GT(best.own.bound_GBps, 0);
}

TEST(Choose, GivesTheSameFiguresInAnyOrderOfDevices) {
  const Graph graph = random_machine(8, 5);
  const Graph other = permuted(graph, {5, 2, 7, 0, 4, 1, 6, 3});
  for (const int k : {2, 3, 5}) {
    for (const Policy policy : {Policy::Best, Policy::Worst, Policy::Median}) {
      EXPECT_NEAR(choose(graph, k, policy).bound.bound_GBps,
                  choose(other, k, policy).bound.bound_GBps, 1e-6);
    }
  }
}

TEST(Choose, IsDeterministic) {
  const Graph graph = random_machine(10, 6);
  const Choice first = choose(graph, 5, Policy::Best);
  const Choice again = choose(graph, 5, Policy::Best);
  EXPECT_EQ(first.bound.devices, again.bound.devices);
  EXPECT_EQ(first.reason, again.reason);
}

TEST(Choose, TakesAnyNumberOfASwitchedDomain) {
  const Graph graph = star_graph(72, 18, 50);
  for (const int k : {2, 36, 71, 72}) {
    const Choice best = choose(graph, k, Policy::Best);
    EXPECT_EQ(best.bound.devices, prefix(k));
    EXPECT_NEAR(best.bound.ring_GBps, 900, 1e-6);
  }
  EXPECT_EQ(choose(graph, 36, Policy::Best).reason,
            "best of more than 1.8e19 sets: all have 900 GB/s; lowest index");
}

TEST(Choose, StaysWithinOneHost) {
  const Graph graph = power_graph(2, 2, 3);
  const auto second = chosen(graph, 2, Policy::Best, 1);
  EXPECT_EQ(second, (std::vector{4, 5}));
  EXPECT_EQ(chosen(graph, 5, Policy::Prefix), prefix(5));
  EXPECT_EQ(message_of(graph, 5, Policy::Best, 1),
            "--devices: 5 of host 1 of 'power' wanted, which has 4 devices; ask for 1 to 4");
  EXPECT_EQ(message_of(graph, 1, Policy::Best, 7), "--devices: host 7 of 'power' has no device");
}

TEST(Choose, CountsClassesWhereSetsAreTooMany) {
  const Graph graph = pcie_graph({.gpus = 24, .per_switch = 12, .switches_per_package = 1});
  const Choice best = choose(graph, 6, Policy::Worst);  // 134,596 sets in 7 classes
  EXPECT_EQ(best.bound.devices.size(), 6U);
  EXPECT_NE(best.reason.find("134596 sets"), std::string::npos) << best.reason;
}

TEST(Choose, SaysWhatDecidedBetweenTwoSetsOrWithinOneClass) {
  Graph three = star_graph(3, 12, 25);
  for (Link& link : three.links) {
    if (link.from == three.devices[1] || link.to == three.devices[1]) link.count = 10;
  }
  EXPECT_THAT(choose(three, 2, Policy::Worst).reason, testing::EndsWith("{0,2}; lowest index"));
  // Six of the twelve next to the card are 924 sets alike.
  Graph many = pcie_graph({.gpus = 24, .per_switch = 12, .switches_per_package = 1});
  add_nic(many, "PLX0");
  EXPECT_THAT(choose(many, 6, Policy::Best).reason,
              testing::EndsWith("nearest NIC, then lowest index"));
}

TEST(Choose, SaysThatAllDevicesAreTheOnlySet) {
  EXPECT_EQ(choose(dgx1(dgx1v_rows(), 25), 8, Policy::Best).reason, "the only set: 150 GB/s");
}

TEST(Choose, SaysWhatToDoWhereSetsAreTooMany) {
  EXPECT_EQ(message_of(random_machine(24, 1), 8, Policy::Best),
            "--devices: 735471 sets of 8 of 24 devices are too many to compare; choose within one "
            "host, or give a list such as --devices 0,1,2,3");
  EXPECT_EQ(message_of(star_graph(4, 1, 25), 0, Policy::Best),
            "--devices: 0 of 'star' wanted, which has 4 devices; ask for 1 to 4");
  EXPECT_NE(message_of(star_graph(4, 1, 25), 2, Policy::List).find("0,1,2,3"), std::string::npos);
}

}  // namespace
}  // namespace busbar::topo
