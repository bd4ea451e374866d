// SPDX-License-Identifier: BSD-3-Clause
#include "topo/systems/system_file.hpp"

#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/error.hpp"

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

/// The message of the error that this text causes; empty where it is read.
std::string complaint(const std::string& text) {
  try {
    static_cast<void>(parse_system(text, "my.toml"));
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), Status::Usage);
    return error.what();
  }
  return {};
}

void expect_complaint(const std::string& text, const std::string& wanted) {
  EXPECT_EQ(complaint(text), wanted) << text;
}

TEST(SystemFile, TellsNodesMediaAndLinks) {
  const Graph graph = parse_system(pair_of_gpus("title = \"Two\"\nsource = \"me\""), "my.toml");
  EXPECT_EQ(graph.name, "pair");
  EXPECT_EQ(graph.title, "Two");
  EXPECT_EQ(graph.source, "me");
  ASSERT_EQ(graph.nodes.size(), 2U);
  EXPECT_EQ(graph.nodes[0].name, "GPU0");
  EXPECT_EQ(graph.nodes[0].kind, NodeKind::Gpu);
  EXPECT_EQ(graph.nodes[0].bus_id, "0000:06:00.0");
  EXPECT_EQ(graph.nodes[0].model, "Some GPU");
  EXPECT_EQ(graph.nodes[1].numa, 1);
  EXPECT_EQ(graph.nodes[1].host, 0);
  ASSERT_EQ(graph.media.size(), 1U);
  EXPECT_EQ(graph.media[0].name, "NVLink 9");
  EXPECT_EQ(graph.media[0].nominal_GBps, 10);
  EXPECT_EQ(graph.media[0].nccl_GBps, 8.5);
  EXPECT_EQ(graph.media[0].source, "made up");
  ASSERT_EQ(graph.links.size(), 2U);
  EXPECT_EQ(graph.links[1].from, 1);
  EXPECT_EQ(graph.links[1].to, 0);
  EXPECT_EQ(graph.links[1].count, 4);
  EXPECT_EQ(graph.devices, (std::vector<int>{0, 1}));
  EXPECT_EQ(graph.labels[0][1], "NV4");
  EXPECT_TRUE(graph.p2p.empty());
}

TEST(SystemFile, HasOneWayLinks) {
  const Graph graph = parse_system(
      pair_of_gpus("", "",
                   "{ between = [\"GPU1\", \"GPU0\"], medium = \"nvlink\", one_way = true },\n"),
      "my.toml");
  ASSERT_EQ(graph.links.size(), 3U);
  EXPECT_EQ(graph.links[2].from, 1);
  EXPECT_EQ(graph.links[2].to, 0);
}

TEST(SystemFile, TakesProcessorsWhereThereIsNoGpu) {
  const Graph graph = parse_system(
      "name = \"two\"\nnode = [{ name = \"CPU0\", kind = \"processor\" },\n"
      "{ name = \"NIC0\", kind = \"nic\" }, { name = \"CPU1\", kind = \"processor\" }]",
      "my.toml");
  EXPECT_EQ(graph.devices, (std::vector<int>{0, 2}));
}

