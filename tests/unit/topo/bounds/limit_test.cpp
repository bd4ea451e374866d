// SPDX-License-Identifier: BSD-3-Clause
#include "topo/bounds/limit.hpp"

#include <gtest/gtest.h>

#include "tests/unit/topo/bounds/small_graphs.hpp"
#include "topo/systems/host_copies.hpp"
#include "topo/systems/system_file.hpp"

namespace busbar::topo {
namespace {

/// Links that fit, in words, for all devices of the graph.
std::string words_of(const Graph& graph, auto&& fits) {
  LimitingLinks limit;
  for (std::size_t k = 0; k < graph.links.size(); ++k) {
    limit.all.push_back(static_cast<int>(k));
    const Link& link = graph.links[k];
    if (fits(graph.nodes[static_cast<std::size_t>(link.from)],
             graph.nodes[static_cast<std::size_t>(link.to)])) {
      limit.links.push_back(static_cast<int>(k));
    }
  }
  return limit_in_words(graph, limit, prefix(static_cast<int>(device_count(graph))));
}

TEST(LimitInWords, NamesOneLinkAndOneCable) {
  const Graph graph = power_graph(1, 2, 3);
  EXPECT_EQ(words_of(graph, [](auto& a, auto& b) { return a.name == "CPU0" && b.name == "CPU1"; }),
            "X-Bus CPU0→CPU1");
  EXPECT_EQ(words_of(graph,
                     [](auto& a, auto& b) {
                       return a.kind == NodeKind::Package && b.kind == NodeKind::Package;
                     }),
            "X-Bus CPU0↔CPU1");
}

TEST(LimitInWords, NamesTheNodeThatLinksShare) {
  const Graph graph = nvlink_graph(dgx1v_rows(), 25);
  EXPECT_EQ(words_of(graph, [](auto& a, auto&) { return a.name == "GPU4"; }), "NVLink out of GPU4");
  EXPECT_EQ(words_of(graph, [](auto&, auto& b) { return b.name == "GPU4"; }), "NVLink into GPU4");
  EXPECT_EQ(words_of(graph, [](auto& a, auto& b) { return a.name == "GPU4" || b.name == "GPU4"; }),
            "NVLink of GPU4");
  EXPECT_EQ(words_of(graph, [](auto&, auto&) { return true; }), "every NVLink");
  EXPECT_EQ(words_of(graph, [](auto& a, auto& b) { return a.name < "GPU4" && b.name < "GPU4"; }),
            "9 of 24 NVLink links");
}

TEST(LimitInWords, NamesDevicesCardsAndSwitches) {
  const Graph graph = pcie_graph({});
  const auto of_kind = [](NodeKind kind) {
    return [kind](const Node& a, const Node&) { return a.kind == kind; };
  };
  EXPECT_EQ(words_of(graph, of_kind(NodeKind::Gpu)), "PCIe 3.0 x16 of every GPU");
  EXPECT_EQ(words_of(graph,
                     [](auto& a, auto& b) {
                       return a.kind == NodeKind::PcieSwitch && b.kind == NodeKind::Package;
                     }),
            "PCIe 3.0 x16 of PLX0, PLX1, PLX2 and PLX3");
  EXPECT_EQ(words_of(cluster_of({"01", "10"}, 25, 2, 12.5),
                     [](auto& a, auto& b) {
                       return a.kind == NodeKind::Network || b.kind == NodeKind::Network;
                     }),
            "Ethernet of host0/NIC0 and host1/NIC0");
}

TEST(LimitInWords, CountsTheCablesOfAHostAlikeHoweverManyHostsThereAre) {
  for (const int hosts : {2, 8}) {
    const Graph graph = copy_hosts(load_system("dgx-h100"), hosts);
    const auto of_network = [&](auto& fits) {
      return words_of(graph, [&](auto& a, auto& b) {
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

TEST(LimitInWords, TellsTwoMediaAndSaysThatThereAreMore) {
  EXPECT_EQ(words_of(pcie_graph({}),
                     [](auto& a, auto& b) {
                       return (a.name == "CPU0" && b.name == "CPU1") || a.name == "GPU0";
                     }),
            "PCIe 3.0 x16 GPU0→PLX0; UPI CPU0→CPU1");
  EXPECT_EQ(words_of(power_graph(2, 1, 3), [](auto&, auto&) { return true; }),
            "NVLink 2 of every GPU; every PCIe 4.0 x8; and others");
}

}  // namespace
}  // namespace busbar::topo
