// SPDX-License-Identifier: BSD-3-Clause
#include "topo/bounds/bottleneck.hpp"

#include "tests/unit/topo/bounds/ring_cases.hpp"
#include "tests/unit/topo/bounds/small_graphs.hpp"
#include "topo/systems/joined_hosts.hpp"
#include "topo/systems/system_file.hpp"

namespace busbar::topo {
namespace {

/// The limit of links that fit, of all devices of the graph.
std::string text_of(const Graph& graph, auto&& fits) {
  Limiting limit;
  std::vector<int> all(graph.links.size());
  std::iota(all.begin(), all.end(), 0);
  std::copy_if(all.begin(), all.end(), std::back_inserter(limit.resources), [&](int number) {
    const Link& link = graph.links[to_size(number)];
    return fits(node_of(graph, link.from), node_of(graph, link.to));
  });
  return limit_text(graph, limit, all, prefix(static_cast<int>(device_count(graph))));
}

TEST(LimitText, NamesOneLinkAndOneCable) {
  const Graph graph = power_graph(1, 2, 3);
  EXPECT_EQ(text_of(graph, [](auto& a, auto& b) { return a.name == "CPU0" && b.name == "CPU1"; }),
            "X-Bus CPU0→CPU1");
  EXPECT_EQ(text_of(graph,
                    [](auto& a, auto& b) {
                      return a.kind == NodeKind::Package && b.kind == NodeKind::Package;
                    }),
            "X-Bus CPU0↔CPU1");
}

TEST(LimitText, NamesTheNodeThatLinksShare) {
  const Graph graph = nvlink_graph(dgx1v_rows(), 25);
  EXPECT_EQ(text_of(graph, [](auto& a, auto&) { return a.name == "GPU4"; }), "NVLink out of GPU4");
  EXPECT_EQ(text_of(graph, [](auto&, auto& b) { return b.name == "GPU4"; }), "NVLink into GPU4");
  EXPECT_EQ(text_of(graph, [](auto& a, auto& b) { return a.name == "GPU4" || b.name == "GPU4"; }),
            "NVLink of GPU4");
  EXPECT_EQ(text_of(graph, [](auto&, auto&) { return true; }), "every NVLink");
  EXPECT_EQ(text_of(graph, [](auto& a, auto& b) { return a.name < "GPU4" && b.name < "GPU4"; }),
            "9 of 24 NVLink links");
}

TEST(LimitText, NamesDevicesCardsAndSwitches) {
  const Graph graph = pcie_graph({});
  const auto of_kind = [](NodeKind kind) {
    return [kind](const Node& a, const Node&) { return a.kind == kind; };
  };
  EXPECT_EQ(text_of(graph, of_kind(NodeKind::Gpu)), "PCIe 3.0 x16 of every GPU");
  EXPECT_EQ(text_of(graph,
                    [](auto& a, auto& b) {
                      return a.kind == NodeKind::PcieSwitch && b.kind == NodeKind::Package;
                    }),
            "PCIe 3.0 x16 of PLX0, PLX1, PLX2 and PLX3");
  EXPECT_EQ(text_of(cluster_of({"01", "10"}, 25, 2, 12.5),
                    [](auto& a, auto& b) {
                      return a.kind == NodeKind::Network || b.kind == NodeKind::Network;
                    }),
            "Ethernet of host0/NIC0 and host1/NIC0");
}

TEST(LimitText, CountsTheCablesOfAHostAlikeHoweverManyHostsThereAre) {
  for (const int hosts : {2, 8}) {
    const Graph graph = copy_hosts(load_system("dgx-h100"), hosts);
    const auto of_network = [&](auto& fits) {
      return text_of(graph, [&](auto& a, auto& b) {
        return (a.kind == NodeKind::Network || b.kind == NodeKind::Network) && fits(a, b);
      });
    };
    const auto out = [](auto& a, auto&) { return a.host == 1; };
    EXPECT_EQ(of_network(out), "the 8 InfiniBand NDR links of every host");
    const auto both = [](auto& a, auto& b) { return a.host == 1 || b.host == 1; };
    EXPECT_EQ(of_network(both), "the 8 InfiniBand NDR links of every host");
    const auto some = [](auto& a, auto&) { return a.host == 1 && a.name != "host1/NIC7"; };
    EXPECT_EQ(of_network(some),
              hosts == 2 ? "7 of 16 InfiniBand NDR links" : "7 of 64 InfiniBand NDR links");
  }
}

TEST(LimitText, TellsTwoMediaAndSaysThatThereAreMore) {
  EXPECT_EQ(text_of(pcie_graph({}),
                    [](auto& a, auto& b) {
                      return (a.name == "CPU0" && b.name == "CPU1") || a.name == "GPU0";
                    }),
            "PCIe 3.0 x16 GPU0→PLX0; UPI CPU0→CPU1");
  EXPECT_EQ(text_of(power_graph(2, 1, 3), [](auto&, auto&) { return true; }),
            "NVLink 2 of every GPU; every PCIe 4.0 x8; and others");
}

RingProblem three_with(const std::vector<double>& capacity) {
  RingProblem problem{.n = 3, .capacity = capacity};
  for (int k = 0; k < 9; ++k) {
    problem.hops.push_back(k % 4 == 0 ? Hop{}
                                      : taking({k < 3   ? k - 1
                                                : k < 6 ? (k - 3) / 2 + 2
                                                        : k - 2}));
  }
  return problem;
}

TEST(Limiting, NamesEachResourceThatAloneProves) {
  RingProblem problem = three_with({50, 50, 50, 50, 50, 50, 10, 10});
  for (const std::size_t hop : {1U, 2U}) problem.hops[hop]->push_back({.resource = 6});  // out of 0
  for (const std::size_t hop : {3U, 6U}) problem.hops[hop]->push_back({.resource = 7});  // into 0
  const Limiting limit = limiting(problem, pack_rings(problem));
  EXPECT_EQ(limit.resources, (std::vector<int>{6, 7}));
  EXPECT_TRUE(limit.devices.empty());
}

TEST(Limiting, CountsHowOftenEveryRingTakesAResource) {
  RingProblem problem = three_with({50, 50, 50, 50, 50, 50, 30});
  for (std::size_t hop = 1; hop < 8; ++hop) {
    if (hop != 4) problem.hops[hop]->push_back({.resource = 6});  // thrice in each ring
  }
  const RingPacking packing = pack_rings(problem);
  EXPECT_NEAR(packing.value, 10, 1e-9);
  EXPECT_EQ(limiting(problem, packing).resources, std::vector<int>{6});
}

TEST(Limiting, CountsWhatReachesADeviceWhereMoreReachesThanLeaves) {
  // 6 and 7 are taken twice by what reaches 0 and once by 1 to 2. Each ring takes them at least
  // twice, since one hop reaches 0; of what leaves only 1 needs them, once. The ring 0, 1, 2 takes
  // them three times and 0, 2, 1 twice, so half of 30 is the bound, and each alone proves it.
  RingProblem problem = three_with({50, 50, 50, 50, 50, 50, 30, 30});
  for (const int resource : {6, 7}) {
    for (const std::size_t hop : {3U, 6U}) {
      problem.hops[hop]->push_back({.resource = resource, .times = 2});
    }
    problem.hops[5]->push_back({.resource = resource});
  }
  RingProblem turned = problem;  // the same with every hop the other way
  for (std::size_t k = 0; k < 9; ++k) turned.hops[k] = problem.hops[k % 3 * 3 + k / 3];
  for (const RingProblem& one : {problem, turned}) {
    const RingPacking packing = pack_rings(one);
    EXPECT_NEAR(packing.value, 15, 1e-9);
    EXPECT_EQ(limiting(one, packing).resources, (std::vector<int>{6, 7}));
  }
}

TEST(Limiting, NamesNoWideResourceBetweenPartsThatNeedNoneWithin) {
  RingProblem problem{.n = 4, .capacity = {1000, 10}};
  for (int from = 0; from < 4; ++from) {
    for (int to = 0; to < 4; ++to) {
      Hop hop = from == to ? Hop{} : taking({});
      if (from / 2 != to / 2) hop->push_back({.resource = 0});
      if (hop && from == 0) hop->push_back({.resource = 1});
      problem.hops.push_back(hop);
    }
  }
  const RingPacking packing = pack_rings(problem);
  EXPECT_NEAR(packing.value, 10, 1e-9) << "what leaves device 0";
  EXPECT_EQ(limiting(problem, packing).resources, std::vector<int>{1});
}

TEST(Limiting, NamesDevicesWhoseHopsProveTogether) {
  const RingProblem problem = three_with({10, 10, 30, 30, 30, 30});  // 0 sends 20, all else 60
  const Limiting limit = limiting(problem, pack_rings(problem));
  EXPECT_EQ(limit.devices, std::vector<int>{0});
  EXPECT_EQ(limit.resources, (std::vector<int>{0, 1}));
}

TEST(Limiting, IsAProofInEveryRandomCase) {
  for (unsigned seed = 0; seed < 40; ++seed) {
    const RingProblem problem = random_problem(5, 2, 0.9, seed);
    const RingPacking packing = pack_rings(problem);
    const Limiting limit = limiting(problem, packing);
    ASSERT_FALSE(limit.resources.empty()) << seed;
    // Widening all that is named must widen the packing: else something else limits it.
    RingProblem wider = problem;
    for (const int resource : limit.resources) {
      wider.capacity[static_cast<std::size_t>(resource)] *= 2;
    }
    RingProblem narrower = problem;
    for (const int resource : limit.resources) {
      narrower.capacity[static_cast<std::size_t>(resource)] *= 0.9;
    }
    EXPECT_LT(pack_rings(narrower).value, packing.value * (1 - 1e-6)) << seed;
    EXPECT_GE(pack_rings(wider).value, packing.value * (1 - 1e-9)) << seed;
  }
}

}  // namespace
}  // namespace busbar::topo
