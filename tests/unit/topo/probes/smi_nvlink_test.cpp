// SPDX-License-Identifier: BSD-3-Clause
#include "topo/probes/smi_nvlink.hpp"

#include <gtest/gtest.h>

#include "tests/unit/topo/probes/refused.hpp"

namespace busbar::topo {
namespace {

std::string status_message(const std::string& text) {
  return refusal([&] { (void)parse_nvlink_status(text, "f"); });
}
std::string remotes_message(const std::string& text) {
  return refusal([&] { (void)parse_nvlink_remotes(text, "f"); });
}

TEST(ParseNvlinkStatus, ReadsSpeedsInactiveLinksAndErrors) {
  const NvlinkStatus status = parse_nvlink_status(
      "$ nvidia-smi nvlink -s\n"
      "GPU 0: NVIDIA Some (PCIe) Card (UUID: GPU-aa-bb)\n\t Link 0: 26.562 GB/s\n"
      "\t Link 1: <inactive>\n\t Link 2: 25 GB/s\r\n"
      "GPU 1: Old Card\nNVML: Unable to retrieve NVLink information as all links are inActive\n"
      "GPU 3: Small Card\nDevice does not have or support Nvlink\n$\n",
      "f");
  ASSERT_EQ(status.gpus.size(), 3U);
  EXPECT_EQ(status.gpus[0].name, "NVIDIA Some (PCIe) Card");
  EXPECT_EQ(status.gpus[0].uuid, "GPU-aa-bb");
  ASSERT_EQ(status.gpus[0].links.size(), 3U);
  EXPECT_DOUBLE_EQ(status.gpus[0].links[0].GBps, 26.562);
  EXPECT_FALSE(status.gpus[0].links[1].active());
  EXPECT_DOUBLE_EQ(status.gpus[0].links[2].GBps, 25);
  EXPECT_EQ(status.gpus[1].uuid, "");
  EXPECT_TRUE(status.gpus[1].links.empty());
  EXPECT_NE(status.gpus[1].error.find("inActive"), std::string::npos);
  EXPECT_EQ(status.gpus[2].index, 3);
  EXPECT_NE(status.gpus[2].error.find("not have"), std::string::npos);
}

TEST(ParseNvlinkStatus, TakesSilenceForNoNvlink) {
  EXPECT_TRUE(parse_nvlink_status("", "f").gpus.empty());
  EXPECT_TRUE(parse_nvlink_status("\n \r\n", "f").gpus.empty());
  EXPECT_TRUE(parse_nvlink_status("NVML: Unable to retrieve it\n", "f").gpus.empty());
}

TEST(ParseNvlinkStatus, RefusesDamageWithLineAndColumn) {
  const std::string gpu = "GPU 0: A\n";
  const auto starts = [&](const std::string& rest, const std::string& start) {
    const std::string what = status_message(gpu + rest);
    EXPECT_TRUE(what.starts_with(start)) << what;
    EXPECT_NE(what.find("nvidia-smi nvlink -s > FILE"), std::string::npos) << what;
  };
  starts("\t Link 0: 25.78", "f:2:11: no `GB/s`");
  starts("\t Link 0: 25.781 GB/", "f:2:11: no `GB/s`");
  starts("\t Link 0:", "f:2:10: the line of a link is cut short");
  starts("\t Link 0", "f:2:8: '0' is no link");
  starts("\t Link", "f:2:7: the line of a link is cut short");
  starts("\t Link 0: <inac", "f:2:11: '<inac' is no speed");
  starts("\t Link 0: -3 GB/s", "f:2:11: '-3' is no speed");
  starts("\t Link 0: nan GB/s", "f:2:11: 'nan' is no speed");
  starts("\t Link 0: 25 GB/s\n\t Link 0: 25 GB/s\n", "f:3:8: link 0 of GPU 0 is there twice");
  starts("\t [snip]\n", "f:2:3: '[snip]' is no line");
  starts("GPU 0: A\n", "f:2:5: GPU 0 is there twice");
  starts("GPU 1", "f:2:5: 'GPU 1' is no `GPU NUMBER: NAME`");
  starts("GPU 1: B (UUID: GPU-aa", "f:2:23: the line is cut short");
  starts("\t Link 0: 25 GB/s\nGPU 1: A\n", "f:3:1: GPU 1 lists 0 links and GPU 0");
  EXPECT_TRUE(status_message("\t Link 0: 25 GB/s\n").starts_with("f:1:3: a link above"));
  EXPECT_TRUE(status_message("hello\n").starts_with("f:1:1: no output of `nvidia-smi nvlink -s`"));
}

TEST(ParseNvlinkStatus, KnowsTheAnswersToOtherQuestions) {
  EXPECT_NE(status_message("GPU 0: A\n\t Link 0, P2P is supported: true\n").find("nvlink -c"),
            std::string::npos);
  EXPECT_NE(
      status_message("GPU 0: A\n\t Link 0: Remote Device 0000:01:00.0: Link 1\n").find("nvlink -R"),
      std::string::npos);
  EXPECT_NE(remotes_message("GPU 0: A\n\t Link 0: 25 GB/s\n").find("nvlink -s"), std::string::npos);
}

TEST(ParseNvlinkRemotes, ReadsTheOtherEnds) {
  const NvlinkRemotes remotes = parse_nvlink_remotes(
      "GPU 0: A (UUID: GPU-1)\n\t Link 0: Remote Device 00000000:D5:00.0: Link 6\n"
      "\t Link 1: <inactive>\n         Link 2: Remote Device 00000008:0A:00.0: Link 47\nGPU 1: A\n",
      "f");
  ASSERT_EQ(remotes.gpus.size(), 2U);
  ASSERT_EQ(remotes.gpus[0].links.size(), 2U);
  EXPECT_EQ(remotes.gpus[0].links[0].bus_id, "0000:d5:00.0");
  EXPECT_EQ(remotes.gpus[0].links[0].remote_link, 6);
  EXPECT_EQ(remotes.gpus[0].links[1].number, 2);
  EXPECT_EQ(remotes.gpus[0].links[1].remote_link, 47);
  EXPECT_TRUE(remotes.gpus[1].links.empty());
}

TEST(ParseNvlinkRemotes, RefusesDamageWithLineAndColumn) {
  const std::string first = "GPU 0: A\n\t Link 0: Remote Device 00000000:D5:00.0: Link 6\n";
  EXPECT_EQ(remotes_message(first), "");
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
