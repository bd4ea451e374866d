// SPDX-License-Identifier: BSD-3-Clause
#include "topo/systems/recognize.hpp"

#include "topo/assemble/assemble.hpp"
#include "topo/graph/constants.hpp"
#include "topo/systems/system_file.hpp"

namespace busbar::topo {
namespace {

/// `count` GPUs of a name with so many NVLinks between any two.
MachineIdentity machine(const std::string& gpu, std::size_t count, double nvlinks) {
  return {.gpus = std::vector<std::string>(count, gpu),
          .gpu_links = std::vector<double>(count * (count - 1) / 2, nvlinks)};
}

std::string recognized(const MachineIdentity& identity) {
  return recognize(identity, "--system auto").system;
}

TEST(Recognize, FindsEveryBuiltInSystemByItsOwnGraph) {
  for (const BuiltInSystem& system : built_in_systems()) {
    MachineIdentity identity = identity_of(system.machine.host);
    if (identity.gpus.empty()) continue;
    for (std::string& gpu : identity.gpus) {
      const std::vector<std::string>& names = system.machine.host.gpu_names;
      if (!names.empty()) gpu = names.back();
    }
    identity.product = system.name();
    EXPECT_EQ(recognized(identity), system.name()) << to_text(identity);
  }
}

TEST(Recognize, ComparesWholeNames) {
  EXPECT_EQ(recognized(machine("NVIDIA H100 80GB HBM3", 8, 18)), "dgx-h100");
  EXPECT_EQ(recognized(machine("H100 80GB HBM3", 8, 18)), "dgx-h100");
  EXPECT_EQ(recognized(machine("NVIDIA B200", 8, 18)), "hgx-b200");
  EXPECT_EQ(recognized(machine("NVIDIA GB200", 4, 18)), "gb200-tray");
  EXPECT_EQ(recognized(machine("NVIDIA H100 PCIe", 8, 0)), "h100-pcie-x8");
  EXPECT_THROW((void)recognized(machine("NVIDIA H100 PCIe", 8, 18)), Error);
  EXPECT_THROW((void)recognized(machine("NVIDIA GB200", 8, 18)), Error);
}

TEST(Recognize, DistinguishesMachinesOfOneGpuByTheirLinks) {
  MachineIdentity four = machine("Tesla V100-SXM2-16GB", 4, 2);
  EXPECT_EQ(recognized(four), "c4140-sxm2");
  four.gpu_links = {0, 0, 0, 0, 3, 3};
  EXPECT_EQ(recognized(four), "ac922");
}

TEST(Recognize, TakesWhatNothingReportsAsFitting) {
  const MachineIdentity log{.gpus = std::vector<std::string>(8, "NVIDIA H100 80GB HBM3")};
  EXPECT_EQ(recognized(log), "dgx-h100");
  MachineIdentity nameless = machine("", 8, 18);
  nameless.product = "p5.48xlarge";
  EXPECT_EQ(recognized(nameless), "p5");
}

TEST(Recognize, RefusesToGuessLinksThatNothingReports) {
  MachineIdentity log{.gpus = std::vector<std::string>(4, "Tesla V100-SXM2-16GB")};
  test::expect_failure(Status::Unavailable,
                       {"4 Tesla V100-SXM2-16GB may be ac922, c4140-sxm2 or ac922-x4", "name one"},
                       [&] { (void)recognized(log); });
  log.product = "C4140-SXM2";
  EXPECT_EQ(recognized(log), "c4140-sxm2");
  const auto taken = [](const std::string& system) { return system == "ac922"; };
  EXPECT_EQ(recognize({.gpus = log.gpus}, "auto", taken).system, "ac922");
  EXPECT_EQ(recognized({.gpus = std::vector<std::string>(4, "NVIDIA H100 80GB HBM3")}),
            "hgx-h100-x4");
}

TEST(Recognize, NamesTheSystemsThatAMachineMayBeAsWell) {
  MachineIdentity log{.gpus = std::vector<std::string>(8, "NVIDIA H100 80GB HBM3")};
  const SystemMatch match = recognize(log, "auto");
  EXPECT_THAT(match.alternatives, ElementsAre("p5", "a3-megagpu-8g", "a3-highgpu-8g"));
  EXPECT_EQ(wanted_system(log).note, "auto: dgx-h100, by its GPUs: 8 NVIDIA H100 80GB HBM3");
  log.nodes = 2;
  EXPECT_THAT(wanted_system(log).note,
              HasSubstr("it may also be p5, a3-megagpu-8g or a3-highgpu-8g"));
  log.product = "p5.48xlarge";
  EXPECT_THAT(wanted_system(log).note, StartsWith("auto: p5, by its product name: 8 NVIDIA"));
  log.product_given = true;
  EXPECT_THAT(wanted_system(log).note, HasSubstr("p5, by the product name that was given"));
  EXPECT_THAT(recognize(machine("NVIDIA H100 PCIe", 8, 0), "auto").alternatives, IsEmpty());
}

TEST(Recognize, AsksForTheNamesOfGpusWhereNothingReportsThem) {
  test::expect_failure(Status::Unavailable,
                       {"(7 GPUs without a name, NV18 between any two)", "--query"},
                       [] { (void)recognized(machine("", 7, 18)); });
}

TEST(Recognize, NamesTheCandidatesOfGpusWithoutAName) {
  const MachineIdentity nameless = machine("", 8, 18);
  const SystemMatch match = recognize(nameless, "recognize");
  EXPECT_EQ(match.system, "");
  EXPECT_THAT(match.alternatives,
              testing::IsSupersetOf({"dgx-h100", "hgx-h200", "hgx-b200", "p5"}));
  EXPECT_THAT(match.alternatives, Not(Contains("dgx-a100")));
  EXPECT_THAT(candidates_text(nameless),
              StartsWith("8 GPUs without a name, NV18 between any two: one of dgx-h100, hgx-b200, "
                         "hgx-h200, hgx-b300 (by links alone"));
  MachineIdentity cube = machine("", 8, 0);
  cube.gpu_links = identity_of(load_machine("dgx-1v").host).gpu_links;
  EXPECT_THAT(candidates_text(cube), HasSubstr("may be dgx-1v (by links alone"));
  test::expect_failure(Status::Unavailable, "--system NAME",
                       [&] { (void)wanted_system(nameless); });
}

/// It is an unknown name, of which at most the vendor is known, and no other GPU's.
TEST(Recognize, TakesAGenericNameForAnUnknownOne) {
  const MachineIdentity amd{.gpus = std::vector<std::string>(8, "AMD Radeon Graphics")};
  EXPECT_THAT(recognize(amd, "auto").alternatives,
              testing::UnorderedElementsAre("mi250x", "mi300x", "mi325x", "mi355x"));
  EXPECT_THAT(candidates_text(amd), HasSubstr("'AMD Radeon Graphics' is what drivers call"));
  const MachineIdentity nvidia = machine("NVIDIA Graphics Device", 8, 18);
  EXPECT_THAT(recognize(nvidia, "auto").alternatives, Contains("hgx-b200"));
  EXPECT_THAT(recognize(nvidia, "auto").alternatives, Not(Contains("mi300x")));
  const MachineIdentity unnamed{.gpus = {std::string(kUnnamedAmdGpu)}};
  test::expect_failure(Status::Unavailable, "no source has the names of the GPUs (1 AMD GPU)",
                       [&] { (void)recognized(unnamed); });
  MachineIdentity named = amd;
  named.product = "mi355x";
  EXPECT_EQ(recognized(named), "mi355x");
}

TEST(Recognize, KnowsNoLinksWhereNoSourceReportsThem) {
  Sources sources;
  sources.smi.gpus = {{.index = 0, .name = "NVIDIA H100 80GB HBM3", .bus_id = "0000:01:00.0"},
                      {.index = 1, .name = "NVIDIA H100 80GB HBM3", .bus_id = "0000:02:00.0"}};
  EXPECT_EQ(identity_of(assemble(sources)).gpu_links, std::nullopt);
  sources.smi.matrix = parse_smi_matrix("\tGPU0\tGPU1\nGPU0\tX\tSYS\nGPU1\tSYS\tX\n", "m.txt");
  EXPECT_EQ(identity_of(assemble(sources)).gpu_links, std::vector<double>{0});
}

TEST(Recognize, ReportsThatAMachineHasFewerNics) {
  MachineIdentity identity = machine("NVIDIA H100 80GB HBM3", 8, 18);
  identity.nics = 10;
  EXPECT_EQ(recognize(identity, "auto").reason, "by its GPUs and links");
  identity.nics = 2;
  const SystemMatch match = recognize(identity, "auto");
  EXPECT_EQ(match.system, "dgx-h100");
  EXPECT_THAT(match.reason, HasSubstr("with 2 NICs for its 8"));
  identity.nics = 6;
  EXPECT_EQ(recognized(identity), "dgx-h100") << "as without NICs, though a3-highgpu-8g has four";
  EXPECT_EQ(recognize(identity, "auto").alternatives.front(), "a3-highgpu-8g");
}

TEST(Recognize, PrefersTheProductsName) {
  MachineIdentity identity = machine("Tesla V100-SXM2-32GB", 8, 0);
  identity.gpu_links = identity_of(load_machine("dgx-1v").host).gpu_links;
  identity.product = "p3dn.24xlarge";
  EXPECT_EQ(recognize(identity, "auto").reason, "by its product name");
  EXPECT_EQ(recognized(identity), "dgx-1v");
}

TEST(Recognize, ExplainsWhatDiffers) {
  const auto differences = [](const MachineIdentity& identity) {
    return match_systems(identity).front().differences;
  };
  EXPECT_THAT(differences(machine("NVIDIA H100 80GB HBM3", 8, 18)), IsEmpty());
  EXPECT_THAT(differences(machine("NVIDIA H100 80GB HBM3", 7, 18)), ElementsAre("8 GPUs, here 7"));
  EXPECT_THAT(differences(machine("NVIDIA H100 80GB HBM3", 8, 17)),
              ElementsAre("NV18 between any two, here NV17 between any two"));
  EXPECT_THAT(differences(machine("NVIDIA H100 NVL", 8, 18)), ElementsAre("2 GPUs, here 8"));
  EXPECT_THAT(differences(machine("NVIDIA H100 96GB HBM3", 8, 18)),
              ElementsAre("NVIDIA H100 80GB HBM3, here NVIDIA H100 96GB HBM3"));
  MachineIdentity cards = machine("NVIDIA RTX PRO 6000 Blackwell Server Edition", 8, 0);
  EXPECT_EQ(recognized(cards), "rtx-pro-6000-x8");
  cards.switch_pairs = 12;
  EXPECT_EQ(recognized(cards), "pcie-gen5-x8");
  cards.switch_pairs = 4;
  EXPECT_THAT(differences(cards), ElementsAre("0 pairs of GPUs behind one PCIe switch, here 4"));
  test::expect_failure(Status::Unavailable, "dgx-h100 has 8 GPUs, here 7",
                       [] { (void)recognized(machine("NVIDIA H100 80GB HBM3", 7, 18)); });
  EXPECT_THAT(match_systems(machine("Radeon", 2, 0)), IsEmpty());
}

TEST(Recognize, ReadsTheFirmwaresNames) {
  const test::TemporaryFolder folder;
  folder.write("sys_vendor", "Amazon EC2\n");
  folder.write("product_name", "p3dn.24xlarge\n");
  MachineIdentity identity;
  add_dmi(identity, folder.path());
  EXPECT_EQ(identity.vendor, "Amazon EC2");
  EXPECT_EQ(identity.product, "p3dn.24xlarge");
  add_dmi(identity, folder.path("none"));
  EXPECT_EQ(identity.vendor + identity.product, "");
}

}  // namespace
}  // namespace busbar::topo
