// SPDX-License-Identifier: BSD-3-Clause
#include "judge/spec/lint.hpp"

#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "judge/spec/reader.hpp"

namespace busbar::judge {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr const char* kToday = "2026-11-21";

const std::string kHead =
    "schema = 1\n[system]\nname = \"pod\"\nfingerprint = { gpu = \"H200\", gpus_per_node = 8 }\n"
    "[ceiling]\nscale_up = 450\nscale_out = 50\n"
    "[run]\nlaunches = 5\nmin_launches = 3\ntimeout_s = 60\n"
    "[noise]\nmax_cv = 0.02\non_noisy = \"inconclusive\"\n"
    "[[device_set]]\nid = \"node\"\nkind = \"per_node\"\ngpus = \"0-7\"\n"
    "[[device_set]]\nid = \"pairs\"\nkind = \"pairwise\"\n";
const std::string kFloor =
    "[[expect]]\nid = \"floor\"\ncollective = \"alltoall\"\ndevice_set = \"pairs\"\nsize = "
    "\"1GiB\"\ncompare = \"theoretical\"\nfail_below = 0.9\nfail_above = 1.0\n";

std::string rule(const std::string& lines, const std::string& collective = "allreduce",
                 const std::string& size = "1GiB") {
  return "[[expect]]\nid = \"one\"\ncollective = \"" + collective +
         "\"\ndevice_set = \"node\"\nsize = \"" + size + "\"\n" + lines;
}

std::string linted(const std::string& text, const Baseline* baseline = nullptr,
                   const std::string& profile = {}) {
  const Specification spec = parse_specification(text, "pod.toml", profile);
  return lint_text(spec.file, lint(spec, baseline, kToday));
}

std::string absolute(const std::string& value, const std::string& lines = {}) {
  return kHead + kFloor +
         rule("compare = \"absolute\"\nvalue = " + value +
              "\nfail_below = 0.9\nfail_above = 1.2\n" + lines);
}

TEST(SpecLint, SaysNothingOfASoundSpecification) {
  EXPECT_THAT(linted(absolute("400")), IsEmpty());
}

TEST(SpecLint, RefusesAFloorAboveTheCeiling) {
  // A health check that ships 800 GB/s as the floor of such a machine always warns.
  EXPECT_EQ(linted(absolute("800")),
            "pod.toml:36:9: refused: rule one: value 800 GB/s x fail_below 0.9 needs 720 GB/s of "
            "allreduce bus bandwidth, above the ceiling 450 (450 scale-up): it can never be met\n");
  EXPECT_THAT(linted(absolute("500")), IsEmpty());
  EXPECT_THAT(linted(absolute("501")), HasSubstr("refused"));
  EXPECT_THAT(linted(absolute("480", "warn_below = 0.95\n")), HasSubstr("x warn_below 0.95"));
}

TEST(SpecLint, AdmitsWhatTheSwitchAdds) {
  std::string text = absolute("473");
  text.replace(text.find("fail_below = 0.9\nfail_above = 1.2"), 16, "fail_below = 0.97");
  EXPECT_THAT(linted(text), HasSubstr("above the ceiling 450"));
  text.replace(text.find("scale_out"), 0, "in_network_reduction = \"measured\"\n");
  EXPECT_THAT(linted(text), IsEmpty());
}

TEST(SpecLint, ReckonsOtherMetricsAsBusBandwidth) {
  // Algorithm bandwidth 280 x 1.75 = 490 GB/s of bus bandwidth on eight ranks.
  EXPECT_THAT(linted(absolute("280", "metric = \"algbw\"\n")), IsEmpty());
  EXPECT_THAT(linted(absolute("290", "metric = \"algbw\"\n")), HasSubstr("needs 456.8 GB/s"));
  // 1 GiB in 4000 us is 268 GB/s, x 1.75 = 470 GB/s.
  const auto timed = [](const std::string& most) {
    return linted(kHead + kFloor +
                  rule("compare = \"absolute\"\nmetric = \"time_us\"\nvalue = 1000\nfail_below = "
                       "0.1\nfail_above = " +
                       most + "\n"));
  };
  EXPECT_THAT(timed("4.0"), HasSubstr("needs 469.8 GB/s"));
  EXPECT_THAT(timed("4.5"), IsEmpty());
}

TEST(SpecLint, RefusesAFractionAboveOne) {
  EXPECT_THAT(linted(kHead + kFloor +
                     rule("compare = \"theoretical\"\nfail_below = 1.1\nfail_above = 1.2\n")),
              HasSubstr("refused: rule one: a floor of 1.1 times the ceiling can never be met"));
}

TEST(SpecLint, FlagsAFloorUnderHalfOfTheCeiling) {
  EXPECT_THAT(linted(absolute("240")),
              AllOf(HasSubstr("warning: rule one: the floor of 216 GB/s"), HasSubstr("half")));
  EXPECT_THAT(linted(absolute("250")), IsEmpty());
  EXPECT_THAT(linted(kHead + kFloor +
                     rule("compare = \"theoretical\"\nfail_below = 0.4\nfail_above = 1.0\n")),
              HasSubstr("warning: rule one: a floor of 0.4 times the ceiling is under half"));
}

TEST(SpecLint, FlagsATheoreticalRuleWithoutACeiling) {
  std::string text = kHead + kFloor;
  text.replace(text.find("scale_out = 50\n"), 15, "");
  EXPECT_THAT(linted(text), HasSubstr("[ceiling] tells none for alltoall on pairs"));
}

TEST(SpecLint, FlagsBandwidthOfSizesThatAreLatency) {
  const std::string bounds =
      "compare = \"absolute\"\nvalue = 400\nfail_below = 0.9\nfail_above = "
      "1.1\n";
  EXPECT_THAT(linted(kHead + kFloor + rule(bounds, "allreduce", "8B")),
              HasSubstr("pod.toml:34:8: warning: rule one: 8 B of allreduce is mostly latency"));
  EXPECT_THAT(linted(kHead + kFloor + rule(bounds, "allreduce", "512KiB")), HasSubstr("latency"));
  EXPECT_THAT(linted(kHead + kFloor + rule(bounds, "allreduce", "1MiB")), IsEmpty());
}

TEST(SpecLint, KnowsLargerLatencyFromTheSystem) {
  std::string text =
      kHead + kFloor +
      rule("compare = \"theoretical\"\nfail_below = 0.7\nfail_above = 1.0\n", "allreduce", "2MiB");
  EXPECT_THAT(linted(text), IsEmpty());
  text.replace(text.find("scale_up = 450\nscale_out = 50"), 29, "system = \"dgx-h100\"");
  EXPECT_THAT(linted(text), HasSubstr("2 MiB of allreduce is mostly latency"));
}

TEST(SpecLint, FlagsAFleetThatMayBeBadAltogether) {
  const std::string fleet =
      "[[expect]]\nid = \"odd\"\ncollective = \"alltoall\"\ndevice_set = \"pairs\"\nsize = "
      "\"1GiB\"\ncompare = \"fleet\"\nfail_below = 0.9\nmin_robust_z = 6\nmax_fleet_mad = 0.05\n";
  const std::string node = rule("compare = \"theoretical\"\nfail_below = 0.8\nfail_above = 1.0\n");
  EXPECT_THAT(linted(kHead + node + fleet), HasSubstr("rule odd: an all-bad fleet would pass"));
  EXPECT_THAT(linted(kHead + node + fleet + kFloor), IsEmpty());
}

TEST(SpecLint, HintsAtTheOtherSide) {
  EXPECT_THAT(
      linted(kHead + kFloor + rule("compare = \"absolute\"\nvalue = 400\nfail_below = 0.9\n")),
      HasSubstr("too good to be true"));
}

TEST(SpecLint, FlagsAKnownIssueThatEnded) {
  const auto until = [](const std::string& day) {
    return linted(
        absolute("400", R"(known_issue = { reason = "ticket 1", until = ")" + day + "\" }\n"));
  };
  EXPECT_THAT(until("2026-11-20"), HasSubstr("known_issue \"ticket 1\" ended on 2026-11-20"));
  EXPECT_THAT(until(kToday), IsEmpty());
}

