// SPDX-License-Identifier: BSD-3-Clause
#include "topo/graph/protocol.hpp"

#include <gtest/gtest.h>

#include "tests/unit/topo/nccl_source.hpp"

namespace busbar::topo {
namespace {

const StepTimes& steps_of(const Protocol& protocol, Sending sending) {
  return protocol.steps.at(static_cast<std::size_t>(sending));
}

void expect_times(Sending sending, const StepTimes& expected) {
  const Protocol protocol = completed({});
  const StepTimes& times = steps_of(protocol, sending);
  EXPECT_DOUBLE_EQ(times.share, expected.share) << name(sending);
  EXPECT_EQ(times.launch_us, expected.launch_us) << name(sending);
  EXPECT_EQ(times.nvlink_us, expected.nvlink_us) << name(sending);
  EXPECT_EQ(times.pcie_us, expected.pcie_us) << name(sending);
  EXPECT_EQ(times.smp_us, expected.smp_us) << name(sending);
  EXPECT_EQ(times.network_us, expected.network_us) << name(sending);
}

TEST(CompletedProtocol, HasTheTimesOfNccl220) {
  // src/graph/tuning.cc of NCCL 2.20.5: baseLat, and hwLat of NVLink, PCI (also between sockets)
  // and network; shares 1/4 of LL, 0.92 of trees and 1/3.8 of their LL.
  const StepTimes ring{.share = 1,
                       .launch_us = 8.4,
                       .nvlink_us = 3.4,
                       .pcie_us = 5.7,
                       .smp_us = 5.7,
                       .network_us = 14};
  expect_times(Sending::Ring, ring);
  expect_times(Sending::Hierarchical, ring);
  expect_times(Sending::RingLowLatency, {.share = 0.25,
                                         .launch_us = 6.6,
                                         .nvlink_us = 0.6,
                                         .pcie_us = 1,
                                         .smp_us = 1,
                                         .network_us = 2.7});
  expect_times(Sending::Tree,
               {.share = 0.92, .nvlink_us = 28, .pcie_us = 28, .smp_us = 28, .network_us = 28});
  expect_times(Sending::TreeLowLatency, {.share = 0.92 / 3.8,
                                         .launch_us = 6.8,
                                         .nvlink_us = 0.6,
                                         .pcie_us = 1,
                                         .smp_us = 1,
                                         .network_us = 5});
  expect_times(Sending::Nvls, {.share = 1, .launch_us = 23});
  EXPECT_EQ(completed({}).efficiency, 0.80);
  EXPECT_EQ(completed({}).in_switch_efficiency, 0.68);
  EXPECT_EQ(completed({}).flows, 0);
  EXPECT_EQ(completed({}).algorithms,
            (std::vector{Algorithm::Ring, Algorithm::Tree, Algorithm::Nvls}));
}

TEST(CompletedProtocol, AgreesWithNccl228WhereThatDidNotChange) {
  const auto source = test::nccl_source("tuning.cc");
  if (!source) GTEST_SKIP() << "no ../shared/data/nccl-2.28.9.tar.xz";
  constexpr std::size_t kForms = 7;  // tree, ring, and five more; each LL, LL128 and simple
  const auto base = test::numbers_between(*source, ".baseLatencies = {", ".hwLatencies");
  const auto steps = test::numbers_between(*source, ".hwLatencies = {", ".llMaxBws");
  ASSERT_EQ(base.size(), kForms * 3);
  ASSERT_EQ(steps.size(), 3 * kForms * 3);  // NVLink, PCI, network
  struct Case {
    Sending sending;
    std::size_t place;
  };
  const Protocol protocol = completed({});
  // Trees by the simple protocol and NVLS got quicker after 2.20.
  for (const auto& [sending, place] :
       {Case{Sending::TreeLowLatency, 0}, Case{Sending::RingLowLatency, 3}, Case{Sending::Ring, 5},
        Case{Sending::Hierarchical, 5}}) {
    const StepTimes& times = steps_of(protocol, sending);
    EXPECT_EQ(times.launch_us, base[place]) << name(sending);
    EXPECT_EQ(times.nvlink_us, steps[place]) << name(sending);
    EXPECT_EQ(times.pcie_us, steps[kForms * 3 + place]) << name(sending);
    EXPECT_EQ(times.smp_us, steps[kForms * 3 + place]) << name(sending);
    EXPECT_EQ(times.network_us, steps[2 * kForms * 3 + place]) << name(sending);
  }
  EXPECT_NE(source->find("busBw*.92"), std::string::npos);
  EXPECT_NE(source->find("busBw*1.0/3.8"), std::string::npos);
}

TEST(CompletedProtocol, KeepsEveryFigureThatIsThere) {
  Protocol own{.efficiency = 0.5,
               .in_switch_efficiency = 0.6,
               .flows = 3,
               .algorithms = {Algorithm::Hierarchical},
               .source = "own"};
  for (StepTimes& times : own.steps) {
    times = {
        .share = 0.1, .launch_us = 1, .nvlink_us = 2, .pcie_us = 3, .smp_us = 4, .network_us = 5};
  }
  EXPECT_EQ(completed(own), own);
}

TEST(Protocol, HasTheNamesOfSystemFiles) {
  const auto names = [](const auto& all) {
    std::vector<std::string> list;
    for (const auto one : all) list.emplace_back(name(one));
    return list;
  };
  EXPECT_EQ(names(kAlgorithms), (std::vector<std::string>{"ring", "tree", "hierarchical", "nvls"}));
  EXPECT_EQ(names(kSendings),
            (std::vector<std::string>{"ring", "ring_low_latency", "tree", "tree_low_latency",
                                      "hierarchical", "nvls"}));
}

}  // namespace
}  // namespace busbar::topo
