// SPDX-License-Identifier: BSD-3-Clause
#include "model/fact.hpp"

#include <set>

#include <gtest/gtest.h>

namespace busbar {
namespace {

TEST(Facts, HaveAKeyOfTheirOwnAndAMeaning) {
  std::set<std::string_view> keys;
  for (const Fact& fact : fact_table()) {
    EXPECT_TRUE(keys.insert(fact.key).second) << fact.key;
    EXPECT_EQ(fact_key(fact.key), fact.key);
    EXPECT_FALSE(fact.meaning.empty()) << fact.key;
  }
  EXPECT_EQ(key(fact::kBusbar), "busbar");
  EXPECT_EQ(key(fact::kChannels), "nccl_channels");
  EXPECT_EQ(key(fact::kRanksPerNode), "ranks_per_node");
}

TEST(Facts, HaveTheKeysOfOlderFilesAndSpecificationsToo) {
  EXPECT_EQ(fact_key("gpus-per-node"), key(fact::kGpusPerNode));
  EXPECT_EQ(fact_key("rank-10"), "rank_10");
  EXPECT_EQ(fact_key("nccl"), key(fact::kLibrary));
  EXPECT_EQ(fact_key("ngpus"), key(fact::kRanksPerNode));
}

}  // namespace
}  // namespace busbar
