// SPDX-License-Identifier: BSD-3-Clause
#include "study/sweep/sweep.hpp"

#include <cmath>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/support/failure.hpp"
#include "tests/unit/support/temporary_folder.hpp"

namespace busbar::study {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

constexpr double kThreshold = 0.01;

RowKey key_of(Bytes size) {
  return {.collective = "allreduce", .type = "float", .op = "sum", .ranks = 4, .size = size};
}

/// Variants with `launches` each; `factor` is of a variant's time. Launches differ by 2 % and, in
/// pairs, have a weather of 20 % in common.
std::vector<VariantRuns> simulate(std::size_t variants, std::size_t launches, std::uint64_t seed,
                                  const std::function<double(std::size_t, Bytes)>& factor,
                                  Pairing pairing = Pairing::None) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  std::vector<VariantRuns> runs(variants);
  for (std::size_t i = 0; i < launches; ++i) {
    const double weather = pairing == Pairing::ByLaunch ? 0.2 * normal(random) : 0;
    for (std::size_t variant = 0; variant < variants; ++variant) {
      Launch& launch = runs[variant].launches.emplace_back();
      for (const Bytes size : {Bytes{1024}, Bytes{4096}}) {
        const double noise = std::exp(weather + 0.02 * normal(random));
        launch.rows[key_of(size)] = {.time_us = 100 * noise * factor(variant, size)};
      }
    }
  }
  return runs;
}

std::vector<std::size_t> winners(const std::vector<SweepRow>& rows) {
  std::vector<std::size_t> found;
  for (const SweepRow& row : rows) {
    if (row.winner) found.push_back(row.variant);
  }
  return found;
}

class EitherPairing : public testing::TestWithParam<Pairing> {};
INSTANTIATE_TEST_SUITE_P(Sweep, EitherPairing, testing::Values(Pairing::None, Pairing::ByLaunch));

TEST_P(EitherPairing, EightEqualVariantsHaveNoWinnerIn95PercentOf200) {
  std::size_t with_winner = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const auto runs = simulate(
        8, 12, seed, [](std::size_t, Bytes) { return 1.0; }, GetParam());
    if (!winners(judge_variants(runs, 0, GetParam())).empty()) ++with_winner;
  }
  EXPECT_LE(with_winner, 10U);
}

TEST_P(EitherPairing, FindTheBestOfTheFasterOnes) {
  const auto factor = [](std::size_t variant, Bytes size) {
    if (size == 1024) return 1.0;
    return variant == 2 ? 0.85 : variant == 3 ? 0.7 : variant == 1 ? 1.3 : 1.0;
  };
  const auto rows = judge_variants(simulate(5, 12, 7, factor, GetParam()), kThreshold, GetParam());
  EXPECT_THAT(winners(rows), ElementsAre(3));
  for (const SweepRow& row : rows) {
    if (!row.winner) continue;
    EXPECT_EQ(row.row.key.size, 4096U);
    EXPECT_NEAR(row.row.ratio, 0.7, 0.05);
    EXPECT_GE(row.p, *row.row.p * 2) << "more than one test";
  }
}

TEST(JudgeVariants, PairsSeeThroughTheWeatherThatGroupsCannot) {
  const auto factor = [](std::size_t variant, Bytes) { return variant == 1 ? 0.93 : 1.0; };
  const auto runs = simulate(2, 12, 3, factor, Pairing::ByLaunch);
  EXPECT_THAT(winners(judge_variants(runs, kThreshold, Pairing::ByLaunch)), ElementsAre(1, 1));
  EXPECT_TRUE(winners(judge_variants(runs, kThreshold, Pairing::None)).empty());
}

TEST(JudgeVariants, HaveNoWinnerWhoseLaunchesFailedOrWhoseDataAreWrong) {
  const auto factor = [](std::size_t variant, Bytes) { return variant == 0 ? 1.0 : 0.5; };
  auto runs = simulate(3, 8, 3, factor);
  runs[1].failed = 1;
  EXPECT_THAT(winners(judge_variants(runs, kThreshold, Pairing::None)), ElementsAre(2, 2));
  runs[2].wrong = {key_of(1024)};
  const auto rows = judge_variants(runs, kThreshold, Pairing::None);
  EXPECT_THAT(winners(rows), ElementsAre(2));
  EXPECT_EQ(rows.front().row.verdict, Verdict::Faster) << "but it is faster";
}

