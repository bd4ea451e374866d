// SPDX-License-Identifier: BSD-3-Clause
#include "backends/nccl/devices.hpp"

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

void expect_refused(std::initializer_list<std::string> words, const Ranks& ranks) {
  test::expect_failure(Status::Usage, words, [&] { (void)assign_devices(ranks); });
}

Ranks sharing(Ranks ranks) {
  for (VisibleDevices& rank : ranks) rank.shares = 1;
  return ranks;
}
Ranks from_device(int first, Ranks ranks) {
  for (VisibleDevices& rank : ranks) rank.first = first;
  return ranks;
}

struct Case {
  const char* what;
  Ranks ranks;
  Numbers indices;
  Numbers ranks_on_device{};  // empty: one on each
};

TEST(AssignDevices, GivesRanksTheirOwnDevicesOrLetsThemShareInTurn) {
  const VisibleDevices x = rank_of('x', "ab");
  const VisibleDevices y = rank_of('y', "cd");
  const VisibleDevices x1 = rank_of('x', "a");
  const VisibleDevices y1 = rank_of('y', "b");
  Ranks requested(3, rank_of('a', "wxyz"));
  requested[0].wanted = 3;
  requested[1].wanted = 1;
  requested[2].wanted = 0;
  const Case cases[] = {
      {"as many as there are", Ranks(4, rank_of('x', "abcd")), {0, 1, 2, 3}},
      {"from the third on", from_device(2, Ranks(2, rank_of('x', "abcd"))), {2, 3}},
      {"a launcher shows each rank its own as the first",
       {rank_of('x', "a"), rank_of('x', "b"), rank_of('x', "c")},
       {0, 0, 0}},
      {"another mask", {rank_of('x', "ba"), rank_of('x', "abc"), rank_of('x', "abc")}, {0, 0, 2}},
      {"two hosts in turn", {x, y, x, y}, {0, 0, 1, 1}},
      {"the devices that are requested", requested, {3, 1, 0}},
      {"shared", sharing(Ranks(5, x)), {0, 1, 0, 1, 0}, {3, 2, 3, 2, 3}},
      {"no need to share", sharing(Ranks(2, x)), {0, 1}},
      {"shared from the second on",
       from_device(1, sharing(Ranks(4, rank_of('x', "abc")))),
       {1, 2, 1, 2},
       {2, 2, 2, 2}},
      {"shared on two hosts", sharing({x1, y1, x1, y1, y1}), {0, 0, 0, 0, 0}, {2, 3, 2, 3, 3}},
  };
  for (const Case& one : cases) {
    SCOPED_TRACE(one.what);
    const std::vector<Device> assignments = assign_devices(one.ranks);
    EXPECT_EQ(mapped(assignments, &Device::index), one.indices);
    const Numbers alone(one.ranks.size(), 1);
    EXPECT_EQ(mapped(assignments, &Device::ranks_on_device),
              one.ranks_on_device.empty() ? alone : one.ranks_on_device);
  }
}

TEST(AssignDevices, RefusesADeviceThatIsNotThere) {
  const Ranks ranks = from_device(4, {rank_of('x', "abcd")});
  for (const Ranks& each : {ranks, sharing(ranks)}) {
    expect_refused({"NCCL_TESTS_DEVICE=4: rank 0 sees 4 GPUs; give 0 to 3"}, each);
  }
  expect_refused({}, sharing({rank_of('x', "a"), rank_of('x', "")}));
}

TEST(AssignDevices, RefusesMoreRanksThanDevicesAndSuggestsHowToGoOn) {
  const VisibleDevices two = rank_of('x', "ab");
  const VisibleDevices one = rank_of('y', "c");
  expect_refused({"rank 2 ", "3 ranks", "2 GPUs", "start 2 ranks", "--share-gpus"}, Ranks(3, two));
  // Of the host that has too many, and devices from the first one on.
  expect_refused({"rank 3 ", ": 2 ranks on its host", "shows it 1 GPU;", "start 1 rank a"},
                 {two, two, one, one});
  expect_refused({"shows it 1 GPU;"}, from_device(2, Ranks(2, rank_of('x', "abc"))));
}

TEST(AssignDevices, CountsTheRanksOnInstancesOfOneGpu) {
  Ranks ranks{rank_of('x', "ab"), rank_of('x', "ab"), rank_of('y', "cd")};
  for (VisibleDevices& rank : ranks) {
    rank.buses[0].front() = rank.buses[1].front() = '1';  // MIG: two devices, one PCI address
  }
  const std::vector<Device> assignments = assign_devices(ranks);
  EXPECT_EQ(mapped(assignments, &Device::ranks_on_device), Numbers(3, 1));
  EXPECT_EQ(mapped(assignments, &Device::ranks_on_gpu), (Numbers{2, 2, 1})) << "y: another host";
}

}  // namespace
}  // namespace busbar
