// SPDX-License-Identifier: BSD-3-Clause
#include "topo/graph/graph.hpp"

#include <filesystem>
#include <regex>

#include "base/child_process.hpp"
#include "bench/nccl_model.hpp"
#include "topo/graph/constants.hpp"

namespace busbar::topo {
namespace {

TEST(NormalBusId, WritesEverySpellingTheSameWayAndNothingForWhatIsNoAddress) {
  for (const auto& [text, normal] : {std::pair{"00000000:06:00.0", "0000:06:00.0"},
                                     {"0000:06:00.0", "0000:06:00.0"},
                                     {"06:00.0", "0000:06:00.0"},
                                     {"0:6:0.1", "0000:06:00.1"},
                                     {"0000:AF:1C.7", "0000:af:1c.7"},
                                     {"0000:ff:ff.f", "0000:ff:ff.f"},
                                     {"00010001:00:00.0", "10001:00:00.0"}}) {
    EXPECT_EQ(normal_bus_id(text), normal);
  }
  for (const char* text : {"", "GPU0", "0000:06:00", "06:00.", ":06:00.0", "0000:006:00.0x",
                           "x:06:00.0", "0000:123:00.0", "06.00:0", "0000:06:00.10",
                           "0:0000:06:00.0", "100000000:06:00.0", "0000:06:100.0"}) {
    EXPECT_EQ(normal_bus_id(text), "") << text;
  }
}

TEST(GpuLinkCount, ReadsTheNumberOfALabel) {
  EXPECT_EQ(gpu_link_count("NV18"), 18);
  EXPECT_EQ(gpu_link_count("XGMI"), 1);
  EXPECT_EQ(gpu_link_count("XGMI4"), 4);
  for (const char* label : {"NV", "NV0", "NV1x", "NV1000", "XGMI0", "PIX", "X", ""}) {
    EXPECT_EQ(gpu_link_count(label), 0) << label;
  }
}

TEST(Graph, MediaOfOneNameAreOne) {
  Graph graph;
  for (const double GBps : {1, 2}) add_medium(graph, {.name = "wire", .nominal_GBps = GBps});
  ASSERT_EQ(graph.media.size(), 1U);
  EXPECT_EQ(graph.media[0].nominal_GBps, 1);
}

/// GPU0 and GPU1 on one switch, GPU2 on a second below the same bridge's upper switch, GPU3 on
/// another bridge of the processor, GPU4 on another processor.
Graph one_of_each() {
  Graph graph{.devices = {0, 1, 2, 3, 4}};
  for (const auto& [kind, names] : {std::pair{NodeKind::Gpu, "GPU0 GPU1 GPU2 GPU3 GPU4"},
                                    {NodeKind::Package, "CPU0 CPU1"},
                                    {NodeKind::HostBridge, "bridge0 bridge1"},
                                    {NodeKind::PcieSwitch, "upper switch0 switch1"}}) {
    for (const std::string& name : split(names, ' ')) add_node(graph, {.kind = kind, .name = name});
  }
  for (const auto& [medium, cables] :
       {std::pair{smp_medium("intel", 0x55), "CPU0 CPU1"},
        {memory_medium(), "bridge0 CPU0 bridge1 CPU0"},
        {pcie_medium(3, 16),
         "upper bridge0 switch0 upper switch1 upper GPU0 switch0 GPU1 switch0 GPU2 switch1 "
         "GPU3 bridge1 GPU4 CPU1"}}) {
    const int number = add_medium(graph, medium);
    const auto ends = split(cables, ' ');
    for (std::size_t k = 0; k < ends.size(); k += 2) {
      add_cable(graph, find_node(graph, ends[k]), find_node(graph, ends[k + 1]), number);
    }
  }
  return graph;
}

TEST(Labels, TellNvlinksFirst) {
  Graph graph = one_of_each();
  const int nvlink = add_medium(graph, nvlink_medium(2));
  add_cable(graph, 0, 4, nvlink, 3);
  const int hub = add_node(graph, {.kind = NodeKind::NvSwitch, .name = "NVSwitch"});
  add_cable(graph, 1, hub, nvlink, 6);
  add_cable(graph, 3, hub, nvlink, 4);
  const int another = add_node(graph, {.kind = NodeKind::NvSwitch, .name = "another"});
  add_cable(graph, 2, another, nvlink, 6);
  label_devices(graph);
  EXPECT_EQ(graph.labels[0][4], "NV3");
  EXPECT_EQ(graph.labels[1][3], "NV4");
  EXPECT_EQ(graph.labels[1][2], "PXB") << "on different switches";
  EXPECT_EQ(graph.labels[0][1], "PIX");
}

TEST(KeepDevices, KeepsTheMachineAndSomeOfItsDevices) {
  Graph graph = one_of_each();
  label_devices(graph);
  graph.p2p.assign(5, std::vector<P2p>(5, P2p::Works));
  graph.p2p[4][0] = P2p::Off;
  const Graph part = keep_devices(graph, {4, 0});
  EXPECT_EQ(part.nodes.size(), graph.nodes.size());
  EXPECT_EQ(device(part, 0).name, "GPU4");
  EXPECT_EQ(part.labels[0], (std::vector<std::string>{"X", "SYS"}));
  EXPECT_EQ(part.p2p[0][1], P2p::Off);
  EXPECT_EQ(part.p2p[1][0], P2p::Works);
}

TEST(UuidDigits, AreTheSameForEveryTool) {
  EXPECT_EQ(uuid_digits("GPU-6968DFC2-d444-d92c-c36b-6abe53445cb9"),
            "6968dfc2d444d92cc36b6abe53445cb9");
  EXPECT_EQ(uuid_digits("6968dfc2d444d92cc36b6abe53445cb9"), "6968dfc2d444d92cc36b6abe53445cb9");
}

TEST(RequireDevice, SaysWhichDevicesThereAre) {
  for (const auto& [index, count, has] :
       {std::tuple{2, 2U, "'box', which has 2 devices, 0 to 1"},
        {-1, 1U, "-1 is not a device of 'box', which has device 0 only"},
        {0, 0U, "'box', which has none"}}) {
    EXPECT_THAT(test::refusal_of(
                    [number = index, devices = count] { require_device(number, devices, "box"); }),
                HasSubstr(has));
  }
  EXPECT_NO_THROW(require_device(1, 2, "box"));
}

const StepTimes& steps_of(const Protocol& protocol, Sending sending) {
  return protocol.steps.at(static_cast<std::size_t>(sending));
}

TEST(CompletedProtocol, HasTheTimesOfTheNewestLibraryUnlessAnotherIsNamed) {
  const Protocol protocol = completed({});
  EXPECT_EQ(protocol, completed({.source = protocol.source}));
  EXPECT_EQ(completed({.library = Library::Nccl226}).steps, protocol.steps);
  EXPECT_NE(completed({.library = Library::Nccl28}).steps, protocol.steps);
  EXPECT_EQ(protocol.efficiency, 0.80);
  EXPECT_EQ(protocol.in_switch_efficiency, 0.68);
  EXPECT_EQ(protocol.flows, 0);
  EXPECT_EQ(protocol.algorithms, (std::vector{Algorithm::Ring, Algorithm::Tree, Algorithm::Nvls}));
}

/// As in NCCL's model, of which a library's times are multiples.
TEST(CompletedProtocol, HasOneTimeForPcieAndSocketsAndOneShareForAProtocolInEveryLibrary) {
  for (const Library library : kLibraries) {
    const Protocol protocol = completed({.library = library});
    for (const StepTimes& times : protocol.steps) EXPECT_EQ(times.smp_us, times.pcie_us);
    for (const auto& [ring, tree] : {std::pair{Sending::RingLowLatency, Sending::TreeLowLatency},
                                     {Sending::RingLl128, Sending::TreeLl128}}) {
      EXPECT_EQ(steps_of(protocol, ring).network_share, steps_of(protocol, tree).network_share);
    }
    EXPECT_EQ(protocol.issue_us, completed({}).issue_us) << "the caller's own time";
  }
}

/// A file of src/graph of NCCL 2.28.9, where its source lies beside the checkout.
std::optional<std::string> nccl_source(const std::string& file) {
  const std::filesystem::path archive = "../shared/data/nccl-2.28.9.tar.xz";
  if (!std::filesystem::exists(archive)) return std::nullopt;
  const CommandResult read = run_command("tar", {"-xJOf", archive.string(), "src/graph/" + file});
  if (read.exit_status != 0) return std::nullopt;
  return read.out;
}

/// The numbers from `begin` on and before the `end` that follows but for those in comments.
std::vector<double> numbers_between(const std::string& source, const std::string& begin,
                                    const std::string& end) {
  const std::size_t first = std::min(source.find(begin), source.size());
  const std::string text = std::regex_replace(source.substr(first, source.find(end, first) - first),
                                              std::regex(R"(//[^\n]*|/\*[^*]*\*/)"), "");
  std::vector<double> numbers;
  const std::regex number(R"(\d+\.?\d*|\.\d+)");
  for (std::sregex_iterator at(text.begin(), text.end(), number), none; at != none; ++at) {
    numbers.push_back(std::stod(at->str()));
  }
  return numbers;
}

TEST(NcclModel, IsThatOfNccl228) {
  const auto source = nccl_source("tuning.cc");
  if (!source) GTEST_SKIP() << "no ../shared/data/nccl-2.28.9.tar.xz";
  constexpr std::size_t kForms = 7;  // tree, ring, and five more; each LL, LL128 and simple
  const auto base = numbers_between(*source, ".baseLatencies = {", ".hwLatencies");
  const auto steps = numbers_between(*source, ".hwLatencies = {", ".llMaxBws");
  ASSERT_EQ(base.size(), kForms * 3);
  ASSERT_EQ(steps.size(), 3 * kForms * 3);  // NVLink, PCI, network
  const Protocol protocol = nccl_model();
  for (const auto& [sending, place] : {std::pair<Sending, std::size_t>{Sending::TreeLowLatency, 0},
                                       {Sending::TreeLl128, 1},
                                       {Sending::Tree, 2},
                                       {Sending::RingLowLatency, 3},
                                       {Sending::RingLl128, 4},
                                       {Sending::Ring, 5},
                                       {Sending::Hierarchical, 5}}) {
    const StepTimes& times = steps_of(protocol, sending);
    EXPECT_EQ(times.launch_us, base[place]) << name(sending);
    EXPECT_EQ(times.nvlink_us, steps[place]) << name(sending);
    EXPECT_EQ(times.pcie_us, steps[kForms * 3 + place]) << name(sending);
    EXPECT_EQ(times.smp_us, steps[kForms * 3 + place]) << name(sending);
    EXPECT_EQ(times.network_us, steps[2 * kForms * 3 + place]) << name(sending);
  }
  EXPECT_NE(source->find("busBw*.92"), std::string::npos);
  EXPECT_NE(source->find("busBw*1.0/3.8"), std::string::npos);
}

TEST(CompletedProtocol, KeepsEveryFigureThatIsThere) {
  Protocol own{.efficiency = 0.5,
               .in_switch_efficiency = 0.6,
               .issue_us = 1,
               .direct_issue_us = 2,
               .channel_GBps = 3,
               .flows = 3,
               .algorithms = {Algorithm::Hierarchical},
               .source = "own"};
  own.steps.fill({0.1, 1, 2, 3, 4, 5, 0.2});
  EXPECT_EQ(completed(own), own);
}

TEST(Protocol, HasTheNamesOfSystemFiles) {
  EXPECT_EQ(alternatives(all_names<Algorithm>()), "ring, tree, hierarchical or nvls");
  EXPECT_EQ(
      alternatives(all_names<Sending>()),
      "ring, ring_low_latency, ring_ll128, tree, tree_low_latency, tree_ll128, hierarchical, nvls, "
      "direct or direct_low_latency");
}

}  // namespace
}  // namespace busbar::topo
