// SPDX-License-Identifier: BSD-3-Clause
#include "model/pattern.hpp"

#include <numeric>

namespace busbar {
namespace {

constexpr std::uint64_t kSeed = 1;
constexpr int kMostRanks = 300;
// Places of the period that are looked at where all rank counts are.
constexpr std::uint64_t kPlaces = 16;

constexpr std::array kOps{ReduceOp::Sum, ReduceOp::Prod, ReduceOp::Max, ReduceOp::Min,
                          ReduceOp::Avg};

std::vector<std::uint64_t> values(const Pattern& pattern, int ranks, std::uint64_t index) {
  std::vector<std::uint64_t> all;
  for (int rank = 0; rank < ranks; ++rank) all.push_back(pattern.value(rank, index));
  return all;
}

std::uint64_t reduce(ReduceOp op, const std::vector<std::uint64_t>& all) {
  switch (op) {
    case ReduceOp::Prod:
      return std::accumulate(all.begin(), all.end(), std::uint64_t{1}, std::multiplies<>{});
    case ReduceOp::Max: return *std::max_element(all.begin(), all.end());
    case ReduceOp::Min: return *std::min_element(all.begin(), all.end());
    default: return std::accumulate(all.begin(), all.end(), std::uint64_t{0});
  }
}

/// Whether the result would be another if this value were left out.
bool matters(const TypeInfo& type, ReduceOp op, const std::vector<std::uint64_t>& all,
             std::uint64_t reduced, std::uint64_t value) {
  switch (op) {
    case ReduceOp::Prod: return value != 1;
    case ReduceOp::Max:
    case ReduceOp::Min:
      return all.size() == 1 ||
             (value == reduced && std::count(all.begin(), all.end(), value) == 1);
    case ReduceOp::Avg:
      if (!type.floating) return reduced / all.size() != (reduced - value) / all.size();
      return value != 0;
    default: return value != 0;
  }
}

/// Ranks without which no element of the period would be another.
std::size_t silent_ranks(const TypeInfo& type, ReduceOp op, int ranks, const Pattern& pattern) {
  std::set<std::size_t> silent;
  for (int rank = 0; rank < ranks; ++rank) silent.insert(static_cast<std::size_t>(rank));
  for (std::uint64_t i = 0; i < Pattern::kPeriod && !silent.empty(); ++i) {
    const auto all = values(pattern, ranks, i);
    const std::uint64_t reduced = reduce(op, all);
    std::erase_if(silent,
                  [&](std::size_t rank) { return matters(type, op, all, reduced, all[rank]); });
  }
  return silent.size();
}

/// All up to 40, and what lies about the limits of types and powers of two.
std::vector<int> rank_counts() {
  std::vector<int> counts{63, 64, 65, 100, 126, 127, 128, 129, 255, 256, 257, 300, 511, 512};
  for (int ranks = 1; ranks <= 40; ++ranks) counts.push_back(ranks);
  return counts;
}

bool is_exact(const TypeInfo& type, std::uint64_t value) {
  const SmallFloat* format = small_float(type.type);
  if (format == nullptr) return value <= type.exact_limit;
  const auto number = static_cast<double>(value);
  return decode(*format, encode(*format, number)) == number;
}

/// Does `work` with the pattern of every type and operation over these ranks that is possible.
template <class Work>
void for_all_patterns(const std::vector<int>& counts, std::uint64_t seed, const Work& work) {
  for (const TypeInfo& type : kTypes) {
    for (const ReduceOp op : kOps) {
      for (const int ranks : counts) {
        if (Pattern::impossible(type.type, op, ranks)) continue;
        SCOPED_TRACE(std::string(type.name) + ' ' + std::string(name(op)) + ' ' +
                     std::to_string(ranks));
        work(type, op, ranks, Pattern(type.type, op, ranks, seed));
      }
    }
  }
}

// Whole numbers that are not negative: no partial result exceeds the whole one.
TEST(LongPattern, StaysExactInEveryTypeWhateverTheOrderOfReduction) {
  std::vector<int> counts(kMostRanks);
  std::iota(counts.begin(), counts.end(), 1);
  for_all_patterns(
      counts, kSeed, [](const TypeInfo& type, ReduceOp op, int ranks, const Pattern& pattern) {
        for (std::uint64_t i = 0; i < kPlaces; ++i) {
          const auto all = values(pattern, ranks, i * 251);
          const std::uint64_t most = std::max(reduce(op, all), reduce(ReduceOp::Max, all));
          ASSERT_TRUE(is_exact(type, most)) << "element " << i * 251;
        }
      });
}

TEST(Pattern, ReducesToWhatBruteForceGives) {
  for_all_patterns({1, 2, 3, 4, 16, 127, 128, 300}, 42,
                   [](const TypeInfo& type, ReduceOp op, int ranks, const Pattern& pattern) {
                     for (std::uint64_t i = 0; i < Pattern::kPeriod; i += 97) {
                       auto expected = static_cast<double>(reduce(op, values(pattern, ranks, i)));
                       if (op == ReduceOp::Avg) expected /= ranks;
                       if (op == ReduceOp::Avg && !type.floating) expected = std::floor(expected);
                       ASSERT_EQ(pattern.reduced(i), expected);
                     }
                   });
}

TEST(LongPattern, HasAnotherResultSomewhereWithoutAnyOneOfUpTo512Ranks) {
  for_all_patterns(rank_counts(), kSeed,
                   [](const TypeInfo& type, ReduceOp op, int ranks, const Pattern& pattern) {
                     ASSERT_EQ(silent_ranks(type, op, ranks, pattern), 0U);
                   });
}

TEST(Pattern, ReportsWhatHasNoExactAverage) {
  const auto why = [](DataType type, int ranks) {
    return Pattern::impossible(type, ReduceOp::Avg, ranks).value_or("");
  };
  EXPECT_EQ(why(DataType::F8e4m3, 65),
            "no data has one average over 65 ranks in f8e4m3: 1/65 is below its normal numbers");
  EXPECT_EQ(why(DataType::F8e4m3, 64), "");
  EXPECT_FALSE(Pattern::impossible(DataType::F8e4m3, ReduceOp::Sum, 65).has_value());
  EXPECT_NE(why(DataType::F8e5m2, 16385), "");
  EXPECT_EQ(why(DataType::F8e5m2, 16384), "");
  EXPECT_EQ(why(DataType::Bfloat16, 1000000), "");
  EXPECT_EQ(why(DataType::Double, 1000000), "");
  EXPECT_NE(why(DataType::F8e5m2, 315).find("1/315 rounds to two numbers"), std::string::npos);
  EXPECT_NE(why(DataType::Int8, 128).find("int8 over 128 ranks is 0"), std::string::npos);
  EXPECT_EQ(why(DataType::Uint8, 127), "");
  const auto failure =
      test::failure_of([] { const Pattern pattern(DataType::Int8, ReduceOp::Avg, 128, kSeed); });
  EXPECT_EQ(failure.status, Status::Runtime);
}

/// An average as a library may compute it: what a rank sends and every step rounded to the type, on
/// the way through wider types.
double round_by_way_of(const SmallFloat& format, double value) {
  const double as_float = static_cast<float>(value);
  const double as_half =
      decode(*small_float(DataType::Half), encode(*small_float(DataType::Half), as_float));
  const bool half_is_wider = info(format.type).size == 1;
  return decode(format, encode(format, half_is_wider ? as_half : as_float));
}

TEST(Pattern, HasTheAverageThatEveryWayOfDividingGives) {
  for (const SmallFloat& format : kSmallFloats) {
    for (int ranks = 1; ranks <= 512; ++ranks) {
      if (Pattern::impossible(format.type, ReduceOp::Avg, ranks)) continue;
      const Pattern pattern(format.type, ReduceOp::Avg, ranks, kSeed);
      const double share = round_by_way_of(format, 1.0 / ranks);
      for (std::uint64_t i = 0; i < kPlaces; ++i) {
        const auto sum = static_cast<double>(reduce(ReduceOp::Sum, values(pattern, ranks, i)));
        const double expected = decode(format, encode(format, pattern.reduced(i)));
        ASSERT_EQ(round_by_way_of(format, sum * share), expected) << ranks;
        ASSERT_EQ(round_by_way_of(format, sum / ranks), expected) << ranks;
        ASSERT_EQ(round_by_way_of(format, sum * (1.0F / static_cast<float>(ranks))), expected);
        ASSERT_GE(expected, smallest_normal(format));
      }
    }
  }
}

TEST(Pattern, HasTheAverageThatEveryWayOfDividingAFloatGives) {
  for (int ranks = 1; ranks <= 512; ++ranks) {
    const Pattern pattern(DataType::Float, ReduceOp::Avg, ranks, kSeed);
    const auto n = static_cast<float>(ranks);
    for (std::uint64_t i = 0; i < kPlaces; ++i) {
      const auto sum = static_cast<float>(reduce(ReduceOp::Sum, values(pattern, ranks, i)));
      const auto expected = static_cast<float>(pattern.reduced(i));
      ASSERT_EQ(sum / n, expected);
      ASSERT_EQ(sum * (1.0F / n), expected);
      ASSERT_EQ(sum * static_cast<float>(1.0 / ranks), expected);
    }
  }
}

TEST(Pattern, AveragesWithOneSenderAtAPlaceAndAllInTurn) {
  const Pattern pattern(DataType::Float, ReduceOp::Avg, 5, kSeed);
  std::set<std::uint64_t> powers;
  for (std::uint64_t i = 0; i < 100; ++i) {
    auto all = values(pattern, 5, i);
    EXPECT_EQ(std::count(all.begin(), all.end(), 0), 4);
    powers.insert(reduce(ReduceOp::Max, all));
  }
  EXPECT_EQ(powers, (std::set<std::uint64_t>{1, 2, 4, 8, 16, 32, 64}));
}

TEST(Pattern, RepeatsAfterAPrimePeriodThatNoBlockOrPageDivides) {
  const Pattern pattern(DataType::Float, ReduceOp::Sum, 4, kSeed);
  EXPECT_EQ(Pattern::kPeriod, 4093U);
  for (const std::uint64_t i : {0U, 1U, 4092U}) {
    EXPECT_EQ(pattern.value(2, i), pattern.value(2, i + 4093));
    EXPECT_EQ(pattern.reduced(i), pattern.reduced(i + 3 * std::uint64_t{4093}));
  }
  for (std::uint64_t divisor = 2; divisor * divisor <= Pattern::kPeriod; ++divisor) {
    EXPECT_NE(Pattern::kPeriod % divisor, 0U);
  }
}

/// What a rank sends in 64 elements.
std::vector<std::uint64_t> run_of(const Pattern& pattern, int rank, std::uint64_t first) {
  std::vector<std::uint64_t> run;
  for (std::uint64_t i = 0; i < 64; ++i) run.push_back(pattern.value(rank, first + i));
  return run;
}

// What another rank sends, or any with another seed, is not what this one sends some elements on:
// data of a wrong rank or of the check before would else be taken for right where it landed beside
// its place.
TEST(Pattern, IsNoOtherRanksOrSeedsSomeElementsOn) {
  constexpr std::uint64_t kShifts = 9;
  for (const ReduceOp op : {ReduceOp::None, ReduceOp::Sum, ReduceOp::Prod, ReduceOp::Max,
                            ReduceOp::Min, ReduceOp::Avg}) {
    std::set<std::vector<std::uint64_t>> runs;
    for (std::uint64_t seed = 1; seed <= 4; ++seed) {
      const Pattern pattern(DataType::Float, op, 4, seed);
      for (int rank = 0; rank < 4; ++rank) {
        for (std::uint64_t first = 0; first < kShifts; ++first) {
          runs.insert(run_of(pattern, rank, first));
        }
      }
    }
    EXPECT_EQ(runs.size(), 4 * 4 * kShifts) << name(op);
  }
}

// All ranks are chosen in a round; rounds begin with different ones, which distinguishes data
// that lies a multiple of the ranks away.
TEST(Pattern, ChoosesEachRankOnceInARoundThatBeginsWithAnyOfThem) {
  constexpr int kRanks = 4;
  const Pattern pattern(DataType::Int32, ReduceOp::Max, kRanks, kSeed);
  std::set<std::ptrdiff_t> beginners;
  for (std::uint64_t round = 0; round < 10; ++round) {
    std::set<std::ptrdiff_t> chosen;
    for (std::uint64_t i = 0; i < kRanks; ++i) {
      const auto all = values(pattern, kRanks, round * kRanks + i);
      const auto largest = std::max_element(all.begin(), all.end()) - all.begin();
      if (i == 0) beginners.insert(largest);
      chosen.insert(largest);
    }
    EXPECT_EQ(chosen.size(), std::size_t{kRanks}) << round;
  }
  EXPECT_GT(beginners.size(), 1U);
}

TEST(Pattern, ReducesNothingWithoutAnOperation) {
  const Pattern pattern(DataType::Float, ReduceOp::None, 3, kSeed);
  EXPECT_EQ(test::failure_of([&] { (void)pattern.reduced(0); }).status, Status::Runtime);
}

}  // namespace
}  // namespace busbar