TEST(SystemFile, TakesDevicesInTheOrderThatItNames) {
  const Graph graph = parse_system(pair_of_gpus(R"(devices = ["GPU1", "GPU0"])"), "my.toml");
  EXPECT_EQ(graph.devices, (std::vector<int>{1, 0}));
  expect_complaint(pair_of_gpus(R"(devices = ["GPU1", "GPU1"])"),
                   "my.toml:2:11: \"GPU1\" is there twice");
  expect_complaint(pair_of_gpus("devices = [\"GPU7\"]"),
                   R"(my.toml:2:11: unknown node "GPU7"; did you mean "GPU0"?)");
  expect_complaint(pair_of_gpus("devices = [\"C\"]", "{ name = \"C\", kind = \"package\" },\n"),
                   "my.toml:2:11: \"C\" is no gpu and no processor");
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

TEST(SystemFile, RefusesMatricesOfAnotherShape) {
  expect_complaint(pair_of_gpus("p2p = \"of\""),
                   R"(my.toml:2:7: unknown p2p "of"; did you mean "off"?)");
  expect_complaint(pair_of_gpus("p2p = 1"), "my.toml:2:7: p2p must be a text in quotes");
  expect_complaint(pair_of_gpus("p2p = [\"X OK\"]"), "my.toml:2:7: p2p has 1 row for 2 devices");
  expect_complaint(pair_of_gpus(R"(p2p = ["X OK", "OK"])"),
                   "my.toml:2:16: this row of p2p has 1 word for 2 devices");
  expect_complaint(pair_of_gpus(R"(p2p = ["X OK", "OK OK OK"])"),
                   "my.toml:2:16: this row of p2p has 3 words for 2 devices");
  expect_complaint(pair_of_gpus(R"(p2p = ["X X", "OK X"])"),
                   "my.toml:2:8: p2p has \"X\" in column 2 of this row");
  expect_complaint(pair_of_gpus(R"(labels = ["X NV4", "NVx X"])"),
                   "my.toml:2:20: labels has \"NVx\" in column 1 of this row");
}

TEST(SystemFile, KeepsLabelsThatItGives) {
  const Graph graph = parse_system(pair_of_gpus(R"(labels = ["X PHB", "SYS X"])"), "my.toml");
  EXPECT_EQ(graph.labels, (std::vector<std::vector<std::string>>{{"X", "PHB"}, {"SYS", "X"}}));
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

TEST(SystemFile, NumbersHostsItselfWhereItCopiesThem) {
  expect_complaint(pair_of_gpus("hosts = 0"),
                   "my.toml:2:9: hosts must be a whole number from 1 to 65536");
  expect_complaint(pair_of_gpus("hosts = 2.5"),
                   "my.toml:2:9: hosts must be a whole number from 1 to 65536");
  expect_complaint(pair_of_gpus("hosts = 200"),
                   "my.toml:2:9: more than 256 devices; a simulation takes more (--backend sim "
                   "--system)");
  expect_complaint(
      pair_of_gpus("hosts = 2", "{ name = \"C\", kind = \"package\", host = 1 },\n"),
      "my.toml:6:40: hosts = 2 numbers the hosts; only host = -1, for what joins them, "
      "may be given");
  expect_complaint(
      pair_of_gpus("hosts = 2", "{ name = \"G\", kind = \"gpu\", uuid = \"GPU-1\" },\n"),
      "my.toml:6:36: a uuid is of one device; hosts copies this one: leave it out");
  expect_complaint(pair_of_gpus("", "{ name = \"G\", kind = \"gpu\", host = -1 },\n"),
                   "my.toml:6:36: host must be a whole number from 0 to 255");
}

TEST(SystemFile, RefusesWhatIsNoToml) {
  expect_complaint(
      "name = \"x\"\nnode = = 3\n",
      "my.toml:2:8: no TOML: Error while parsing value: could not determine value type; "
      "docs/systems.md describes the format");
  EXPECT_EQ(complaint(pair_of_gpus("name = \"again\"")).rfind("my.toml:2:", 0), 0U);
  EXPECT_EQ(complaint(pair_of_gpus().substr(0, 60)).rfind("my.toml:", 0), 0U);
  EXPECT_EQ(complaint("name = \"\xff\xfe\"").rfind("my.toml:1:", 0), 0U);
  EXPECT_EQ(complaint(std::string(5000, '[')).rfind("my.toml:1:3: no TOML:", 0), 0U);
}

TEST(SystemFile, NamesTheKeyThatIsNear) {
  expect_complaint(pair_of_gpus("titel = \"x\""),
                   R"(my.toml:2:1: unknown key of a system file "titel"; did you mean "title"?)");
  expect_complaint(pair_of_gpus("", "{ name = \"G\", kind = \"gpu\", nmua = 3 },\n"),
                   R"(my.toml:6:29: unknown key of [[node]] "nmua"; did you mean "numa"?)");
  expect_complaint(
      pair_of_gpus("", "", "{ between = [\"GPU0\", \"GPU1\"], medum = \"nvlink\" },\n"),
      R"(my.toml:9:31: unknown key of [[link]] "medum"; did you mean "medium"?)");
  expect_complaint(pair_of_gpus() + "GBps = 3\n",
                   "my.toml:16:1: unknown key of [medium.nvlink] \"GBps\"; there is: name, kind, "
                   "nominal_GBps, nccl_GBps, reported_GBps, flow_GBps, efficiency, source");
}

TEST(SystemFile, NamesWhatIsMissing) {
  expect_complaint("", "my.toml:1:1: a system file needs the key \"name\"");
  expect_complaint("name = \"\"", "my.toml:1:8: name is empty");
  expect_complaint("name = \"x\"",
                   R"(my.toml:1:1: there is no device: a node of kind "gpu" or "processor")");
  expect_complaint(pair_of_gpus("", "{ kind = \"gpu\" },\n"),
                   "my.toml:6:1: [[node]] needs the key \"name\"");
  expect_complaint(pair_of_gpus("", "{ name = \"G\" },\n"),
                   "my.toml:6:1: [[node]] needs the key \"kind\"");
  expect_complaint(pair_of_gpus("", "", "{ medium = \"nvlink\" },\n"),
                   "my.toml:9:1: [[link]] needs the key \"between\"");
  expect_complaint(pair_of_gpus("", "", "{ between = [\"GPU0\", \"GPU1\"] },\n"),
                   "my.toml:9:1: [[link]] needs the key \"medium\"");
}

TEST(SystemFile, RefusesUnknownKindsNodesAndMedia) {
  expect_complaint(pair_of_gpus("", "{ name = \"G\", kind = \"gpus\" },\n"),
                   R"(my.toml:6:22: unknown kind "gpus"; did you mean "gpu"?)");
  expect_complaint(
      pair_of_gpus() + "[medium.x]\nname = \"x\"\nkind = \"wireless\"\n",
      "my.toml:18:8: unknown kind \"wireless\"; there is: nvlink, pcie, memory, smp, network");
  expect_complaint(
      pair_of_gpus("", "", "{ between = [\"GPU0\", \"GPU11\"], medium = \"nvlink\" },\n"),
      R"(my.toml:9:13: unknown node "GPU11"; did you mean "GPU1"?)");
  expect_complaint(
      pair_of_gpus("", "", "{ between = [\"GPU0\", \"GPU1\"], medium = \"nvlnk\" },\n"),
      R"(my.toml:9:40: unknown medium "nvlnk"; did you mean "nvlink"?)");
}

TEST(SystemFile, RefusesNamesThatAreThereTwice) {
  expect_complaint(pair_of_gpus("", "{ name = \"GPU1\", kind = \"gpu\" },\n"),
                   "my.toml:6:10: there is a node \"GPU1\" already");
  expect_complaint(pair_of_gpus() + "[medium.other]\nname = \"NVLink 9\"\nkind = \"pcie\"\n",
                   "my.toml:17:8: there is a medium \"NVLink 9\" already");
}

TEST(SystemFile, RefusesNumbersThatAreNone) {
  const auto count = [](const std::string& value) {
    return complaint(pair_of_gpus(
        "", "",
        fmt::format("{{ between = [\"GPU0\", \"GPU1\"], medium = \"nvlink\", count = {} }},\n",
                    value)));
  };
  const std::string range =
      "my.toml:9:58: count must be a number above 0 and at most 1e+09; leave it "
      "out where there is no figure";
  for (const char* bad : {"0", "-1", "-0.0", "nan", "inf", "-inf", "1e300"}) {
    EXPECT_EQ(count(bad), range) << bad;
  }
  EXPECT_EQ(count("\"2\""), "my.toml:9:58: count must be a number");
  EXPECT_EQ(count("0.5"), "");
  EXPECT_EQ(
      complaint(pair_of_gpus() + "[medium.x]\nname = \"x\"\nkind = \"smp\"\nnccl_GBps = -6\n"),
      "my.toml:19:13: nccl_GBps must be a number above 0 and at most 1e+09; leave it out where "
      "there is no figure");
}

TEST(SystemFile, RefusesWhatCannotBe) {
  expect_complaint(
      pair_of_gpus("", "", "{ between = [\"GPU0\", \"GPU0\"], medium = \"nvlink\" },\n"),
      "my.toml:9:13: a link from \"GPU0\" to itself");
  expect_complaint(pair_of_gpus("", "", "{ between = [\"GPU0\"], medium = \"nvlink\" },\n"),
                   R"(my.toml:9:13: between must name two nodes: ["GPU0", "GPU1"])");
  expect_complaint(pair_of_gpus("", "", "{ between = \"GPU0\", medium = \"nvlink\" },\n"),
                   "my.toml:9:13: between must be a list");
  expect_complaint(pair_of_gpus("", "{ name = \"G\", kind = \"gpu\", bus_id = \"six\" },\n"),
                   "my.toml:6:38: bus_id must be a PCI address such as \"0000:06:00.0\"");
  expect_complaint(pair_of_gpus("", "{ name = \"G\", kind = \"gpu\", reduces = 1 },\n"),
                   "my.toml:6:39: reduces must be true or false");
  expect_complaint(pair_of_gpus("", "{ name = \"G\\u001b[2J\", kind = \"gpu\" },\n"),
                   "my.toml:6:10: name must be one line without tabs");
  expect_complaint(pair_of_gpus("", "7,\n"), "my.toml:6:1: [[node]] must be a table");
  expect_complaint("name = \"x\"\nmedium = 3\n", "my.toml:2:10: [medium] must be a table");
  expect_complaint("name = \"x\"\nnode = { name = \"GPU0\", kind = \"gpu\" }\n",
                   "my.toml:2:8: node must be a list");
}

TEST(SystemFile, SaysNothingThatMovesACursor) {
  const std::string message = complaint(pair_of_gpus(R"("a\u001b[2Jb" = 1)"));
  EXPECT_EQ(message.rfind("my.toml:2:1: unknown key of a system file \"a [2Jb\"", 0), 0U)
      << message;
}

}  // namespace
}  // namespace busbar::topo
