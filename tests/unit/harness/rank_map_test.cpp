// SPDX-License-Identifier: BSD-3-Clause
#include "harness/rank_map.hpp"

#include <numeric>

#include "tests/unit/support/fake_bootstrap.hpp"

namespace busbar {
namespace {

/// A rank on a host of `processors` processors, all of which it may use.
RankInfo rank_on(const std::string& host, unsigned processors, Bytes memory = 16 * kGiB) {
  RankInfo place;
  copy_text(host, place.host);
  copy_text("boot of " + host, place.boot_id);
  place.processors = static_cast<int>(processors);
  for (unsigned i = 0; i < processors; ++i) place.processor_mask.set(i);
  place.memory_available = memory;
  place.last_level_cache = 32 * kMiB;
  return place;
}

std::vector<RankInfo> ranks_on(const std::string& host, unsigned processors, std::size_t count) {
  return std::vector<RankInfo>(count, rank_on(host, processors));
}

TEST(SummarizeRanks, NoticesThatOneRankIsTooMany) {
  const RankMap fitting = summarize_ranks(ranks_on("vm", 4, 4));
  EXPECT_FALSE(fitting.oversubscribed);
  EXPECT_EQ(fitting.oversubscription, "");
  EXPECT_EQ(fitting.hosts, 1);
  EXPECT_EQ(fitting.most_ranks_per_host, 4);
  EXPECT_EQ(fitting.ranks.size(), 4U);
  const RankMap crowded = summarize_ranks(ranks_on("vm", 2, 3));
  EXPECT_TRUE(crowded.oversubscribed);
  EXPECT_EQ(crowded.oversubscription, "3 ranks on 2 processors of host vm");
}

TEST(SummarizeRanks, CountsTheProcessorsOfTheSmallestHostAndHalvesOfTheirTime) {
  std::vector<RankInfo> ranks = ranks_on("large", 8, 2);
  EXPECT_DOUBLE_EQ(summarize_ranks(ranks).processors, 8);
  ranks.push_back(rank_on("small", 4));
  EXPECT_DOUBLE_EQ(summarize_ranks(ranks).processors, 4);
  for (RankInfo& place : ranks) place.processor_quota = 1.5;
  EXPECT_DOUBLE_EQ(summarize_ranks(ranks).processors, 1.5);
}

TEST(SummarizeRanks, CountsEveryProcessorThatSomeRankMayUse) {
  std::vector<RankInfo> bound = ranks_on("vm", 4, 4);
  for (unsigned i = 0; i < bound.size(); ++i) bound[i].processor_mask = std::uint64_t{1} << i;
  EXPECT_FALSE(summarize_ranks(bound).oversubscribed);
  for (RankInfo& rank : bound) rank.processor_mask = 1;
  EXPECT_EQ(summarize_ranks(bound).oversubscription, "4 ranks on 1 processor of host vm");
  std::vector<RankInfo> many = ranks_on("big", 64, 100);
  for (RankInfo& rank : many) rank.processor_mask |= rank.processor_mask << 64;
  EXPECT_FALSE(summarize_ranks(many).oversubscribed);
}

TEST(SummarizeRanks, ObeysAQuotaOfTheCgroup) {
  const auto oversubscription = [](double quota) {
    std::vector<RankInfo> ranks = ranks_on("pod", 64, 4);
    for (RankInfo& rank : ranks) rank.processor_quota = quota;
    return summarize_ranks(ranks).oversubscription;
  };
  EXPECT_EQ(oversubscription(4.0), "");
  EXPECT_EQ(oversubscription(3.9), "4 ranks on 3 processors of host pod");
  EXPECT_EQ(oversubscription(0.5), "4 ranks on 1 processor of host pod");
}

TEST(SummarizeRanks, DistinguishesHostsByTheirKernelNotByTheirNode) {
  std::vector<RankInfo> ranks = ranks_on("a", 4, 4);
  ranks[2].node = ranks[3].node = 1;
  EXPECT_EQ(summarize_ranks(ranks).hosts, 1);
  const std::vector<RankInfo> others = ranks_on("b", 2, 3);
  ranks.insert(ranks.end(), others.begin(), others.end());
  const RankMap places = summarize_ranks(ranks);
  EXPECT_EQ(places.hosts, 2);
  EXPECT_EQ(places.most_ranks_per_host, 4);
  EXPECT_TRUE(places.oversubscribed);
  EXPECT_EQ(places.oversubscription, "3 ranks on 2 processors of host b");
}

TEST(SummarizeRanks, FindsTheLeastMemoryOfARankAndTheLargestCache) {
  std::vector<RankInfo> ranks(4, rank_on("large", 8, 64 * kGiB));
  ranks.push_back(rank_on("small", 8, 12 * kGiB));
  ranks.push_back(rank_on("small", 8, 10 * kGiB));  // looked a moment later
  EXPECT_EQ(summarize_ranks(ranks).least_memory, 5 * kGiB);
  ranks[1].last_level_cache = 256 * kMiB;
  EXPECT_EQ(summarize_ranks(ranks).largest_cache, 256 * kMiB);
}

TEST(PlaceOf, SpreadsOrPacksOrTakesTheList) {
  using topo::Policy;
  EXPECT_EQ(place_of({.policy = Policy::Best}, 1, 2, 8), 4);
  EXPECT_EQ(place_of({.policy = Policy::Worst}, 1, 2, 8), 1);
  EXPECT_EQ(place_of({.policy = Policy::Prefix}, 3, 4, 8), 3);
  EXPECT_EQ(place_of({.policy = Policy::Best}, 9, 16, 8), 1);
  EXPECT_EQ(place_of({Policy::List, {6, 2}}, 0, 2, 8), 6);
  EXPECT_EQ(place_of({Policy::List, {6, 2}}, 3, 4, 8), 2);
  EXPECT_EQ(place_of({Policy::List, {6, 8}}, 0, 2, 8), std::nullopt);
  EXPECT_EQ(place_of({.policy = Policy::Best}, 0, 1, 0), std::nullopt);
}

/// A rank near `cores` cores from processor `first` on.
Neighbour near(const std::string& host, int first, int cores) {
  Neighbour rank{.first_near = first, .cores_near = cores};
  copy_text("boot of " + host, rank.boot_id);
  return rank;
}

TEST(ShareOfNearCores, DividesAmongTheRanksNearTheSameCoresOnly) {
  const auto expect_share = [](const topo::CoreShare& share, int index, int count, int least) {
    EXPECT_EQ(share.index, index);
    EXPECT_EQ(share.count, count);
    EXPECT_EQ(share.least, least);
  };
  std::vector<Neighbour> ranks(4, near("box", 0, 48));
  ranks.insert(ranks.end(), 4, near("box", 48, 48));
  expect_share(share_of_near_cores(ranks, 6), 2, 4, 2);
  // A smaller set with the same first core, and four cores a rank on several hosts:
  expect_share(share_of_near_cores({near("box", 0, 48), near("box", 0, 12)}, 1), 0, 1, 2);
  ranks = {near("a", 0, 48), near("b", 0, 48), near("b", 0, 48)};
  expect_share(share_of_near_cores(ranks, 2), 1, 2, 4);
}

TEST(ShortOfProcessors, NamesTheFirstRankThatMayRunOnOneOnly) {
  std::vector<RankInfo> ranks = ranks_on("box", 2, 3);
  EXPECT_EQ(short_of_processors(summarize_ranks(ranks)), "");
  ranks[1].processors = ranks[2].processors = 1;
  EXPECT_EQ(short_of_processors(summarize_ranks(ranks)), "rank 1 on box");
}

TEST(MapRanks, BindsToNoUnknownDeviceAndRefusesUnknownCores) {
  test::FakeBootstrap bootstrap;
  const RankMap places = map_ranks(bootstrap, Bind::Auto, "0000:ee:00.0");
  EXPECT_EQ(places.ranks.at(0).bound_by_us, 0);
  const topo::Selection beyond{.policy = topo::Policy::List, .devices = {1 << 20}};
  EXPECT_THROW((void)map_ranks(bootstrap, Bind::Auto, {}, beyond), Error);
}

/// A rank of a host, bound by us to a core unless said otherwise.
RankInfo place(char host, int core, int numa = 0) {
  RankInfo rank;
  rank.boot_id[0] = host;
  rank.core = core;
  rank.numa = numa;
  rank.bound_by_us = 1;
  rank.processor_mask = 0xff;
  return rank;
}

std::string set_of(const std::vector<RankInfo>& places, const std::vector<int>& gpus = {}) {
  const RankMap rank_map = summarize_ranks(places);
  std::vector<Device> devices;
  for (const int gpu : gpus) devices.push_back({.index = gpu});
  std::vector<int> ranks(places.size());
  std::iota(ranks.begin(), ranks.end(), 0);
  return device_set(rank_map, devices, ranks);
}

TEST(DeviceSet, IsTheCoresNumaNodesOrProcessorsToWhichRanksAreBound) {
  EXPECT_EQ(set_of({place('a', 1), place('a', 0), place('a', 1), place('a', 4)}), "cores 0-1,4");
  EXPECT_EQ(set_of({place('a', -1, 1), place('a', -1, 0)}), "numa 0-1");
  EXPECT_EQ(set_of({place('a', -1, 0), place('a', -1, 0)}), "numa 0");
  RankInfo free = place('a', -1, 0);
  free.bound_by_us = 0;
  EXPECT_EQ(set_of({free, free}), "processors 0-7");
  free.processor_mask = 0;
  free.processor_mask.set(64).set(66);
  EXPECT_EQ(set_of({free, free}), "processors 64,66");
}

TEST(DeviceSet, ListsEqualHostsOnceAndOthersInTurn) {
  EXPECT_EQ(set_of({place('a', 0), place('b', 0), place('a', 1), place('b', 1)}), "cores 0-1");
  EXPECT_EQ(set_of({place('a', 0), place('b', 2), place('a', 1), place('b', 3)}),
            "cores 0-1;cores 2-3");
}

TEST(DeviceSet, IsTheGpusWhereThereAreSome) {
  const std::vector<RankInfo> two_hosts{place('a', 0), place('a', 1), place('b', 0), place('b', 1)};
  EXPECT_EQ(set_of(two_hosts, {0, 1, 2, 3}), "0,1;2,3");
  EXPECT_EQ(set_of(two_hosts, {0, 1, 0, 1}), "0,1");
  EXPECT_EQ(set_of({place('a', 0), place('a', 0)}, {3, 0}), "0,3");
  EXPECT_EQ(set_of({place('a', 0), place('a', 0)}, {2, 2}), "2");  // shared
}

TEST(DeviceSet, IsOfTheRanksThatAreAskedFor) {
  const RankMap rank_map =
      summarize_ranks({place('a', 0), place('a', 1), place('a', 2), place('a', 3)});
  const std::vector<int> pair{3, 1};
  EXPECT_EQ(device_set(rank_map, {}, pair), "cores 1,3");
}

}  // namespace
}  // namespace busbar
