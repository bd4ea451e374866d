// SPDX-License-Identifier: BSD-3-Clause
#include "topo/graph/protocol.hpp"

#include <gtest/gtest.h>

#include "tests/unit/topo/nccl_source.hpp"

namespace busbar::topo {
namespace {

const StepTimes& steps_of(const Protocol& protocol, Sending sending) {
  return protocol.steps.at(static_cast<std::size_t>(sending));
}

TEST(CompletedProtocol, HasTheTimesOfNccl220) {
  // src/graph/tuning.cc of NCCL 2.20.5: shares 1/4 of LL, 0.92 of trees and 1/3.8 of their LL;
  // baseLat, and hwLat of NVLink, PCI (also between sockets) and network.
  const StepTimes ring{1, 8.4, 3.4, 5.7, 5.7, 14};
  const Protocol protocol = completed({});
  for (const auto& [sending, times] :
       {std::pair{Sending::Ring, ring},
        {Sending::Hierarchical, ring},
        {Sending::RingLowLatency, StepTimes{0.25, 6.6, 0.6, 1, 1, 2.7}},
        {Sending::Tree, StepTimes{0.92, 0, 28, 28, 28, 28}},
        {Sending::TreeLowLatency, StepTimes{0.92 / 3.8, 6.8, 0.6, 1, 1, 5}},
        {Sending::Nvls, StepTimes{1, 23, 0, 0, 0, 0}}}) {
    EXPECT_EQ(steps_of(protocol, sending), times) << name(sending);
  }
  EXPECT_EQ(protocol.efficiency, 0.80);
  EXPECT_EQ(protocol.in_switch_efficiency, 0.68);
  EXPECT_EQ(protocol.flows, 0);
  EXPECT_EQ(protocol.algorithms, (std::vector{Algorithm::Ring, Algorithm::Tree, Algorithm::Nvls}));
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
  own.steps.fill({0.1, 1, 2, 3, 4, 5});
  EXPECT_EQ(completed(own), own);
}

TEST(Protocol, HasTheNamesOfSystemFiles) {
  EXPECT_EQ(names_text<Algorithm>(), "ring, tree, hierarchical or nvls");
  EXPECT_EQ(names_text<Sending>(),
            "ring, ring_low_latency, tree, tree_low_latency, hierarchical or nvls");
}

}  // namespace
}  // namespace busbar::topo
