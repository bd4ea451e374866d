// SPDX-License-Identifier: BSD-3-Clause
#include "judge/spec/reader.hpp"

#include "tests/unit/judge/spec/specification_text.hpp"

namespace busbar::judge {
namespace {

/// The least specification, with more lines of its rule "one".
std::string rule_with(const std::string& lines) { return kHead + kSet + kRule + lines; }

/// The least specification with one part changed, and more lines of its rule.
std::string changed(const std::string& part, const std::string& other,
                    const std::string& lines = {}) {
  return with(rule_with(lines), part, other);
}

/// With more lines of [run].
std::string run_with(const std::string& lines) {
  return changed("launches = 5", lines + "launches = 5");
}

/// With more lines of its device set.
std::string set_with(const std::string& lines) { return kHead + kSet + lines + kRule; }

std::string fleet(const std::string& lines) {
  return kHead + kSet + kPairs + kRule + kFleetRule + lines;
}

/// Texts, each with a token of its refusal.
void expect_refused(const std::vector<std::pair<std::string, std::string>>& texts) {
  for (const auto& [text, token] : texts) EXPECT_THAT(refusal(text), HasSubstr(token));
}

const std::string kGates = "fail_below = 0.9\nmin_robust_z = 6.0\nmax_fleet_mad = 0.05\n";

TEST(SpecReader, LeastFileHasDefaultsAndNoTolerance) {
  const Specification spec = read(rule_with(""));
  EXPECT_EQ(spec.file + spec.profile + ' ' + spec.system.name, "pod.toml pod");
  EXPECT_EQ(std::tuple(spec.run.launches, spec.run.iterations, spec.run.warmup),
            std::tuple(5, 0, -1));
  EXPECT_TRUE(spec.run.check_data);
  EXPECT_EQ(spec.run.backend, "auto");
  EXPECT_EQ(spec.device_set("node").ranks_per_node, 8);
  ASSERT_EQ(spec.rules.size(), 1U);
  const Rule& rule = spec.rules[0];
  EXPECT_THAT(rule.collectives, ElementsAre("allreduce"));
  EXPECT_THAT(rule.sizes, ElementsAre(kGiB));
  EXPECT_EQ(rule.metric, Metric::BusBandwidth);
  EXPECT_EQ(rule.statistic, Statistic::Median);
  EXPECT_EQ(rule.bounds.fail_below, 0.9);
  EXPECT_FALSE(rule.bounds.warn_below || rule.bounds.warn_above || rule.bounds.fail_above);
  EXPECT_FALSE(rule.max_cv);
  EXPECT_EQ(rule.source, "");
  EXPECT_EQ(rule.place.line, 15U);
}

TEST(SpecReader, ReadsTheExampleOfItsDocument) {
  const std::string document = test::text_of("docs/acceptance-specification.md");
  const std::size_t begin = document.find("schema = 1\n");
  const std::size_t end = document.find("```", begin);
  ASSERT_NE(end, std::string::npos);
  const Specification spec = read(document.substr(begin, end - begin));
  EXPECT_EQ(spec.rules.at(0).value, 475);
}

TEST(SpecReader, RefusalsBeginWithTheFileAndThePlaceOfTheKey) {
  EXPECT_THAT(
      refusal(rule_with("fail_belw = 1\n")),
      StartsWith(
          R"(pod.toml:23:1: unknown key of [[expect]] "fail_belw"; did you mean "fail_below"?)"));
  EXPECT_THAT(refusal(changed("launches = 5", "launches = 0")),
              StartsWith("pod.toml:5:12: launch"));
  EXPECT_THAT(refusal(changed("'1GiB'", "'1 GW'")), StartsWith("pod.toml:19:8: size"));
  for (const char* number : {"0", "-1", "1.5", "'all'"}) {
    EXPECT_THAT(refusal(run_with(fmt::format("at_once = {}\n", number))),
                StartsWith("pod.toml:5:11: at_once must be a whole number from 1"));
  }
}

TEST(SpecReader, AFaultHasNoFaultsInItsTrain) {
  // A rule of a set that cannot be read is not one of an unknown set, and system has what sets
  // need.
  const std::string system = with(changed("gpus = '0-7'\n", ""), "'pod'", "'pod'\nfingerprint = 1");
  for (const std::string& text :
       {changed("kind = 'per_node'", "kind = 'x'"), system, changed("on_noisy", "on_nosy")}) {
    EXPECT_THAT(refusal(text), Not(HasSubstr("more error")));
  }
}

TEST(SpecReader, RefusesWhatIsMissing) {
  expect_refused({{changed("schema = 1", ""), R"("schema")"},
                  {changed("schema = 1", "schema = 2"), "schema must be 1"},
                  {"schema = 1\n", "needs a table [system]"},
                  {changed("timeout_s = 60\n", ""), R"([run] needs the key "timeout_s")"},
                  {kHead + kRule, "has no [[device_set]]"},
                  {kHead + kSet, "has no [[expect]]"},
                  {changed("compare = 'absolute'\n", ""), R"(needs the key "compare")"},
                  {changed("fail_below = 0.9\n", ""), "the rule has no bound"},
                  {changed("value = 400\n", ""), R"([[expect]] needs the key "value")"}});
}

TEST(SpecReader, KeysThatAreGoneNameWhatDoesTheirWork) {
  expect_refused(
      {{rule_with("[baseline]\nfile = 'b.csv'\n"),
        "[baseline] file was removed: run `busbar accept run SPEC -o FOLDER`"},
       {rule_with("allow_misses = 1\n"), "[[expect]] allow_misses was"},
       {rule_with("[profile.full]\nmax_size = '1MiB'\n"), "[profile] max_size was removed"}});
}

TEST(SpecReader, RefusesWhatContradictsTheRestOfTheFile) {
  const auto of_nodes = [](const std::string& lines) {
    return with(fleet(lines), "device_set = 'pairs'", "device_set = 'node'");
  };
  const std::string baseline = with(changed("value = 400\n", ""), "absolute", "baseline");
  const std::string one_gpu = kHead + with(kSet, "0-7", "0") + kRule;
  expect_refused({
      {rule_with("warn_below = 0.8\n"), "warn_below = 0.8 must be at least fail_below = 0.9"},
      {rule_with("fail_above = 0.9\n"), "fail_above = 0.9 must be above fail_below = 0.9"},
      {rule_with("warn_above = 1.2\nfail_above = 1.1\n"),
       "fail_above = 1.1 must be at least warn_above = 1.2"},
      {changed("'absolute'", "'theoretical'"), "value is only valid with compare"},
      {baseline, "needs a table [baseline]"},
      {changed("device_set = 'node'", "device_set = 'nod'"), R"(did you mean "node"?)"},
      {set_with(kSet), R"(two [[device_set]] with id = "node")"},
      {rule_with(kRule), R"(two [[expect]] with id = "one")"},
      {rule_with("[ceiling]\nmodel = 'ring'\n"), R"([ceiling] needs the key "system")"},
      {rule_with("[ceiling]\nsystem = 'dgx-9'\n"), "dgx-9"},
      {changed("'inconclusive'", "'rerun'"), R"(needs the key "max_reruns")"},
      {changed("max_cv = 0.02", "max_cv = 0.02\nmax_reruns = 2"),
       "max_reruns is only valid with on_noisy"},
      {changed("max_cv = 0.02", "max_cv = 2.0"), "0.02 is 2 %"},
      {changed("launches = 5", "launches = 2"), "min_launches (3) is more than launches (2)"},
      {changed("launches = 5", "launches = 5\nbackend = 'sim'"), "busbar accept rehearse"},
      {run_with("iterations = 'some'\n"), R"(a whole number or "auto")"},
      {changed("'allreduce'", "'allredux'"), R"(did you mean "allreduce"?)"},
      {changed("'allreduce'", R"(["all_reduce", "allreduce"])"), "twice"},
      {rule_with("source = 3\n"), "source"},
      {set_with("ranks_per_node = 4\n"), R"(contradicts gpus = "0-7", which are 8)"},
      {changed("0-7", "0,0"), "twice"},
      {one_gpu, "one rank has no bus bandwidth"},
      {rule_with("known_issue = { reason = 'ticket 1' }\n"), R"(needs the key "until")"},
      {rule_with("known_issue = { reason = 't', until = '2026-12-01', nodes = 'h[1' }\n"),
       "nodes: brackets of 'h[1' do not match"},
      {of_nodes("fail_below = 0.9\nmax_fleet_mad = 0.05\n"), R"(needs the key "min_robust_z")"},
      {of_nodes("fail_below = 0.9\nmin_robust_z = 6\n"), R"(needs the key "max_fleet_mad")"},
      {fleet(kGates + "metric = 'time_us'\n"), "needs a bandwidth"},
      {with(fleet(kGates), "kind = 'pairwise'", "kind = 'whole'"), "needs several sets of nodes"},
      {rule_with("min_robust_z = 6\n"), "min_robust_z is only valid with"},
  });
  EXPECT_EQ(read(one_gpu + "metric = 'time_us'\n").rules[0].metric, Metric::Time);
}

TEST(SpecReader, TakesKeysOfSeveralForms) {
  const auto rule = [](const std::string& lines) { return read(rule_with(lines)).rules[0]; };
  EXPECT_EQ(rule("source = 'a guide'\n").source, "a guide");
  EXPECT_EQ(rule("source = ['a guide;', 'our choice']\n").source, "a guide; our choice");
  const auto warns = read(changed("fail_below", "warn_below")).rules[0].bounds;
  EXPECT_FALSE(warns.fail_below);
  EXPECT_EQ(warns.warn_below, 0.9);
  EXPECT_THAT(read(changed("'allreduce'", R"(["all_reduce", "sendrecv"])")).rules[0].collectives,
              ElementsAre("allreduce", "sendrecv"));
}

TEST(SpecReader, TakesAutoOrNumbersOfARun) {
  const auto run = [](const std::string& lines) {
    const auto of_run = read(run_with(lines)).run;
    return std::tuple(of_run.iterations, of_run.warmup, of_run.at_once.value_or(-1));
  };
  EXPECT_EQ(run("iterations = 'auto'\nwarmup = 'auto'\n"), std::tuple(0, -1, -1));
  EXPECT_EQ(run("iterations = 100\nwarmup = 0\nat_once = 32\n"), std::tuple(100, 0, 32));
}

TEST(SpecReader, AFingerprintMayListValuesOfWhichOneIsWanted) {
  const auto fingerprint = [](const std::string& facts) {
    return changed("'pod'", "'pod'\nfingerprint = { " + facts + " }");
  };
  EXPECT_THAT(read(fingerprint("gpu = ['A', 'B']")).system.fingerprint.at("gpu"),
              ElementsAre("A", "B"));
  expect_refused({{fingerprint("gpu = []"), "gpu is an empty list"},
                  {fingerprint("gpus_per_node = [4, 8]"), "gpus_per_node"}});
}

TEST(SpecReader, ADeviceSetMayHaveSettingsAndAFingerprintOfItsOwn) {
  const DeviceSetRule set = read(set_with("env = { NCCL_MNNVL_ENABLE = '0' }\n"
                                          "backend_options = ['--cta-policy', 'zero']\n"
                                          "fingerprint = { transport = 'NET/IB' }\n"))
                                .device_sets[0];
  EXPECT_EQ(set.env.at("NCCL_MNNVL_ENABLE"), "0");
  EXPECT_THAT(set.backend_options, ElementsAre("--cta-policy", "zero"));
  EXPECT_THAT(set.fingerprint.at("nccl_links"), ElementsAre("NET/IB"));
  expect_refused({{set_with("env = { NCCL_MNNVL_ENABLE = 0 }\n"), "NCCL_MNNVL_ENABLE"},
                  {set_with("env = { 'A B' = '0' }\n"), "not the name of a variable"}});
}

TEST(SpecReader, ARuleOfFactsHasOneLimit) {
  const auto with_fact = [](const std::string& lines) {
    return rule_with("[[expect_fact]]\nfact = 'net.carrier_changes'\n" + lines);
  };
  const FactRule rule = read(with_fact("instance = 'e*'\ndelta_max = 0\n")).facts.at(0);
  EXPECT_EQ(rule.id, "net.carrier_changes");
  EXPECT_EQ(rule.instance, "e*");
  EXPECT_EQ(rule.delta_max, 0);
  EXPECT_EQ(read(with_fact("same = 'fleet'\n")).facts.at(0).same, "fleet");
  expect_refused(
      {{with_fact(""), "needs one limit"},
       {with_fact("delta_max = 0\nat_least = 1\n"), "needs one limit"},
       {with_fact("delta_max = -1\n"), "delta_max"},
       {with_fact("same = 'all'\n"), "fleet"},
       {with(with_fact("delta_max = 0\n"), "net.carrier_changes", "net.carrier"), "did you mean"},
       {with(with_fact("delta_max = 0\n"), "net.carrier_changes", "net.mtu"), "needs a counter"},
       {with_fact("delta_max = 0\n[[expect_fact]]\nfact = 'net.carrier_changes'\nat_least = 1\n"),
        "two [[expect_fact]]"}});
}

TEST(SpecReader, ASoakHasOneSizeAndLimitsThatAreGiven) {
  const auto with_soak = [](const std::string& lines) { return rule_with("[soak]\n" + lines); };
  const auto soak = read(with_soak("size = '1MiB'\nlevel_max = 0.05\ndips_max = 0\n")).soak;
  ASSERT_TRUE(soak);
  EXPECT_EQ(std::tuple(soak->turn_s, soak->level_max, soak->dips_max), std::tuple(60, 0.05, 0));
  EXPECT_FALSE(soak->drift_max);
  EXPECT_FALSE(read(rule_with("")).soak);
  expect_refused({{with_soak(""), R"(needs the key "size")"},
                  {with_soak("size = ['1MiB', '2MiB']\n"), "one size"},
                  {with_soak("size = '1MiB'\nlevel_max = 5\n"), "0.02 is 2 %"},
                  {with_soak("size = '1MiB'\nturn_s = 0\n"), "turn_s"}});
}

TEST(SpecReader, SizesComeInThreeForms) {
  const auto form = [](const std::string& size) { return changed("'1GiB'", size); };
  const auto sizes = [&](const std::string& size) { return read(form(size)).rules[0].sizes; };
  EXPECT_THAT(sizes("['1MiB', '8MiB']"), ElementsAre(kMiB, 8 * kMiB));
  EXPECT_THAT(sizes("{ from = '1MiB', to = '5MiB', factor = 2 }"),
              ElementsAre(kMiB, 2 * kMiB, 4 * kMiB));
  EXPECT_THAT(sizes("{ from = '8B', to = '8B', factor = 2 }"), ElementsAre(8U));
  expect_refused(
      {{form("1024"), "size must be a text such as"},
       {form(R"(["8MiB", "1MiB"])"), "the sizes must rise"},
       {form(R"(["1MiB", "8MiB", "4MiB"])"), "the sizes must rise"},
       {form(R"({ from = "2MiB", to = "1MiB", factor = 2 })"), "to is less than from"},
       {form(R"({ from = "1MiB", to = "2MiB", factor = 1 })"), "factor must be at least 1.01"}});
}

TEST(SpecReader, ASetHasTheRanksPerNodeOfItselfOrOfTheSystem) {
  const std::string bare = changed("gpus = '0-7'\n", "");
  expect_refused({{bare, "needs ranks_per_node"}});
  const std::string system = with(bare, "'pod'", "'pod'\nfingerprint = { gpus_per_node = 4 }");
  EXPECT_EQ(read(system).device_sets[0].ranks_per_node, 4);
  const std::string own = with(system, kRule, "ranks_per_node = 2\ngpus = 'best'\n" + kRule);
  EXPECT_EQ(read(own).device_sets[0].ranks_per_node, 2);
}

TEST(SpecReader, AKnownIssueEndsOnADayOfTheCalendar) {
  const auto issue = [](const std::string& until) {
    return rule_with("known_issue = { reason = 'ticket 1', until = " + until + " }\n");
  };
  EXPECT_EQ(read(issue("'2028-02-29'")).rules[0].known_issue->until, "2028-02-29");
  EXPECT_EQ(read(issue("2026-12-01")).rules[0].known_issue->until, "2026-12-01");
  EXPECT_EQ(read(issue("2026-12-01, nodes = 'h[1-2]'")).rules[0].known_issue->nodes,
            (std::vector<std::string>{"h1", "h2"}));
  expect_refused(
      {{issue("'2026-02-29'"), "is not a date"}, {issue("'tomorrow'"), "is not a date"}});
}

const std::string kProfiles = kHead + kSet + kPairs + kRule +
                              with(with(kRule, "one", "two"), "node", "pairs") +
                              "[profile.quick]\nexpect = ['one']\nlaunches = 3\n"
                              "max_cv = 0.05\n[profile.full]\nlaunches = 9\n";

TEST(SpecProfile, ProfileTakesItsRulesAndNumbers) {
  const Specification quick = read(kProfiles, "quick");
  EXPECT_EQ(quick.profile, "quick");
  ASSERT_EQ(quick.rules.size(), 1U);
  EXPECT_EQ(quick.rules[0].id, "one");
  EXPECT_EQ(quick.device_sets.size(), 1U);
  EXPECT_EQ(quick.run.launches, 3);
  EXPECT_EQ(quick.noise.max_cv, 0.05);
  const Specification full = read(kProfiles, "full");
  EXPECT_EQ(full.rules.size(), 2U);
  EXPECT_EQ(full.run.launches, 9);
}

TEST(SpecProfile, WithoutAProfileStandardIsTakenOrAll) {
  EXPECT_EQ(read(kProfiles).profile, "");
  EXPECT_EQ(read(kProfiles).run.launches, 5);
  const Specification standard = read(kProfiles + "[profile.standard]\nlaunches = 4\n");
  EXPECT_EQ(standard.profile, "standard");
  EXPECT_EQ(standard.run.launches, 4);
}

TEST(SpecProfile, AnUnknownProfileIsRefusedWithThoseThatThereAre) {
  EXPECT_THAT(refusal(kProfiles, "quik"),
              HasSubstr("there is no [profile.quik]; --profile takes one of: quick, full"));
  EXPECT_THAT(refusal(kHead + kSet + kRule, "quick"), HasSubstr("run it without --profile"));
}

TEST(SpecProfile, EveryProfileIsCheckedWhicheverIsChosen) {
  const std::string standard = kProfiles + "[profile.standard]\n";
  EXPECT_THAT(refusal(standard + "min_launches = 9\n", "quick"),
              HasSubstr("(9) is more than launches (5)"));
  EXPECT_THAT(refusal(standard + "expect = ['tow']\n"), HasSubstr(R"(did you mean "two"?)"));
}

/// The ids of the rules that stay.
std::vector<std::string> only(const std::vector<std::string>& rules,
                              const std::string& profile = {}) {
  const Specification spec = parse_specification(kProfiles, "pod.toml", profile, rules);
  EXPECT_EQ(spec.run.launches, profile == "quick" ? 3 : 5);
  EXPECT_EQ(spec.device_sets.size(), spec.rules.size());
  return spec.only;
}

TEST(SpecProfile, RulesThatAreAskedForStayWhicheverTheProfileHas) {
  EXPECT_THAT(only({"two"}), ElementsAre("two"));
  EXPECT_THAT(only({"two"}, "quick"), ElementsAre("two")) << "quick is for rule one";
  EXPECT_THAT(only({"two", "one"}), ElementsAre("one", "two"));
}

}  // namespace
}  // namespace busbar::judge
