// SPDX-License-Identifier: BSD-3-Clause
#include <nlohmann/json.hpp>

#include "format/topo_text.hpp"
#include "topo/systems/system_file.hpp"

namespace busbar {
namespace {

using nlohmann::json;

constexpr auto kNominal = topo::ConstantSet::Nominal;

TEST(TopoJson, OfClassesIsAnObjectForOneSizeAndAListForSeveral) {
  const std::vector<ClassesOfSize> sizes{{.k = 2}, {.k = 3}};
  EXPECT_EQ(json::parse(classes_json({}, std::span(sizes).first(1)))["k"], 2);
  EXPECT_EQ(json::parse(classes_json({}, sizes))[1]["k"], 3);
}

TEST(TopoJson, RoundsWhatASolverIsOffBy) {
  const topo::Graph graph = topo::load_system("dgx-2");
  const topo::Bound bound{.devices = {0, 1}, .ring_GBps = 149.99999999999997};
  EXPECT_THAT(bound_json(graph, bound), HasSubstr("\"ring_GBps\": 150.0"));
}

TEST(TopoJson, HasNullForAnUnlimitedRate) {
  topo::Graph graph;
  graph.devices = {add_node(graph, {.name = "GPU0"}), add_node(graph, {.name = "GPU1"})};
  add_cable(graph, 0, 1, add_medium(graph, {.name = "unknown"}));
  label_devices(graph);
  EXPECT_EQ(json::parse(show_json(graph))["edges"][0]["nominal_GBps"], nullptr);
}

TEST(TopoText, DrawsEveryPartOnce) {
  const topo::Graph graph = topo::load_system("dgx-1v");
  const std::string text = show_text(graph, kNominal);
  for (const topo::Node& node : graph.nodes) {
    EXPECT_THAT(text, HasSubstr(node.name)) << node.name;
  }
  EXPECT_THAT(text, AllOf(HasSubstr("GPU0 ↔ GPU3"), HasSubstr("2x NVLink 2, 50 GB/s each way"),
                          Not(HasSubstr("GPU3 ↔ GPU0")), HasSubstr(" X\n")));
  const topo::Graph one = topo::keep_devices(graph, std::vector{0});
  EXPECT_THAT(show_text(one, kNominal), Not(HasSubstr(" X\n"))) << "no matrix";
}

TEST(TopoText, NamesWhatABoundIsOf) {
  const topo::Graph graph = topo::load_system("dgx-1v");
  const auto text = [&](const std::vector<int>& set) {
    return bound_text(graph, topo::bound_of(graph, set), kNominal);
  };
  EXPECT_THAT(text({0, 1, 2, 3}), HasSubstr("at most 100 GB/s over nvlink"));
  EXPECT_THAT(text({0, 1, 2, 3, 4}), HasSubstr("no ring closes over NVLink"));
  EXPECT_THAT(text({5}), HasSubstr("one device: nothing crosses a link"));
  const topo::Bound open{.devices = {0, 1}, .bound_GBps = 9, .lower_GBps = 8, .exact = false};
  EXPECT_THAT(bound_text(graph, open, kNominal),
              HasSubstr("between 8 GB/s and 9 GB/s (not exact)"));
}

TEST(TopoText, HasAllToAllBetweenHosts) {
  const topo::Graph graph = topo::load_system("knl-aries");
  const topo::Bound eight = topo::bound_of(graph, std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7});
  EXPECT_THAT(bound_text(graph, eight, kNominal), HasSubstr("all-to-all 8 GB/s by the network"));
  EXPECT_EQ(json::parse(bound_json(graph, eight))["alltoall_GBps"], 8);
  const topo::Graph one = topo::load_system("dgx-1v");
  const topo::Bound pair = topo::bound_of(one, std::vector<int>{0, 3});
  EXPECT_THAT(bound_text(one, pair, kNominal), Not(HasSubstr("all-to-all")));
  EXPECT_FALSE(json::parse(bound_json(one, pair)).contains("alltoall_GBps"));
}

TEST(TopoText, NamesXgmiWhereTheGpusHaveIt) {
  topo::Graph graph = topo::load_system("dgx-1v");
  for (topo::Medium& medium : graph.media) {
    if (medium.kind == topo::LinkKind::NvLink) medium.kind = topo::LinkKind::Xgmi;
  }
  label_devices(graph);
  const topo::Bound five = topo::bound_of(graph, std::vector<int>{0, 1, 2, 3, 4});
  EXPECT_THAT(bound_text(graph, five, kNominal), HasSubstr("no ring closes over xGMI"));
  const std::vector<topo::SetComparison> rows = topo::compare_sets(graph, {{{0, 1, 2, 3, 4}}}, {});
  EXPECT_THAT(compare_text(rows), HasSubstr("* no ring closes over xGMI: "));
  EXPECT_THAT(svg_graph_caption(graph), HasSubstr("Solid green: xGMI;"));
}

TEST(TopoText, WritesLongListsAsRanges) {
  EXPECT_EQ(devices_text(std::vector<int>{0, 3}), "0,3");
  EXPECT_EQ(devices_text(std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7, 8, 10}), "0-8,10");
  EXPECT_EQ(rate_text(std::numeric_limits<double>::infinity()), "no limit");
  EXPECT_EQ(rate_text(31.5), "31.5 GB/s");
}

