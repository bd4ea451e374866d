// SPDX-License-Identifier: BSD-3-Clause
#include "study/sweep/rules.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/support/failure.hpp"

namespace busbar::study {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

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

std::string refused(const std::vector<Vary>& settings) {
  return test::refusal_of([&] { static_cast<void>(rule_target(settings)); });
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
  EXPECT_THAT(refused({{"NCCL_ALGO", {"default", "Ring"}}}), HasSubstr("NCCL_PROTO"));
  EXPECT_THAT(refused({{"NCCL_ALGO", {"default", "^Ring"}}, {"NCCL_PROTO", {"default"}}}),
              HasSubstr("NCCL_ALGO=^Ring"));
  EXPECT_THAT(refused({{"OMPI_MCA_coll_tuned_allreduce_algorithm", {"default", "ring"}}}),
              HasSubstr("number"));
  EXPECT_THAT(refused({{"OMPI_MCA_coll_tuned_gather_algorithm", {"default", "1"}}}),
              HasSubstr("no file of rules"));
  EXPECT_THAT(refused({{"MPIR_CVAR_ALLREDUCE_INTRA_ALGORITHM", {"default", "nb"}}}),
              HasSubstr("by its variable"));
  EXPECT_THAT(refused({{"OMPI_MCA_coll_tuned_allreduce_algorithm", {"3", "default"}}}),
              HasSubstr("default"));
}

TEST(RulesEnvironment, NamesTheFile) {
  EXPECT_EQ(rules_environment(rule_target(kNccl), "/f").front().first, "NCCL_TUNER_CONFIG_FILE");
  EXPECT_EQ(rules_environment(rule_target(kOpenMpi), "/f").back().second, "/f");
}

}  // namespace
}  // namespace busbar::study
