// SPDX-License-Identifier: BSD-3-Clause
#include "model/rank_fact.hpp"

#include <gtest/gtest.h>

namespace busbar {
namespace {

TEST(RankFact, OfAProcessorIsReadBack) {
  const RankFact fact{.host = "h1", .node = 1, .numa = 0, .processors = 8, .group = 3};
  const std::string text = rank_fact_text(fact);
  EXPECT_EQ(text, "host h1 node 1 numa 0 core - processors 8 group 3");
  const RankFact read = parse_rank_fact(text);
  EXPECT_EQ(read.host, "h1");
  EXPECT_EQ(read.node, 1);
  EXPECT_EQ(read.numa, 0);
  EXPECT_EQ(read.core, -1);
  EXPECT_EQ(read.processors, 8);
  EXPECT_EQ(read.group, 3);
  EXPECT_FALSE(read.gpu.has_value());
}

TEST(RankFact, OfAGpuHasItsWholeName) {
  const RankFact fact{
      .host = "device",
      .core = 3,
      .processors = 2,
      .gpu = RankGpu{
          .index = 7, .bus = "0000:07:00.0", .uuid = "GPU-1", .name = "NVIDIA H200 name bus 1"}};
  const std::string text = rank_fact_text(fact);
  EXPECT_EQ(text,
            "host device node 0 numa - core 3 processors 2 device 7 bus 0000:07:00.0 uuid GPU-1 "
            "name NVIDIA H200 name bus 1");
  const RankFact read = parse_rank_fact(text);
  EXPECT_EQ(read.core, 3);
  EXPECT_EQ(read.group, std::nullopt);
  ASSERT_TRUE(read.gpu.has_value());
  EXPECT_EQ(read.gpu->bus, "0000:07:00.0");
  EXPECT_EQ(read.gpu->uuid, "GPU-1");
  EXPECT_EQ(read.gpu->name, "NVIDIA H200 name bus 1");
}

}  // namespace
}  // namespace busbar
