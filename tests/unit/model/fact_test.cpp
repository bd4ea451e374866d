// SPDX-License-Identifier: BSD-3-Clause
#include "model/fact.hpp"

#include <set>

#include <gtest/gtest.h>

namespace busbar {
namespace {

TEST(Facts, HaveAKeyOfTheirOwnAndAMeaning) {
  std::set<std::string_view> keys;
  for (const FactInfo& fact : fact_table()) {
    EXPECT_TRUE(keys.insert(fact.key).second) << fact.key;
    EXPECT_EQ(fact_key(fact.key), fact.key);
    EXPECT_FALSE(fact.meaning.empty()) << fact.key;
  }
  EXPECT_EQ(key(Fact::Busbar), "busbar");
  EXPECT_EQ(key(Fact::Channels), "nccl_channels");
  EXPECT_EQ(key(Fact::RanksPerNode), "ranks_per_node");
}

TEST(Facts, HaveTheKeysOfOlderFilesAndSpecificationsToo) {
  EXPECT_EQ(fact_key("gpus-per-node"), key(Fact::GpusPerNode));
  EXPECT_EQ(fact_key("rank-10"), "rank_10");
  EXPECT_EQ(fact_key("nccl"), key(Fact::Library));
  EXPECT_EQ(fact_key("ngpus"), key(Fact::RanksPerNode));
  EXPECT_EQ(fact_key("device-set.my-pairs"), "device_set.my-pairs");
}

}  // namespace
}  // namespace busbar
