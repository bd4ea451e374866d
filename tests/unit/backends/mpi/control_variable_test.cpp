// SPDX-License-Identifier: BSD-3-Clause
#include "backends/mpi/control_variable.hpp"

#include <gtest/gtest.h>

namespace busbar {
namespace {

using Names = std::vector<std::string>;

TEST(ControlVariableTest, FindsNamesWhereMpichJoinsLines) {
  EXPECT_EQ(described_values("Variable to select the algorithmauto - Internal selection (or by a "
                             "FILE)nb   - Force nonblocking algorithmsmp - Force smp algorithm"
                             "sched_smp - Force receivestsp_tree - Force a tree"),
            (Names{"auto", "nb", "smp", "sched_smp", "tsp_tree"}));
  EXPECT_EQ(described_values("intra-node bcastmpir - Fallback to MPIR collectivesrelease_gather  - "
                             "Force shm"),
            (Names{"mpir", "release_gather"}));
  EXPECT_EQ(described_values("one - for sched-based algorithmssched_naive - Force naive phase"
                             "tsp_ring - Force ring"),
            (Names{"one", "sched_naive", "tsp_ring"}));
}

TEST(ControlVariableTest, FindsNamesOnLinesOfTheirOwn) {
  EXPECT_EQ(
      described_values("Select an algorithm\nauto - Internal\nring    - Force ring algorithm"),
      (Names{"auto", "ring"}));
}

TEST(ControlVariableTest, FindsNoneInOrdinaryText) {
  EXPECT_TRUE(described_values("Messages below this size, in bytes, are short.").empty());
}

}  // namespace
}  // namespace busbar
