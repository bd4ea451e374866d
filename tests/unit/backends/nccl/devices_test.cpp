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

using Numbers = std::vector<int>;

Numbers indices(const Ranks& ranks) {
  Numbers indices;
  for (const Assignment& one : assign_devices(ranks)) indices.push_back(one.index);
  return indices;
}

Numbers ranks_on_device(const Ranks& ranks) {
  Numbers counts;
  for (const Assignment& one : assign_devices(ranks)) counts.push_back(one.ranks_on_device);
  return counts;
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

TEST(AssignDevices, GivesEveryRankADeviceOfItsOwnFromTheFirstOrTheRequestedOneOn) {
  const Ranks ranks(4, rank_of('x', "abcd"));
  EXPECT_EQ(indices(ranks), (Numbers{0, 1, 2, 3}));
  EXPECT_EQ(ranks_on_device(ranks), (Numbers{1, 1, 1, 1}));
  EXPECT_EQ(indices(Ranks(2, rank_of('x', "abcdefgh"))), (Numbers{0, 1}));
  EXPECT_EQ(indices(from_device(2, Ranks(2, rank_of('x', "abcd")))), (Numbers{2, 3}));
}

TEST(AssignDevices, KnowsADeviceThatALauncherShowsToEachRankAsItsFirst) {
  const Ranks ranks{rank_of('x', "a"), rank_of('x', "b"), rank_of('x', "c")};
  EXPECT_EQ(indices(ranks), (Numbers{0, 0, 0}));
  EXPECT_EQ(ranks_on_device(ranks), (Numbers{1, 1, 1}));
}

TEST(AssignDevices, SkipsWhatARankUnderAnotherMaskHasTaken) {
  const Ranks ranks{rank_of('x', "ba"), rank_of('x', "abc"), rank_of('x', "abc")};
  EXPECT_EQ(indices(ranks), (Numbers{0, 0, 2}));
}

TEST(AssignDevices, BeginsAgainOnEveryHostInAnyOrderOfRanks) {
  const VisibleDevices x = rank_of('x', "ab");
  const VisibleDevices y = rank_of('y', "cd");
  EXPECT_EQ(indices({x, x, y, y}), (Numbers{0, 1, 0, 1}));
  EXPECT_EQ(indices({x, y, x, y}), (Numbers{0, 0, 1, 1}));
}

TEST(AssignDevices, RefusesADeviceThatIsNotThere) {
  for (const bool share : {false, true}) {
    Ranks ranks = from_device(4, Ranks(1, rank_of('x', "abcd")));
    if (share) ranks = sharing(ranks);
    EXPECT_EQ(refusal(ranks).status, Status::Usage);
    EXPECT_EQ(refusal(ranks).message, "NCCL_TESTS_DEVICE=4: rank 0 sees 4 GPUs; give 0 to 3");
  }
}

TEST(AssignDevices, RefusesMoreRanksThanDevicesAndSuggestsHowToGoOn) {
  EXPECT_EQ(refusal(Ranks(3, rank_of('x', "ab"))).status, Status::Usage);
  for (const char* text : {"rank 2 ", "3 ranks", "2 GPUs", "start 2 ranks", "--share-gpus"}) {
    EXPECT_TRUE(refusal(Ranks(3, rank_of('x', "ab"))).says(text)) << text;
  }
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

TEST(AssignDevices, SharesInTurnOnEachHostWhereThatIsRequestedAndDevicesAreTooFew) {
  const Ranks ranks = sharing(Ranks(5, rank_of('x', "ab")));
  EXPECT_EQ(indices(ranks), (Numbers{0, 1, 0, 1, 0}));
  EXPECT_EQ(ranks_on_device(ranks), (Numbers{3, 2, 3, 2, 3}));
  EXPECT_EQ(ranks_on_device(sharing(Ranks(2, rank_of('x', "ab")))), (Numbers{1, 1}));
  EXPECT_EQ(indices(from_device(1, sharing(Ranks(4, rank_of('x', "abc"))))), (Numbers{1, 2, 1, 2}));
  const VisibleDevices x = rank_of('x', "a");
  const VisibleDevices y = rank_of('y', "b");
  EXPECT_EQ(ranks_on_device(sharing({x, y, x, y, y})), (Numbers{2, 3, 2, 3, 3}));
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

TEST(NoDevice, GivesTheReasonInOneLineWhereThereIsNone) {
  const auto reason = no_device();
  if (!reason) GTEST_SKIP() << "this machine has a device";
  EXPECT_TRUE(reason->starts_with("no CUDA device")) << *reason;
  EXPECT_EQ(reason->find('\n'), std::string::npos);
}

TEST(AssignDevices, GivesEveryRankTheDeviceThatItRequests) {
  Ranks ranks{rank_of('a', "wxyz"), rank_of('a', "wxyz"), rank_of('a', "wxyz")};
  ranks[0].wanted = 3;
  ranks[1].wanted = 1;
  ranks[2].wanted = 0;
  EXPECT_EQ(indices(ranks), (Numbers{3, 1, 0}));
  EXPECT_EQ(ranks_on_device(ranks), (Numbers{1, 1, 1}));
}

}  // namespace
}  // namespace busbar
