// SPDX-License-Identifier: BSD-3-Clause
#include "model/pattern.hpp"

#include <algorithm>
#include <numeric>
#include <set>
#include <vector>

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "model/collective.hpp"
#include "tests/unit/support/failure.hpp"

namespace busbar {
namespace {

constexpr std::uint64_t kSeed = 1;
constexpr int kMostRanks = 300;
// Places of the period that are looked at where all rank counts are.
constexpr std::uint64_t kPlaces = 16;

constexpr std::array kOps{ReduceOp::Sum, ReduceOp::Prod, ReduceOp::Max, ReduceOp::Min};

std::vector<std::uint64_t> values(const Pattern& pattern, int ranks, std::uint64_t index) {
  std::vector<std::uint64_t> all;
  for (int rank = 0; rank < ranks; ++rank) all.push_back(pattern.value(rank, index));
  return all;
}

std::uint64_t reduce(ReduceOp op, const std::vector<std::uint64_t>& all) {
  switch (op) {
    case ReduceOp::Sum: return std::accumulate(all.begin(), all.end(), std::uint64_t{0});
    case ReduceOp::Prod:
      return std::accumulate(all.begin(), all.end(), std::uint64_t{1}, std::multiplies<>{});
    case ReduceOp::Max: return *std::max_element(all.begin(), all.end());
    default: return *std::min_element(all.begin(), all.end());
  }
}

/// Whether the result would be another if `rank` were left out.
bool matters(ReduceOp op, const std::vector<std::uint64_t>& all, std::size_t rank) {
  std::vector<std::uint64_t> others = all;
  others.erase(others.begin() + static_cast<std::ptrdiff_t>(rank));
  return reduce(op, others) != reduce(op, all);
}

/// Ranks without which no element of the period would be another.
int silent_ranks(DataType type, ReduceOp op, int ranks) {
  const Pattern pattern(type, op, ranks, kSeed);
  std::set<std::size_t> silent;
  for (int rank = 0; rank < ranks; ++rank) silent.insert(static_cast<std::size_t>(rank));
  for (std::uint64_t i = 0; i < Pattern::kPeriod && !silent.empty(); ++i) {
    const auto all = values(pattern, ranks, i);
    std::erase_if(silent, [&](std::size_t rank) { return matters(op, all, rank); });
  }
  return static_cast<int>(silent.size());
}

TEST(Pattern, StaysExactInEveryTypeWhateverTheOrderOfReduction) {
  // Whole numbers that are not negative: no partial result exceeds the whole one.
  for (const TypeInfo& type : kTypes) {
    for (const ReduceOp op : kOps) {
      for (int ranks = 1; ranks <= kMostRanks; ++ranks) {
        const Pattern pattern(type.type, op, ranks, kSeed);
        for (std::uint64_t i = 0; i < kPlaces; ++i) {
          const std::uint64_t place = i * 251;
          ASSERT_LE(reduce(op, values(pattern, ranks, place)), type.exact_limit)
              << type.name << ' ' << name(op) << ' ' << ranks << " ranks, element " << place;
        }
      }
    }
  }
}

TEST(Pattern, ReducesToWhatBruteForceGives) {
  for (const TypeInfo& type : kTypes) {
    for (const ReduceOp op : kOps) {
      for (const int ranks : {1, 2, 3, 4, 16, 127, 128, 300}) {
        const Pattern pattern(type.type, op, ranks, 42);
        for (std::uint64_t i = 0; i < Pattern::kPeriod; i += 97) {
          ASSERT_EQ(pattern.reduced(i), reduce(op, values(pattern, ranks, i)));
        }
      }
    }
  }
}

TEST(Pattern, LosesItsSumOrProductWithoutAnyOneOfUpToThreeHundredRanks) {
  for (const DataType type :
       {DataType::Int8, DataType::Bfloat16, DataType::Half, DataType::Float, DataType::Uint64}) {
    for (const ReduceOp op : {ReduceOp::Sum, ReduceOp::Prod}) {
      for (const int ranks : {2, 3, 16, 300}) {
        EXPECT_EQ(silent_ranks(type, op, ranks), 0)
            << info(type).name << ' ' << name(op) << ' ' << ranks;
      }
    }
  }
}

TEST(Pattern, LosesItsMaximumOrMinimumWithoutAnyOneOfManyRanks) {
  for (const DataType type : {DataType::Int8, DataType::Bfloat16, DataType::Float}) {
    for (const ReduceOp op : {ReduceOp::Max, ReduceOp::Min}) {
      for (const int ranks : {2, 3, 16, 128}) {
        EXPECT_EQ(silent_ranks(type, op, ranks), 0)
            << info(type).name << ' ' << name(op) << ' ' << ranks;
      }
    }
  }
}

TEST(Pattern, RepeatsAfterItsPeriod) {
  const Pattern pattern(DataType::Float, ReduceOp::Sum, 4, kSeed);
  EXPECT_EQ(Pattern::kPeriod, 4093U);
  for (const std::uint64_t i : {0U, 1U, 4092U}) {
    EXPECT_EQ(pattern.value(2, i), pattern.value(2, i + 4093));
    EXPECT_EQ(pattern.reduced(i), pattern.reduced(i + 3 * std::uint64_t{4093}));
  }
}

TEST(Pattern, HasAPrimePeriodThatNoBlockOrPageDivides) {
  for (std::uint64_t divisor = 2; divisor * divisor <= Pattern::kPeriod; ++divisor) {
    EXPECT_NE(Pattern::kPeriod % divisor, 0U);
  }
}

TEST(Pattern, TellsRanksPlacesAndSeedsApart) {
  const auto run = [](int rank, std::uint64_t first, std::uint64_t seed) {
    const Pattern pattern(DataType::Int32, ReduceOp::None, 4, seed);
    std::vector<std::uint64_t> all;
    for (std::uint64_t i = 0; i < 64; ++i) all.push_back(pattern.value(rank, first + i));
    return all;
  };
  EXPECT_NE(run(0, 0, 1), run(1, 0, 1));
  EXPECT_NE(run(0, 0, 1), run(0, 64, 1));
  EXPECT_NE(run(0, 0, 1), run(0, 0, 2));
  EXPECT_EQ(run(0, 0, 1), run(0, 0, 1));
}

TEST(Pattern, HasNoExactAverage) {
  const Pattern pattern(DataType::Float, ReduceOp::Avg, 3, kSeed);
  EXPECT_EQ(test::failure_of([&] { (void)pattern.reduced(0); }).status, Status::Runtime);
}

}  // namespace
}  // namespace busbar
