// SPDX-License-Identifier: BSD-3-Clause
#include "topo/systems/recognize.hpp"
#include "topo/systems/system_file.hpp"

namespace busbar::topo {
namespace {

std::string complaint_about(const std::string& system) {
  return test::refusal_of([&] { static_cast<void>(load_system(system)); });
}

TEST(BuiltInSystems, AreTheFilesOfTheirFolderByName) {
  std::set<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator("topo/systems")) {
    if (entry.path().extension() == ".toml") files.insert(entry.path().stem().string());
  }
  std::set<std::string> names;
  for (const BuiltInSystem& system : built_in_systems()) names.insert(system.name());
  EXPECT_THAT(names, AllOf(Not(IsEmpty()), testing::Eq(files)));
}

TEST(BuiltInSystems, LinkEveryNodeAndUseEveryMedium) {
  for (const BuiltInSystem& system : built_in_systems()) {
    const Graph graph = load_system(system.name());
    std::set<int> media;
    std::set<int> nodes;
    for (const Link& link : graph.links) {
      media.insert(link.medium);
      nodes.insert(link.from);
    }
    EXPECT_EQ(media.size(), graph.media.size()) << system.name();
    EXPECT_EQ(nodes.size(), graph.nodes.size()) << system.name();
    for (const Medium& medium : graph.media) {
      EXPECT_FALSE(medium.source.empty()) << system.name() << ": " << medium.name;
    }
  }
}

TEST(BuiltInSystems, HaveTheSameRatesOfAStandardEverywhere) {
  std::map<std::string, Medium> standards;
  for (const BuiltInSystem& system : built_in_systems()) {
    // Ren, Yoo and Hoisie measured 12 of the 12.5 GB/s of a port of an AC922.
    if (system.name().starts_with("ac922")) continue;
    for (const Medium& medium : load_machine(system.name()).host.media) {
      if (medium.kind == LinkKind::Smp) continue;  // by the number of its links
      const Medium& first = standards.emplace(medium.name, medium).first->second;
      EXPECT_EQ(medium.nominal_GBps, first.nominal_GBps) << system.name() << ": " << medium.name;
      EXPECT_EQ(medium.nccl_GBps, first.nccl_GBps) << system.name() << ": " << medium.name;
      EXPECT_EQ(medium.reported_GBps, first.reported_GBps) << system.name() << ": " << medium.name;
    }
  }
  EXPECT_EQ(standards.at("NVLink 4").nominal_GBps, 25);
}

TEST(BuiltInSystems, HaveTheLabelsThatNvidiaSmiPrints) {
  using Row = std::vector<std::string>;
  EXPECT_EQ(load_system("dgx-1v").labels[0],
            (Row{"X", "NV1", "NV1", "NV2", "NV2", "SYS", "SYS", "SYS"}));
  EXPECT_EQ(load_system("exxact-ts4").labels[0],
            (Row{"X", "PIX", "PHB", "PHB", "SYS", "SYS", "SYS", "SYS"}));
  EXPECT_EQ(load_system("pcie-gen4-x8").labels[0],
            (Row{"X", "NODE", "NODE", "NODE", "SYS", "SYS", "SYS", "SYS"}));
  EXPECT_EQ(load_system("gb200-nvl72").labels[0][71], "NV18");
  EXPECT_EQ(load_system("p3dn-x2").labels[0][8], "NET");
}

TEST(BuiltInSystems, HaveTheMeshesOfAmdByTheModelsOfRccl) {
  // topo_8p_90a_1.xml: who has a link to whom.
  const std::vector<std::vector<int>> neighbours{{1, 2, 6}, {0, 3, 5}, {0, 3, 4}, {1, 2, 7},
                                                 {2, 5, 6}, {1, 4, 7}, {0, 4, 7}, {3, 5, 6}};
  const Graph frontier = load_system("mi250x");
  std::vector<std::vector<int>> found(8);
  std::vector<double> links(8);
  for (const Link& link : frontier.links) {
    if (link_kind(frontier, link) != LinkKind::Xgmi) continue;
    found.at(to_size(link.from)).push_back(link.to);
    links.at(to_size(link.from)) += link.count;
  }
  for (std::vector<int>& of_one : found) std::sort(of_one.begin(), of_one.end());
  EXPECT_EQ(found, neighbours);
  // Of eight links one goes to the processor, and of odd GCDs one to the adapter.
  EXPECT_EQ(links, (std::vector<double>{7, 6, 7, 6, 7, 6, 7, 6}));
  EXPECT_EQ(frontier.labels[0][1], "XGMI4");
  const Graph eight = load_system("mi300x");
  EXPECT_EQ(eight.labels[7], (std::vector<std::string>{"XGMI", "XGMI", "XGMI", "XGMI", "XGMI",
                                                       "XGMI", "XGMI", "X"}));
}

/// The links of GPUs are none in each of these, or unknown.
TEST(BuiltInSystems, OfOneCardTheCardsOwnIsRecognized) {
  for (const auto& [gpu, system] :
       {std::pair{"NVIDIA RTX PRO 6000 Blackwell Server Edition", "rtx-pro-6000-x8"},
        {"NVIDIA RTX PRO 6000 Blackwell Workstation Edition", "rtx-pro-6000-x8"},
        {"NVIDIA H100 PCIe", "h100-pcie-x8"},
        {"NVIDIA H200 NVL", "h200-nvl-x8"},
        {"AMD Instinct MI350X", "mi355x"}}) {
    const MachineIdentity machine{.gpus = std::vector<std::string>(8, gpu)};
    EXPECT_EQ(recognize(machine, "--system auto").system, system) << gpu;
  }
}

TEST(BuiltInSystems, AreAllInTheirDocumentWithTitleAndSourceAndAliasesOfTheirOwn) {
  const std::string document = test::text_of("docs/systems.md");
  for (const BuiltInSystem& system : built_in_systems()) {
    for (const std::string& name : system.names) {
      EXPECT_EQ(load_machine(name).host.name, system.name()) << name;
    }
    EXPECT_THAT(document, HasSubstr(fmt::format("`{}`", system.name())));
    EXPECT_FALSE(system.machine.host.title.empty()) << system.name();
    EXPECT_FALSE(system.machine.host.source.empty()) << system.name();
  }
}

TEST(BuiltInSystems, HaveExamplesInTheirDocumentThatCanBeRead) {
  const std::string document = test::text_of("docs/systems.md");
  std::map<std::string, std::size_t> devices;
  for (std::size_t at = 0; (at = document.find("```toml\n", at)) != std::string::npos;) {
    const std::size_t end = document.find("```", at + 3);
    const Graph graph = parse_system(document.substr(at + 8, end - at - 8), "docs/systems.md");
    devices[graph.name] = device_count(graph);
    at = end + 3;
  }
  EXPECT_EQ(devices, (std::map<std::string, std::size_t>{{"two-boxes", 4}, {"p5", 8}}));
}

TEST(LoadSystem, TakesNamesAndAliasesInAnyCase) {
  EXPECT_EQ(load_system("dgx-1v").name, "dgx-1v");
  EXPECT_EQ(load_system("P3DN").name, "dgx-1v");
  EXPECT_EQ(load_system("DGX-A100").name, "dgx-a100");
}

TEST(LoadSystem, NamesWhatThereIsWhereItKnowsNone) {
  EXPECT_THAT(complaint_about("dgx1v"),
              AllOf(HasSubstr("did you mean dgx-1v?"), HasSubstr("a file's name ends in .toml")));
  EXPECT_THAT(complaint_about("unheard of"), Not(HasSubstr("did you mean")));
  for (const char* file : {"no/such/file", "missing.toml", "topo/systems"}) {
    EXPECT_THAT(complaint_about(file), HasSubstr("this file cannot be read"));
  }
}

}  // namespace
}  // namespace busbar::topo
