// SPDX-License-Identifier: BSD-3-Clause
#include "topo/choice/choose.hpp"

#include <cmath>

#include "tests/unit/topo/choice/machines.hpp"
#include "topo/choice/sets.hpp"
#include "topo/systems/system_file.hpp"

namespace busbar::topo {
namespace {

TEST(CountSets, IsTheBinomialCoefficientUpToWhatSixtyFourBitsHold) {
  EXPECT_EQ(count_sets(8, 4), 70U);
  EXPECT_EQ(count_sets(5, 0), 1U);
  EXPECT_EQ(count_sets(3, 5), 0U);
  EXPECT_EQ(count_sets(67, 33), 14226520737620288370U);  // the last row that fits
  EXPECT_EQ(count_sets(72, 36), kManySets);
  EXPECT_EQ(count_sets(72, 3), 59640U);
  EXPECT_EQ(counted_sets(1), "1 set");
}

TEST(AllSets, ComeInLexicographicOrder) {
  EXPECT_EQ(all_sets(4, 2),
            (std::vector<DeviceSet>{{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}}));
  EXPECT_EQ(all_sets(4, 0), (std::vector<DeviceSet>{{}}));
  EXPECT_TRUE(all_sets(4, 5).empty());
  for (std::size_t k = 0; k <= 16; ++k) EXPECT_EQ(all_sets(16, k).size(), count_sets(16, k));
}

Tie tie_of(const Graph& graph, const DeviceSet& devices) { return TieBreaker(graph).of(devices); }

TEST(TieBreaker, CountsNumaNodesAcrossHostsAndUnknownOnesOfAHostAsOne) {
  Graph graph = pcie_graph({.gpus = 4});
  EXPECT_EQ(tie_of(graph, prefix(4)).numa_nodes, 1);
  set_two_numa_nodes(graph);
  EXPECT_EQ(tie_of(graph, {0, 1}).numa_nodes, 1);
  EXPECT_EQ(tie_of(graph, {1, 2}).numa_nodes, 2);
  gpu(graph, 1).host = 1;  // the same number on another host is another node
  EXPECT_EQ(tie_of(graph, {0, 1}).numa_nodes, 2);
}

TEST(TieBreaker, FindsACardUnderTheSwitchNearerThanAboveItAndNoneBehindAGpu) {
  Graph graph = pcie_graph({});
  add_nic(graph, "PLX0");
  EXPECT_EQ(tie_of(graph, {0}).nic_steps, 2);
  EXPECT_EQ(tie_of(graph, {0, 1}).nic_steps, 4);
  // Links, 10 for each package and 100 for the link between packages: GPU2 PLX1 CPU0 PLX0 card, and
  // GPU4 PLX2 CPU1 CPU0 PLX0 card.
  EXPECT_EQ(tie_of(graph, {2}).nic_steps, 4 + 10);
  EXPECT_EQ(tie_of(graph, {4}).nic_steps, 5 + 2 * 10 + 100);
  graph = nvlink_graph({"01", "10"}, 25);
  add_nic_at(graph, {graph.devices[0]});
  EXPECT_EQ(tie_of(graph, {0}).nic_steps, 1);
  EXPECT_EQ(tie_of(graph, {1}).nic_steps, TieBreaker::kNoNic);
}

TEST(TieBreaker, SeesPairsWithoutPeerAccessUnlessNvlinkOrASwitchJoinsThem) {
  Graph graph = nvlink_graph({"0100", "1000", "0000", "0000"}, 25);
  add_pcie(graph, {.gpus = 4, .p2p = P2p::Off});
  EXPECT_EQ(tie_of(graph, {0, 1}).off_pairs, 0);
  EXPECT_EQ(tie_of(graph, {0, 1, 2}).off_pairs, 1);
  EXPECT_EQ(tie_of(pcie_graph({}), {0, 1}).off_pairs, 0);
  graph = star_graph(4, 6, 25);
  graph.p2p.assign(4, std::vector<P2p>(4, P2p::Off));
  EXPECT_EQ(tie_of(graph, prefix(4)).off_pairs, 0);
}

std::vector<int> chosen(const Graph& graph, int k, Policy policy, int host = -1) {
  return choose(graph, k, policy, {}, host).bound.devices;
}

std::string refusal(const Graph& graph, int k, Policy policy, int host = -1) {
  return test::refusal_of([&] { (void)choose(graph, k, policy, {}, host); });
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
  std::tuple<long long, long long, Tie> taken;
  DeviceSet first;  // of those that are equal
  for (const DeviceSet& set : all_sets(device_count(graph), to_size(k))) {
    const Bound bound = bound_of(graph, set);
    const std::tuple own(-rounded(bound.ring_GBps), -rounded(bound.bound_GBps), ties.of(set));
    if (!first.empty() && (policy == Policy::Worst ? own <= taken : own >= taken)) continue;
    taken = own;
    first = set;
  }
  return first;
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

void expect_as_brute(const Graph& graph, int k) {
  for (const Policy policy : {Policy::Best, Policy::Worst}) {
    EXPECT_EQ(chosen(graph, k, policy), brute(graph, k, policy)) << k << ' ' << name(policy);
  }
}

TEST(Choose, AgreesWithAllSetsOfRandomMachines) {
  for (unsigned seed = 0; seed < 24; ++seed) {
    SCOPED_TRACE(seed);
    const int n = 4 + static_cast<int>(seed % 4);
    for (int k = 2; k <= n; ++k) expect_as_brute(random_star(n, seed, seed < 8), k);
  }
  for (unsigned seed = 1; seed < 5; ++seed) {
    SCOPED_TRACE(seed);
    Graph graph = random_machine(seed % 2 == 0 ? 8 : 7, seed);
    set_two_numa_nodes(graph);
    add_nic(graph, "PLX1");
    for (const int k : {1, 2, 3, 4}) expect_as_brute(graph, k);
  }
}

TEST(Choose, StaysWithinOneHost) {
  const Graph graph = power_graph(2, 2, 3);
  const auto second = chosen(graph, 2, Policy::Best, 1);
  EXPECT_EQ(second, (std::vector{4, 5}));
  EXPECT_EQ(chosen(graph, 5, Policy::Prefix), prefix(5));
  EXPECT_THAT(choose(graph, 3, Policy::Worst, {}, 1).reason, HasSubstr("lowest index"));
  EXPECT_EQ(refusal(graph, 5, Policy::Best, 1),
            "--devices: 5 of host 1 of 'power' wanted, which has 4 devices; ask for 1 to 4");
  EXPECT_THAT(refusal(graph, 1, Policy::Best, 7), HasSubstr("host 7 of 'power' has no device"));
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

TEST(Choose, SaysWhatToDoWhereThereAreTooFew) {
  const Graph graph = star_graph(4, 1, 25);
  EXPECT_THAT(refusal(graph, 0, Policy::Best),
              HasSubstr("0 of 'star' wanted, which has 4 devices; ask for 1 to 4"));
  EXPECT_THAT(refusal(graph, 2, Policy::List), HasSubstr("0,1,2,3"));
}

/// The sets of each score in their order, the greatest score first.
using Listed = std::map<long long, std::vector<DeviceSet>, std::greater<>>;

void expect_classes(const std::vector<SetClass>& classes, const Listed& wanted,
                    double Bound::*score) {
  ASSERT_EQ(classes.size(), wanted.size());
  auto one = classes.begin();
  for (const auto& [GBps, sets] : wanted) {
    EXPECT_NEAR(one->bound.*score, static_cast<double>(GBps) / 1e4, 1e-4);
    EXPECT_EQ(one->ring_GBps, one->bound.ring_GBps);
    EXPECT_EQ(one->count, sets.size());
    EXPECT_EQ(one->example, sets.front());
    EXPECT_EQ(one->bound.devices, sets.front());
    ++one;
  }
}

TEST(ClassesOf, AddUpToAllSetsShowTheLowestAndSplitThoseWithoutARingByWhatTheyFallBackOn) {
  const BoundOptions options{.constants = ConstantSet::Nccl};
  Graph slow = nvlink_graph({"011", "101", "110"}, 0.4);  // a slow ring over NVLink is a ring
  add_pcie(slow, {.gpus = 3});
  for (const Graph& graph : {dgx1(dgx1v_rows(), 25), random_machine(7, 1), random_machine(7, 2),
                             slow, pcie_graph({.gpus = 6, .p2p = P2p::Off}), power_graph(2, 2, 3),
                             star_graph(5, 12, 25), nvlink_graph({"010", "100", "000"}, 25)}) {
    for (std::size_t k = 1; k <= device_count(graph); ++k) {
      SCOPED_TRACE(fmt::format("{} of {}", k, graph.name));
      Listed rings;
      Listed fallback;  // empty where nothing joins the devices
      for (const DeviceSet& set : all_sets(device_count(graph), k)) {
        const Bound bound = bound_of(graph, set, options);
        rings[std::llround(bound.ring_GBps * 1e4)].push_back(set);
        if (bound.ring_GBps > 0) continue;
        fallback[std::llround(bound.bound_GBps * 1e4)].push_back(set);
      }
      if (!fallback.empty() && fallback.begin()->first <= 0) fallback.clear();
      const auto classes = classes_of(graph, static_cast<int>(k), options);
      expect_classes(classes, rings, &Bound::ring_GBps);
      expect_classes(classes.back().fallback, fallback, &Bound::bound_GBps);
    }
  }
}

/// Falling figures and their counts, rounded to whole GB/s.
using Counts = std::vector<std::pair<long, std::uint64_t>>;

Counts counts(const std::vector<SetClass>& classes) {
  return mapped(classes, [](const SetClass& one) {
    return std::pair(std::lround(one.bound.ring_GBps), one.count);
  });
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

TEST(ParseSelection, ReadsPoliciesAndListsAndIsWrittenBack) {
  for (const auto& [text, selection, written] :
       {std::tuple{"best", Selection{Policy::Best}, "best"},
        {"worst", {Policy::Worst}, "worst"},
        {"prefix", {Policy::Prefix}, "prefix"},
        {"0,3,5-7", {Policy::List, {0, 3, 5, 6, 7}}, "0,3,5,6,7"},
        {"4", {Policy::List, {4}}, "4"}}) {
    EXPECT_EQ(parse_selection("--devices", text), selection);
    EXPECT_EQ(to_text(selection), written);
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
    EXPECT_THAT(test::refusal_of([&, t = text] { (void)parse_selection("--devices", t); }),
                HasSubstr(token));
  }
}

using Lines = std::vector<std::string>;

/// "best 4: 100 GB/s, 1": the sets of a line, their bound, and its ratio to the first of the size.
Lines lines(const std::vector<SetComparison>& table) {
  return mapped(table, [](const SetComparison& line) {
    return fmt::format("{}: {:.4g} GB/s, {:g}", line.system, line.choice.bound.bound_GBps,
                       line.ratio);
  });
}

TEST(CompareSets, IsAgainstTheFirstWithoutARatioToNothing) {
  const Graph graph = nvlink_graph(dgx1v_rows(), 25);
  const auto table = compare_sets(graph, std::vector<DeviceSet>{{0, 1}, {0, 3}, {0, 5}});
  EXPECT_EQ(lines(table), (Lines{"mesh: 25 GB/s, 1", "mesh: 50 GB/s, 2", "mesh: 0 GB/s, 0"}));
  EXPECT_EQ(table[1].choice.bound.devices, (std::vector{0, 3}));
  EXPECT_EQ(table[1].choice.policy, Policy::List);
  EXPECT_EQ(compare_sets(graph, std::vector<DeviceSet>{{0, 5}, {0, 3}})[1].ratio, 0);
}

TEST(CompareSystems, IsAgainstTheFirstSystemOfEachSize) {
  const std::vector<Graph> graphs{nvlink_graph(dgx1v_rows(), 25), star_graph(16, 6, 25)};
  EXPECT_EQ(lines(compare_systems(graphs, std::vector{4, 8, 16}, Policy::Best)),
            (Lines{"mesh: 100 GB/s, 1", "star: 150 GB/s, 1.5", "mesh: 150 GB/s, 1",
                   "star: 150 GB/s, 1", "star: 150 GB/s, 1"}));
  EXPECT_THROW((void)compare_systems(graphs, std::vector{0}, Policy::Best), Error);
}

TEST(Summary, HasAllDevicesThenTheBestAndTheWorstOfEachSizeOrAnyWhereAllAreAsGood) {
  EXPECT_EQ(lines(summarize(nvlink_graph(dgx1v_rows(), 25))),
            (Lines{"all 8: 150 GB/s, 1", "best 4: 100 GB/s, 1", "worst 4: 0 GB/s, 0",
                   "best 2: 50 GB/s, 1", "worst 2: 0 GB/s, 0"}));
  EXPECT_EQ(lines(summarize(star_graph(4, 6, 25))),
            (Lines{"all 4: 150 GB/s, 1", "any 2: 150 GB/s, 1"}));
  EXPECT_TRUE(summarize(star_graph(1, 6, 25)).empty());
  // Of several hosts, sets of the first.
  EXPECT_EQ(lines(summarize(cluster_of({"022", "202", "220"}, 25, 2, 12.5))),
            (Lines{"all 6: 12.5 GB/s, 1", "any 2: 50 GB/s, 1"}));
  EXPECT_EQ(summarize(load_system("c4140-pcie-x8"))[1].choice.bound.devices, prefix(4));
}

}  // namespace
}  // namespace busbar::topo
