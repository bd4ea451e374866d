// SPDX-License-Identifier: BSD-3-Clause
#include "model/communicator.hpp"

#include <gtest/gtest-spi.h>

#include "model/agreement.hpp"
#include "tests/unit/support/thread_team.hpp"

namespace busbar {
namespace {

struct Releases {
  int count = 0;

  [[nodiscard]] Buffer::Release release() {
    return [this](std::byte*) { ++count; };
  }
};

TEST(Buffer, GoesBackOnceAndNotWhenItMoves) {
  std::array<std::byte, 8> memory{};
  Releases releases;
  {
    Buffer first(memory.data(), memory.size(), releases.release());
    const Buffer second(std::move(first));
    EXPECT_EQ(releases.count, 0);
    EXPECT_EQ(second.data(), memory.data());
    EXPECT_EQ(second.size(), 8U);
  }
  EXPECT_EQ(releases.count, 1);
}

TEST(Buffer, GoesBackWhenItIsReplaced) {
  std::array<std::byte, 8> old_memory{};
  std::array<std::byte, 4> new_memory{};
  Releases old_releases;
  Releases new_releases;
  Buffer buffer(old_memory.data(), old_memory.size(), old_releases.release());
  buffer = Buffer(new_memory.data(), new_memory.size(), new_releases.release());
  EXPECT_EQ(old_releases.count, 1);
  EXPECT_EQ(new_releases.count, 0);
  EXPECT_EQ(buffer.data(), new_memory.data());
}

TEST(Buffer, IsNothingUnlessItWasGivenMemory) {
  const Buffer buffer;
  EXPECT_EQ(buffer.data(), nullptr);
  EXPECT_EQ(buffer.size(), 0U);
}

TEST(Difference, CountsWrongElementsOfAllRunsAndKeepsTheFirst) {
  Difference total;
  total.add({}, 0);
  total.add({.wrong = 2, .first_wrong = 5, .expected = "1", .got = "2"}, 100);
  total.add({.wrong = 3, .first_wrong = 0, .expected = "8", .got = "9"}, 200);
  EXPECT_EQ(total.wrong, 5U);
  EXPECT_EQ(total.first_wrong, 105U);
  EXPECT_EQ(total.expected, "1");
  EXPECT_EQ(total.got, "2");
}

TEST(DeviceMemoryUse, IsInTotalAllThatWasTaken) {
  EXPECT_EQ((DeviceMemoryUse{.initialization = 100, .user = 20, .collective = 3}.total()), 123U);
  EXPECT_EQ(DeviceMemoryUse{}.total(), 0U);
}

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

TEST(ThreadTeam, ARankThatThrowsFailsTheTestAndTheOthersLeaveAlsoASplit) {
  EXPECT_NONFATAL_FAILURE_ON_ALL_THREADS(test::on_ranks(4,
                                                        [](test::ThreadBootstrap& world) {
                                                          const auto part =
                                                              world.split(world.rank() % 2);
                                                          if (world.rank() == 3)
                                                            throw Error{Status::Runtime, "broken"};
                                                          part->barrier();
                                                          world.barrier();
                                                        }),
                                         "rank 3: broken");
}

}  // namespace
}  // namespace busbar
