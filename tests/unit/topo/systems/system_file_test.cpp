// SPDX-License-Identifier: BSD-3-Clause
#include "topo/systems/system_file.hpp"

#include "topo/systems/system_tables.hpp"

namespace busbar::topo {
namespace {

/// Two GPUs and a bridge; `more` goes in front, `nodes` and `links` at the end of the lists.
std::string pair_of_gpus(const std::string& more = "", const std::string& nodes = "",
                         const std::string& links = "") {
  return fmt::format(
      R"(name = "pair"
{}
node = [
  {{ name = "GPU0", kind = "gpu", numa = 0, bus_id = "00000000:06:00.0", model = "Some GPU" }},
  {{ name = "GPU1", kind = "gpu", numa = 1 }},
{}]
link = [
  {{ between = ["GPU0", "GPU1"], medium = "nvlink", count = 4 }},
{}]
[medium.nvlink]
name = "NVLink 9"
kind = "nvlink"
nominal_GBps = 10
nccl_GBps = 8.5
source = "made up"
)",
      more, nodes, links);
}

/// Refused as a mistake of the user, with this in the message.
void expect_refused(const std::string& text, const std::string& token) {
  test::expect_failure(Status::Usage, token,
                       [&] { static_cast<void>(parse_system(text, "my.toml")); });
}

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

void expect_same(const Graph& graph, const Graph& other) {
  EXPECT_EQ(parts_of(graph), parts_of(other));
  EXPECT_EQ(graph.devices, other.devices);
  EXPECT_EQ(graph.labels, other.labels);
  EXPECT_EQ(graph.p2p, other.p2p);
  EXPECT_EQ(graph.warnings, other.warnings);
  EXPECT_EQ(graph.protocol, other.protocol);
}

TEST(SystemFile, ReadsNodesMediaAndLinks) {
  const Graph graph = parse_system(pair_of_gpus("title = \"Two\"\nsource = \"me\""), "my.toml");
  // Kind, name, host, NUMA node, bus id and model; nominal, NCCL's and three unknown figures.
  EXPECT_THAT(parts_of(graph),
              ElementsAre("pair", "Two", "me", "gpu GPU0 0 0 0000:06:00.0 Some GPU   false",
                          "gpu GPU1 0 1     false", "nvlink NVLink 9 10 8.5 0 0 0 made up",
                          "0 1 0 4", "1 0 0 4"));
  EXPECT_THAT(graph.devices, ElementsAre(0, 1));
  EXPECT_EQ(graph.labels[0][1], "NV4");
  EXPECT_TRUE(graph.p2p.empty());
}

TEST(SystemFile, ReadsPeerAccessAsAWordOrAMatrix) {
  const auto p2p = [](const std::string& value) {
    return parse_system(pair_of_gpus("p2p = " + value), "my.toml").p2p;
  };
  using Rows = std::vector<std::vector<P2p>>;
  EXPECT_EQ(p2p("\"works\""), (Rows{{P2p::Works, P2p::Works}, {P2p::Works, P2p::Works}}));
  EXPECT_EQ(p2p("\"off\""), (Rows{{P2p::Works, P2p::Off}, {P2p::Off, P2p::Works}}));
  EXPECT_EQ(p2p("\"unknown\""), Rows{});
  EXPECT_EQ(p2p("[\"X OK\", \"NS  X\"]"), (Rows{{P2p::Works, P2p::Works}, {P2p::Off, P2p::Works}}));
  EXPECT_EQ(p2p("[\"X U\", \"U X\"]"),
            (Rows{{P2p::Works, P2p::Unknown}, {P2p::Unknown, P2p::Works}}));
}

TEST(SystemFile, CopiesHostsButNotWhatJoinsThem) {
  const std::string shared =
      "{ name = \"net\", kind = \"network\" },\n"
      "{ name = \"SW\", kind = \"nvswitch\", host = -1, reduces = true },\n";
  const std::string joined =
      "{ between = [\"GPU0\", \"net\"], medium = \"nvlink\" },\n"
      "{ between = [\"SW\", \"net\"], medium = \"nvlink\" },\n";
  const Graph graph =
      parse_system(pair_of_gpus("hosts = 3\np2p = \"works\"", shared, joined), "my.toml");
  ASSERT_EQ(graph.nodes.size(), 3 * 2 + 2U);
  EXPECT_EQ(device_count(graph), 6U);
  EXPECT_EQ(device(graph, 2).name, "host1/GPU0");
  EXPECT_EQ(device(graph, 5).host, 2);
  EXPECT_EQ(graph.nodes[6].name, "net");
  EXPECT_EQ(graph.nodes[6].host, -1);
  EXPECT_TRUE(graph.nodes[7].reduces);
  // A pair and an uplink for each host, and once what joins the shared two.
  EXPECT_EQ(graph.links.size(), 3 * 4 + 2U);
  EXPECT_EQ(graph.p2p[2][3], P2p::Works);
  EXPECT_EQ(graph.p2p[1][2], P2p::Unknown);
  EXPECT_EQ(graph.labels[2][3], "NV4");
  EXPECT_EQ(graph.labels[1][2], "NET");
}

/// A file on top of dgx-h100.
Graph based_on_h100(const std::string& lines) {
  return parse_system("name = \"mine\"\nbased_on = \"dgx-h100\"\n" + lines, "my.toml");
}

TEST(SystemFile, TakesWhatItDoesNotSayFromTheOneThatItIsBasedOn) {
  Graph same = based_on_h100("");
  EXPECT_EQ(std::exchange(same.name, "dgx-h100"), "mine");
  expect_same(same, load_system("dgx-h100"));
  const Graph other = based_on_h100(R"(title = "Mine"
source = "me"
warnings = ["odd"]
hosts = 2
p2p = "off"
devices = ["GPU0-1"]
[protocol]
efficiency = 0.5
source = "me"
)");
  EXPECT_EQ(other.title, "Mine");
  EXPECT_EQ(other.source, "me");
  EXPECT_EQ(other.warnings, std::vector<std::string>{"odd"});
  EXPECT_EQ(device_count(other), 4U);
  EXPECT_EQ(other.p2p[0][1], P2p::Off);
  EXPECT_EQ(other.protocol.efficiency, 0.5);
  EXPECT_EQ(other.protocol.in_switch_efficiency, 0) << "a protocol is replaced whole";
}

TEST(SystemFile, ChangesNodesAndMediaOfTheOneThatItIsBasedOn) {
  const Graph graph = based_on_h100(R"(without = ["NIC0-7", "CPU1"]
node = [
  { name = "GPU0-3", model = "NVIDIA H200" },
  { name = "CPU0", vendor = "amd" },
  { name = "NIC0", kind = "nic", model = "EFA" },
]
link = [{ between = ["NIC0", "fabric"], medium = "net" }]
[medium.net]
name = "EFA"
kind = "network"
nominal_GBps = 12.5
)");
  EXPECT_EQ(graph.nodes[to_size(find_node(graph, "GPU3"))].model, "NVIDIA H200");
  EXPECT_EQ(graph.nodes[to_size(find_node(graph, "GPU3"))].numa, 0);
  EXPECT_EQ(graph.nodes[to_size(find_node(graph, "GPU4"))].model, "NVIDIA H100 80GB HBM3");
  EXPECT_EQ(graph.nodes[to_size(find_node(graph, "CPU0"))].vendor, "amd");
  EXPECT_EQ(find_node(graph, "CPU1"), -1);
  EXPECT_EQ(find_node(graph, "NIC1"), -1);
  // 8 GPUs at the switch, 8 GPUs at PCIe switches, four of these at CPU0, the adapter.
  EXPECT_EQ(graph.links.size(), 2 * (8 + 8 + 4 + 1U));
  EXPECT_EQ(describe(graph, graph.links.back()), "EFA fabric→NIC0");
  EXPECT_EQ(join_each(graph.media, ", ", [](const Medium& medium) { return medium.name; }),
            "NVLink 4, PCIe 5.0 x16, EFA")
      << "nothing is left that UPI joins";
}

TEST(SystemFile, TakesAFileFromTheFolderOfTheOneThatIsBasedOnIt) {
  const test::TemporaryFolder folder;
  folder.write("base.toml", pair_of_gpus());
  folder.write("top.toml", "name = \"top\"\nbased_on = \"base.toml\"\n");
  EXPECT_EQ(device_count(load_system(folder.path("top.toml"))), 2U);
  folder.write("base.toml", R"(name = "base"
node = [{ name = "SW", kind = "nvswitch", host = -1 }, { name = "GPU0", kind = "gpu" }])");
  folder.write("other.toml", R"(name = "other"
based_on = "base.toml"
node = [{ name = "SW", model = "NVSwitch 3" }])");
  EXPECT_EQ(load_system(folder.path("other.toml")).nodes.at(0).host, -1) << "as in the base";
  folder.write("base.toml", "name = \"base\"\nnode = 1\n");
  test::expect_failure(Status::Usage, folder.path("base.toml") + ":2:8: node must be a list",
                       [&] { static_cast<void>(load_system(folder.path("top.toml"))); });
}

TEST(SystemFile, RefusesABaseThatIsNone) {
  expect_refused("name = \"x\"\nbased_on = \"dgx-h10\"\n",
                 "my.toml:2:12: based_on \"dgx-h10\": there is no such system; did you mean");
  expect_refused("name = \"x\"\nbased_on = \"no/such\"\n", "my.toml:2:12: based_on");
  expect_refused("name = \"x\"\nbased_on = \"ac922\"\nwithout = [\"GPU9\"]\n",
                 "my.toml:3:11: unknown node \"GPU9\"");
  const test::TemporaryFolder folder;
  folder.write("loop.toml", "name = \"loop\"\nbased_on = \"loop.toml\"\n");
  test::expect_failure(Status::Usage, "is it based on itself?",
                       [&] { static_cast<void>(load_system(folder.path("loop.toml"))); });
}

TEST(SystemFile, RefusesWhatIsNoToml) {
  for (const auto& [text, token] : std::vector<std::pair<std::string, std::string>>{
           {"name = \"x\"\nnode = = 3\n", "my.toml:2:8: not valid TOML: "},
           {"name = \"x\"\nnode = = 3\n", "docs/systems.md"},
           {pair_of_gpus("name = \"again\""), "my.toml:2:"},
           {pair_of_gpus().substr(0, 60), "my.toml:"},
           {"name = \"\xff\xfe\"", "my.toml:1:"},
           {std::string(5000, '['), "my.toml:1:3: not valid TOML:"}}) {
    expect_refused(text, token);
  }
}

TEST(SystemFile, NamesWhatIsMissing) {
  expect_refused("", "my.toml:1:1: a system file needs the key \"name\"");
  expect_refused("name = \"\"", "my.toml:1:8: name is empty");
  expect_refused("name = \"x\"", "my.toml:1:1: there is no device");
  expect_refused("name = \"x\"\nmedium = 3\n", "my.toml:2:10: [medium] must be a table");
  expect_refused("name = \"x\"\nnode = { name = \"GPU0\", kind = \"gpu\" }\n",
                 "my.toml:2:8: node must be a list");
}

struct BadLine {
  std::string line;
  std::string token;
};

TEST(SystemFile, RefusesBadKeysOfTheFile) {
  for (const auto& [line, token] : std::vector<BadLine>{
           {"titel = \"x\"",
            ":2:1: unknown key of a system file \"titel\"; did you mean \"title\"?"},
           {R"("a\u001b[2Jb" = 1)", ":2:1: unknown key of a system file \"a [2Jb\""},
           {R"(devices = ["GPU1", "GPU1"])", ":2:11: \"GPU1\" appears"},
           {"devices = [\"GPU7\"]", R"(:2:11: unknown node "GPU7"; did you mean "GPU0"?)"},
           {"p2p = \"of\"", R"(:2:7: unknown p2p "of"; did you mean "off"?)"},
           {"p2p = 1", ":2:7: p2p must be a text"},
           {"p2p = [\"X OK\"]", ":2:7: p2p has 1 row for 2 devices"},
           {R"(p2p = ["X OK", "OK"])", ":2:16: this row of p2p has 1 word for 2 devices"},
           {R"(p2p = ["X OK", "OK OK OK"])", ":2:16: this row of p2p has 3 words for 2 devices"},
           {R"(p2p = ["X X", "OK X"])", ":2:8: p2p has \"X\" in column 2"},
           {R"(labels = ["X NV4", "NVx X"])", ":2:20: labels has \"NVx\" in column 1"},
           {"hosts = 0", ":2:9: hosts must be a whole number from 1 to 65536"},
           {"hosts = 65537", ":2:9: hosts must be"},
           {"hosts = 2.5", ":2:9: hosts must be"},
           {"hosts = 129", ":2:9: more than 256 devices"}}) {
    expect_refused(pair_of_gpus(line), "my.toml" + token);
  }
}

TEST(SystemFile, RefusesBadNodes) {
  for (const auto& [line, token] : std::vector<BadLine>{
           {R"(name = "G", kind = "gpu", nmua = 3)", R"(:6:29: unknown key of [[node]] "nmua")"},
           {R"(kind = "gpu")", ":6:1: [[node]] needs the key \"name\""},
           {R"(name = "G")", ":6:1: [[node]] needs the key \"kind\""},
           {R"(name = "G", kind = "gpus")", R"(:6:22: unknown kind "gpus"; did you mean "gpu"?)"},
           {R"(name = "GPU1", kind = "gpu")", ":6:10: there is a node \"GPU1\" already"},
           {R"(name = "G", kind = "gpu", bus_id = "six")", ":6:38: bus_id must be a PCI address"},
           {R"(name = "G", kind = "gpu", reduces = 1)", ":6:39: reduces must be true or false"},
           {R"(name = "G7-0", kind = "gpu")", ":6:10: \"G7-0\" is not a range"},
           {R"(name = "G0-1", kind = "gpu", bus_id = "06:00.0")", ":6:41: bus_id is of one node"},
           {R"(name = "G0-1", kind = "gpu", uuid = "GPU-1")", ":6:39: uuid is of one node"},
           {R"(name = "GPU1-2", kind = "gpu")", ":6:10: there is a node \"GPU1\" already"},
           {R"(name = "G\u001b[2J", kind = "gpu")", ":6:10: name must be one line"},
           {R"(name = "G", kind = "gpu", host = -1)", ":6:36: host must be a whole number from 0"},
           {R"(name = "G", kind = "gpu", host = 256)",
            ":6:36: host must be a whole number from 0 to"}}) {
    expect_refused(pair_of_gpus("", "{ " + line + " },\n"), "my.toml" + token);
  }
  expect_refused(pair_of_gpus("", "7,\n"), "my.toml:6:1: [[node]] must be a table");
  const std::string package = "{ name = \"C\", kind = \"package\", host = 1 },\n";
  expect_refused(pair_of_gpus("devices = [\"C\"]", package), "\"C\" is neither a gpu nor");
  expect_refused(pair_of_gpus("hosts = 2", package), "my.toml:6:40: hosts = 2 numbers the hosts");
  expect_refused(pair_of_gpus("hosts = 2", "{ name = \"G\", kind = \"gpu\", uuid = \"GPU-1\" },\n"),
                 "my.toml:6:36: a uuid is of one device");
}

TEST(SystemFile, RefusesBadLinks) {
  const std::string pair = R"(between = ["GPU0", "GPU1"], )";
  for (const auto& [line, token] : std::vector<BadLine>{
           {pair + "medum = \"nvlink\"", ":9:31: unknown key of [[link]] \"medum\""},
           {R"(medium = "nvlink")", ":9:1: [[link]] needs the key \"between\""},
           {R"(between = ["GPU0", "GPU1"])", ":9:1: [[link]] needs the key \"medium\""},
           {R"(between = ["GPU0", "GPU11"], medium = "nvlink")", ":9:13: unknown node \"GPU11\""},
           {pair + "medium = \"nvlnk\"",
            ":9:40: unknown medium \"nvlnk\"; did you mean \"nvlink\"?"},
           {R"(between = ["GPU0", "GPU0"], medium = "nvlink")", ":9:13: a link from \"GPU0\" to"},
           {R"(between = ["GPU0-1", "GPU0-2"], medium = "nvlink")",
            ":9:13: between joins 2 nodes to 3"},
           {R"(between = ["GPU0-1", "GPU1-2"], medium = "nvlink")", ":9:13: unknown node \"GPU2\""},
           {R"(between = ["GPU0-1", "GPU1"], medium = "nvlink")", ":9:13: a link from \"GPU1\" to"},
           {R"(between = ["GPU0"], medium = "nvlink")", ":9:13: between must name two nodes"},
           {R"(between = "GPU0", medium = "nvlink")", ":9:13: between must be a list"},
           {pair + R"(medium = "nvlink", count = "2")", ":9:58: count must be a number"}}) {
    expect_refused(pair_of_gpus("", "", "{ " + line + " },\n"), "my.toml" + token);
  }
  for (const char* bad : {"0", "-1", "-0.0", "nan", "inf", "-inf", "1e300"}) {
    expect_refused(
        pair_of_gpus("", "", fmt::format("{{ {} medium = \"nvlink\", count = {} }},\n", pair, bad)),
        "my.toml:9:59: count must be a number above 0 and at most 1e+09");
  }
}

TEST(SystemFile, RefusesBadMedia) {
  for (const auto& [line, token] : std::vector<BadLine>{
           {"GBps = 3\n",
            ":16:1: unknown key of [medium.nvlink] \"GBps\"; there is: name, kind, nominal_GBps, "
            "nccl_GBps, reported_GBps, flow_GBps, efficiency, source"},
           {"[medium.x]\nname = \"x\"\nkind = \"wireless\"\n",
            ":18:8: unknown kind \"wireless\"; there is: nvlink, xgmi, pcie, memory, smp, network"},
           {"[medium.x]\nname = \"NVLink 9\"\nkind = \"pcie\"\n",
            ":17:8: there is a medium \"NVLink 9\" already"},
           {"[medium.x]\nname = \"x\"\nkind = \"smp\"\nnccl_GBps = -6\n",
            ":19:13: nccl_GBps must be"},
           {"efficiency = 1.01\n", ":16:14: efficiency"}}) {
    expect_refused(pair_of_gpus() + line, "my.toml" + token);
  }
}

void expect_reads_back(const Graph& graph) {
  const std::string text = write_system(graph);
  SCOPED_TRACE(text);
  expect_same(parse_system(text, "saved.toml"), graph);
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

std::string file_with(const std::string& protocol) {
  return "name = \"pair\"\nnode = [ { name = \"GPU0\", kind = \"gpu\" } ]\n" + protocol;
}

Protocol protocol_of(const std::string& text) {
  return parse_machine(file_with(text), "my.toml").host.protocol;
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

TEST(ProtocolTable, RefusesWhatItDoesNotUnderstand) {
  for (const auto& [lines, token] : std::vector<BadLine>{
           {"efficiency = 1.5\nsource = \"x\"", "4:14: efficiency is a share: above 0, at most 1"},
           {"efficiency = 0.5", "3:1: [protocol] needs the key \"source\""},
           {"algorithms = [\"rings\"]\nsource = \"x\"",
            "4:14: unknown algorithm \"rings\"; did you mean"},
           {"source = \"x\"\n[protocol.ring]\nspeed = 1", "6:1: unknown key"}}) {
    expect_refused(file_with("[protocol]\n" + lines + "\n"), "my.toml:" + token);
  }
}

TEST(ParseMachine, KeepsOneOfVeryManyHosts) {
  const EqualHosts machine = parse_machine("hosts = 60000\n" + file_with(""), "my.toml");
  EXPECT_EQ(machine.hosts, 60000);
  EXPECT_EQ(device_count(machine.host), 1U);
}

}  // namespace
}  // namespace busbar::topo
