// SPDX-License-Identifier: BSD-3-Clause
#include "harness/bounds.hpp"

#include "tests/unit/support/fake_communicator.hpp"
#include "tests/unit/support/thread_team.hpp"
#include "topo/systems/system_file.hpp"

namespace busbar {
namespace {

const HostBandwidth& limits() {
  static const HostBandwidth kLimits{{{.set = 2 * kMiB, .copy_GBps = 60, .reduce_GBps = 40},
                                      {.set = 64 * kMiB, .copy_GBps = 12, .reduce_GBps = 4}}};
  return kLimits;
}

/// The bound of a size beyond the caches, or 0.
double bound(std::string_view name, int ranks, bool in_place = false, Bytes size = kGiB,
             std::uint64_t slots = 1, const HostBandwidth& limits = busbar::limits()) {
  const BoundRow row{.collective = &test::collective(name),
                     .ranks = ranks,
                     .size = size,
                     .in_place = in_place,
                     .slots = slots};
  return host_bound_GBps(limits, row).value_or(0);
}

/// Bounds of collectives, out of place unless said otherwise.
TEST(HostBound, IsTheReductionTheCopyOrBothOfWhatAllRanksCanDoTogether) {
  EXPECT_DOUBLE_EQ(bound("allreduce", 2), 6);  // 2 / (1/12 + 1/4)
  EXPECT_DOUBLE_EQ(bound("allreduce", 16), 6);
  EXPECT_DOUBLE_EQ(bound("allreduce", 16, true), 6);
  EXPECT_DOUBLE_EQ(bound("reducescatter", 2), 4);
  EXPECT_DOUBLE_EQ(bound("reducescatter", 16, true), 4);
  EXPECT_DOUBLE_EQ(bound("reduce", 2), 8);  // two ranks add S bytes, not only the root
  EXPECT_DOUBLE_EQ(bound("reduce", 4), 4 * 4.0 / 3);
  for (const char* name : {"allgather", "alltoall"}) {
    EXPECT_DOUBLE_EQ(bound(name, 4, true), 12) << name;
    EXPECT_DOUBLE_EQ(bound(name, 4), 9) << name;  // a rank's own part is copied too
  }
  EXPECT_DOUBLE_EQ(bound("sendrecv", 4), 12);
  EXPECT_DOUBLE_EQ(bound("broadcast", 4), 12);        // the root copies to itself
  EXPECT_DOUBLE_EQ(bound("broadcast", 4, true), 16);  // four ranks write three copies
  for (const char* name : {"gather", "scatter"}) {
    EXPECT_DOUBLE_EQ(bound(name, 4, true), 48) << name;
    EXPECT_DOUBLE_EQ(bound(name, 4), 36) << name;
  }
}

TEST(HostBound, GoesByTheBytesThatARowTouches) {
  EXPECT_DOUBLE_EQ(bound("sendrecv", 2, false, 16 * kMiB), 12);  // 2 ranks, 2 buffers: 64 MiB
  EXPECT_DOUBLE_EQ(bound("sendrecv", 2, false, 16 * kMiB - 64), 60);
  EXPECT_DOUBLE_EQ(bound("allreduce", 4, true, 16 * kMiB), 6);
  EXPECT_DOUBLE_EQ(bound("allreduce", 4, true, 16 * kMiB - 64), 48);
  EXPECT_DOUBLE_EQ(bound("gather", 16, false, 32 * kMiB), 12 * 15);  // only the root has it all
  EXPECT_DOUBLE_EQ(bound("sendrecv", 2, false, kMiB), 60);
  EXPECT_DOUBLE_EQ(bound("sendrecv", 2, false, kMiB, 16), 12);  // rotates through 16 buffers
}

TEST(HostBound, IsKnownForEveryCollectiveButNotForOneRankOrWithoutLimits) {
  EXPECT_EQ(bound("allreduce", 1), 0);
  EXPECT_EQ(bound("allreduce", 2, false, kGiB, 1, {}), 0);
  for (const Collective* collective : measured_collectives()) {
    if (!collective->equal_parts) continue;
    EXPECT_GT(bound(collective->name, 3), 0) << collective->name;
  }
}

TEST(HostBound, IsOfTheFullestPortWherePartsDiffer) {
  Traffic traffic(4, "by hand");
  traffic.set(0, 0, 100);
  traffic.set(0, 1, 300);
  traffic.set(2, 1, 100);
  // Four ranks copy 500 elements, 400 at most of one, at 12 GB/s each, of which 400 pass rank 1's
  // port.
  const BoundRow row{
      .collective = &test::collective("alltoallv"), .ranks = 4, .size = kGiB, .traffic = &traffic};
  EXPECT_DOUBLE_EQ(host_bound_GBps(limits(), row).value_or(0), 4 * 12 * 400.0 / 500);
}

TEST(HostBoundNote, GivesWhatWasMeasuredAndWhatFollows) {
  const SetBound bound =
      host_bound("cores 0-1", 16, 32 * kMiB, test::collective("allreduce"), limits());
  EXPECT_EQ(bound.device_set, "cores 0-1");
  EXPECT_EQ(bound.kind, "host-memory");
  EXPECT_EQ(bound.note,
            "Host: 16 ranks on cores 0-1: copy 12.00 GB/s and reduce 4.00 GB/s per rank (memory), "
            "60.00 and 40.00 (cache); all-reduce at most 6.00 GB/s (memory)");
  EXPECT_EQ(bound.limit,
            "copy and reduce, GB/s of each of 16 ranks at once, by bytes in use: 60.00 and 40.00 "
            "from 2 MiB on, 12.00 and 4.00 from 64 MiB on");
  ASSERT_TRUE(bound.bus_GBps != nullptr);
  const BoundRow row{.collective = &test::collective("allreduce"), .ranks = 16, .size = kGiB};
  EXPECT_DOUBLE_EQ(bound.bus_GBps(row).value_or(0), 6);
}

/// A built-in system whose GPUs have UUIDs, as probes report them.
HostTopology host_of(const std::string& system) {
  HostTopology host{.graph = topo::load_system(system)};
  for (std::size_t i = 0; i < host.graph.devices.size(); ++i) {
    host.graph.nodes[static_cast<std::size_t>(host.graph.devices[i])].uuid =
        "GPU-0000000" + std::to_string(i) + "-aa";
  }
  return host;
}

Device device_of(int number) {
  Device device;
  const std::string uuid = "0000000" + std::to_string(number) + "aa";
  std::copy(uuid.begin(), uuid.end(), device.uuid.begin());
  return device;
}

std::vector<Device> devices_of(const std::vector<int>& numbers) {
  std::vector<Device> devices;
  for (const int number : numbers) devices.push_back(device_of(number));
  return devices;
}

const Collective kRing{.name = "allreduce", .nccl_name = "all_reduce", .title = "all-reduce"};
const Collective kOther{.name = "alltoall", .nccl_name = "alltoall", .title = "all-to-all"};

std::optional<double> rate(const SetBound& bound) {
  return bound.bus_GBps ? bound.bus_GBps({}) : std::nullopt;
}

TEST(DeviceBound, IsTheRingBoundOfTheDevicesThatWereTaken) {
  const SetBound bound = device_bound(host_of("dgx-1v"), devices_of({0, 1, 2, 3}), true, kRing);
  EXPECT_EQ(bound.device_set, "0,1,2,3");
  EXPECT_EQ(bound.kind, "nvlink");
  EXPECT_NEAR(rate(bound).value_or(0), 100, 1e-6);
  EXPECT_THAT(bound.note, HasSubstr("all-reduce at most 100 GB/s over nvlink, limited by"));
}

TEST(DeviceBound, OfOtherCollectivesIsKnownBelowASwitchOnly) {
  const std::vector<Device> four = devices_of({0, 1, 2, 3});
  EXPECT_NEAR(rate(device_bound(host_of("dgx-a100"), four, true, kOther)).value_or(0), 300, 1e-6);
  const SetBound mesh = device_bound(host_of("dgx-1v"), four, true, kOther);
  EXPECT_EQ(rate(mesh), std::nullopt);
  EXPECT_EQ(mesh.kind, "");
  EXPECT_THAT(mesh.note, HasSubstr("all-to-all is not modelled"));
}

TEST(DeviceBound, IsNoneAndGivesTheReasonWhereNothingIsKnown) {
  const HostTopology host = host_of("dgx-1v");
  const auto note = [](const HostTopology& of, const std::vector<int>& numbers, bool one_host) {
    return device_bound(of, devices_of(numbers), one_host, kRing).note;
  };
  EXPECT_THAT(note(host, {0, 1}, false), HasSubstr("network"));
  EXPECT_THAT(note(host, {0, 9}, true), HasSubstr("does not show"));
  EXPECT_THAT(note(host, {1, 1}, true), HasSubstr("share a GPU"));
  EXPECT_THAT(note({.missing = "no driver"}, {0}, true), HasSubstr("no bound: no driver"));
  EXPECT_EQ(rate(device_bound(host, devices_of({3}), true, kRing)), std::nullopt);
}

TEST(DeviceBound, NamesTheChoiceAndItsReason) {
  HostTopology host = host_of("dgx-1v");
  host.choice =
      choose_among(host.graph, {0, 1, 2, 3, 4, 5, 6, 7}, 2, {.policy = topo::Policy::Best});
  EXPECT_THAT(device_bound(host, devices_of({0, 3}), true, kRing).note,
              HasSubstr("GPUs 0,3 (best of"));
}

TEST(ChooseAmong, TakesWhatMayBeTakenAndNumbersItAsTheMachineDoes) {
  const topo::Graph graph = host_of("dgx-1v").graph;
  const auto chosen = [&](const std::vector<int>& allowed, int count, topo::Selection request) {
    return choose_among(graph, allowed, count, std::move(request)).bound.devices;
  };
  EXPECT_EQ(chosen({4, 5, 6, 7}, 2, {.policy = topo::Policy::Best}), (std::vector<int>{4, 7}));
  EXPECT_EQ(chosen({2, 5, 7}, 2, {.policy = topo::Policy::Prefix}), (std::vector<int>{2, 5}));
  EXPECT_EQ(chosen({2, 5, 7}, 2, {topo::Policy::List, {7, 2}}), (std::vector<int>{7, 2}));
}

TEST(ChooseAmong, RefusesWhatIsHiddenOrAbsentOrTooLittle) {
  const topo::Graph graph = host_of("dgx-1v").graph;
  const auto expect_refused = [&](int count, const topo::Selection& request, const char* words) {
    EXPECT_TRUE(test::failure_of([&] {
                  (void)choose_among(graph, {0, 1}, count, request);
                }).says(words));
  };
  expect_refused(2, {topo::Policy::List, {0, 5}}, "GPU 5 is hidden by CUDA_VISIBLE_DEVICES");
  expect_refused(2, {topo::Policy::List, {0, 8}}, "GPU 8 does not exist");
  expect_refused(3, {.policy = topo::Policy::Best}, "3 ranks on a host that shows 2 GPUs");
  expect_refused(2, {topo::Policy::List, {1}}, "--devices names 1 device");
}

TEST(DeviceRequest, IsTheDeviceOfThisRanksIndexInTheChoice) {
  HostTopology host = host_of("dgx-1v");
  host.choice = choose_among(host.graph, {0, 1, 2, 3, 4, 5, 6, 7}, 2, {topo::Policy::List, {6, 2}});
  host.index = 1;
  EXPECT_STREQ(device_request(host, Options{}).uuid.data(), "00000002aa");
  host.choice.reset();
  EXPECT_STREQ(device_request(host, Options{}).uuid.data(), "");
}

constexpr std::size_t kCount = (2 * kCopyBlock + 4 * 1001) / sizeof(float);  // no whole blocks

std::vector<float> rising(float first) {
  std::vector<float> values(kCount);
  for (std::size_t i = 0; i < kCount; ++i) values[i] = first + static_cast<float>(i);
  return values;
}

/// What becomes of 1, 2, 3, ... by 10, 11, 12, ...
std::vector<float> result_of(MemoryKernel kernel) {
  std::vector<float> to = rising(1);
  const std::vector<float> from = rising(10);
  run_kernel(kernel, std::as_writable_bytes(std::span(to)), std::as_bytes(std::span(from)));
  return to;
}

TEST(MemoryKernels, CopyEveryByteAndAddEveryElement) {
  EXPECT_EQ(result_of(MemoryKernel::CopyWhole), rising(10));
  EXPECT_EQ(result_of(MemoryKernel::CopyBlocks), rising(10));
  const std::vector<float> sums = result_of(MemoryKernel::Add);
  EXPECT_EQ(sums.front(), 11.0F);
  EXPECT_EQ(sums.back(), 11.0F + 2.0F * static_cast<float>(kCount - 1));
  EXPECT_EQ(sums[kCount - 2], 11.0F + 2.0F * static_cast<float>(kCount - 2));
}

TEST(HostBandwidth, IsThatOfTheLargestSetThatIsNotLargerOrTheFastest) {
  const HostBandwidth limits{{{.set = 256 * kKiB, .copy_GBps = 40, .reduce_GBps = 30},
                              {.set = 8 * kMiB, .copy_GBps = 20, .reduce_GBps = 15},
                              {.set = 64 * kMiB, .copy_GBps = 8, .reduce_GBps = 6}}};
  EXPECT_DOUBLE_EQ(limits.of(64 * kMiB).copy_GBps, 8);
  EXPECT_DOUBLE_EQ(limits.of(kGiB).reduce_GBps, 6);
  EXPECT_DOUBLE_EQ(limits.of(64 * kMiB - 1).copy_GBps, 20);
  EXPECT_DOUBLE_EQ(limits.of(8 * kMiB).reduce_GBps, 15);
  EXPECT_DOUBLE_EQ(limits.of(256 * kKiB).copy_GBps, 40);
  EXPECT_DOUBLE_EQ(limits.of(8).copy_GBps, 40);
}

/// In KiB; of a rank no more than it has, and 64 MiB.
TEST(SetsToMeasure, LieNextToTheProcessorsInTheCacheAndBeyondIt) {
  const auto sets = [](Bytes cache, int processors, Bytes memory) {
    return mapped(sets_to_measure(cache, processors, memory), [](Bytes set) { return set / kKiB; });
  };
  EXPECT_THAT(sets(32 * kMiB, 2, kGiB), ElementsAre(256, 8192, 65536));
  EXPECT_THAT(sets(32 * kMiB, 16, kGiB), ElementsAre(2048, 8192, 65536));
  EXPECT_THAT(sets(kMiB, 4, kGiB), ElementsAre(512, 2048));
  EXPECT_THAT(sets(0, 2, kGiB), ElementsAre(256, 131072));
  EXPECT_THAT(sets(32 * kMiB, 2, 2 * kMiB), ElementsAre(256, 4096));
  EXPECT_EQ(sets(kGiB, 2, kGiB).back(), 131072U);
  EXPECT_THAT(sets(32 * kMiB, 2, 100), IsEmpty());
}

TEST(TimeOfAll, IsTheSlowestRanksOrAllTheirWorkWhereTheyShareProcessors) {
  EXPECT_DOUBLE_EQ(time_of_all({0.1, 0.4, 0.2}, 3).count(), 0.4);
  EXPECT_DOUBLE_EQ(time_of_all({0.1, 0.4, 0.2}, 64).count(), 0.4);
  EXPECT_DOUBLE_EQ(time_of_all(std::vector<double>(16, 0.1), 2).count(), 0.8);
  EXPECT_DOUBLE_EQ(time_of_all({0.1, 0.2}, 0.5).count(), 0.6);
  EXPECT_GT(time_of_all({0, 0}, 2).count(), 0);
}

TEST(MeasureHostLimits, GivesTheSameFallingRatesToAllRanksAndTakesOneBuffer) {
  constexpr int kRanks = 2;
  std::array<HostBandwidth, kRanks> found;
  test::on_ranks(kRanks, [&](test::ThreadBootstrap& world) {
    test::FakeCommunicator communicator;
    found.at(static_cast<std::size_t>(world.rank())) = measure_host_bandwidth(
        world, communicator, {.largest_cache = kMiB, .processors = 2}, 64 * kMiB);
    EXPECT_EQ(communicator.allocated, kMiB + kSourceSkew);  // half of the larger set
  });
  const auto& rates = found[0].rates;
  ASSERT_THAT(mapped(rates, &MemoryRates::set), ElementsAre(256 * kKiB, 2 * kMiB));
  EXPECT_GT(rates[1].copy_GBps, 0);
  EXPECT_GT(rates[1].reduce_GBps, 0);
  EXPECT_GE(rates[0].copy_GBps, rates[1].copy_GBps);
  EXPECT_GE(rates[0].reduce_GBps, rates[1].reduce_GBps);
  for (std::size_t i = 0; i < rates.size(); ++i) {
    EXPECT_DOUBLE_EQ(found[1].rates.at(i).copy_GBps, rates[i].copy_GBps);
    EXPECT_DOUBLE_EQ(found[1].rates.at(i).reduce_GBps, rates[i].reduce_GBps);
  }
}

TEST(MeasureHostLimits, GivesNothingWhereThereIsNoMemory) {
  test::on_ranks(1, [](test::ThreadBootstrap& world) {
    test::FakeCommunicator communicator;
    EXPECT_TRUE(
        measure_host_bandwidth(world, communicator, {.largest_cache = kMiB}, 0).rates.empty());
  });
}

}  // namespace
}  // namespace busbar
