// SPDX-License-Identifier: BSD-3-Clause
// Limits that any model must keep, and every rate that the papers publish.
#include "topo/predict/predictor.hpp"

#include "bench/nccl_model.hpp"
#include "tests/unit/topo/bounds/small_graphs.hpp"
#include "topo/systems/joined_hosts.hpp"

namespace busbar::topo {
namespace {

constexpr double kGiB = 1024.0 * 1024 * 1024;
const Collective& kBroadcast = *find_collective("broadcast");
const Collective& kGather = *find_collective("gather");
const Collective& kSendReceive = *find_collective("sendrecv");

Predictor predictor(const std::string& system, int ranks, PredictOptions options = {}) {
  options.ranks = ranks;
  return Predictor(load_machine(system), options);
}

/// With NCCL's own times, for tests by literal numbers.
Predictor modelled(const std::string& system, int ranks, PredictOptions options = {}) {
  options.ranks = ranks;
  EqualHosts machine = load_machine(system);
  machine.host.protocol = with_times(completed(machine.host.protocol), nccl_model());
  return Predictor(machine, options);
}

double time_us(const Predictor& predictor, const Collective& collective, double bytes) {
  return predictor.predict(collective, bytes).value().time_us;
}

double busbw(const Predictor& predictor, const Collective& collective, double bytes) {
  return collective.bus_factor(predictor.set().ranks) * bytes /
         time_us(predictor, collective, bytes) / 1e3;
}

using Published = std::tuple<std::string, int, double>;

TEST(Predictor, IsWithinAFifthOfEveryPublishedRate) {
  for (const auto& [system, ranks, GBps] :
       {Published{"dgx-2", 2, 120}, Published{"dgx-2", 4, 120}, Published{"dgx-2", 8, 120},
        Published{"dgx-2", 16, 120}, Published{"dgx-1v", 4, 80}, Published{"ac922", 2, 70},
        Published{"ac922", 4, 30}, Published{"p3dn-x2", 16, 1.0}, Published{"dgx-h100", 8, 476},
        Published{"dgx-1p", 2, 17.28}, Published{"dgx-1p", 4, 52.09},
        Published{"dgx-1p", 8, 62.24}}) {
    EXPECT_NEAR(busbw(predictor(system, ranks), kAllReduce, kGiB) / GBps, 1, 0.2)
        << system << ranks;
  }
}

TEST(Predictor, ComesToTheBoundTimesTheEfficiencyOfVeryLargeMessages) {
  for (const Collective* collective : measured_collectives()) {
    const Predictor dgx2 = predictor("dgx-2", 16);
    EXPECT_NEAR(dgx2.bound_GBps(*collective).value(), 150, 1e-6);
    EXPECT_NEAR(busbw(dgx2, *collective, 1e6 * kGiB), 120, 0.01);
  }
  const Predictor ac922 = predictor("ac922", 2);
  EXPECT_NEAR(busbw(ac922, kAllReduce, 1e6 * kGiB), 75 * 0.93, 0.01);
}

TEST(Predictor, NeverPassesItsBound) {
  for (const std::string system : {"dgx-2", "dgx-1v", "ac922-x4", "gb200-nvl72", "dgx-h100",
                                   "exxact-ts4", "knl-aries", "c4140-pcie-x8"}) {
    const Predictor all =
        predictor(system, static_cast<int>(Cluster(load_machine(system)).devices()));
    for (const Collective* collective : measured_collectives()) {
      const double bound = all.bound_GBps(*collective).value();
      EXPECT_LT(busbw(all, *collective, 1e6 * kGiB), bound) << system;
    }
  }
}

TEST(Predictor, SendsSmallMessagesWithLowLatencyAndLargeOnesByRings) {
  const Predictor dgx2 = modelled("dgx-2", 16);
  EXPECT_EQ(dgx2.predict(kAllReduce, 8)->sending, Sending::RingLowLatency);
  EXPECT_EQ(dgx2.predict(kAllReduce, kGiB)->sending, Sending::Ring);
  EXPECT_EQ(predictor("dgx-h100", 8).predict(kAllReduce, kGiB)->sending, Sending::Nvls);
}

TEST(Predictor, NamesTheFirstOfFormsThatTakeAsLong) {
  EqualHosts machine{.host = nvlink_graph({"02", "20"}, 25)};
  for (StepTimes& times : machine.host.protocol.steps) {
    times = {.share = 1, .launch_us = 1, .nvlink_us = 1};
  }
  EXPECT_EQ(Predictor(machine, {}).predict(kAllGather, 1e6)->sending, Sending::Ring);
}

TEST(Predictor, TakesTheWantedAlgorithmWhereThereIsOne) {
  const auto forced = [](const std::string& system, Algorithm algorithm,
                         const Collective& collective) {
    return predictor(system, 16, {.algorithm = algorithm}).predict(collective, kGiB);
  };
  EXPECT_EQ(forced("ac922-x4", Algorithm::Tree, kAllReduce)->sending, Sending::Tree);
  EXPECT_EQ(forced("ac922-x4", Algorithm::Hierarchical, kAllReduce)->sending,
            Sending::Hierarchical);
  EXPECT_FALSE(forced("ac922-x4", Algorithm::Tree, kBroadcast));
  EXPECT_FALSE(forced("dgx-2", Algorithm::Nvls, kAllReduce));
  EXPECT_FALSE(forced("dgx-2", Algorithm::Hierarchical, kAllReduce));
}

TEST(Predictor, AddsInTheSwitchAsFastAsItsPortsAllow) {
  // A GPU sends 9/8 of 1 GiB at 0.68 of 450 GB/s: 3947.58 us, and 25 us to launch.
  const Predictor h100 = modelled("dgx-h100", 8, {.algorithm = Algorithm::Nvls});
  EXPECT_NEAR(time_us(h100, kAllReduce, kGiB), 3972.5802, 1e-3);
  EXPECT_NEAR(time_us(h100, kAllReduce, 1024), 25 + 1024 * 1.125 / 0.68 / 450e3, 1e-9);
  EXPECT_NEAR(h100.bound_GBps(kAllReduce).value(), 700, 1e-6);
  EXPECT_NEAR(busbw(h100, kAllReduce, kGiB), 473.00, 0.01);
}

TEST(Predictor, AddsInTheSwitchesOfTwoHostsThatATreeJoins) {
  // Each host sends a size once at 0.80 of 400 GB/s, which is slower than 9/8 at 0.68 of 450: 25 us
  // to launch and two steps of 18, or of 18 + 35 where the network is that of AWS.
  EqualHosts machine{.host = load_machine("dgx-h100").host, .hosts = 2};
  machine.host.protocol = with_times(completed(machine.host.protocol), nccl_model());
  const auto time = [&] {
    return time_us(Predictor(machine, {.ranks = 16, .algorithm = Algorithm::Nvls}), kAllReduce,
                   1e9);
  };
  EXPECT_NEAR(time(), 25 + 36 + 9.0 / 8 / 0.68 / 450 * 1e6, 1e-3);
  machine.host.protocol.network_latency_us = 35;
  EXPECT_NEAR(time(), 25 + 106 + 9.0 / 8 / 0.68 / 450 * 1e6, 1e-3);
}

TEST(Predictor, AddsNoFasterWithMoreThanEightGpus) {
  // 0.59 of 1400 GB/s of bus bandwidth, however many there are.
  for (const int ranks : {8, 16, 72}) {
    const Predictor gb200 = modelled("gb200-nvl72", ranks, {.algorithm = Algorithm::Nvls});
    EXPECT_NEAR(busbw(gb200, kAllReduce, 1e6 * kGiB), 826, 0.01) << ranks;
  }
}

TEST(Predictor, TakesAtLeastTheTimeThatAProcessNeedsToIssueOnAllItsGpus) {
  const Predictor one = modelled("dgx-2", 16, {.gpus_per_process = 16});
  EXPECT_NEAR(time_us(one, kAllReduce, 8), 16 * 4.5, 1e-9);
  EXPECT_NEAR(time_us(one, kAllToAll, 8), 16 * 9.0, 1e-9);
  EXPECT_NEAR(time_us(one, kAllReduce, kGiB), time_us(modelled("dgx-2", 16), kAllReduce, kGiB),
              1e-9);
}

TEST(Predictor, HasTheTimesOfEachAlgorithmOverFourHosts) {
  // ac922-x4: four hosts of four. In a host the X-Bus at 0.94 of 32 GB/s = 30.08, between them two
  // cards at 0.80 of 12 = 19.2; steps over the X-Bus take 5.7 us, over the network 14.
  const auto times = [](Algorithm algorithm, double bytes) {
    return time_us(modelled("ac922-x4", 16, {.algorithm = algorithm}), kAllReduce, bytes);
  };
  // 30 steps, of which 4 of 16 leave a host. Low latency: 6.6 + 22.5 x 1 + 7.5 x 2.7 = 49.35, and
  // 1024 x 2 x 15/16 / (0.1 x 19.2e3) = 1. Simple: 8.4 + 22.5 x 5.7 + 7.5 x 14 = 241.65, and
  // 2^30 x 1.875 / 19.2e3 = 104857.6.
  EXPECT_NEAR(times(Algorithm::Ring, 1024), 50.35, 1e-6);
  EXPECT_NEAR(times(Algorithm::Ring, kGiB), 105099.25, 1e-3);
  // Six steps in hosts, 2 x 2 between. The network's 2 x 3/4 / 19.2 is more than 2 / 30.08. Low
  // latency: 6.8 + 6 x 1 + 4 x 5 = 32.8, and 1024 x 0.078125e-3 / 0.1 = 0.8. Simple:
  // 8.4 + 6 x 4 + 4 x 14 = 88.4, and 2^30 x 0.078125e-3 / 0.92 = 91180.5217.
  EXPECT_NEAR(times(Algorithm::Tree, 1024), 33.6, 1e-6);
  EXPECT_NEAR(times(Algorithm::Tree, kGiB), 91268.9217, 1e-3);
  // 8.4 + 6 x 5.7 + 6 x 14 = 126.6; 2 x 3/4 / 30.08 + 2 x 3/4 / 19.2 = 0.1279920 s a GB.
  EXPECT_NEAR(times(Algorithm::Hierarchical, 1024), 126.731064, 1e-6);
  EXPECT_NEAR(times(Algorithm::Hierarchical, kGiB), 126.6 + 137430.3862, 1e-3);
}

TEST(Predictor, SendsAnExchangeStraightInAStepForEachPeer) {
  // Two hosts with 8 of 16 ranks each on 100 Gb/s, 10 GB/s of it real: each sends 8 x 8/16 of a
  // size to the other, 0.4 s a GB; low latency takes four times that and 20 us and 15 steps of 2,
  // else of 3.
  const Predictor two = modelled("p3dn-x2", 16, {.flows = 100});
  EXPECT_NEAR(time_us(two, kAllToAll, 1000), 20 + 15 * 2 + 1.6, 1e-6);
  EXPECT_NEAR(time_us(two, kAllToAll, 1e9), 20 + 15 * 3 + 0.4e6, 1e-3);
  EXPECT_NEAR(time_us(two, kSendReceive, 1e9), 20 + 3 + 0.1e6, 1e-3);
  EXPECT_NEAR(time_us(two, kGather, 1e9), 20 + 15 * 3 + 0.05e6, 1e-3);  // 8/16 come in
  // Sixteen at 0.80 of 150 GB/s on a switch: 15/16 pass each port, over NVLink.
  const Predictor dgx2 = modelled("dgx-2", 16);
  EXPECT_NEAR(time_us(dgx2, kAllToAll, 1e9), 20 + 15 * 3 + 0.9375e6 / 120, 1e-3);
  EXPECT_NEAR(time_us(dgx2, kSendReceive, 1e9), 20 + 3 + 1e6 / 120, 1e-3);
}

TEST(Predictor, TakesOtherFiguresOfTheSoftwareAfterAPrediction) {
  // The network's latency once, since messages to all peers are on their way at the same time; half
  // of the efficiency is twice 0.4 s a GB.
  Predictor two = modelled("p3dn-x2", 16, {.flows = 100});
  EXPECT_NEAR(time_us(two, kAllToAll, 1e9), 20 + 15 * 3 + 0.4e6, 1e-3);
  Protocol other = two.protocol();
  other.network_latency_us = 35;
  other.efficiency = 0.4;
  two.set_protocol(other);
  EXPECT_NEAR(time_us(two, kAllToAll, 1000), 20 + 15 * 2 + 35 + 3.2, 1e-6);
  EXPECT_NEAR(time_us(two, kAllToAll, 1e9), 20 + 15 * 3 + 35 + 0.8e6, 1e-3);
}

TEST(Predictor, GivesAPairAShareOfTheChannels) {
  // 32 channels for 16 ranks: two of 20 GB/s, until each has 16 MiB.
  const Predictor dgx2 = modelled("dgx-2", 16);
  EXPECT_NEAR(time_us(dgx2, kSendReceive, 1e6), 20 + 3 + 1e6 / 40e3, 1e-9);
  EXPECT_NEAR(time_us(dgx2, kSendReceive, 32.0 * 1024 * 1024), 23 + 838.8608, 1e-9);
  EXPECT_NEAR(time_us(dgx2, kSendReceive, 64.0 * 1024 * 1024), 23 + 838.8608, 1e-9);
}

TEST(Predictor, LosesTheShareOfEachMediumOfItsFlowsToo) {
  // NVLink loses a tenth and all else the usual fifth: of a flow of 1.25 GB/s 1.0 is left.
  EqualHosts machine{.host = cluster_of({"02", "20"}, 25, 1, 12.5, 1.25), .hosts = 2};
  machine.host.media.at(0).efficiency = 0.9;
  const auto seconds = [&](int flows) {
    const Predictor four(machine, {.ranks = 4, .flows = flows, .algorithm = Algorithm::Ring});
    return four.predict(kAllReduce, 1e15)->time_us / 1e12;
  };
  EXPECT_NEAR(seconds(1), 2 * 0.75 / 1.0, 1e-6);
  EXPECT_NEAR(seconds(2), 2 * 0.75 / 2.0, 1e-6);
  EXPECT_NEAR(seconds(100), 2 * 0.75 / 10.0, 1e-6);
  const Predictor pair(machine, {.ranks = 2, .algorithm = Algorithm::Ring});
  EXPECT_NEAR(pair.predict(kAllReduce, 1e15)->time_us / 1e12, 1 / 45.0, 1e-6);
}

TEST(Predictor, KnowsOneRankAsNothingToExchange) {
  EXPECT_FALSE(predictor("dgx-2", 1).predict(kAllReduce, kGiB));
  EXPECT_FALSE(predictor("dgx-2", 1).predict(kAllToAll, kGiB));
}

TEST(Predictor, TakesAThousandHosts) {
  EqualHosts machine = load_machine("p3dn-x2");
  machine.hosts = 1024;
  const Predictor many(machine, {.ranks = 8192});
  EXPECT_EQ(many.set().parts.size(), 1024U);
  EXPECT_NEAR(busbw(many, kAllReduce, 1e6 * kGiB), 1.0, 0.01);
  EXPECT_TRUE(many.predict(kAllToAll, kGiB));
}

/// So many hosts of a system with the first GPUs of each.
EqualHosts first_gpus(const std::string& system, int hosts, int gpus) {
  EqualHosts machine = load_machine(system);
  machine.host.devices.resize(to_size(gpus));
  machine.host.p2p.clear();
  machine.hosts = hosts;
  return machine;
}

TEST(Predictor, BoundsAllToAllByTheNarrowestOfThePathToTheNetworkAndNamesIt) {
  // B of a GPU x (n - 1)/(n - k) of k ranks on each host: its adapter is 50 wide or as it says.
  struct Row {
    const char* system;
    int gpus;
    double bound;
    const char* limit;
    double adapter = 0;
  };
  for (const Row& row : {
           Row{"dgx-h100", 1, 50, "InfiniBand NDR of host0/NIC0 and host1/NIC0"},
           Row{"dgx-h100", 4, 87.5, "the 4 InfiniBand NDR links of every host"},  // measured 83.7
           Row{"dgx-h100", 8, 93.75, "the 8 InfiniBand NDR links of every host"},
           Row{"mi300x", 2, 75, "InfiniBand NDR of host0/NIC0, host0/NIC1, host1/NIC0 and"},
           Row{"a3-megagpu-8g", 8, 46.875, "the 8 "},  // 25
           Row{"p4d", 8, 11.71875, "EFA"},             // 12.5 of two GPUs
           Row{"gb200-nvl72-x2", 72, 50 * 143.0 / 72, "the 72 InfiniBand NDR links of every host"},
           Row{"dgx-h100", 4, 110.25, "PCIe 5.0 x16 of every GPU", 100},
           Row{"hgx-h200", 8, 63 * 15.0 / 8, "PCIe 5.0 x16 of every GPU", 100},
       }) {
    SCOPED_TRACE(fmt::format("{} {}", row.system, row.gpus));
    EqualHosts machine = first_gpus(row.system, 2, row.gpus);
    for (Medium& medium : machine.host.media) {
      if (row.adapter > 0 && medium.kind == LinkKind::Network) medium.nominal_GBps = row.adapter;
    }
    const Predictor two(machine, {.ranks = 2 * row.gpus});
    EXPECT_NEAR(two.bound_GBps(kAllToAll).value(), row.bound, 1e-6);
    EXPECT_THAT(two.bottleneck(kAllToAll), HasSubstr(row.limit));
  }
}

TEST(Predictor, HasTheBoundsOfTheGraphOfAllHosts) {
  struct Row {
    const char* system;
    int hosts;
    int gpus;  ///< of each
    double allreduce;
  };
  for (const Row& row : {
           Row{"dgx-h100", 2, 8, 750},        // the switches and the cards: 400 x 2 x 15/16
           Row{"dgx-h100", 2, 4, 350},        // 200 x 2 x 7/8
           Row{"dgx-h100", 4, 4, 250},        // each host passes 2 x 3/4 of a size
           Row{"dgx-a100", 2, 8, 281.25},     // 300 twice in a host: 150 x 2 x 15/16
           Row{"mi300x", 2, 8, 420},          // 448 twice; 375 measured
           Row{"c4140-pcie", 3, 4, 14.4375},  // 15.75 twice
           Row{"p4d", 2, 8, 93.75},
       }) {
    SCOPED_TRACE(fmt::format("{} {} {}", row.system, row.hosts, row.gpus));
    const EqualHosts machine = first_gpus(row.system, row.hosts, row.gpus);
    const Graph graph = copy_hosts(machine.host, row.hosts);
    const auto ranks = static_cast<int>(device_count(graph));
    const Predictor all(machine, {.ranks = ranks});
    const Bound bound = bound_of(graph, prefix(ranks));
    EXPECT_NEAR(all.bound_GBps(kAllReduce).value(), row.allreduce, 1e-6);
    for (const Collective* collective : {&kAllReduce, &kAllGather, &kAllToAll}) {
      EXPECT_NEAR(collective_GBps(bound, collective->name).value_or(0),
                  all.bound_GBps(*collective).value(), 1e-6)
          << collective->name;
    }
  }
}

TEST(Predictor, NamesWhatLimitsEachCollective) {
  const auto limit = [](const EqualHosts& machine, int ranks, const Collective& collective) {
    return Predictor(machine, {.ranks = ranks}).bottleneck(collective);
  };
  const EqualHosts two = first_gpus("mi300x", 2, 8);
  EXPECT_EQ(limit(two, 16, kAllReduce), "xGMI (MI300) of every GPU") << "a tree's, twice";
  EXPECT_EQ(limit(two, 16, kAllGather), "the 8 InfiniBand NDR links of every host");
  EXPECT_EQ(limit(first_gpus("mi300x", 1, 8), 8, kAllReduce), "xGMI (MI300) of every GPU");
  EXPECT_EQ(limit(load_machine("dgx-h100"), 8, kAllToAll), "NVLink 4 of every GPU");
  EXPECT_EQ(limit(load_machine("dgx-h100"), 1, kAllReduce), "");
}

}  // namespace
}  // namespace busbar::topo
