// SPDX-License-Identifier: BSD-3-Clause
#include "harness/late_rank.hpp"

#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/unit/support/sample_records.hpp"

namespace busbar {
namespace {

constexpr const char* kColumns = "last_rank last_host last_share late_by_us";

/// A row of 100 us per operation whose last ranks are these, in turn, in 60 samples.
Row row_of(const std::vector<int>& last, double late_us) {
  Row row{.record = {.time_median_us = 100}};
  for (std::size_t i = 0; i < 60; ++i) {
    row.arrivals.push_back({.last = last[i % last.size()], .late_us = late_us});
  }
  return row;
}

/// Of four ranks.
std::string named(Row row, const std::vector<std::string>& hosts = {"h1", "h1", "h2", "h2"}) {
  RunContext context = test::context();
  context.hosts = hosts;
  context.groups = {{{0, 0}, {0, 2}}, {{0, 1}, {1, 3}}};
  name_last(row, context);
  return test::cells(row.record, kColumns);
}

TEST(NameLast, NamesARankWithItsHostShareAndTime) {
  EXPECT_EQ(named(row_of({2}, 30)), "2|h2|1|30");
  EXPECT_EQ(named(row_of({3, 3, 3, 3, 0, 3, 3, 1, 3, 2}, 30)), "3|h2|0.7|30");
}

TEST(NameLast, NamesAHostOfWhichSeveralRanksAreLast) {
  EXPECT_EQ(named(row_of({2, 3, 3, 2, 2, 3}, 30)), "|h2|1|30");
}

TEST(NameLast, NamesNobodyWhoIsLastByChanceOrByLessThanAHundredth) {
  EXPECT_EQ(named(row_of({0, 1, 2, 3}, 30)), "|||");
  EXPECT_EQ(named(row_of({2}, 0.99)), "|||");
  EXPECT_EQ(named(row_of({2}, 1)), "2|h2|1|1");
  Row loaded = row_of({2}, 1);
  loaded.record.load_us = 10;  // the rank is late at its work, too
  EXPECT_EQ(named(loaded), "|||");
}

TEST(NameLast, NamesNobodyWhereOperationsHaveNoCommonEnd) {
  EXPECT_EQ(named({.record = {.time_median_us = 100}}), "|||");
}

TEST(NameLast, NamesTheRankOfTheJobWhereRanksAreSplit) {
  Row row = row_of({1}, 30);
  row.record.group = 0;  // of ranks 0 and 2
  EXPECT_EQ(named(row), "2|h2|1|30");
  EXPECT_EQ(named(row, std::vector<std::string>(4, "h1")), "2|h1|1|30");
}

std::vector<double> equal_chances(std::size_t count) {
  return std::vector<double>(count, 1 / static_cast<double>(count));
}

/// So many samples of that many ranks, of which rank 2 is last in `share` of them beside its own
/// chance; each who was last stays it for `length` samples.
std::vector<int> series(std::size_t samples, int ranks, double share, std::size_t length,
                        unsigned seed) {
  std::mt19937_64 random(seed);
  std::uniform_int_distribution<int> any(0, ranks - 1);
  std::bernoulli_distribution is_two(share);
  std::vector<int> last;
  while (last.size() < samples) {
    const int who = is_two(random) ? 2 : any(random);
    last.insert(last.end(), length, who);
  }
  last.resize(samples);
  return last;
}

int named(std::size_t samples, int ranks, double share, std::size_t length, int whom) {
  int count = 0;
  for (unsigned seed = 0; seed < 200; ++seed) {
    const auto found = find_last(series(samples, ranks, share, length, seed),
                                 equal_chances(static_cast<std::size_t>(ranks)));
    count += whom < 0 ? (found ? 1 : 0) : (found == whom ? 1 : 0);
  }
  return count;
}

TEST(FindLast, NamesTheOneThatIsLastMoreOftenThanItsChance) {
  EXPECT_EQ(find_last(std::vector<int>(20, 1), equal_chances(2)), 1);
  EXPECT_EQ(find_last(std::vector<int>(20, 3), equal_chances(8)), 3);
  EXPECT_EQ(named(200, 8, 0.5, 1, 2), 200);
}

TEST(FindLast, CannotTellFromFewSamplesOrOneCandidateOrNone) {
  EXPECT_FALSE(find_last(std::vector<int>(8, 1), equal_chances(2)));
  EXPECT_FALSE(find_last(std::vector<int>(100, 0), equal_chances(1)));
  EXPECT_FALSE(find_last({}, equal_chances(2)));
}

TEST(FindLast, NamesNobodyWhereAllAreLastByChance) {
  for (const int ranks : {2, 4, 8, 64}) EXPECT_EQ(named(200, ranks, 0, 1, -1), 0) << ranks;
}

TEST(FindLast, CountsARunOfTheSameAsFewSamples) {
  EXPECT_LE(named(500, 4, 0, 20, -1), 2);
  EXPECT_LE(named(100, 2, 0, 10, -1), 2);
}

TEST(FindLast, NamesNobodyWhereTwoAreLastAlike) {
  std::vector<int> last;
  for (int i = 0; i < 100; ++i) last.push_back(i % 3 == 0 ? 5 : 6);
  EXPECT_EQ(find_last(last, equal_chances(8)), std::nullopt);
  for (int i = 0; i < 100; ++i) last.push_back(i % 10 == 0 ? 5 : 6);
  EXPECT_EQ(find_last(last, equal_chances(8)), 6);
}

// Seven ranks of one host and one of another: the one is last in half of the samples.
TEST(FindLast, ComparesWithEachOnesOwnChance) {
  std::vector<int> last;
  for (int i = 0; i < 100; ++i) last.push_back(i % 2);
  EXPECT_EQ(find_last(last, std::vector<double>{7.0 / 8, 1.0 / 8}), 1);
  EXPECT_EQ(find_last(last, equal_chances(2)), std::nullopt);
}

}  // namespace
}  // namespace busbar
