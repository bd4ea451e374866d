// SPDX-License-Identifier: BSD-3-Clause
#include "model/agreement.hpp"

#include <gtest/gtest.h>

#include "tests/unit/support/thread_team.hpp"

namespace busbar {
namespace {

TEST(FirstText, IsTheLowestRanksThatHasOne) {
  test::on_ranks(3, [](test::ThreadBootstrap& world) {
    const std::string mine =
        world.rank() == 0 ? "" : std::string("of rank ") + std::to_string(world.rank());
    EXPECT_EQ(first_text(world, mine), "of rank 1");
    EXPECT_EQ(first_text(world, ""), "");
  });
}

TEST(AgreeOn, AllThrowTheErrorOfTheLowestRankThatHasOne) {
  test::on_ranks(3, [](test::ThreadBootstrap& world) {
    const auto fails_from = [&](int first) {
      agree_on(world, [&] {
        if (world.rank() >= first) throw usage_error("no {}", world.rank());
      });
      return std::string("none");
    };
    EXPECT_EQ(fails_from(3), "none");
    for (const auto& [first, text] : {std::pair{0, "no 0"}, std::pair{1, "rank 1: no 1"}}) {
      try {
        fails_from(first);
        ADD_FAILURE() << first;
      } catch (const AgreedError& error) {
        EXPECT_STREQ(error.what(), text);
        EXPECT_EQ(error.status(), Status::Usage);
      }
    }
  });
}

}  // namespace
}  // namespace busbar
