// SPDX-License-Identifier: BSD-3-Clause
#include "topo/predict/causes.hpp"

namespace busbar::topo {
namespace {

constexpr double kSize = 8.0 * (1 << 30);

/// A machine of the named system in so many hosts.
EqualHosts hosts_of(const std::string& system, int hosts) {
  EqualHosts machine = load_machine(system);
  machine.hosts = hosts;
  return machine;
}

std::optional<BandwidthRange> under(std::string_view id, const EqualHosts& machine, int ranks) {
  for (const Cause& cause : known_causes()) {
    if (cause.id == id) {
      return bandwidth_under(cause, machine, {.ranks = ranks}, *find_collective("allreduce"),
                             kSize);
    }
  }
  ADD_FAILURE() << "no cause " << id;
  return std::nullopt;
}

/// Ids of the causes that make the machine slower.
std::vector<std::string> possible(const EqualHosts& machine, int ranks) {
  std::vector<std::string> ids;
  for (const Cause& cause : known_causes()) {
    if (under(cause.id, machine, ranks)) ids.emplace_back(cause.id);
  }
  return ids;
}

TEST(Causes, AreThoseThatTheMachineCanHave) {
  EXPECT_THAT(possible(hosts_of("dgx-h100", 1), 8),
              ElementsAre("nvls-off", "no-p2p", "no-gpu-links", "half-gpu-links"));
  EXPECT_THAT(possible(hosts_of("dgx-a100", 1), 8),
              ElementsAre("no-p2p", "no-gpu-links", "half-gpu-links"));
  EXPECT_THAT(possible(hosts_of("pcie-gen5-x8", 1), 8), testing::IsSupersetOf({"half-pcie", "acs"}))
      << "ACS sends what GPUs exchange over PCIe through the processor";
  const std::vector<std::string> two = possible(hosts_of("dgx-a100", 2), 16);
  for (const char* id : {"gdr-off", "acs", "half-nics", "tcp", "one-qp", "one-rail",
                         "one-numa-nics", "half-network"}) {
    EXPECT_THAT(two, Contains(id));
  }
}

TEST(Causes, LeaveTheBandwidthOfTheirLinks) {
  // Rings of 18 links of 25 GB/s at an efficiency of 0.80, all of them and half.
  EXPECT_NEAR(under("nvls-off", hosts_of("dgx-h100", 1), 8)->low, 360, 1);
  EXPECT_NEAR(under("half-gpu-links", hosts_of("dgx-h100", 1), 8)->low, 180, 1);
  // PCIe 5.0 x16 of 63 GB/s.
  EXPECT_NEAR(under("no-gpu-links", hosts_of("dgx-h100", 1), 8)->high, 50.4, 0.1);
  // One card of 50 GB/s of eight, four, and eight of half the rate.
  // At the least that logs have of a network, 0.72.
  EXPECT_NEAR(under("one-rail", hosts_of("dgx-h100", 2), 16)->low, 36, 0.1);
  EXPECT_NEAR(under("one-numa-nics", hosts_of("dgx-h100", 2), 16)->low, 144, 1);
  EXPECT_NEAR(under("half-network", hosts_of("dgx-h100", 2), 16)->low, 144, 1);
  EXPECT_NEAR(under("half-nics", hosts_of("dgx-h100", 2), 16)->low, 144, 1);
  // 0.48 of eight cards of 50 GB/s; 0.26 where ACS sends it through the processor.
  EXPECT_NEAR(under("gdr-off", hosts_of("dgx-h100", 2), 16)->low, 192, 0.5);
  EXPECT_NEAR(under("acs", hosts_of("dgx-h100", 2), 16)->low, 104, 0.5);
  // Rings of 4 GB/s on each of eight NICs.
  EXPECT_NEAR(under("tcp", hosts_of("dgx-h100", 2), 16)->low, 32, 0.1);
  // One flow of 1.25 GB/s of half the rate.
  EXPECT_NEAR(under("half-network", load_machine("p3dn-x2"), 16).value().low, 0.5, 0.01);
  // Four NICs of 50 GB/s of a tray.
  EXPECT_NEAR(under("no-domain", hosts_of("gb200-nvl72", 2), 8)->low, 144, 1);
}

TEST(Causes, HaveTextAndCommandAndAreListedTheCommonestFirstAndFaultsOfOneNodeLast) {
  int before = 0;
  for (const Cause& cause : known_causes()) {
    EXPECT_FALSE(cause.text.empty() || cause.confirm.empty()) << cause.id;
    EXPECT_GE(rank_of(cause, 1), before) << cause.id;
    before = rank_of(cause, 1);
    EXPECT_EQ(rank_of(cause, 2), before + (cause.is_fault ? 1 : 0)) << cause.id;
  }
  EXPECT_EQ(known_causes().back().id, "half-gpu-links");
}

}  // namespace
}  // namespace busbar::topo
