// SPDX-License-Identifier: BSD-3-Clause
#include "backends/nccl/devices.hpp"

#include <string>

#include <gtest/gtest.h>

#include "tests/unit/support/failure.hpp"

namespace busbar {
namespace {

/// A rank of `host` that sees these devices, each a letter.
VisibleDevices rank_of(char host, std::string_view devices) {
  VisibleDevices seen{.count = static_cast<int>(devices.size())};
  seen.host.front() = host;
  for (std::size_t i = 0; i < devices.size(); ++i) seen.uuids.at(i).front() = devices[i];
  return seen;
}

using Ranks = std::vector<VisibleDevices>;

std::vector<int> indices(const Ranks& ranks) {
  std::vector<int> indices;
  for (const Assignment& assignment : assign_devices(ranks)) indices.push_back(assignment.index);
  return indices;
}

std::vector<int> ranks_on_device(const Ranks& ranks) {
  std::vector<int> ranks_on_device;
  for (const Assignment& assignment : assign_devices(ranks))
    ranks_on_device.push_back(assignment.ranks_on_device);
  return ranks_on_device;
}

test::Failure refusal(const Ranks& ranks) {
  return test::failure_of([&] { (void)assign_devices(ranks); });
}

Ranks sharing(Ranks ranks) {
  for (VisibleDevices& rank : ranks) rank.shares = 1;
  return ranks;
}

Ranks from_device(int first, Ranks ranks) {
  for (VisibleDevices& rank : ranks) rank.first = first;
  return ranks;
}

TEST(AssignDevices, GivesEveryRankADeviceOfItsOwn) {
  const Ranks ranks(4, rank_of('x', "abcd"));
  EXPECT_EQ(indices(ranks), (std::vector<int>{0, 1, 2, 3}));
  EXPECT_EQ(ranks_on_device(ranks), (std::vector<int>{1, 1, 1, 1}));
}

TEST(AssignDevices, LeavesDevicesThatNoRankNeeds) {
  EXPECT_EQ(indices(Ranks(2, rank_of('x', "abcdefgh"))), (std::vector<int>{0, 1}));
}

TEST(AssignDevices, KnowsADeviceThatALauncherShowsToEachRankAsItsFirst) {
  const Ranks ranks{rank_of('x', "a"), rank_of('x', "b"), rank_of('x', "c")};
  EXPECT_EQ(indices(ranks), (std::vector<int>{0, 0, 0}));
  EXPECT_EQ(ranks_on_device(ranks), (std::vector<int>{1, 1, 1}));
}

TEST(AssignDevices, SkipsWhatARankUnderAnotherMaskHasTaken) {
  const Ranks ranks{rank_of('x', "ba"), rank_of('x', "abc"), rank_of('x', "abc")};
  EXPECT_EQ(indices(ranks), (std::vector<int>{0, 0, 2}));
}

TEST(AssignDevices, BeginsAnewOnEveryHost) {
  const Ranks ranks{rank_of('x', "ab"), rank_of('x', "ab"), rank_of('y', "cd"), rank_of('y', "cd")};
  EXPECT_EQ(indices(ranks), (std::vector<int>{0, 1, 0, 1}));
}

TEST(AssignDevices, TakesHostsInAnyOrderOfRanks) {
  const Ranks ranks{rank_of('x', "ab"), rank_of('y', "cd"), rank_of('x', "ab"), rank_of('y', "cd")};
  EXPECT_EQ(indices(ranks), (std::vector<int>{0, 0, 1, 1}));
}

TEST(AssignDevices, BeginsWithTheDeviceThatWasAskedFor) {
  EXPECT_EQ(indices(from_device(2, Ranks(2, rank_of('x', "abcd")))), (std::vector<int>{2, 3}));
}

TEST(AssignDevices, RefusesADeviceThatIsNotThere) {
  for (const bool share : {false, true}) {
    Ranks ranks = from_device(4, Ranks(1, rank_of('x', "abcd")));
    if (share) ranks = sharing(ranks);
    EXPECT_EQ(refusal(ranks).status, Status::Usage);
    EXPECT_EQ(refusal(ranks).message, "NCCL_TESTS_DEVICE=4: rank 0 sees 4 GPUs; give 0 to 3");
  }
}

TEST(AssignDevices, RefusesMoreRanksThanDevicesAndTellsHowToGoOn) {
  EXPECT_EQ(refusal(Ranks(3, rank_of('x', "ab"))).status, Status::Usage);
  EXPECT_EQ(refusal(Ranks(3, rank_of('x', "ab"))).message,
            "rank 2 has no GPU of its own: 3 ranks on its host, which shows it 2 GPUs; start 2 "
            "ranks a host, or let ranks share GPUs by --share-gpus");
}

TEST(AssignDevices, CountsTheRanksOfTheHostThatHasTooMany) {
  const Ranks ranks{rank_of('x', "ab"), rank_of('x', "ab"), rank_of('y', "c"), rank_of('y', "c")};
  EXPECT_TRUE(refusal(ranks).message.starts_with(
      "rank 3 has no GPU of its own: 2 ranks on its host, which shows it 1 GPU; start 1 rank a"))
      << refusal(ranks).message;
}

TEST(AssignDevices, CountsOnlyDevicesFromTheFirstOneOn) {
  const Ranks ranks = from_device(2, Ranks(2, rank_of('x', "abc")));
  EXPECT_TRUE(refusal(ranks).says("which shows it 1 GPU;")) << refusal(ranks).message;
}

TEST(AssignDevices, LetsRanksShareInTurnWhereTheyWish) {
  const Ranks ranks = sharing(Ranks(5, rank_of('x', "ab")));
  EXPECT_EQ(indices(ranks), (std::vector<int>{0, 1, 0, 1, 0}));
  EXPECT_EQ(ranks_on_device(ranks), (std::vector<int>{3, 2, 3, 2, 3}));
}

TEST(AssignDevices, SharesNothingWhereDevicesSuffice) {
  EXPECT_EQ(ranks_on_device(sharing(Ranks(2, rank_of('x', "ab")))), (std::vector<int>{1, 1}));
}

TEST(AssignDevices, SharesFromTheFirstDeviceOn) {
  const Ranks ranks = from_device(1, sharing(Ranks(4, rank_of('x', "abc"))));
  EXPECT_EQ(indices(ranks), (std::vector<int>{1, 2, 1, 2}));
}

TEST(AssignDevices, SharesOnEachHostByItself) {
  const Ranks ranks = sharing({rank_of('x', "a"), rank_of('y', "b"), rank_of('x', "a"),
                               rank_of('y', "b"), rank_of('y', "b")});
  EXPECT_EQ(ranks_on_device(ranks), (std::vector<int>{2, 3, 2, 3, 3}));
}

TEST(AssignDevices, RefusesARankThatSeesNoDevice) {
  const Ranks ranks = sharing({rank_of('x', "a"), rank_of('x', "")});
  EXPECT_EQ(refusal(ranks).status, Status::Usage);
}

TEST(AssignDevices, CountsTheRanksOnInstancesOfOneGpu) {
  Ranks ranks{rank_of('x', "ab"), rank_of('x', "ab"), rank_of('y', "cd")};
  for (VisibleDevices& rank : ranks) {
    rank.buses[0].front() = '1';
    rank.buses[1].front() = '1';  // MIG: two devices, one PCI address
  }
  const std::vector<Assignment> assignments = assign_devices(ranks);
  EXPECT_EQ(assignments[0].ranks_on_device, 1);
  EXPECT_EQ(assignments[1].ranks_on_device, 1);
  EXPECT_EQ(assignments[0].ranks_on_gpu, 2);
  EXPECT_EQ(assignments[1].ranks_on_gpu, 2);
  EXPECT_EQ(assignments[2].ranks_on_gpu, 1);  // another host
}

TEST(NoDevice, SaysInOneLineWhyWhereThereIsNone) {
  const auto reason = no_device();
  if (!reason) GTEST_SKIP() << "this machine has a device";
  EXPECT_TRUE(reason->starts_with("no CUDA device")) << *reason;
  EXPECT_EQ(reason->find('\n'), std::string::npos);
}

TEST(AssignDevices, GivesEveryRankTheDeviceThatItWants) {
  Ranks ranks{rank_of('a', "wxyz"), rank_of('a', "wxyz"), rank_of('a', "wxyz")};
  ranks[0].wanted = 3;
  ranks[1].wanted = 1;
  ranks[2].wanted = 0;
  EXPECT_EQ(indices(ranks), (std::vector<int>{3, 1, 0}));
  EXPECT_EQ(ranks_on_device(ranks), (std::vector<int>{1, 1, 1}));
}

}  // namespace
}  // namespace busbar
