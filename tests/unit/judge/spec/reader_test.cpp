// SPDX-License-Identifier: BSD-3-Clause
#include "judge/spec/reader.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/judge/spec/specification_text.hpp"
#include "tests/unit/support/temporary_folder.hpp"

namespace busbar::judge {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

/// The rule "one" with more lines.
std::string rule_with(const std::string& lines) { return kHead + kSet + kRule + lines; }

std::string fleet(const std::string& lines) {
  return kHead + kSet + kPairs + kRule +
         "[[expect]]\nid = \"odd\"\ncollective = \"alltoall\"\ndevice_set = \"pairs\"\n"
         "size = \"1GiB\"\ncompare = \"fleet\"\n" +
         lines;
}

TEST(SpecReader, LeastFileHasDefaultsAndNoTolerance) {
  const Specification spec = read(kHead + kSet + kRule);
  EXPECT_EQ(spec.file, "pod.toml");
  EXPECT_EQ(spec.profile, "");
  EXPECT_EQ(spec.system.name, "pod");
  EXPECT_EQ(spec.run.launches, 5);
  EXPECT_EQ(spec.run.iterations, 0);
  EXPECT_EQ(spec.run.warmup, -1);
  EXPECT_TRUE(spec.run.check_data);
  EXPECT_EQ(spec.run.backend, "auto");
  ASSERT_EQ(spec.device_sets.size(), 1U);
  EXPECT_EQ(spec.device_set("node").ranks_per_node, 8);
  ASSERT_EQ(spec.expectations.size(), 1U);
  const Expectation& rule = spec.expectations[0];
  EXPECT_THAT(rule.collectives, ElementsAre("allreduce"));
  EXPECT_THAT(rule.sizes, ElementsAre(kGiB));
  EXPECT_EQ(rule.metric, Metric::BusBandwidth);
  EXPECT_EQ(rule.statistic, Statistic::Median);
  EXPECT_EQ(rule.bounds.fail_below, 0.9);
  EXPECT_FALSE(rule.bounds.warn_below || rule.bounds.warn_above || rule.bounds.fail_above);
  EXPECT_FALSE(rule.max_cv);
  EXPECT_EQ(rule.place.line, 15U);
}

TEST(SpecReader, AFingerprintMayListValuesOfWhichOneIsWanted) {
  const auto fingerprint = [](const std::string& facts) {
    return with(kHead, "name = \"pod\"", "name = \"pod\"\nfingerprint = { " + facts + " }") + kSet +
           kRule;
  };
  EXPECT_THAT(read(fingerprint("gpu = [\"A\", \"B\"]")).system.fingerprint.at("gpu"),
              ElementsAre("A", "B"));
  EXPECT_THAT(refusal(fingerprint("gpu = []")), HasSubstr("gpu is an empty list"));
  EXPECT_THAT(refusal(fingerprint("gpus_per_node = [4, 8]")), HasSubstr("gpus_per_node"));
}

TEST(SpecReader, ASourceIsATextOrSeveral) {
  EXPECT_EQ(read(rule_with("source = \"a guide\"\n")).expectations[0].source, "a guide");
  EXPECT_EQ(read(rule_with("source = [\"a guide;\", \"our choice\"]\n")).expectations[0].source,
            "a guide; our choice");
  EXPECT_EQ(read(rule_with("")).expectations[0].source, "");
  EXPECT_THAT(refusal(rule_with("source = 3\n")), HasSubstr("source"));
}

TEST(SpecReader, ReadsTheExampleOfItsDocument) {
  const std::string document = test::text_of("docs/acceptance-specification.md");
  const std::size_t begin = document.find("schema = 1\n");
  const std::size_t end = document.find("```", begin);
  ASSERT_NE(end, std::string::npos);
  const Specification spec = read(document.substr(begin, end - begin));
  EXPECT_EQ(spec.expectations.at(0).value, 475);
}

TEST(SpecReader, PlacesAreOfTheFileAndTheKey) {
  EXPECT_THAT(refusal(rule_with("fail_belw = 1\n")),
              StartsWith("pod.toml:23:1: unknown key of [[expect]] \"fail_belw\"; did you mean "
                         "\"fail_below\"?"));
  EXPECT_THAT(refusal(with(kHead, "launches = 5", "launches = 0") + kSet + kRule),
              StartsWith("pod.toml:5:12: launches must be a whole number from 1"));
}

TEST(SpecReader, SchemaMustBeKnown) {
  EXPECT_THAT(refusal(with(kHead, "schema = 1", "") + kSet + kRule), HasSubstr("\"schema\""));
  EXPECT_THAT(refusal(with(kHead, "schema = 1", "schema = 2") + kSet + kRule),
              HasSubstr("schema must be 1"));
}

TEST(SpecReader, MissingPartsAreNamed) {
  EXPECT_THAT(refusal("schema = 1\n"), HasSubstr("needs a table [system]"));
  EXPECT_THAT(refusal(with(kHead, "timeout_s = 60\n", "") + kSet + kRule),
              HasSubstr("[run] needs the key \"timeout_s\""));
  EXPECT_THAT(refusal(kHead + kRule), HasSubstr("needs a [[device_set]]"));
  EXPECT_THAT(refusal(kHead + kSet), HasSubstr("needs an [[expect]]"));
  EXPECT_THAT(refusal(with(rule_with(""), "compare = \"absolute\"\n", "")),
              HasSubstr("needs the key \"compare\""));
}

TEST(SpecReader, RuleWithoutABoundIsRefused) {
  EXPECT_THAT(refusal(with(rule_with(""), "fail_below = 0.9\n", "")),
              HasSubstr("the rule has no bound"));
}

TEST(SpecReader, BoundsMustRise) {
  EXPECT_THAT(refusal(rule_with("warn_below = 0.8\n")),
              HasSubstr("warn_below = 0.8 must be at least fail_below = 0.9"));
  EXPECT_THAT(refusal(rule_with("fail_above = 0.9\n")),
              HasSubstr("fail_above = 0.9 must be above fail_below = 0.9"));
  EXPECT_THAT(refusal(rule_with("warn_above = 1.2\nfail_above = 1.1\n")),
              HasSubstr("fail_above = 1.1 must be at least warn_above = 1.2"));
  const auto spec = read(with(rule_with(""), "fail_below", "warn_below"));
  EXPECT_FALSE(spec.expectations[0].bounds.fail_below);
  EXPECT_EQ(spec.expectations[0].bounds.warn_below, 0.9);
}

TEST(SpecReader, ValueIsOfAbsoluteOnly) {
  EXPECT_THAT(refusal(with(rule_with(""), "value = 400\n", "")),
              HasSubstr("rule \"one\" needs value"));
  EXPECT_THAT(refusal(with(rule_with(""), "\"absolute\"", "\"theoretical\"")),
              HasSubstr("value means nothing without compare = \"absolute\""));
}

TEST(SpecReader, ContradictionsWithOtherTablesAreRefused) {
  EXPECT_THAT(refusal(with(with(rule_with(""), "value = 400\n", ""), "absolute", "baseline")),
              HasSubstr("needs a table [baseline]"));
  EXPECT_THAT(refusal(with(rule_with(""), "device_set = \"node\"", "device_set = \"nod\"")),
              HasSubstr("did you mean \"node\"?"));
  EXPECT_THAT(refusal(kHead + kSet + kSet + kRule),
              HasSubstr("two [[device_set]] with id = \"node\""));
  EXPECT_THAT(refusal(kHead + kSet + kRule + kRule), HasSubstr("two [[expect]] with id = \"one\""));
  EXPECT_THAT(refusal(rule_with("[ceiling]\nscale_up = 450\nsystem = \"dgx-1v\"\n")),
              HasSubstr("system contradicts scale_up"));
  EXPECT_THAT(refusal(rule_with("[ceiling]\nsystem = \"dgx-9\"\n")), HasSubstr("dgx-9"));
}

TEST(SpecReader, NoiseWordsAreChecked) {
  EXPECT_THAT(refusal(with(kHead, "\"inconclusive\"", "\"rerun\"") + kSet + kRule),
              HasSubstr("needs the key \"max_reruns\""));
  EXPECT_THAT(refusal(with(kHead, "max_cv = 0.02", "max_cv = 0.02\nmax_reruns = 2") + kSet + kRule),
              HasSubstr("max_reruns means nothing without on_noisy = \"rerun\""));
  EXPECT_THAT(
      refusal(with(kHead, "max_cv = 0.02", "max_cv = 0.02\ndecide = \"best\"") + kSet + kRule),
      HasSubstr("the best of several attempts passes"));
  EXPECT_THAT(refusal(with(kHead, "max_cv = 0.02", "max_cv = 2.0") + kSet + kRule),
              HasSubstr("0.02 is 2 %"));
}

TEST(SpecReader, FewerLaunchesThanTheLeastAreRefused) {
  EXPECT_THAT(refusal(with(kHead, "launches = 5", "launches = 2") + kSet + kRule),
              HasSubstr("min_launches (3) is more than launches (2)"));
}

TEST(SpecReader, IterationsAndWarmupMayBeAuto) {
  const auto spec =
      read(with(kHead, "launches = 5", "launches = 5\niterations = \"auto\"\nwarmup = \"auto\"") +
           kSet + kRule);
  EXPECT_EQ(spec.run.iterations, 0);
  EXPECT_EQ(spec.run.warmup, -1);
  const auto numbers = read(
      with(kHead, "launches = 5", "launches = 5\niterations = 100\nwarmup = 0") + kSet + kRule);
  EXPECT_EQ(numbers.run.iterations, 100);
  EXPECT_EQ(numbers.run.warmup, 0);
  EXPECT_THAT(
      refusal(with(kHead, "launches = 5", "launches = 5\niterations = \"some\"") + kSet + kRule),
      HasSubstr("a whole number or \"auto\""));
}

TEST(SpecReader, LaunchesAtTheSameTimeAreTheMachinesUnlessGiven) {
  EXPECT_FALSE(read(kHead + kSet + kRule).run.at_once);
  const auto with_at_once = [](const std::string& value) {
    return with(kHead, "launches = 5", "at_once = " + value + "\nlaunches = 5") + kSet + kRule;
  };
  EXPECT_EQ(read(with_at_once("32")).run.at_once, 32);
  for (const char* value : {"0", "-1", "1.5", "\"all\""}) {
    EXPECT_THAT(refusal(with_at_once(value)),
                StartsWith("pod.toml:5:11: at_once must be a whole number from 1"));
  }
}

TEST(SpecReader, SizesComeInThreeForms) {
  const auto sizes = [](const std::string& form) {
    return read(with(rule_with(""), "\"1GiB\"", form)).expectations[0].sizes;
  };
  EXPECT_THAT(sizes("[\"1MiB\", \"8MiB\"]"), ElementsAre(kMiB, 8 * kMiB));
  EXPECT_THAT(sizes("{ from = \"1MiB\", to = \"5MiB\", factor = 2 }"),
              ElementsAre(kMiB, 2 * kMiB, 4 * kMiB));
  EXPECT_THAT(sizes("{ from = \"8B\", to = \"8B\", factor = 2 }"), ElementsAre(8U));
  const auto refused = [](const std::string& form) {
    return refusal(with(rule_with(""), "\"1GiB\"", form));
  };
  EXPECT_THAT(refused("1024"), HasSubstr("size must be a text such as"));
  EXPECT_THAT(refused("\"1 GW\""), StartsWith("pod.toml:19:8: size"));
  EXPECT_THAT(refused("[\"8MiB\", \"1MiB\"]"), HasSubstr("the sizes must rise"));
  EXPECT_THAT(refused("{ from = \"2MiB\", to = \"1MiB\", factor = 2 }"),
              HasSubstr("to is less than from"));
  EXPECT_THAT(refused("{ from = \"1MiB\", to = \"2MiB\", factor = 1 }"),
              HasSubstr("factor must be at least 1.01"));
}

TEST(SpecReader, CollectivesAreKnownInBothSpellings) {
  const auto spec = read(with(rule_with(""), "\"allreduce\"", R"(["all_reduce", "sendrecv"])"));
  EXPECT_THAT(spec.expectations[0].collectives, ElementsAre("allreduce", "sendrecv"));
  EXPECT_THAT(refusal(with(rule_with(""), "\"allreduce\"", "\"allredux\"")),
              HasSubstr("did you mean \"allreduce\"?"));
  EXPECT_THAT(refusal(with(rule_with(""), "\"allreduce\"", "[\"all_reduce\", \"allreduce\"]")),
              HasSubstr("twice"));
}

TEST(SpecReader, OperationNeedsAReduction) {
  EXPECT_EQ(read(rule_with("op = \"max\"\n")).expectations[0].op, "max");
  EXPECT_THAT(refusal(with(rule_with("op = \"max\"\n"), "\"allreduce\"", "\"allgather\"")),
              HasSubstr("no collective here reduces"));
}

TEST(SpecReader, FleetNeedsItsThreeGates) {
  const std::string gates = "fail_below = 0.9\nmin_robust_z = 6.0\nmax_fleet_mad = 0.05\n";
  const Specification spec =
      read(fleet(gates + "confirm = { partner = \"known_good\", repeats = 2 }\n"));
  EXPECT_EQ(spec.expectations[1].confirm_repeats, 2);
  EXPECT_THAT(refusal(fleet("fail_below = 0.9\nmax_fleet_mad = 0.05\n")),
              HasSubstr("needs the key \"min_robust_z\""));
  EXPECT_THAT(refusal(fleet("fail_below = 0.9\nmin_robust_z = 6\n")),
              HasSubstr("needs the key \"max_fleet_mad\""));
  EXPECT_THAT(refusal(fleet(gates + "metric = \"time_us\"\n")), HasSubstr("needs a bandwidth"));
  EXPECT_THAT(refusal(with(fleet(gates), "kind = \"pairwise\"", "kind = \"whole\"")),
              HasSubstr("needs several sets of nodes"));
  EXPECT_THAT(refusal(rule_with("min_robust_z = 6\n")),
              HasSubstr("min_robust_z means nothing without compare = \"fleet\""));
  EXPECT_THAT(refusal(with(fleet(gates + "confirm = { repeats = 2 }\n"), "device_set = \"pairs\"",
                           "device_set = \"node\"")),
              HasSubstr("confirm needs a device set of kind = \"pairwise\""));
}

TEST(SpecReader, SetsTellHowManyRanksANodeHas) {
  const std::string bare = "[[device_set]]\nid = \"node\"\nkind = \"whole\"\n";
  EXPECT_THAT(refusal(kHead + bare + kRule), HasSubstr("needs ranks_per_node"));
  const auto of_system =
      read(with(kHead, "name = \"pod\"", "name = \"pod\"\nfingerprint = { gpus_per_node = 4 }") +
           bare + kRule);
  EXPECT_EQ(of_system.device_sets[0].ranks_per_node, 4);
  EXPECT_EQ(read(kHead + bare + "ranks_per_node = 2\ngpus = \"best\"\n" + kRule)
                .device_sets[0]
                .ranks_per_node,
            2);
  EXPECT_THAT(refusal(kHead + kSet + "ranks_per_node = 4\n" + kRule),
              HasSubstr("contradicts gpus = \"0-7\", which are 8"));
  EXPECT_THAT(refusal(kHead + with(kSet, "0-7", "0,0") + kRule), HasSubstr("twice"));
}

TEST(SpecReader, KeysOfOtherKindsOfSetsAreRefused) {
  EXPECT_THAT(refusal(kHead + kSet + "nodes = [\"a\"]\n" + kRule),
              HasSubstr("nodes means nothing without kind = \"list\""));
  EXPECT_THAT(refusal(kHead + kSet + "members = \"nodes\"\n" + kRule),
              HasSubstr("members means nothing without kind = \"pairwise\""));
  EXPECT_THAT(refusal(with(kHead, "name = \"pod\"", "name = \"pod\"\nnodes = [\"h1\"]") +
                      with(kSet, "per_node", "list") + "nodes = [\"h2\"]\n" + kRule),
              HasSubstr("unknown node of [system] \"h2\""));
}

TEST(SpecReader, OneRankHasNoBusBandwidth) {
  EXPECT_THAT(refusal(kHead + with(kSet, "0-7", "0") + kRule),
              HasSubstr("one rank has no bus bandwidth"));
  EXPECT_EQ(read(kHead + with(kSet, "0-7", "0") + kRule + "metric = \"time_us\"\n")
                .expectations[0]
                .metric,
            Metric::Time);
}

TEST(SpecReader, KnownIssueEndsOnADayThatThereIs) {
  const auto issue = [](const std::string& until) {
    return rule_with("known_issue = { reason = \"ticket 1\", until = " + until + " }\n");
  };
  EXPECT_EQ(read(issue("\"2028-02-29\"")).expectations[0].known_issue->until, "2028-02-29");
  EXPECT_EQ(read(issue("2026-12-01")).expectations[0].known_issue->until, "2026-12-01");
  EXPECT_THAT(refusal(issue("\"2026-02-29\"")), HasSubstr("must be a day of the calendar"));
  EXPECT_THAT(refusal(issue("\"tomorrow\"")), HasSubstr("must be a day of the calendar"));
  EXPECT_THAT(refusal(rule_with("known_issue = { reason = \"ticket 1\" }\n")),
              HasSubstr("needs the key \"until\""));
}

TEST(SpecReader, PathsAreRelativeToTheSpecification) {
  const test::TemporaryFolder folder;
  folder.write("pod.toml", rule_with("[baseline]\nfile = \"base.csv\"\nmax_age_days = 9\n"
                                     "must_match = []\n"));
  const Specification spec = load(folder.path("pod.toml"));
  ASSERT_TRUE(spec.baseline);
  EXPECT_EQ(spec.baseline->file, folder.path("base.csv"));
}

}  // namespace
}  // namespace busbar::judge
