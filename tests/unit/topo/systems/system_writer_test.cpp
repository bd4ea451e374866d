// SPDX-License-Identifier: BSD-3-Clause
#include "topo/systems/system_file.hpp"
#include "topo/systems/system_tables.hpp"

namespace busbar::topo {
namespace {

/// All that a file keeps, a text for each part, so that two graphs can be compared.
std::vector<std::string> parts_of(const Graph& graph) {
  std::vector<std::string> parts{graph.name, graph.title, graph.source};
  for (const Node& node : graph.nodes) {
    parts.push_back(fmt::format("{} {} {} {} {} {} {} {} {}", name(node.kind), node.name, node.host,
                                node.numa, node.bus_id, node.model, node.uuid, node.vendor,
                                node.reduces));
  }
  for (const Medium& medium : graph.media) {
    parts.push_back(fmt::format("{} {} {} {} {} {} {} {}", name(medium.kind), medium.name,
                                medium.nominal_GBps, medium.nccl_GBps, medium.reported_GBps,
                                medium.flow_GBps, medium.efficiency, medium.source));
  }
  for (const Link& link : graph.links) {
    parts.push_back(fmt::format("{} {} {} {}", link.from, link.to, link.medium, link.count));
  }
  return parts;
}

void expect_reads_back(const Graph& graph) {
  const std::string text = write_system(graph);
  SCOPED_TRACE(text);
  const Graph again = parse_system(text, "saved.toml");
  EXPECT_EQ(parts_of(again), parts_of(graph));
  EXPECT_EQ(again.devices, graph.devices);
  EXPECT_EQ(again.labels, graph.labels);
  EXPECT_EQ(again.p2p, graph.p2p);
  EXPECT_EQ(again.warnings, graph.warnings);
  EXPECT_EQ(again.protocol, graph.protocol);
}

/// What no built-in file has: everything at once, and nothing as usual.
Graph odd_graph() {
  Graph graph{.name = R"(odd "one" \ here)",
              .title = "größer",
              .warnings = {"GPU1 has no link", "a \"second\" one"}};
  const int one = add_node(graph, {.kind = NodeKind::Gpu,
                                   .name = "GPU0",
                                   .host = 3,
                                   .bus_id = "0000:06:00.0",
                                   .model = "Some [GPU]",
                                   .uuid = "GPU-12"});
  const int other = add_node(graph, {.kind = NodeKind::Gpu, .name = "GPU1", .host = 3, .numa = 8});
  const int net = add_node(graph, {.kind = NodeKind::Network, .name = "net", .host = 3});
  const int shared =
      add_node(graph, {.kind = NodeKind::NvSwitch, .name = "SW", .host = -1, .reduces = true});
  const int nvlink =
      add_medium(graph, {.name = "NVLink", .nominal_GBps = 0.1, .reported_GBps = 25.781});
  const int slow = add_medium(graph, {.name = "NVLink slow", .source = "made up"});
  add_cable(graph, one, other, nvlink, 2);
  add_cable(graph, one, shared, slow);
  graph.links.push_back({.from = net, .to = one, .medium = nvlink, .count = 0.5});
  graph.links.push_back({.from = one, .to = net, .medium = nvlink, .count = 1});
  graph.devices = {other, one};
  graph.labels = {{"X", "PHB"}, {"SYS", "X"}};
  graph.p2p = {{P2p::Unknown, P2p::Off}, {P2p::Works, P2p::Works}};
  return graph;
}

TEST(WriteSystem, ReadsBackForEveryBuiltInSystem) {
  for (const BuiltInSystem& system : built_in_systems()) {
    expect_reads_back(load_system(system.name()));
  }
}

TEST(WriteSystem, ReadsBackWhatIsUnusual) { expect_reads_back(odd_graph()); }

TEST(WriteSystem, LeavesOutLabelsThatTheLinksGive) {
  Graph graph = load_system("ac922");
  EXPECT_EQ(write_system(graph).find("labels"), std::string::npos);
  graph.labels[0][1] = "PIX";
  EXPECT_NE(write_system(graph).find("labels"), std::string::npos);
  expect_reads_back(graph);
}

TEST(WriteSystem, WritesPeerAccessAsAWordWhereOneSaysIt) {
  Graph graph = load_system("exxact-ts4");
  EXPECT_NE(write_system(graph).find("p2p = \"off\""), std::string::npos);
  graph.p2p[0][1] = P2p::Works;
  EXPECT_NE(write_system(graph).find("\"X OK NS NS NS NS NS NS\""), std::string::npos);
  graph.p2p.clear();
  EXPECT_EQ(write_system(graph).find("p2p"), std::string::npos);
}

TEST(WriteSystem, MakesBlanksOfLineEndsAndTabs) {
  Graph graph = load_system("ac922");
  graph.nodes[0].model = "Tesla\tV100\n";
  EXPECT_EQ(parse_system(write_system(graph), "saved.toml").nodes[0].model, "Tesla V100 ");
}

TEST(WriteSystem, GivesEachMediumItsFiguresAndSource) {
  const std::string text = write_system(load_system("p3dn-x2"));
  EXPECT_NE(text.find("[medium.network]\nname = \"Ethernet 100 Gb/s\"\nkind = \"network\"\n"
                      "nominal_GBps = 12.5\nflow_GBps = 1.25\nsource = \"Ren"),
            std::string::npos)
      << text;
}

std::string file_with(const std::string& protocol) {
  return "name = \"pair\"\nnode = [ { name = \"GPU0\", kind = \"gpu\" } ]\n" + protocol;
}

Protocol protocol_of(const std::string& text) {
  return parse_machine(file_with(text), "my.toml").host.protocol;
}

std::string complaint(const std::string& text) {
  return test::failure_of([&] { static_cast<void>(protocol_of(text)); }).message;
}

TEST(ProtocolTable, IsReadAsWritten) {
  constexpr const char* kText =
      "\n[protocol]\nefficiency = 0.9\nissue_us = 4\ndirect_issue_us = 9\nchannel_GBps = 20\n"
      "network_latency_us = 35\nlibrary = \"nccl-2.18\"\nflows = 4\n"
      "algorithms = [\"ring\", \"tree\"]\nsource = \"made up\"\n"
      "\n[protocol.ring_ll128]\nshare = 0.5\nnetwork_share = 0.25\n"
      "\n[protocol.tree_low_latency]\nshare = 0.5\nnetwork_us = 7\n";
  const Protocol protocol = protocol_of(kText);
  EXPECT_EQ(protocol.efficiency, 0.9);
  EXPECT_EQ(protocol.flows, 4);
  EXPECT_EQ(protocol.issue_us, 4);
  EXPECT_EQ(protocol.direct_issue_us, 9);
  EXPECT_EQ(protocol.channel_GBps, 20);
  EXPECT_EQ(protocol.network_latency_us, 35);
  EXPECT_EQ(protocol.library, Library::Nccl218);
  EXPECT_EQ(protocol.algorithms, (std::vector{Algorithm::Ring, Algorithm::Tree}));
  const StepTimes& tree = protocol.steps.at(static_cast<std::size_t>(Sending::TreeLowLatency));
  EXPECT_EQ(tree.share, 0.5);
  EXPECT_EQ(tree.network_us, 7);
  EXPECT_EQ(protocol.steps.at(static_cast<std::size_t>(Sending::RingLl128)).network_share, 0.25);
  EXPECT_EQ(protocol_table(protocol), kText);
}

TEST(ProtocolTable, IsEmptyWhereNothingIsKnown) {
  EXPECT_EQ(protocol_of(""), Protocol{});
  EXPECT_EQ(protocol_table({}), "");
}

TEST(ProtocolTable, RefusesWhatItDoesNotUnderstand) {
  EXPECT_EQ(complaint("[protocol]\nefficiency = 1.5\nsource = \"x\"\n"),
            "my.toml:4:14: efficiency is a share: above 0, at most 1");
  EXPECT_EQ(complaint("[protocol]\nefficiency = 0.5\n"),
            "my.toml:3:1: [protocol] needs the key \"source\"");
  EXPECT_EQ(complaint("[protocol]\nalgorithms = [\"rings\"]\nsource = \"x\"\n"),
            "my.toml:4:14: unknown algorithm \"rings\"; did you mean \"ring\"?");
  EXPECT_NE(complaint("[protocol]\nsource = \"x\"\n[protocol.ring]\nspeed = 1\n").find("6:1"),
            std::string::npos);
}

TEST(CompletedProtocol, HasDefaultsForWhatIsMissing) {
  const Protocol protocol = completed({.efficiency = 0.5, .source = "made up"});
  EXPECT_EQ(protocol.efficiency, 0.5);
  EXPECT_EQ(protocol.source, "made up");
  EXPECT_EQ(protocol.steps, completed({}).steps);
  EXPECT_EQ(completed({}).efficiency, 0.8);
  EXPECT_NE(completed({}).source, "");
}

TEST(ParseMachine, KeepsOneOfVeryManyHosts) {
  const EqualHosts machine = parse_machine("hosts = 60000\n" + file_with(""), "my.toml");
  EXPECT_EQ(machine.hosts, 60000);
  EXPECT_EQ(device_count(machine.host), 1U);
}

}  // namespace
}  // namespace busbar::topo
