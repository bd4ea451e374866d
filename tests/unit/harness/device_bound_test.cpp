// SPDX-License-Identifier: BSD-3-Clause
#include "harness/device_bound.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/support/failure.hpp"
#include "topo/systems/system_file.hpp"

namespace busbar {
namespace {

using testing::HasSubstr;

/// A built-in system whose GPUs have UUIDs, as probes tell them.
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

TEST(DeviceBound, TakesWhatTheSwitchAddsForAllReduceOnly) {
  const std::vector<Device> all = devices_of({0, 1, 2, 3, 4, 5, 6, 7});
  const Collective gather{.name = "allgather", .nccl_name = "all_gather", .title = "all-gather"};
  EXPECT_NEAR(rate(device_bound(host_of("dgx-h100"), all, true, kRing)).value_or(0), 700, 1e-6);
  EXPECT_NEAR(rate(device_bound(host_of("dgx-h100"), all, true, gather)).value_or(0), 450, 1e-6);
}

TEST(DeviceBound, OfOtherCollectivesIsKnownBelowASwitchOnly) {
  const std::vector<Device> four = devices_of({0, 1, 2, 3});
  EXPECT_NEAR(rate(device_bound(host_of("dgx-a100"), four, true, kOther)).value_or(0), 300, 1e-6);
  const SetBound mesh = device_bound(host_of("dgx-1v"), four, true, kOther);
  EXPECT_EQ(rate(mesh), std::nullopt);
  EXPECT_EQ(mesh.kind, "");
  EXPECT_THAT(mesh.note, HasSubstr("all-to-all is not modelled"));
}

TEST(DeviceBound, IsNoneAndSaysWhyWhereNothingIsKnown) {
  const HostTopology host = host_of("dgx-1v");
  EXPECT_THAT(device_bound(host, devices_of({0, 1}), false, kRing).note, HasSubstr("network"));
  EXPECT_THAT(device_bound(host, devices_of({0, 9}), true, kRing).note, HasSubstr("does not show"));
  EXPECT_THAT(device_bound(host, devices_of({1, 1}), true, kRing).note, HasSubstr("share a GPU"));
  EXPECT_THAT(device_bound({.missing = "no driver"}, devices_of({0}), true, kRing).note,
              HasSubstr("no bound: no driver"));
  EXPECT_EQ(rate(device_bound(host, devices_of({3}), true, kRing)), std::nullopt);
}

TEST(DeviceBound, TellsTheChoiceAndItsReason) {
  HostTopology host = host_of("dgx-1v");
  host.choice =
      choose_among(host.graph, {0, 1, 2, 3, 4, 5, 6, 7}, 2, {.policy = topo::Policy::Best});
  EXPECT_THAT(device_bound(host, devices_of({0, 3}), true, kRing).note,
              HasSubstr("GPUs 0,3 (best of"));
}

TEST(ChooseAmong, TakesWhatMayBeTakenAndNumbersItAsTheMachineDoes) {
  const topo::Graph graph = host_of("dgx-1v").graph;
  const auto chosen = [&](const std::vector<int>& allowed, int count, topo::Selection wish) {
    return choose_among(graph, allowed, count, std::move(wish)).bound.devices;
  };
  EXPECT_EQ(chosen({4, 5, 6, 7}, 2, {.policy = topo::Policy::Best}), (std::vector<int>{4, 7}));
  EXPECT_EQ(chosen({2, 5, 7}, 2, {.policy = topo::Policy::Prefix}), (std::vector<int>{2, 5}));
  EXPECT_EQ(chosen({2, 5, 7}, 2, {topo::Policy::List, {7, 2}}), (std::vector<int>{7, 2}));
}

TEST(ChooseAmong, RefusesWhatIsHiddenOrAbsentOrTooLittle) {
  const topo::Graph graph = host_of("dgx-1v").graph;
  const auto refusal = [&](int count, topo::Selection wish) {
    return test::failure_of([&] {
             (void)choose_among(graph, {0, 1}, count, std::move(wish));
           })
        .message;
  };
  EXPECT_THAT(refusal(2, {topo::Policy::List, {0, 5}}),
              HasSubstr("GPU 5 is hidden by CUDA_VISIBLE_DEVICES"));
  EXPECT_THAT(refusal(2, {topo::Policy::List, {0, 8}}), HasSubstr("GPU 8 does not exist"));
  EXPECT_THAT(refusal(3, {.policy = topo::Policy::Best}),
              HasSubstr("3 ranks on a host that shows 2 GPUs"));
  EXPECT_THAT(refusal(2, {topo::Policy::List, {1}}), HasSubstr("--devices names 1 device"));
}

TEST(DeviceWish, IsTheDeviceOfThisRanksPlaceInTheChoice) {
  HostTopology host = host_of("dgx-1v");
  host.choice = choose_among(host.graph, {0, 1, 2, 3, 4, 5, 6, 7}, 2, {topo::Policy::List, {6, 2}});
  host.index = 1;
  EXPECT_STREQ(device_wish(host, Options{}).uuid.data(), "00000002aa");
  host.choice.reset();
  EXPECT_STREQ(device_wish(host, Options{}).uuid.data(), "");
}

}  // namespace
}  // namespace busbar