TEST(JudgeVariants, HaveNoWinnerBelowTheThreshold) {
  const auto factor = [](std::size_t variant, Bytes) { return variant == 0 ? 1.0 : 0.9; };
  const auto runs = simulate(2, 10, 3, factor);
  EXPECT_EQ(winners(judge_variants(runs, 0.05, Pairing::None)).size(), 2U);
  EXPECT_TRUE(winners(judge_variants(runs, 0.2, Pairing::None)).empty());
}

TEST(FewestLaunches, AreThoseOfTheLeastP) {
  EXPECT_EQ(fewest_launches(1, Pairing::None), 4U);      // 2 / 70
  EXPECT_EQ(fewest_launches(20, Pairing::None), 7U);     // 20 * 2 / 3432, but 20 * 2 / 924 of 6
  EXPECT_EQ(fewest_launches(1, Pairing::ByLaunch), 7U);  // 2 / 128, but 2 / 64 = 0.031 of 6
  EXPECT_EQ(fewest_launches(20, Pairing::ByLaunch), 11U);
}

TEST(VariantsOf, AreAllCombinationsWithTheFirstValuesFirst) {
  const std::vector<Vary> settings{{"A", {"default", "1"}}, {"B", {"x", "y"}}};
  const auto variants = variants_of(settings);
  EXPECT_THAT(mapped(variants, &SweepVariant::text),
              ElementsAre("A=default B=x", "A=default B=y", "A=1 B=x", "A=1 B=y"));
  EXPECT_THAT(variants[1].environment(), ElementsAre(Pair("B", "y")));
}

TEST(VariantsOf, MakeOpenMpiHeedItsAlgorithm) {
  const std::vector<Vary> settings{{"OMPI_MCA_coll_tuned_allreduce_algorithm", {"default", "4"}}};
  const auto variants = variants_of(settings);
  EXPECT_TRUE(variants[0].environment().empty());
  EXPECT_THAT(variants[1].environment(),
              ElementsAre(Pair("OMPI_MCA_coll_tuned_allreduce_algorithm", "4"),
                          Pair("OMPI_MCA_coll_tuned_use_dynamic_rules", "1")));
}

TEST(IsVariedInLaunch, HoldsForThePrograms) {
  EXPECT_TRUE(is_varied_in_launch("cadence"));
  EXPECT_TRUE(is_varied_in_launch("MPIR_CVAR_ALLREDUCE_INTRA_ALGORITHM"));
  EXPECT_FALSE(is_varied_in_launch("NCCL_ALGO"));
}

TEST(IsOfBlocking, HoldsForAlgorithmsThatNonblockingCollectivesDoNotUse) {
  EXPECT_TRUE(is_of_blocking("MPIR_CVAR_ALLREDUCE_INTRA_ALGORITHM"));
  EXPECT_TRUE(is_of_blocking("OMPI_MCA_coll_tuned_bcast_algorithm"));
  EXPECT_FALSE(is_of_blocking("MPIR_CVAR_IALLREDUCE_INTRA_ALGORITHM"));
  EXPECT_FALSE(is_of_blocking("MPIR_CVAR_CH4_NUM_VCIS"));
}

TEST(VariantRuns, TakeTheirOwnRowsOfALaunchThatVaries) {
  const test::TemporaryFolder folder;
  const std::string path = folder.path("a.csv");
  folder.write("a.csv",
               "# busbar: 0\n"
               "collective,ranks,size_bytes,status,time_median_us,variant\n"
               "allreduce,4,1024,ok,10,A=x\n"
               "allreduce,4,1024,ok,8,A=y\n"
               "allreduce,4,4096,wrong,9,A=y\n"
               "# finished: now\n");
  VariantRuns x{.text = "A=x"};
  VariantRuns y{.text = "A=y"};
  for (VariantRuns* runs : {&x, &y}) runs->add(path, true);
  const RowKey key{.collective = "allreduce", .ranks = 4, .settings = {"", "", ""}, .size = 1024};
  ASSERT_EQ(x.launches.at(0).rows.size(), 1U);
  EXPECT_EQ(x.launches[0].rows.at(key).time_us, 10);
  EXPECT_EQ(y.launches.at(0).rows.at(key).time_us, 8) << "the same key";
  EXPECT_TRUE(x.wrong.empty());
  EXPECT_EQ(y.wrong.size(), 1U);
  y.add(path, false);
  EXPECT_EQ(y.launches.at(1).rows.at(key).time_us, 9) << "all rows, as of two cycles";
}

}  // namespace
}  // namespace busbar::study
