// SPDX-License-Identifier: BSD-3-Clause
#include "study/sweep/sweep.hpp"

#include <random>

namespace busbar::study {
namespace {

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
  return mapped(filtered(rows, &SweepRow::winner), &SweepRow::variant);
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
  for (const SweepRow& row : filtered(rows, &SweepRow::winner)) {
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
  const auto variants = variants_of(std::vector<Vary>{{"A", {"default", "1"}}, {"B", {"x", "y"}}});
  EXPECT_THAT(mapped(variants, &SweepVariant::text),
              ElementsAre("A=default B=x", "A=default B=y", "A=1 B=x", "A=1 B=y"));
  EXPECT_THAT(variants[1].environment(), ElementsAre(Pair("B", "y")));
}

TEST(VariantsOf, MakeOpenMpiHeedItsAlgorithm) {
  const auto variants =
      variants_of(std::vector<Vary>{{"OMPI_MCA_coll_tuned_allreduce_algorithm", {"default", "4"}}});
  EXPECT_TRUE(variants[0].environment().empty());
  EXPECT_THAT(variants[1].environment(),
              ElementsAre(Pair("OMPI_MCA_coll_tuned_allreduce_algorithm", "4"),
                          Pair("OMPI_MCA_coll_tuned_use_dynamic_rules", "1")));
}

TEST(IsVariedInLaunch, HoldsForTheProgramsAndIsOfBlockingForWhatNonblockingCollectivesDoNotUse) {
  EXPECT_TRUE(is_varied_in_launch("cadence"));
  EXPECT_FALSE(is_varied_in_launch("NCCL_ALGO"));
  EXPECT_TRUE(is_varied_in_launch("MPIR_CVAR_ALLREDUCE_INTRA_ALGORITHM"));
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

const std::vector<Vary> kNccl{{"NCCL_ALGO", {"default", "Ring", "NVLSTree"}},
                              {"NCCL_PROTO", {"default", "LL128"}}};
const std::vector<Vary> kOpenMpi{
    {"OMPI_MCA_coll_tuned_allreduce_algorithm", {"default", "3", "4"}}};

SweepRow winner(Bytes size, std::size_t variant, bool in_place = false) {
  return {
      .row = {.key = {.collective = "allreduce", .ranks = 4, .size = size, .in_place = in_place},
              .verdict = variant == 0 ? Verdict::Same : Verdict::Faster},
      .variant = std::max<std::size_t>(1, variant),
      .winner = variant != 0};
}

std::vector<std::string> ranges(const std::vector<SweepRow>& rows) {
  return mapped(size_rules(rows), [](const SizeRule& rule) {
    return fmt::format("{}..{}: {}", rule.low, rule.high, rule.variant);
  });
}

std::string text_of(const std::vector<Vary>& settings, const std::vector<SizeRule>& rules) {
  const RuleTarget target = rule_target(settings);
  std::vector<SweepVariant> variants = variants_of(settings);
  keep_writable(target, variants);
  return rules_text(target, rules, variants);
}

TEST(SizeRules, EndAtMeasuredSizesAndBetweenDifferentChoicesAtTheMean) {
  EXPECT_THAT(ranges({winner(1024, 1), winner(4096, 1), winner(16384, 2)}),
              ElementsAre("1024..8192: 1", "8193..16384: 2"));
  EXPECT_THAT(ranges({winner(1024, 0), winner(4096, 1), winner(16384, 0)}),
              ElementsAre("2049..8192: 1"));
  EXPECT_TRUE(ranges({winner(1024, 0)}).empty());
}

TEST(SizeRules, NeedPlacesThatAgree) {
  EXPECT_THAT(ranges({winner(1024, 1), winner(1024, 0, true)}), ElementsAre("1024..1024: 1"));
  EXPECT_TRUE(ranges({winner(1024, 1), winner(1024, 2, true)}).empty());
  SweepRow slower = winner(1024, 0, true);
  slower.row.verdict = Verdict::Slower;
  EXPECT_TRUE(ranges({winner(1024, 1), slower}).empty());
}

TEST(RulesText, IsTheCsvOfNcclsTuner) {
  // Without combinations of which one half is default: 1 is Ring, 2 is NVLSTree.
  EXPECT_EQ(text_of(kNccl, {{"allreduce", 8, 1024, 8192, 1},
                            {"allreduce", 8, 8193, 16384, 2},
                            {"alltoall", 8, 1, 2, 1}}),
            "# collective,min_bytes,max_bytes,algorithm,protocol,channels,nNodes,nRanks,"
            "numPipeOps,regBuff\n"
            "allreduce,1024,8192,ring,ll128,-1,-1,8,-1,-1\n"
            "allreduce,8193,16384,nvls_tree,ll128,-1,-1,8,-1,-1\n");
  EXPECT_EQ(text_of(kNccl, {{"alltoall", 8, 1, 2, 1}}), "") << "it tunes no all-to-all";
}

TEST(RulesText, IsOpenMpisRulesThatHoldForTheseRanksOnly) {
  EXPECT_EQ(text_of(kOpenMpi, {{"allreduce", 4, 1024, 8192, 1}, {"allreduce", 4, 8193, 16384, 2}}),
            "1 # collectives\n"
            "2 # allreduce\n"
            "3 # numbers of ranks\n"
            "0 # ranks and more\n"
            "1 # from bytes: algorithm, fan-out, segment\n"
            "0 0 0 0\n"
            "4 # ranks and more\n"
            "4 # from bytes: algorithm, fan-out, segment\n"
            "0 0 0 0\n"
            "1024 3 0 0\n"
            "8193 4 0 0\n"
            "16385 0 0 0\n"
            "5 # ranks and more\n"
            "1 # from bytes: algorithm, fan-out, segment\n"
            "0 0 0 0\n");
  EXPECT_EQ(text_of(kOpenMpi, {{"reduce", 4, 0, 64, 2}}), "") << "of another collective";
}

TEST(RuleTarget, RefusesWhatNoFileCanHave) {
  const std::string algorithm = "OMPI_MCA_coll_tuned_allreduce_algorithm";
  for (const auto& [settings, token] : std::vector<std::pair<std::vector<Vary>, const char*>>{
           {{{"NCCL_ALGO", {"default", "Ring"}}}, "NCCL_PROTO"},
           {{{"NCCL_ALGO", {"default", "^Ring"}}, {"NCCL_PROTO", {"default"}}}, "NCCL_ALGO=^Ring"},
           {{{algorithm, {"default", "ring"}}}, "number"},
           {{{"OMPI_MCA_coll_tuned_gather_algorithm", {"default", "1"}}}, "no file of rules"},
           {{{"MPIR_CVAR_ALLREDUCE_INTRA_ALGORITHM", {"default", "nb"}}}, "by its variable"},
           {{{algorithm, {"3", "default"}}}, "default"}}) {
    test::expect_failure(Status::Usage, token,
                         [&, &varied = settings] { (void)rule_target(varied); });
  }
}

TEST(RulesEnvironment, NamesTheFile) {
  EXPECT_EQ(rules_environment(rule_target(kNccl), "/f").front().first, "NCCL_TUNER_CONFIG_FILE");
  EXPECT_EQ(rules_environment(rule_target(kOpenMpi), "/f").back().second, "/f");
}

}  // namespace
}  // namespace busbar::study
