// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include "tests/unit/support/failure.hpp"
#include "topo/probes/nvidia_smi.hpp"

namespace busbar::topo {
namespace {

std::string status_message(const std::string& text) {
  return test::failure_of([&] { (void)parse_nvlink_status(text, "f"); }).message;
}
std::string remotes_message(const std::string& text) {
  return test::failure_of([&] { (void)parse_nvlink_remotes(text, "f"); }).message;
}

TEST(ParseNvlinkStatus, ReadsSpeedsInactiveLinksAndErrors) {
  const std::vector<GpuFacts> gpus = parse_nvlink_status(
      "$ nvidia-smi nvlink -s\n"
      "GPU 0: NVIDIA Some (PCIe) Card (UUID: GPU-aa-bb)\n\t Link 0: 26.562 GB/s\n"
      "\t Link 1: <inactive>\n\t Link 2: 25 GB/s\r\n"
      "GPU 1: Old Card\nNVML: Unable to retrieve NVLink information as all links are inActive\n"
      "GPU 3: Old Card\n\t Link 0: 25 GB/s\nGPU 4: Old Card\n"
      "Device does not have or support Nvlink\n$ nvidia-smi -L\nGPU 5: of that\n",
      "f");
  ASSERT_EQ(gpus.size(), 4U);
  EXPECT_EQ(gpus[0].name, "NVIDIA Some (PCIe) Card");
  EXPECT_EQ(gpus[0].uuid, "GPU-aa-bb");
  ASSERT_EQ(gpus[0].links.size(), 3U);
  EXPECT_DOUBLE_EQ(gpus[0].links[0].GBps, 26.562);
  EXPECT_FALSE(gpus[0].links[1].active());
  EXPECT_DOUBLE_EQ(gpus[0].links[2].GBps, 25);
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
           {gpu + "\t Link 0: 25.78", "f:2:11: no `GB/s`"},
           {gpu + "\t Link 0: 25.781 GB/", "f:2:11: no `GB/s`"},
           {gpu + "\t Link 0:", "f:2:10: the line of a link is cut short"},
           {gpu + "\t Link 0", "f:2:8: '0'"},
           {gpu + "\t Link", "f:2:7: the line of a link is cut short"},
           {gpu + "\t Link 0: <inac", "f:2:11: '<inac'"},
           {gpu + "\t Link 0: -3 GB/s", "f:2:11: '-3'"},
           {gpu + "\t Link 0: nan GB/s", "f:2:11: 'nan'"},
           {gpu + "\t Link 0: 100001 GB/s", "f:2:11: '100001'"},
           {gpu + "\t Link 0: 25 GB/s\n\t Link 0: 25 GB/s\n", "f:3:8: link 0 of GPU 0"},
           {gpu + "\t [snip]\n", "f:2:3: '[snip]'"},
           {gpu + gpu, "f:2:5: GPU 0 appears twice"},
           {gpu + "GPU 1", "f:2:5: 'GPU 1'"},
           {gpu + "GPU 1: B (UUID: GPU-aa", "f:2:23: the line is cut short"},
           {gpu + "\t Link 0: 25 GB/s\nGPU 1: A\n", "f:3:1: GPU 1 lists 0 links and GPU 0"},
           {"\t Link 0: 25 GB/s\n", "f:1:3: a link above"},
           {"hello\n", "f:1:1: not the output of"}}) {
    const std::string what = status_message(text);
    EXPECT_TRUE(what.starts_with(start)) << what;
    EXPECT_NE(what.find("nvidia-smi nvlink -s > FILE"), std::string::npos) << what;
  }
}

TEST(ParseNvlinkStatus, KnowsTheAnswersToOtherQuestions) {
  const std::string gpu = "GPU 0: A\n\t Link 0";
  EXPECT_NE(status_message(gpu + ", P2P is supported: true\n").find("nvlink -c"),
            std::string::npos);
  EXPECT_NE(status_message(gpu + ": Remote Device 0000:01:00.0: Link 1\n").find("nvlink -R"),
            std::string::npos);
  EXPECT_NE(remotes_message(gpu + ": 25 GB/s\n").find("nvlink -s"), std::string::npos);
}

TEST(ParseNvlinkRemotes, ReadsTheOtherEnds) {
  const std::vector<GpuFacts> gpus = parse_nvlink_remotes(
      "GPU 0: A (UUID: GPU-1)\n\t Link 0: Remote Device 00000000:D5:00.0: Link 6\n"
      "\t Link 1: <inactive>\n         Link 2: Remote Device 00000008:0A:00.0: Link 47\nGPU 1: A\n",
      "f");
  ASSERT_EQ(gpus.size(), 2U);
  ASSERT_EQ(gpus[0].links.size(), 2U);
  EXPECT_EQ(gpus[0].links[0].bus_id, "0000:d5:00.0");
  EXPECT_EQ(gpus[0].links[1].bus_id, "0008:0a:00.0");
  EXPECT_TRUE(gpus[1].links.empty());
}

TEST(ParseNvlinkRemotes, RefusesDamageWithLineAndColumn) {
  const std::string first = "GPU 0: A\n\t Link 0: Remote Device 00000000:D5:00.0: Link 6\n";
  const std::string whole = "\t Link 1: Remote Device 00000000:D5:00.0: Link 7";
  EXPECT_EQ(remotes_message(first + whole), "");
  for (const char* rest :
       {"\t Link 1: Remote Device 00000000:D5:00.0: Link",
        "\t Link 1: Remote Device 00000000:D5:00.0:", "\t Link 1: Remote Device 00000000:D5:00.0",
        "\t Link 1: Remote Device 00000000:D5", "\t Link 1: Remote Device", "\t Link 1: Remote",
        "\t Link 1:"}) {
    const std::string what = remotes_message(first + rest);
    EXPECT_TRUE(what.starts_with("f:3:")) << rest << ": " << what;
  }
}

}  // namespace
}  // namespace busbar::topo
