// SPDX-License-Identifier: BSD-3-Clause
#include "harness/device_set.hpp"

#include <algorithm>
#include <numeric>

#include <gtest/gtest.h>

namespace busbar {
namespace {

/// A rank of a host, bound by us to a core unless said otherwise.
RankPlace place(char host, int core, int numa = 0) {
  RankPlace rank;
  rank.boot_id[0] = host;
  rank.core = core;
  rank.numa = numa;
  rank.bound_by_us = 1;
  rank.processor_mask[0] = 0xff;
  return rank;
}

std::string set_of(const std::vector<RankPlace>& places, const std::vector<int>& gpus = {}) {
  Placements placements;
  placements.ranks = places;
  std::vector<Device> devices;
  for (const int gpu : gpus) devices.push_back({.index = gpu});
  std::vector<int> ranks(places.size());
  std::iota(ranks.begin(), ranks.end(), 0);
  return device_set(placements, devices, ranks);
}

TEST(DeviceSet, IsTheCoresOfRanksThatAreBoundToSome) {
  EXPECT_EQ(set_of({place('a', 1), place('a', 0), place('a', 1), place('a', 4)}), "cores 0-1,4");
}

TEST(DeviceSet, IsTheNumaNodesOfRanksThatAreBoundToNoCore) {
  EXPECT_EQ(set_of({place('a', -1, 1), place('a', -1, 0)}), "numa 0-1");
  EXPECT_EQ(set_of({place('a', -1, 0), place('a', -1, 0)}), "numa 0");
}

TEST(DeviceSet, IsTheProcessorsOfRanksThatAreBoundToNothing) {
  RankPlace free = place('a', -1, 0);
  free.bound_by_us = 0;
  EXPECT_EQ(set_of({free, free}), "processors 0-7");
  free.processor_mask = {};
  free.processor_mask[1] = 5;
  EXPECT_EQ(set_of({free, free}), "processors 64,66");
}

TEST(DeviceSet, TellsEqualHostsOnceAndOthersInTurn) {
  EXPECT_EQ(set_of({place('a', 0), place('b', 0), place('a', 1), place('b', 1)}), "cores 0-1");
  EXPECT_EQ(set_of({place('a', 0), place('b', 2), place('a', 1), place('b', 3)}),
            "cores 0-1;cores 2-3");
}

TEST(DeviceSet, IsTheGpusWhereThereAreSome) {
  const std::vector<RankPlace> two_hosts{place('a', 0), place('a', 1), place('b', 0),
                                         place('b', 1)};
  EXPECT_EQ(set_of(two_hosts, {0, 1, 2, 3}), "0,1;2,3");
  EXPECT_EQ(set_of(two_hosts, {0, 1, 0, 1}), "0,1");
  EXPECT_EQ(set_of({place('a', 0), place('a', 0)}, {3, 0}), "0,3");
  EXPECT_EQ(set_of({place('a', 0), place('a', 0)}, {2, 2}), "2");  // shared
}

TEST(DeviceSet, IsOfTheRanksThatAreAskedFor) {
  Placements placements;
  placements.ranks = {place('a', 0), place('a', 1), place('a', 2), place('a', 3)};
  const std::vector<int> pair{3, 1};
  EXPECT_EQ(device_set(placements, {}, pair), "cores 1,3");
}

}  // namespace
}  // namespace busbar
