// SPDX-License-Identifier: BSD-3-Clause
#include "topo/graph/protocol.hpp"

#include <gtest/gtest.h>

#include "bench/nccl_model.hpp"
#include "tests/unit/topo/nccl_source.hpp"

namespace busbar::topo {
namespace {

const StepTimes& steps_of(const Protocol& protocol, Sending sending) {
  return protocol.steps.at(static_cast<std::size_t>(sending));
}

TEST(CompletedProtocol, HasTheTimesOfTheNewestLibraryUnlessAnotherIsNamed) {
  const Protocol protocol = completed({});
  EXPECT_EQ(protocol, completed({.source = protocol.source}));
  Protocol named{.library = Library::Nccl226, .source = protocol.source};
  named = completed(named);
  EXPECT_EQ(named.steps, protocol.steps);
  named = completed({.library = Library::Nccl28});
  EXPECT_NE(named.steps, protocol.steps);
  EXPECT_EQ(protocol.efficiency, 0.80);
  EXPECT_EQ(protocol.in_switch_efficiency, 0.68);
  EXPECT_EQ(protocol.flows, 0);
  EXPECT_EQ(protocol.algorithms, (std::vector{Algorithm::Ring, Algorithm::Tree, Algorithm::Nvls}));
}

/// As in NCCL's model, of which a library's times are multiples.
TEST(CompletedProtocol, HasOneTimeForPcieAndSocketsAndOneShareForAProtocolInEveryLibrary) {
  for (const Library library : kLibraries) {
    const Protocol protocol = completed({.library = library});
    for (const StepTimes& times : protocol.steps) EXPECT_EQ(times.smp_us, times.pcie_us);
    for (const auto& [ring, tree] : {std::pair{Sending::RingLowLatency, Sending::TreeLowLatency},
                                     {Sending::RingLl128, Sending::TreeLl128}}) {
      EXPECT_EQ(steps_of(protocol, ring).network_share, steps_of(protocol, tree).network_share);
    }
    EXPECT_EQ(protocol.issue_us, completed({}).issue_us) << "the caller's own time";
  }
}

TEST(NcclModel, IsThatOfNccl228) {
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
  const Protocol protocol = nccl_model();
  for (const auto& [sending, place] :
       {Case{Sending::TreeLowLatency, 0}, Case{Sending::TreeLl128, 1}, Case{Sending::Tree, 2},
        Case{Sending::RingLowLatency, 3}, Case{Sending::RingLl128, 4}, Case{Sending::Ring, 5},
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
               .issue_us = 1,
               .direct_issue_us = 2,
               .channel_GBps = 3,
               .flows = 3,
               .algorithms = {Algorithm::Hierarchical},
               .source = "own"};
  own.steps.fill({0.1, 1, 2, 3, 4, 5, 0.2});
  EXPECT_EQ(completed(own), own);
}

TEST(Protocol, HasTheNamesOfSystemFiles) {
  EXPECT_EQ(alternatives(all_names<Algorithm>()), "ring, tree, hierarchical or nvls");
  EXPECT_EQ(
      alternatives(all_names<Sending>()),
      "ring, ring_low_latency, ring_ll128, tree, tree_low_latency, tree_ll128, hierarchical, nvls, "
      "direct or direct_low_latency");
}

}  // namespace
}  // namespace busbar::topo
