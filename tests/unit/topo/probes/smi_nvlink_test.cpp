// SPDX-License-Identifier: BSD-3-Clause
#include "topo/probes/nvidia_smi.hpp"

namespace busbar::topo {
namespace {

std::string status_message(const std::string& text) {
  return test::failure_of([&] { (void)parse_nvlink_status(text, "f"); }).message;
}

TEST(ParseNvlinkStatus, ReadsSpeedsInactiveLinksAndErrors) {
  const std::vector<GpuFacts> gpus = parse_nvlink_status(
      "GPU 0: NVIDIA Some (PCIe) Card (UUID: GPU-aa-bb)\n\t Link 0: 26.562 GB/s\n"
      "\t Link 1: <inactive>\n\t Link 2: 25 GB/s\r\n"
      "GPU 1: Old Card\nNVML: Unable to retrieve NVLink information as all links are inActive\n"
      "GPU 3: Old Card\n\t Link 0: 25 GB/s\nGPU 4: Old Card\n"
      "Device does not have or support Nvlink\n",
      "f");
  ASSERT_EQ(gpus.size(), 4U);
  EXPECT_EQ(gpus[0].name, "NVIDIA Some (PCIe) Card");
  EXPECT_EQ(gpus[0].uuid, "GPU-aa-bb");
  ASSERT_EQ(gpus[0].links.size(), 3U);
  EXPECT_DOUBLE_EQ(gpus[0].links[0], 26.562);
  EXPECT_EQ(gpus[0].links[1], 0);
  EXPECT_DOUBLE_EQ(gpus[0].links[2], 25);
  EXPECT_EQ(gpus[1].uuid, "");
  EXPECT_TRUE(gpus[1].links.empty());
  EXPECT_EQ(gpus[2].index, 3);
}

TEST(ParseNvlinkStatus, TakesSilenceForNoNvlink) {
  for (const char* text : {"", "\n \r\n", "NVML: Unable to retrieve it\n"}) {
    EXPECT_TRUE(parse_nvlink_status(text, "f").empty()) << text;
  }
}

TEST(ParseNvlinkStatus, RefusesDamageWithLineAndColumn) {
  const std::string gpu = "GPU 0: A\n";
  for (const auto& [text, start] : std::vector<std::pair<std::string, std::string>>{
           {gpu + "\t Link 0: 25.78", "f:2:3: 'Link 0: 25.78' is not `Link NUMBER: SPEED GB/s`"},
           {gpu + "\t Link 0: 25.781 GB/", "f:2:3: 'Link 0: 25.781 GB/'"},
           {gpu + "\t Link 0:", "f:2:3: 'Link 0:'"},
           {gpu + "\t Link 0", "f:2:3: 'Link 0'"},
           {gpu + "\t Link", "f:2:3: 'Link'"},
           {gpu + "\t Link 0: <inac", "f:2:3: 'Link 0: <inac'"},
           {gpu + "\t Link 0: -3 GB/s", "f:2:3: 'Link 0: -3 GB/s'"},
           {gpu + "\t Link 0: nan GB/s", "f:2:3: 'Link 0: nan GB/s'"},
           {gpu + "\t Link 0: 100001 GB/s", "f:2:3: 'Link 0: 100001 GB/s'"},
           {gpu + "\t Link 0, P2P is supported: true\n", "f:2:3: 'Link 0, P2P"},
           {gpu + "\t [snip]\n", "f:2:3: '[snip]'"},
           {gpu + gpu, "f:2:5: GPU 0 appears twice"},
           {gpu + "GPU 1", "f:2:1: 'GPU 1'"},
           {gpu + "GPU 1: B (UUID: GPU-aa", "f:2:23: the line is cut short"},
           {gpu + "\t Link 0: 25 GB/s\nGPU 1: A", "f:3:9: GPU 1 lists 0 links and GPU 0"},
           {"\t Link 0: 25 GB/s\n", "f:1:3: 'Link 0: 25 GB/s' is not a line of"},
           {"hello\n", "f:1:1: 'hello' is not a line of"}}) {
    const std::string what = status_message(text);
    EXPECT_TRUE(what.starts_with(start)) << what;
    EXPECT_NE(what.find("nvidia-smi nvlink -s > FILE"), std::string::npos) << what;
  }
}

TEST(ParseNvlinkStatus, KnowsTheAnswersToOtherQuestions) {
  const std::string gpu = "GPU 0: A\n\t Link 0";
  EXPECT_NE(status_message(gpu + ": Remote Device 0000:01:00.0: Link 1\n").find("nvlink -R"),
            std::string::npos);
}

}  // namespace
}  // namespace busbar::topo
