// SPDX-License-Identifier: BSD-3-Clause
#include "harness/host_topology.hpp"

#include <gtest/gtest.h>

#include "tests/unit/support/fake_bootstrap.hpp"
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

TEST(InventoryFacts, CountTheGpusAndNicsOfAHostThatHasGpus) {
  test::FakeBootstrap world;
  HostTopology host;
  host.graph.nodes = {{}, {}, {.kind = topo::NodeKind::Nic}};
  const auto facts = inventory_facts(world, host);  // and the driver, where there is one
  ASSERT_GE(facts.size(), 2U);
  EXPECT_EQ(facts[0].first + '=' + facts[0].second, "gpus_per_node=2");
  EXPECT_EQ(facts[1].first + '=' + facts[1].second, "nics_per_node=1");
}

}  // namespace
}  // namespace busbar
