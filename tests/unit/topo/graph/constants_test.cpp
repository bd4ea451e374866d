// SPDX-License-Identifier: BSD-3-Clause
// Every table of constants against the numbers that it is from.
#include "topo/graph/constants.hpp"

namespace busbar::topo {
namespace {

TEST(PcieMedium, HasTheRatesOfItsGeneration) {
  EXPECT_EQ(pcie_medium(0, 16).nominal_GBps, 0) << "there is none";
  struct Case {
    int generation;
    double x16_GBps;  ///< PCI-SIG: 2.5, 5, 8, 16, 32 and 64 GT/s less 8/10, 128/130 or 242/256
    double nccl;      ///< 16 lanes of kvDictPciGen over 80
  };
  for (const auto& [generation, x16_GBps, nccl] :
       {Case{1, 4, 3}, Case{2, 8, 6}, Case{3, 15.754, 12}, Case{4, 31.508, 24}, Case{5, 63.015, 48},
        Case{6, 121, 96}}) {
    const Medium medium = pcie_medium(generation, 16);
    EXPECT_NEAR(medium.nominal_GBps, x16_GBps, 0.016) << generation;
    EXPECT_NEAR(medium.nccl_GBps, nccl, 1e-9) << generation;
    EXPECT_NEAR(pcie_medium(generation, 4).nominal_GBps, medium.nominal_GBps / 4, 1e-9);
    EXPECT_NEAR(pcie_medium(generation, 4).nccl_GBps, nccl / 4, 1e-9);
    EXPECT_EQ(medium.name, fmt::format("PCIe {}.0 x16", generation));
    EXPECT_EQ(medium.kind, LinkKind::Pcie);
  }
}

TEST(GenericGpu, IsANameThatSaysNothingOfTheGpu) {
  for (const char* name :
       {"", "AMD Radeon Graphics", "Radeon(TM) Graphics", "NVIDIA Graphics Device",
        "Graphics Device", "Device 74a5", "NVIDIA Device 2330", "NVIDIA Corporation Device 0x2330",
        "Advanced Micro Devices, Inc. [AMD/ATI] Device 75a3", "Unknown", "N/A"}) {
    EXPECT_TRUE(is_generic_gpu(name)) << name;
  }
  for (const char* name : {"AMD Instinct MI355X", "NVIDIA H200", "H20", "AMD Radeon Pro W7900",
                           "AMD Radeon RX 7900 XTX", "Tesla T4", "Device H100"}) {
    EXPECT_FALSE(is_generic_gpu(name)) << name;
  }
}

TEST(SmpMedium, HasTheRatesOfItsProcessors) {
  struct Case {
    const char* vendor;
    int model;  ///< CPUID: 0x55 Skylake, 0x8F Sapphire Rapids, 0xCF Emerald Rapids
    const char* name;
    double nominal;
    double nccl;
  };
  for (const auto& [vendor, model, name, nominal, nccl] :
       {Case{"intel", 0x4F, "QPI", 2 * 19.2, 6}, Case{"intel", 0x54, "QPI", 2 * 19.2, 6},
        Case{"intel", 0x55, "UPI", 2 * 20.8, 10}, Case{"intel", 0x8E, "UPI", 2 * 20.8, 10},
        Case{"intel", 0x8F, "UPI (Sapphire Rapids)", 3 * 32, 22},
        Case{"intel", 0xCE, "UPI (Sapphire Rapids)", 3 * 32, 22},
        Case{"intel", 0xCF, "UPI (Emerald Rapids)", 3 * 32, 40},
        Case{"amd", -1, "xGMI", 3 * 36, 16}, Case{"ibm", -1, "X-Bus", 4 * 16 * 0.5, 32},
        Case{"arm", -1, "socket link", 0, 6}, Case{"", -1, "socket link", 0, 0}}) {
    const Medium medium = smp_medium(vendor, model);
    EXPECT_EQ(medium.name, name) << vendor << model;
    EXPECT_NEAR(medium.nominal_GBps, nominal, 1e-9) << vendor << model;
    EXPECT_EQ(medium.nccl_GBps, nccl) << vendor << model;
    EXPECT_EQ(medium.kind, LinkKind::Smp);
  }
  EXPECT_EQ(memory_medium().nominal_GBps, 0);
  EXPECT_EQ(memory_medium().nccl_GBps, 0);
  EXPECT_EQ(memory_medium().kind, LinkKind::Memory);
}

TEST(GpuModels, HaveTheNvlinksAndSlotsOfTheirDataSheets) {
  struct Case {
    const char* name;
    double both_ways_GBps;  ///< of all NVLinks in both directions
    int nvlink;             ///< its generation
    int pcie;
    bool always_linked = false;
  };
  const std::vector<Case> cases{{"Tesla P100-SXM2-16GB", 160, 1, 3, true},
                                {"Tesla P100-PCIE-16GB", 0, 0, 3},
                                {"Tesla V100-SXM2-32GB", 300, 2, 3, true},
                                {"Tesla V100-PCIE-32GB", 0, 0, 3},
                                {"NVIDIA A100-SXM4-80GB", 600, 3, 4, true},
                                {"NVIDIA A100 80GB PCIe", 600, 3, 4},
                                {"NVIDIA A800-SXM4-80GB", 400, 3, 4, true},
                                {"NVIDIA A800 80GB PCIe", 400, 3, 4},
                                {"NVIDIA A30", 200, 3, 4},
                                {"NVIDIA H100 80GB HBM3", 900, 4, 5, true},
                                {"NVIDIA H100 PCIe", 600, 4, 5},
                                {"NVIDIA H100 NVL", 600, 4, 5},
                                {"NVIDIA H800", 400, 4, 5},
                                {"NVIDIA H200", 900, 4, 5, true},
                                {"NVIDIA H200 NVL", 900, 4, 5},
                                {"NVIDIA GH200 480GB", 900, 4, 5},
                                {"NVIDIA H20", 900, 4, 5, true},
                                {"NVIDIA B200", 1800, 5, 5, true},
                                {"NVIDIA GB200", 1800, 5, 5, true},
                                {"NVIDIA B300 SXM6 AC", 1800, 5, 5, true},
                                {"NVIDIA GB300", 1800, 5, 5, true},
                                {"NVIDIA GeForce RTX 3090", 112.5, 3, 4},
                                {"NVIDIA RTX A6000", 112.5, 3, 4},
                                {"NVIDIA RTX A5000", 112.5, 3, 4},
                                {"NVIDIA A40", 112.5, 3, 4},
                                {"NVIDIA GeForce RTX 2080 Ti", 100, 2, 3},
                                {"NVIDIA GeForce RTX 2080 SUPER", 50, 2, 3},
                                {"Quadro RTX 8000", 100, 2, 3},
                                {"TITAN RTX", 100, 2, 3},
                                {"NVIDIA GeForce RTX 5090", 0, 0, 5},
                                {"NVIDIA GeForce RTX 4090", 0, 0, 4},
                                {"NVIDIA GeForce RTX 3080", 0, 0, 4},
                                {"GeForce GTX 1080 Ti", 0, 0, 3},
                                {"NVIDIA RTX PRO 6000 Blackwell Server Edition", 0, 0, 5},
                                {"NVIDIA L40S", 0, 0, 4},
                                {"NVIDIA L4", 0, 0, 4},
                                {"NVIDIA A10G", 0, 0, 4},
                                {"NVIDIA A16", 0, 0, 4},
                                {"Tesla T4", 0, 0, 3},
                                {"Tesla P40", 0, 0, 3},
                                {"Tesla K80", 0, 0, 3}};
  for (const auto& [name, both_ways_GBps, nvlink, pcie, always_linked] : cases) {
    const auto model = gpu_model(name);
    ASSERT_TRUE(model.has_value()) << name;
    const double link = nvlink_medium(model->nvlink_generation, model->small_links).nominal_GBps;
    EXPECT_NEAR(2 * model->links * link, both_ways_GBps, 0.1) << name;
    EXPECT_EQ(model->nvlink_generation, nvlink) << name;
    EXPECT_EQ(model->pcie_generation, pcie) << name;
    EXPECT_EQ(model->always_linked, always_linked) << name;
  }
  EXPECT_FALSE(gpu_model("Voodoo 2").has_value());
}

TEST(GpuModel, KnowsTheXgmiOfAmd) {
  struct Case {
    const char* name;
    int links;
    double link_GBps;
    double rccl_GBps;
    int pcie;
  };
  for (const auto& [name, links, link_GBps, rccl_GBps, pcie] :
       {Case{"AMD Instinct MI250X", 8, 50, 36, 4},
        Case{"AMD INSTINCT MI250 (MCM) OAM", 8, 50, 36, 4},
        Case{"AMD INSTINCT MI200 (MCM) OAM LC MBA HPE C2", 8, 50, 36, 4},
        Case{"AMD Instinct MI300X VF", 7, 64, 48, 5}, Case{"AMD Instinct MI325X", 7, 64, 48, 5},
        Case{"AMD Instinct MI350X", 7, 76.8, 48, 5}, Case{"AMD Instinct MI355X", 7, 76.8, 48, 5}}) {
    const auto model = gpu_model(name);
    ASSERT_TRUE(model.has_value()) << name;
    const Medium medium = xgmi_medium(model->xgmi);
    EXPECT_EQ(medium.kind, LinkKind::Xgmi);
    EXPECT_EQ(medium.nominal_GBps, link_GBps) << name;
    EXPECT_EQ(medium.nccl_GBps, rccl_GBps) << name;
    EXPECT_EQ(model->links, links) << name;
    EXPECT_EQ(model->pcie_generation, pcie) << name;
    EXPECT_EQ(model->nvlink_generation, 0);
  }
  EXPECT_FALSE(gpu_model("AMD Radeon AI PRO R9700").has_value());
  EXPECT_EQ(amd_gpu_name(0x75a3), "AMD Instinct MI355X");
  EXPECT_EQ(amd_gpu_name(0x1234), "");
}

TEST(NominalNvlink, IsTheNearStandardAndElseWhatIsReported) {
  for (const auto& [reported, nominal] : {std::pair{27.0, 25.0},  // 1.08 of 25
                                          {27.01, 27.01},
                                          {23.2, 25},  // above 25 / 1.08
                                          {23.1, 23.1},
                                          {21.6, 20},
                                          {54, 50},
                                          {25.781, 25},  // V100
                                          {26.562, 25},  // H100
                                          {53.125, 50},  // B200
                                          {19.531, 20},  // P100
                                          {14.062, 14.062}}) {
    EXPECT_EQ(nominal_nvlink_GBps(reported), nominal);
  }
}

}  // namespace
}  // namespace busbar::topo