TEST(SpecLint, FlagsWhatIsUnusedOrMatchesAnything) {
  std::string text = kHead + kFloor;
  EXPECT_THAT(linted(text),
              HasSubstr("pod.toml:15:1: warning: no rule is for device_set \"node\""));
  text = absolute("400");
  text.replace(text.find("fingerprint = { gpu = \"H200\", gpus_per_node = 8 }\n"), 50, "");
  text.replace(text.find("kind = \"pairwise\"\n"), 18, "kind = \"pairwise\"\ngpus = \"0-7\"\n");
  EXPECT_THAT(linted(text), HasSubstr("any machine would pass"));
}

const std::string kCompared =
    kHead + kFloor + rule("compare = \"baseline\"\nfail_below = 0.9\n") +
    "[baseline]\nfile = \"b.csv\"\nmax_age_days = 90\nmust_match = [\"gpu\", \"ngpus\", "
    "\"device_set\"]\n";

Baseline good() {
  return {
      .file = "b.csv",
      .made_on = "2026-11-01",
      .facts = {{"gpu", "NVIDIA H200"}, {"ngpus", "8"}},
      .rows = {
          {.key = {.device_set = "node", .collective = "allreduce", .type = "float", .size = kGiB},
           .median = 400,
           .launches = 5}}};
}

