// SPDX-License-Identifier: BSD-3-Clause
#include "judge/run/out_slot.hpp"

#include <filesystem>
#include <optional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "base/text.hpp"
#include "tests/unit/support/temporary_folder.hpp"

namespace busbar::judge {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(OutSlot, IsForSoManyAtATimeAndGoesBackUnlessItIsKept) {
  const test::TemporaryFolder folder;
  const std::string path = folder.path("");
  {
    const OutSlot first(path, 2, "h1");
    std::optional<OutSlot> second(std::in_place, path, 2, "h2");
    EXPECT_THAT(first.others(), IsEmpty());
    EXPECT_THAT(second->others(), IsEmpty());
    EXPECT_THAT(OutSlot(path, 2, "h3").others(), testing::UnorderedElementsAre("h1", "h2"));
    EXPECT_FALSE(std::filesystem::exists(folder.path("h3")));
    second->keep("run: exit 1");
    second.reset();
  }
  EXPECT_FALSE(std::filesystem::exists(folder.path("h1")));
  EXPECT_EQ(read_file(folder.path("h2")), "run: exit 1\n");
  EXPECT_THAT(OutSlot(path, 1, "h3").others(), ElementsAre("h2"));
  EXPECT_THAT(OutSlot(path, 1, "h2").others(), IsEmpty()) << "it is out already";
  EXPECT_FALSE(std::filesystem::exists(folder.path("h2"))) << "and was good again";
}

TEST(OutSlot, NeedsAFolder) {
  const test::TemporaryFolder folder;
  EXPECT_THROW(OutSlot(folder.path("none"), 1, "h1"), Error);
}

}  // namespace
}  // namespace busbar::judge
