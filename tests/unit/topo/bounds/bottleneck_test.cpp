// SPDX-License-Identifier: BSD-3-Clause
#include "topo/bounds/bottleneck.hpp"

#include <regex>

#include "tests/unit/topo/bounds/ring_cases.hpp"
#include "tests/unit/topo/bounds/small_graphs.hpp"

namespace busbar::topo {
namespace {

/// The limit of the links "GPU0>PLX0" in which the pattern is found, of all devices of the graph.
std::string text_of(const Graph& graph, const std::string& pattern) {
  Limiting limit;
  const std::vector<int> all = first_numbers(graph.links.size());
  std::copy_if(all.begin(), all.end(), std::back_inserter(limit.resources), [&](int number) {
    const Link& link = graph.links[to_size(number)];
    const std::string ends = node_of(graph, link.from).name + ">" + node_of(graph, link.to).name;
    return std::regex_search(ends, std::regex(pattern));
  });
  return limit_text(graph, limit, all, prefix(static_cast<int>(device_count(graph))));
}

TEST(LimitText, NamesLinksCablesAndTheNodesThatLinksShare) {
  const Graph power = power_graph(1, 2, 3);
  const Graph mesh = nvlink_graph(dgx1v_rows(), 25);
  const Graph pcie = pcie_graph({});
  const Graph cluster = cluster_of({"01", "10"}, 25, 2, 12.5);
  const Graph hosts = power_graph(2, 1, 3);
  for (const auto& [graph, pattern, text] :
       {std::tuple{&power, "CPU0>CPU1", "X-Bus CPU0→CPU1"},
        {&power, "CPU.>CPU", "X-Bus CPU0↔CPU1"},
        {&mesh, "GPU4>", "NVLink out of GPU4"},
        {&mesh, ">GPU4", "NVLink into GPU4"},
        {&mesh, "GPU4", "NVLink of GPU4"},
        {&mesh, "", "every NVLink"},
        {&mesh, "[0-3]>GPU[0-3]", "9 of 24 NVLink links"},
        {&pcie, "GPU.>", "PCIe 3.0 x16 of every GPU"},
        {&pcie, "PLX.>CPU", "PCIe 3.0 x16 of PLX0, PLX1, PLX2 and PLX3"},
        {&cluster, "fabric", "Ethernet of host0/NIC0 and host1/NIC0"},
        {&pcie, "CPU0>CPU1|GPU0>", "PCIe 3.0 x16 GPU0→PLX0; UPI CPU0→CPU1"},
        {&hosts, "", "NVLink 2 of every GPU; every PCIe 4.0 x8; and others"}}) {
    EXPECT_EQ(text_of(*graph, pattern), text);
  }
}

/// The packing, and the resources that limit it.
void expect_limit(const RingProblem& problem, double GBps, const std::vector<int>& resources,
                  const std::vector<int>& devices = {}) {
  const RingPacking packing = pack_rings(problem);
  EXPECT_NEAR(packing.value, GBps, 1e-9);
  const Limiting limit = limiting(problem, packing);
  EXPECT_EQ(limit.resources, resources);
  EXPECT_EQ(limit.devices, devices);
}

TEST(Limiting, NamesEachResourceThatAloneProves) {
  RingProblem problem = complete(3, {50, 50, 50, 50, 50, 50, 10, 10});
  for (const std::size_t hop : {1U, 2U}) problem.hops[hop]->push_back({.resource = 6});  // out of 0
  for (const std::size_t hop : {3U, 6U}) problem.hops[hop]->push_back({.resource = 7});  // into 0
  expect_limit(problem, 10, {6, 7});
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
  expect_limit(problem, 10, {1});  // what leaves device 0
}

TEST(Limiting, NamesDevicesWhoseHopsProveTogether) {
  expect_limit(complete(3, {10, 10, 30, 30, 30, 30}), 20, {0, 1}, {0});  // all else sends 60
}

TEST(Limiting, IsAProofInEveryRandomCase) {
  for (unsigned seed = 0; seed < 40; ++seed) {
    RingProblem problem = random_problem(5, 2, 0.9, seed);
    const RingPacking packing = pack_rings(problem);
    const Limiting limit = limiting(problem, packing);
    ASSERT_FALSE(limit.resources.empty()) << seed;
    for (const int resource : limit.resources) problem.capacity[to_size(resource)] *= 0.9;
    EXPECT_LT(pack_rings(problem).value, packing.value * (1 - 1e-6)) << seed;
  }
}

}  // namespace
}  // namespace busbar::topo