TEST(SpecLint, AcceptsABaselineThatFits) {
  const Baseline baseline = good();
  EXPECT_THAT(linted(kCompared, &baseline), IsEmpty());
}

TEST(SpecLint, RefusesABaselineThatIsNotThere) {
  EXPECT_THAT(linted(kCompared), HasSubstr("refused: b.csv is not there or cannot be read"));
}

TEST(SpecLint, RefusesABaselineThatIsOldOrOfTheFuture) {
  Baseline baseline = good();
  baseline.made_on = "2026-08-23";
  EXPECT_THAT(linted(kCompared, &baseline), IsEmpty());
  baseline.made_on = "2026-08-22";
  EXPECT_THAT(linted(kCompared, &baseline), HasSubstr("91 days ago; max_age_days is 90"));
  baseline.made_on = "2026-11-22";
  EXPECT_THAT(linted(kCompared, &baseline), HasSubstr("after today"));
}

TEST(SpecLint, WarnsOfAFingerprintThatARunOverMpiNeverReports) {
  std::string text = absolute("400");
  text.replace(text.find("timeout_s"), 0, "backend = \"mpi\"\n");
  EXPECT_THAT(linted(text),
              AllOf(HasSubstr("pod.toml:4:15: warning: "), HasSubstr("gpu, gpus_per_node"),
                    HasSubstr("backend = \"nccl\"")));
}

TEST(SpecLint, RefusesABaselineOfAnotherSystem) {
  Baseline baseline = good();
  baseline.facts["gpu"] = "NVIDIA H100";
  EXPECT_THAT(linted(kCompared, &baseline),
              HasSubstr("refused: b.csv is of gpu 'NVIDIA H100', the fingerprint of [system] "
                        "wants gpu 'H200'"));
  baseline = good();
  baseline.facts["ngpus"] = "80";
  EXPECT_THAT(linted(kCompared, &baseline), HasSubstr("wants gpus_per_node '8'"));
  baseline.facts.erase("ngpus");
  EXPECT_THAT(linted(kCompared, &baseline), HasSubstr("which b.csv does not tell"));
}

TEST(SpecLint, RefusesAFactThatTheFingerprintDoesNotHave) {
  std::string text = kCompared;
  text.replace(text.find("\"ngpus\""), 7, "\"driver\"");
  Baseline baseline = good();
  baseline.facts["driver"] = "550";
  EXPECT_THAT(linted(text, &baseline), HasSubstr("the fingerprint of [system] has no driver"));
}

TEST(SpecLint, RefusesABaselineWithoutARulesRows) {
  Baseline baseline = good();
  baseline.rows[0].key.statistic = Statistic::P99;
  EXPECT_THAT(linted(kCompared, &baseline),
              HasSubstr("refused: rule one: b.csv has no median busbw of allreduce 1 GiB on node"));
}

TEST(SpecLint, TellsRefusalsFromWarnings) {
  const auto findings = [](const std::string& text) {
    return lint(parse_specification(text, "pod.toml", ""), nullptr, kToday);
  };
  EXPECT_TRUE(is_refused(findings(absolute("800"))));
  EXPECT_FALSE(is_refused(findings(absolute("240"))));
}

TEST(SpecLint, ExampleOfTheDesignHasFloorsThatCanBeMet) {
  const std::string path = "../shared/reference/accept-example.toml";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << path << " is not here";
  const Specification spec = load_specification(path, "");
  const std::string text = lint_text(spec.file, lint(spec, nullptr, kToday));
  EXPECT_THAT(text, Not(HasSubstr("never be met")));
  EXPECT_THAT(text, HasSubstr("baselines/pod-a.csv is not there"));
}

}  // namespace
}  // namespace busbar::judge
