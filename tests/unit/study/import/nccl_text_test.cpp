// SPDX-License-Identifier: BSD-3-Clause
#include "study/import/log_reader.hpp"

namespace busbar::study {
namespace {

/// A log of two ranks with these lines above and below the list of its devices.
LogTable table_of(const std::string& above, const std::string& device, const std::string& below) {
  const std::string text =
      above + "# Using devices\n#   Rank  0 Group  0 Pid 1 on n1 device  0 [0000:05:00] " + device +
      "\n#   Rank  1 Group  0 Pid 1 on n1 device  1 [0000:26:00] " + device + "\n" + below +
      "#       size         count      type   redop    root     time   algbw   busbw #wrong     "
      "time   algbw   busbw #wrong   \n"
      "    33554432       8388608     float     sum      -1   276.88  121.19  121.19      0   "
      "277.00  121.13  121.13      0\n# Avg bus bandwidth    : 121.16\n";
  return read_log(text, "x.log", {}).tables.at(0);
}

TEST(ReadLog, KnowsRcclTestsInEachOfItsVersions) {
  struct Case {
    const char* above;
    const char* device;
    const char* below;
    const char* tool;
    const char* library;
  };
  for (const auto& [above, device, below, tool, library] :
       {Case{"", "AMD Instinct MI250X", "", "nccl-tests", ""},
        Case{"rccl-tests: Version develop:ae3e635\n", "AMD Instinct MI300X", "",
             "rccl-tests develop:ae3e635", ""},
        Case{"# Collective test starting: all_reduce_perf\n# nThread 1 nGpus 2 minBytes 32M\n#\n"
             "rccl-tests: Version HEAD:e1b8a3a\n",
             "AMD Instinct MI355X",
             "RCCL version : 2.27.7-HEAD:0d2c4fd\nHIP version  : 7.2.26015-fc0010cf6a\n"
             "ROCm version : 7.2.0.0-43-fc0010cf6a\nHostname     : n1\n",
             "rccl-tests HEAD:e1b8a3a", "RCCL 2.27.7-HEAD:0d2c4fd"},
        Case{"# rccl-tests version 2.17.9-develop:4a65e8d rccl-headers=22707 rccl-library=22707\n",
             "AMD Radeon Graphics", "", "rccl-tests 2.17.9-develop:4a65e8d", "RCCL 2.27.7"}}) {
    const LogTable table = table_of(above, device, below);
    EXPECT_EQ(table.backend, "rccl") << above;
    EXPECT_EQ(table.tool, tool);
    EXPECT_EQ(table.library, library);
    ASSERT_EQ(table.devices.size(), 2U);
    EXPECT_EQ(table.devices[1].name, device);
    ASSERT_EQ(table.rows.size(), 1U);
    EXPECT_EQ(stated_ranks(table), 2);
  }
  const LogTable nvidia = table_of("NCCL version 2.28.9+cuda13.0\n", "NVIDIA H200", "");
  EXPECT_EQ(nvidia.backend, "nccl");
  EXPECT_EQ(nvidia.library, "NCCL 2.28.9+cuda13.0");
}

TEST(NcclRow, LeavesAnOpOutWhereTheLogDoes) {
  const std::vector<std::string> words{"1024", "256", "float", "35.0", "0.03", "0.03", "N/A"};
  const LogRow middle =
      read_row({"size", "count", "type", "redop", "time", "algbw", "busbw", "error"}, words);
  EXPECT_EQ(middle.op, "");
  ASSERT_EQ(middle.halves.size(), 1U);
  EXPECT_EQ(middle.halves.front().time_us->value, 35.0);
  // Found by make fuzz: the column that is left out is the last.
  const LogRow last =
      read_row({"size", "count", "type", "time", "algbw", "busbw", "error", "redop"}, words);
  EXPECT_EQ(last.op, "");
  EXPECT_EQ(last.halves.size(), 1U);
}

/// A row without names of columns above: size, count, type, then redop and root where it has them.
TEST(NcclRow, HasColumnsByItsShapeWhereNoneAreNamed) {
  const auto columns = [](const std::string& middle) {
    const auto named =
        columns_by_shape(split_words("8 2 float " + middle + "1.0 2.0 3.0 0 4.0 5.0 6.0 0"));
    return named ? join({named->begin() + 3, named->end() - 8}, " ") : "none";
  };
  EXPECT_EQ(columns(""), "");
  EXPECT_EQ(columns("sum "), "redop");
  EXPECT_EQ(columns("0 "), "root");
  EXPECT_EQ(columns("sum -1 "), "redop root");
  EXPECT_EQ(columns("0 sum "), "none");
  EXPECT_EQ(columns("sum -1 9 "), "none");
  EXPECT_EQ(columns_by_shape(std::vector<std::string>(10, "8")), std::nullopt);
  for (const auto& [check, name] : {std::pair{"0", "#wrong"}, {"1e-7", "error"}}) {
    const auto row = split_words(std::string("8 2 float 1.0 2.0 3.0 0 4.0 5.0 6.0 ") + check);
    EXPECT_EQ(columns_by_shape(row).value().back(), name);
  }
}

TEST(NcclRow, KnowsTheSizesOfTypesByOlderNamesToo) {
  const std::map<Bytes, const char*> types{{0, "size"},
                                           {1, "int8 char fp8_e4m3 fp8_e5m2"},
                                           {2, "half float16 bf16 bfloat16"},
                                           {4, "int float"},
                                           {8, "double"}};
  for (const auto& [size, names] : types) {
    for (const std::string& name : split_words(names)) EXPECT_EQ(size_of_type(name), size) << name;
  }
}

}  // namespace
}  // namespace busbar::study
