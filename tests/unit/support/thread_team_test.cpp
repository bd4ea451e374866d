// SPDX-License-Identifier: BSD-3-Clause
#include "tests/unit/support/thread_team.hpp"

#include <gtest/gtest-spi.h>

#include "base/error.hpp"

namespace busbar {
namespace {

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
