// SPDX-License-Identifier: BSD-3-Clause
#include "study/import/known_collective.hpp"

#include <gtest/gtest.h>

#include "model/collective.hpp"

namespace busbar::study {
namespace {

TEST(KnownCollective, HasEveryRegisteredCollectiveWithItsFactor) {
  for (const Collective* collective : registered_collectives()) {
    for (const std::string_view spelling : {collective->name, collective->nccl_name}) {
      const KnownCollective* known = find_collective(spelling);
      ASSERT_NE(known, nullptr) << spelling;
      EXPECT_EQ(known->name, collective->name);
      EXPECT_EQ(known->reduces, collective->reduces) << spelling;
      EXPECT_EQ(known->rooted, collective->rooted) << spelling;
      EXPECT_EQ(known->parts, collective->footprint(8 * kMiB, 4, 8).count == kMiB / 4) << spelling;
      for (const int ranks : {1, 2, 3, 8, 1440}) {
        EXPECT_DOUBLE_EQ(known->bus_factor(ranks), collective->bus_factor(ranks)) << spelling;
      }
    }
  }
}

TEST(KnownCollective, ReadsEverySpelling) {
  for (const char* word : {"all_reduce", "allreduce", "all_reduce_perf", "./build/all_reduce_perf",
                           "osu_allreduce", "Allreduce", "All-Reduce", "all_reduce_perf_mpi"}) {
    const KnownCollective* known = find_collective(word);
    ASSERT_NE(known, nullptr) << word;
    EXPECT_EQ(known->name, "allreduce") << word;
  }
  EXPECT_EQ(find_collective("Bcast")->name, "broadcast");
  EXPECT_EQ(find_collective("All-to-All Personalized Exchange")->name, "alltoall");
  EXPECT_EQ(find_collective("barrier"), nullptr);
  EXPECT_EQ(find_collective(""), nullptr);
}

}  // namespace
}  // namespace busbar::study
