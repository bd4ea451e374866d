// SPDX-License-Identifier: BSD-3-Clause
#include "harness/host_topology.hpp"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace busbar