TEST(SvgGraph, DrawsEveryPartAndLinkOnce) {
  const std::string svg = svg_graph(topo::load_system("dgx-1v"), kNominal);
  const auto count = [&](const std::string& word) {
    std::size_t found = 0;
    for (std::size_t at = 0; (at = svg.find(word, at)) != std::string::npos; ++at) ++found;
    return found;
  };
  for (int i = 0; i < 8; ++i) EXPECT_EQ(count(">GPU" + std::to_string(i) + "</text>"), 1U);
  EXPECT_EQ(count("<title>NVLink 2 between GPU"), 8U);
  EXPECT_EQ(count("<title>2x NVLink 2 between GPU"), 8U);
  EXPECT_EQ(count("QPI between"), 1U);
}

/// Two processors with ten leaves each: labels are parted, and a bridge with one part is left out.
TEST(SvgGraph, FitsLabelsIntoTheirColumns) {
  topo::Graph graph;
  graph.name = "offer-b";
  graph.title = "20x NIC";
  const int wire =
      add_medium(graph, {.name = "PCIe", .kind = topo::LinkKind::Pcie, .nominal_GBps = 63});
  const int cpu = add_node(graph, {.kind = topo::NodeKind::Package, .name = "CPU0"});
  const int bridge = add_node(graph, {.kind = topo::NodeKind::HostBridge, .name = "bridge0"});
  add_cable(graph, cpu, bridge, wire);
  for (int i = 0; i < 20; ++i) {
    const std::string name = "mlx5_bond_" + std::to_string(i);
    add_cable(graph, i == 0 ? bridge : cpu,
              add_node(graph, {.kind = topo::NodeKind::Nic, .name = name}), wire);
  }
  const std::string svg = svg_graph(graph, kNominal);
  EXPECT_THAT(svg, AllOf(HasSubstr(">mlx5_</text>"), HasSubstr(">bond_0</text>"),
                         HasSubstr("PCIe between CPU0 and mlx5_bond_0: 63 GB/s"),
                         Not(HasSubstr("bridge0"))));
  EXPECT_THAT(svg_picture(graph, kNominal),
              AllOf(StartsWith("<svg xmlns="), HasSubstr(">offer-b: 20x NIC</text>"),
                    HasSubstr("Each way: PCIe: 63 GB/s")));
}

TEST(SvgGraph, DrawsTheFirstHostsOfALargeMachine) {
  EXPECT_THAT(svg_graph_caption(topo::load_system("gb200-nvl72")), HasSubstr("Drawn: "));
  EXPECT_THAT(svg_graph_caption(topo::load_system("p3dn-x2")), Not(HasSubstr("Drawn: ")));
  for (const topo::BuiltInSystem& system : topo::built_in_systems()) {
    EXPECT_THAT(svg_graph(topo::load_system(system.name()), kNominal), Not(HasSubstr("nan")))
        << system.name();
  }
}

TEST(TopoReport, NamesWhatNothingLimits) {
  std::vector<topo::SetComparison> rows(1);
  rows[0].choice.bound.devices = {0, 1};
  rows[0].choice.bound.bound_GBps = std::numeric_limits<double>::infinity();
  rows[0].ratio = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THAT(compare_text(rows), testing::ContainsRegex("no limit +- "));
}

}  // namespace
}  // namespace busbar
