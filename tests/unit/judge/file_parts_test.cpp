// SPDX-License-Identifier: BSD-3-Clause
#include "judge/file_parts.hpp"

#include <gtest/gtest.h>

namespace busbar::judge {
namespace {

FilePart part_of_head(const std::string& configuration) {
  const ObservationFile file{.dataset = {.facts = {{"configuration", configuration}}}};
  const std::vector<FilePart> parts = parts_of(file);
  EXPECT_EQ(parts.size(), 1U);
  return parts.empty() ? FilePart{} : parts.front();
}

TEST(PartsOf, AFileWithoutRowsIsWhatItsHeadTells) {
  const FilePart whole = part_of_head("collective=alltoall ranks=16 nodes=2 split=none");
  EXPECT_EQ(whole.collective, "alltoall");
  EXPECT_EQ(whole.ranks, 16);
  EXPECT_EQ(whole.nodes, 2);
  EXPECT_FALSE(whole.grouped);
  EXPECT_TRUE(part_of_head("collective=alltoall ranks=16 nodes=2 split=MOD-8").grouped);
}

}  // namespace
}  // namespace busbar::judge
