// SPDX-License-Identifier: BSD-3-Clause
#include "harness/host_topology.hpp"

#include <gtest/gtest.h>

#include "tests/unit/support/thread_team.hpp"

namespace busbar {
namespace {

TEST(DriverVersion, IsReadFromBothKindsOfKernelModuleIfThereIsADriver) {
  EXPECT_EQ(driver_version("NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.104.05  Sat Aug "
                           "19 01:15:15 UTC 2023"),
            "535.104.05");
  EXPECT_EQ(driver_version("NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  570.86.15  "
                           "Release Build  (root@host)"),
            "570.86.15");
  EXPECT_EQ(driver_version(""), "");
  EXPECT_EQ(driver_version("GCC version:  gcc version 12.2.0"), "");
}

TEST(FirstText, IsTheLowestRanksThatHasOne) {
  test::on_ranks(3, [](test::ThreadBootstrap& world) {
    const std::string mine =
        world.rank() == 0 ? "" : std::string("of rank ") + std::to_string(world.rank());
    EXPECT_EQ(first_text(world, mine), "of rank 1");
    EXPECT_EQ(first_text(world, ""), "");
  });
}

}  // namespace
}  // namespace busbar
