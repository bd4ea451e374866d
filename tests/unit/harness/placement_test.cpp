// SPDX-License-Identifier: BSD-3-Clause
#include "harness/placement.hpp"

#include <algorithm>

#include <gtest/gtest.h>

#include "tests/unit/support/fake_bootstrap.hpp"

namespace busbar {
namespace {

template <std::size_t N>
void copy_text(const std::string& text, std::array<char, N>& to) {
  std::copy(text.begin(), text.end(), to.begin());
}

/// A rank on a host of `processors` processors, all of which it may use.
RankPlace rank_on(const std::string& host, unsigned processors, Bytes memory = 16 * kGiB) {
  RankPlace place;
  copy_text(host, place.host);
  copy_text("boot of " + host, place.boot_id);
  place.processors = static_cast<int>(processors);
  place.processor_mask[0] =
      processors >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << processors) - 1;
  place.memory_available = memory;
  place.last_level_cache = 32 * kMiB;
  return place;
}

std::vector<RankPlace> ranks_on(const std::string& host, unsigned processors, std::size_t count) {
  return std::vector<RankPlace>(count, rank_on(host, processors));
}

TEST(SummarizePlaces, SeesThatRanksFit) {
  const Placements places = summarize_places(ranks_on("vm", 4, 4));
  EXPECT_FALSE(places.oversubscribed);
  EXPECT_EQ(places.oversubscription, "");
  EXPECT_EQ(places.hosts, 1);
  EXPECT_EQ(places.most_ranks_per_host, 4);
  EXPECT_EQ(places.ranks.size(), 4U);
}

TEST(SummarizePlaces, CountsTheProcessorsOfTheSmallestHostAndHalvesOfTheirTime) {
  std::vector<RankPlace> ranks = ranks_on("large", 8, 2);
  EXPECT_DOUBLE_EQ(summarize_places(ranks).processors, 8);
  ranks.push_back(rank_on("small", 4));
  EXPECT_DOUBLE_EQ(summarize_places(ranks).processors, 4);
  for (RankPlace& place : ranks) place.processor_quota = 1.5;
  EXPECT_DOUBLE_EQ(summarize_places(ranks).processors, 1.5);
}

TEST(SummarizePlaces, SeesThatOneRankIsTooMany) {
  const Placements places = summarize_places(ranks_on("vm", 2, 3));
  EXPECT_TRUE(places.oversubscribed);
  EXPECT_EQ(places.oversubscription, "3 ranks on 2 processors of host vm");
}

TEST(SummarizePlaces, CountsEveryProcessorThatSomeRankMayUse) {
  std::vector<RankPlace> bound = ranks_on("vm", 4, 4);
  for (unsigned i = 0; i < bound.size(); ++i) bound[i].processor_mask[0] = std::uint64_t{1} << i;
  EXPECT_FALSE(summarize_places(bound).oversubscribed);
  for (RankPlace& place : bound) place.processor_mask[0] = 1;
  EXPECT_EQ(summarize_places(bound).oversubscription, "4 ranks on 1 processor of host vm");
}

TEST(SummarizePlaces, CountsProcessorsBeyondTheFirstSixtyFour) {
  std::vector<RankPlace> ranks = ranks_on("big", 64, 100);
  for (RankPlace& place : ranks) place.processor_mask[1] = ~std::uint64_t{0};
  EXPECT_FALSE(summarize_places(ranks).oversubscribed);
}

TEST(SummarizePlaces, ObeysAQuotaOfTheCgroup) {
  std::vector<RankPlace> ranks = ranks_on("pod", 64, 4);
  for (RankPlace& place : ranks) place.processor_quota = 4.0;
  EXPECT_FALSE(summarize_places(ranks).oversubscribed);
  for (RankPlace& place : ranks) place.processor_quota = 3.9;
  EXPECT_EQ(summarize_places(ranks).oversubscription, "4 ranks on 3 processors of host pod");
  for (RankPlace& place : ranks) place.processor_quota = 0.5;
  EXPECT_EQ(summarize_places(ranks).oversubscription, "4 ranks on 1 processor of host pod");
}

TEST(SummarizePlaces, TellsHostsApartByTheirKernel) {
  std::vector<RankPlace> ranks = ranks_on("a", 4, 4);
  const std::vector<RankPlace> others = ranks_on("b", 2, 3);
  ranks.insert(ranks.end(), others.begin(), others.end());
  const Placements places = summarize_places(ranks);
  EXPECT_EQ(places.hosts, 2);
  EXPECT_EQ(places.most_ranks_per_host, 4);
  EXPECT_TRUE(places.oversubscribed);
  EXPECT_EQ(places.oversubscription, "3 ranks on 2 processors of host b");
}

TEST(SummarizePlaces, TakesFakeNodesOnOneKernelForOneHost) {
  std::vector<RankPlace> ranks = ranks_on("vm", 4, 4);
  ranks[2].node = 1;
  ranks[3].node = 1;
  EXPECT_EQ(summarize_places(ranks).hosts, 1);
}

TEST(SummarizePlaces, SharesTheMemoryOfTheHostThatHasLeastForEachRank) {
  std::vector<RankPlace> ranks(4, rank_on("large", 8, 64 * kGiB));
  ranks.push_back(rank_on("small", 8, 12 * kGiB));
  ranks.push_back(rank_on("small", 8, 10 * kGiB));  // looked a moment later
  EXPECT_EQ(summarize_places(ranks).least_memory, 5 * kGiB);
}

TEST(SummarizePlaces, KnowsTheLargestCache) {
  std::vector<RankPlace> ranks = ranks_on("vm", 2, 2);
  ranks[1].last_level_cache = 256 * kMiB;
  EXPECT_EQ(summarize_places(ranks).largest_cache, 256 * kMiB);
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
  std::vector<Neighbour> ranks(4, near("box", 0, 48));
  ranks.insert(ranks.end(), 4, near("box", 48, 48));
  const topo::CoreShare share = share_of_near_cores(ranks, 6);
  EXPECT_EQ(share.index, 2);
  EXPECT_EQ(share.count, 4);
  EXPECT_EQ(share.least, 2);
}

TEST(ShareOfNearCores, TellsASmallerSetFromALargerWithTheSameBeginning) {
  const topo::CoreShare share = share_of_near_cores({near("box", 0, 48), near("box", 0, 12)}, 1);
  EXPECT_EQ(share.index, 0);
  EXPECT_EQ(share.count, 1);
}

TEST(ShareOfNearCores, WantsFourCoresARankOnSeveralHosts) {
  const std::vector<Neighbour> ranks{near("a", 0, 48), near("b", 0, 48), near("b", 0, 48)};
  const topo::CoreShare share = share_of_near_cores(ranks, 2);
  EXPECT_EQ(share.index, 1);
  EXPECT_EQ(share.count, 2);
  EXPECT_EQ(share.least, 4);
}

TEST(ShortOfProcessors, NamesTheFirstRankThatMayRunOnOneOnly) {
  std::vector<RankPlace> ranks = ranks_on("box", 2, 3);
  EXPECT_EQ(short_of_processors(summarize_places(ranks)), "");
  ranks[1].processors = ranks[2].processors = 1;
  EXPECT_EQ(short_of_processors(summarize_places(ranks)), "rank 1 on box");
}

TEST(PlaceRanks, BindsARankWithAnUnknownDeviceToNothing) {
  test::FakeBootstrap bootstrap;
  const Placements places = place_ranks(bootstrap, {.near = "0000:ee:00.0"});
  EXPECT_EQ(places.ranks.at(0).bound_by_us, 0);
}

}  // namespace
}  // namespace busbar
