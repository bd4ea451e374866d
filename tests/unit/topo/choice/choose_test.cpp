// SPDX-License-Identifier: BSD-3-Clause
#include "topo/choice/choose.hpp"

#include <cmath>

#include "tests/unit/topo/choice/machines.hpp"
#include "topo/choice/sets.hpp"
#include "topo/systems/system_file.hpp"

namespace busbar::topo {
namespace {

std::vector<int> chosen(const Graph& graph, int k, Policy policy, int host = -1) {
  return choose(graph, k, policy, {}, host).bound.devices;
}

test::Failure refusal(const Graph& graph, int k, Policy policy, int host = -1) {
  const test::Failure failure = test::failure_of([&] { (void)choose(graph, k, policy, {}, host); });
  EXPECT_EQ(failure.status, Status::Usage);
  return failure;
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
  const Graph uneven = nvlink_graph({"032", "302", "220"}, 25);
  EXPECT_THAT(choose(uneven, 2, Policy::Worst).reason,
              HasSubstr("50 GB/s in 2 of them, instead of 75 GB/s: 67 % of the best"));
  Graph pairs = nvlink_graph({"0211", "2011", "1102", "1120"}, 25);
  for (const int device : {0, 2, 3}) gpu(pairs, device).numa = 0;
  gpu(pairs, 1).numa = 1;
  EXPECT_THAT(choose(pairs, 2, Policy::Best).reason, EndsWith("; fewest NUMA nodes"));
}

TEST(Choose, BreaksTiesByNumaThenNicThenIndex) {
  Graph graph = star_graph(8, 12, 25);
  EXPECT_EQ(chosen(graph, 2, Policy::Best), (std::vector{0, 1}));
  for (int device = 0; device < 8; ++device) gpu(graph, device).numa = 0;
  for (const int device : {1, 4, 6}) gpu(graph, device).numa = 1;
  EXPECT_EQ(chosen(graph, 2, Policy::Best), (std::vector{0, 2}));
  add_nic_at(graph, {graph.devices[2], graph.devices[4], graph.devices[6]});
  const Choice best = choose(graph, 2, Policy::Best);
  EXPECT_EQ(best.bound.devices, (std::vector{4, 6}));
  EXPECT_EQ(best.reason, "best of 28 sets: all have 300 GB/s; fewest NUMA nodes, then nearest NIC");
  EXPECT_EQ(chosen(graph, 2, Policy::Worst), (std::vector{0, 1}));  // two nodes, far from the NIC
}

/// The order of sets of the header, on what bound_of says of each.
std::vector<int> brute(const Graph& graph, int k, Policy policy) {
  const TieBreaker ties(graph);
  const auto rounded = [](double GBps) { return std::llround(GBps * 1e4); };
  using Row = std::tuple<long long, long long, Tie, DeviceSet>;
  std::vector<Row> rows;
  for (const DeviceSet& set : all_sets(device_count(graph), to_size(k))) {
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
  return std::get<3>(rows.front());
}

TEST(Choose, AgreesWithAllSetsOfRandomMachines) {
  for (const unsigned seed : {1U, 2U, 3U, 4U}) {
    const int n = seed % 2 == 0 ? 8 : 7;
    Graph graph = random_machine(n, seed);
    set_two_numa_nodes(graph);
    add_nic(graph, "PLX1");
    for (const int k : {1, 2, 3, 4}) {
      for (const Policy policy : {Policy::Best, Policy::Worst}) {
        EXPECT_EQ(chosen(graph, k, policy), brute(graph, k, policy))
            << k << ' ' << name(policy) << " of " << n << " seed " << seed;
      }
    }
  }
}

/// GPUs on one switch with ports of 12 links, or of 6, 9 or 12 and narrower one way here and there;
/// some near to a card.
Graph random_star(int gpus, unsigned seed, bool equal) {
  std::mt19937 random(seed);
  Graph graph = star_graph(gpus, 12, 25);
  for (Link& link : graph.links) {
    link.count = equal || random() % 3 > 0 ? 12 : random() % 2 > 0 ? 9 : 6;
  }
  set_two_numa_nodes(graph);
  std::vector<int> near = graph.devices;
  std::erase_if(near, [&](int) { return random() % 2 > 0; });
  add_nic_at(graph, near);
  return graph;
}

TEST(Choose, AgreesWithAllSetsOfRandomStars) {
  for (unsigned seed = 0; seed < 24; ++seed) {
    const int n = 4 + static_cast<int>(seed % 4);
    const Graph graph = random_star(n, seed, seed < 8);
    for (int k = 2; k <= n; ++k) {
      SCOPED_TRACE(fmt::format("{} of {} seed {}", k, n, seed));
      EXPECT_EQ(chosen(graph, k, Policy::Best), brute(graph, k, Policy::Best));
      EXPECT_EQ(chosen(graph, k, Policy::Worst), brute(graph, k, Policy::Worst));
    }
  }
}

TEST(Choose, TakesAnyNumberOfASwitchedDomain) {
  const Graph graph = star_graph(72, 18, 50);
  for (const int k : {2, 36, 71, 72}) {
    const Choice best = choose(graph, k, Policy::Best);
    EXPECT_EQ(best.bound.devices, prefix(k));
    EXPECT_NEAR(best.bound.ring_GBps, 900, 1e-6);
  }
  EXPECT_EQ(choose(graph, 36, Policy::Best).reason,
            "best of more than 1.8e19 sets: all have 900 GB/s; ties by greedy search");
}

TEST(Choose, StaysWithinOneHost) {
  const Graph graph = power_graph(2, 2, 3);
  const auto second = chosen(graph, 2, Policy::Best, 1);
  EXPECT_EQ(second, (std::vector{4, 5}));
  EXPECT_EQ(chosen(graph, 5, Policy::Prefix), prefix(5));
  EXPECT_THAT(choose(graph, 3, Policy::Worst, {}, 1).reason, HasSubstr("lowest index"));
  EXPECT_EQ(refusal(graph, 5, Policy::Best, 1).message,
            "--devices: 5 of host 1 of 'power' wanted, which has 4 devices; ask for 1 to 4");
  EXPECT_TRUE(refusal(graph, 1, Policy::Best, 7).says("host 7 of 'power' has no device"));
}

TEST(Choose, GrowsASetWhereSetsAreTooManyAndSaysSo) {
  const Graph hosts = cluster_of(dgx1v_rows(), 25, 3, 12.5);
  const Choice eight = choose(hosts, 8, Policy::Best);
  EXPECT_EQ(eight.bound.devices, prefix(8));  // growing ends on two hosts: five have no ring on one
  EXPECT_EQ(eight.reason,
            "best by greedy search, as 735471 sets are too many to look at each: 150 GB/s");
  const Choice worst = choose(hosts, 8, Policy::Worst);
  EXPECT_THAT(worst.reason, StartsWith("worst by greedy search"));
  EXPECT_LT(worst.bound.bound_GBps, 12.6);
  Graph star = star_graph(72, 18, 50);
  set_links(star, 0, 9);
  const Choice wide = choose(star, 36, Policy::Best);
  EXPECT_EQ(wide.bound.devices.front(), 1);
  EXPECT_NEAR(wide.bound.ring_GBps, 900, 1e-6);
  EXPECT_NEAR(choose(star, 36, Policy::Worst).bound.ring_GBps, 450, 1e-6);
}

TEST(Choose, TakesPairsWhoseRatesDifferByRoundingOnlyAsEqual) {
  // Each pair is a hair's breadth behind the one before, the last by more than equals may be.
  Graph graph = nvlink_graph(std::vector<std::string>(8, "00000000"), 25);
  for (const auto& [first, GBps] :
       {std::pair{2U, 25.00006}, {4U, 25.00004}, {6U, 25.00002}, {0U, 25.0}}) {
    const int medium = add_medium(graph, {.name = std::to_string(GBps), .nominal_GBps = GBps});
    add_cable(graph, graph.devices[first], graph.devices[first + 1], medium);
  }
  EXPECT_EQ(chosen(graph, 2, Policy::Best), (DeviceSet{0, 1}));
  EXPECT_EQ(classes_of(graph, 2).front().count, 4U);
}

TEST(Choose, SaysThatAllDevicesAreTheOnlySet) {
  EXPECT_EQ(choose(dgx1(dgx1v_rows(), 25), 8, Policy::Best).reason, "the only set: 150 GB/s");
}

TEST(Choose, SaysWhatToDoWhereThereAreTooFew) {
  EXPECT_TRUE(refusal(star_graph(4, 1, 25), 0, Policy::Best)
                  .says("0 of 'star' wanted, which has 4 devices; ask for 1 to 4"));
  EXPECT_TRUE(refusal(star_graph(4, 1, 25), 2, Policy::List).says("0,1,2,3"));
}

/// Falling figures and their counts, rounded to whole GB/s.
using Counts = std::vector<std::pair<long, std::uint64_t>>;

Counts counts(const std::vector<SetClass>& classes) {
  Counts counts;
  for (const SetClass& one : classes) {
    counts.emplace_back(std::lround(one.bound.ring_GBps), one.count);
  }
  return counts;
}

TEST(ClassesOf, CountTheRingsOfACubeMesh) {
  const std::vector<Counts> sizes{{{0, 8}},
                                  {{50, 8}, {25, 8}, {0, 12}},
                                  {{50, 8}, {0, 48}},
                                  {{100, 2}, {50, 6}, {0, 62}},
                                  {{50, 24}, {0, 32}},
                                  {{100, 4}, {50, 24}},
                                  {{100, 8}},
                                  {{150, 1}}};
  for (int k = 1; k <= 8; ++k) {
    EXPECT_EQ(counts(classes_of(nvlink_graph(dgx1v_rows(), 25), k)), sizes.at(to_size(k) - 1)) << k;
  }
}

TEST(ClassesOf, SplitTheSetsWithoutARingByWhatTheyFallBackOn) {
  const Graph graph = dgx1(dgx1v_rows(), 25);
  const auto classes = classes_of(graph, 4, {.constants = ConstantSet::Nccl});
  EXPECT_TRUE(classes.front().fallback.empty());
  const auto& fallback = classes.back().fallback;
  std::uint64_t sum = 0;
  double last = INFINITY;
  for (const SetClass& one : fallback) {
    EXPECT_EQ(one.ring_GBps, 0);
    EXPECT_LT(one.bound.bound_GBps, last);
    EXPECT_EQ(one.bound.devices, one.example);
    last = one.bound.bound_GBps;
    sum += one.count;
  }
  EXPECT_GE(fallback.size(), 2U);
  EXPECT_EQ(sum, classes.back().count);
}

TEST(ClassesOf, HaveNoFallbackWhereNothingJoinsTheDevices) {
  const auto pairs = classes_of(nvlink_graph({"010", "100", "000"}, 25), 2);
  ASSERT_EQ(pairs.size(), 2U);
  EXPECT_EQ(pairs.back().count, 2U);
  EXPECT_TRUE(pairs.back().fallback.empty());
}

TEST(ClassesOf, AddUpToAllSetsAndShowTheLowest) {
  for (const unsigned seed : {1U, 2U}) {
    const Graph graph = random_machine(7, seed);
    for (const int k : {2, 3, 4}) {
      std::map<long, std::pair<std::uint64_t, DeviceSet>> wanted;
      for (const DeviceSet& set : all_sets(7, to_size(k))) {
        auto& [count, example] = wanted[std::lround(bound_of(graph, set).ring_GBps * 1e4)];
        if (count++ == 0) example = set;
      }
      const auto classes = classes_of(graph, k);
      EXPECT_EQ(classes.size(), wanted.size());
      for (const SetClass& one : classes) {
        const auto& [count, example] = wanted[std::lround(one.ring_GBps * 1e4)];
        EXPECT_EQ(one.count, count);
        EXPECT_EQ(one.example, example);
      }
    }
  }
}

TEST(ClassesOf, CountASwitchedDomainWithoutTrying) {
  Graph graph = star_graph(72, 18, 50);
  const auto halves = classes_of(graph, 36);
  EXPECT_EQ(counts(halves), (Counts{{900, kManySets}}));
  EXPECT_EQ(halves.front().example, prefix(36));
  set_links(graph, 0, 9);
  const auto pairs = classes_of(graph, 2);
  EXPECT_EQ(counts(pairs), (Counts{{900, 2485}, {450, 71}}));
  EXPECT_EQ(pairs.front().example, (DeviceSet{1, 2}));
  EXPECT_EQ(pairs.back().example, (DeviceSet{0, 1}));
  EXPECT_EQ(counts(classes_of(graph, 72)), (Counts{{450, 1}}));
}

TEST(ClassesOf, RefuseMoreThanThereAre) {
  EXPECT_THROW((void)classes_of(star_graph(4, 1, 25), 5), Error);
  EXPECT_THROW((void)classes_of(star_graph(4, 1, 25), 0), Error);
  EXPECT_THAT(test::refusal_of([] { (void)classes_of(random_machine(24, 1), 8); }),
              HasSubstr("735471 sets of 8 of the 24 devices of 'mesh' are too many"));
}

TEST(ParseSelection, ReadsPoliciesAndLists) {
  EXPECT_EQ(parse_selection("--devices", "best").policy, Policy::Best);
  EXPECT_EQ(parse_selection("--devices", "0,3,5-7"), (Selection{Policy::List, {0, 3, 5, 6, 7}}));
  EXPECT_EQ(parse_selection("--devices", "4"), (Selection{Policy::List, {4}}));
}

TEST(ParseSelection, IsWrittenBackAsItIsRead) {
  for (const char* text : {"best", "worst", "prefix", "0,3,5"}) {
    EXPECT_EQ(to_text(parse_selection("--devices", text)), text);
  }
}

TEST(ParseSelection, RefusesWhatIsNeither) {
  for (const auto& [text, token] : {std::pair{"bets", "'bets' for --devices"},
                                    {"median", "best"},
                                    {"list", "'list'"},
                                    {"", "''"},
                                    {"0,,1", "--devices"},
                                    {"3-1", "write 1-3"},
                                    {"1,0-2", "device 1 is twice"},
                                    {"-1", "--devices"},
                                    {"0-99999999999", "--devices"}}) {
    EXPECT_THAT(
        test::failure_of([input = text] { (void)parse_selection("--devices", input); }).message,
        HasSubstr(token));
  }
}

TEST(CompareSets, IsAgainstTheFirst) {
  const std::vector<std::vector<int>> sets{{0, 1}, {0, 3}, {0, 5}};
  const auto table = compare_sets(nvlink_graph(dgx1v_rows(), 25), sets);
  ASSERT_EQ(table.size(), 3U);
  EXPECT_EQ(table[0].ratio, 1);
  EXPECT_EQ(table[1].ratio, 2);
  EXPECT_EQ(table[2].ratio, 0);
  EXPECT_EQ(table[1].choice.bound.devices, (std::vector{0, 3}));
  EXPECT_EQ(table[1].choice.policy, Policy::List);
  EXPECT_EQ(table[1].system, "mesh");
}

TEST(CompareSets, HasNoRatioToNothing) {
  const std::vector<std::vector<int>> sets{{0, 5}, {0, 3}};
  EXPECT_EQ(compare_sets(nvlink_graph(dgx1v_rows(), 25), sets)[1].ratio, 0);
}

TEST(CompareSystems, IsAgainstTheFirstSystemOfEachSize) {
  const std::vector<Graph> graphs{nvlink_graph(dgx1v_rows(), 25), star_graph(16, 6, 25)};
  const std::vector<int> sizes{4, 8, 16};
  const auto table = compare_systems(graphs, sizes, Policy::Best);
  ASSERT_EQ(table.size(), 5U);
  EXPECT_EQ(table[0].system, "mesh");
  EXPECT_NEAR(table[1].ratio, 1.5, 1e-6);  // 150 against 100
  EXPECT_NEAR(table[3].ratio, 1, 1e-6);    // 150 against 150
  EXPECT_EQ(table[4].system, "star");
  EXPECT_EQ(table[4].ratio, 1);
  EXPECT_THROW((void)compare_systems(graphs, std::vector{0}, Policy::Best), Error);
}

TEST(Summary, HasAllDevicesThenTheBestAndTheWorstOfEachSize) {
  const auto table = summarize(nvlink_graph(dgx1v_rows(), 25));
  ASSERT_EQ(table.size(), 5U);
  EXPECT_EQ(table[0].system, "all 8");
  EXPECT_NEAR(table[0].choice.bound.bound_GBps, 150, 1e-6);
  EXPECT_EQ(table[1].system, "best 4");
  EXPECT_NEAR(table[1].choice.bound.bound_GBps, 100, 1e-6);
  EXPECT_EQ(table[2].system, "worst 4");
  EXPECT_EQ(table[2].ratio, 0);
  EXPECT_EQ(table[4].system, "worst 2");
}

TEST(Summary, HasSetsOfTheFirstOfSeveralHosts) {
  const Graph pod = load_system("c4140-pcie-x8");
  const auto table = summarize(pod);
  ASSERT_GE(table.size(), 3U);
  EXPECT_EQ(table[0].system, "all 32");
  EXPECT_EQ(table[1].choice.bound.devices, (std::vector{0, 1, 2, 3}));
  const auto threes = summarize(cluster_of({"022", "202", "220"}, 25, 2, 12.5));
  ASSERT_EQ(threes.size(), 2U);
  EXPECT_EQ(threes[1].system, "any 2");
}

TEST(Summary, HasOneLineWhereAnySetIsAsGood) {
  const auto table = summarize(star_graph(4, 6, 25));
  ASSERT_EQ(table.size(), 2U);
  EXPECT_EQ(table[1].system, "any 2");
  EXPECT_TRUE(summarize(star_graph(1, 6, 25)).empty());
}

}  // namespace
}  // namespace busbar::topo
