// SPDX-License-Identifier: BSD-3-Clause
#include "judge/spec/lint.hpp"

#include "tests/unit/judge/spec/specification_text.hpp"

namespace busbar::judge {
namespace {

constexpr const char* kToday = "2026-11-21";

const std::string kMachine =
    "schema = 1\n[system]\nname = 'pod'\nfingerprint = { gpu = 'H200', gpus_per_node = 8 }\n"
    "[ceiling]\nsystem = 'dgx-h100'\n" +
    kHead.substr(kHead.find("[run]")) + kSet + "[[device_set]]\nid = 'pairs'\nkind = 'pairwise'\n";
const std::string kFloor = with(with(kFleetRule, "odd", "floor"), "fleet", "theoretical") +
                           "fail_below = 0.9\nfail_above = 1\n";
const std::string kOddPair = kFleetRule + "fail_below = 0.9\n";

/// The rule "one" of all-reduce on a node.
std::string rule(const std::string& compare, const std::string& lines) {
  return "[[expect]]\nid = 'one'\ncollective = 'allreduce'\ndevice_set = 'node'\nsize = '1GiB'\n"
         "compare = '" +
         compare + "'\n" + lines;
}

std::string linted(const std::string& text) {
  const Specification spec = read(text);
  return lint_text(spec.file, lint(spec, kToday));
}

/// Specifications, each with a token of what is found; empty: nothing is.
void expect_findings(const std::vector<std::pair<std::string, std::string>>& texts) {
  for (const auto& [text, token] : texts) {
    EXPECT_THAT(linted(text), HasSubstr(token)) << text;
    EXPECT_EQ(linted(text).empty(), token.empty()) << linted(text);
    const bool refused = is_refused(lint(read(text), kToday));
    EXPECT_EQ(refused, linted(text).find(": refused: ") != std::string::npos);
  }
}

/// The same beside the floor of all pairs.
std::string absolute(const std::string& value, const std::string& lines = {}) {
  return kMachine + kFloor +
         rule("absolute", "value = " + value + "\nfail_below = 0.9\nfail_above = 1.2\n" + lines);
}
std::string theoretical(const std::string& fail_below, const std::string& fail_above) {
  return kMachine + kFloor +
         rule("theoretical", "fail_below = " + fail_below + "\nfail_above = " + fail_above + "\n");
}
std::string sized(const std::string& size, const std::string& text) {
  return with(text, "'node'\nsize = '1GiB'", "'node'\nsize = '" + size + "'");
}

TEST(SpecLint, HoldsEveryFloorAgainstTheCeiling) {
  // A health check that ships 800 GB/s as the floor of such a machine always warns.
  EXPECT_EQ(linted(absolute("800")),
            "pod.toml:35:9: refused: rule one: value 800 GB/s x fail_below 0.9 needs 720 GB/s of "
            "allreduce bus bandwidth, above the ceiling 450 (450 of dgx-h100 over nvswitch, "
            "limited by NVLink 4 of every GPU): it can never be met\n");
  const std::string switched = with(absolute("473"), "fail_below = 0.9\nfail_above = 1.2",
                                    "fail_below = 0.97\nfail_above = 1.2");
  const auto timed = [](const std::string& most) {
    return kMachine + kFloor +
           rule("absolute",
                "metric = 'time_us'\nvalue = 1000\nfail_below = 0.1\nfail_above = " + most + "\n");
  };
  const std::string algbw = "metric = 'algbw'\n";
  expect_findings({
      {absolute("400"), ""},
      {absolute("500"), ""},
      {absolute("501"), "refused"},
      {absolute("480", "warn_below = 0.95\n"), "x warn_below 0.95"},
      {switched, "above the ceiling 450"},
      {with(switched, "[ceiling]\n", "[ceiling]\nin_network_reduction = 'measured'\n"), ""},
      // Algorithm bandwidth 280 x 1.75 = 490 GB/s of bus bandwidth on eight ranks.
      {absolute("280", algbw), ""},
      {absolute("290", algbw), "needs 456.8 GB/s"},
      // 1 GiB in 4000 us is 268 GB/s, x 1.75 = 470 GB/s.
      {timed("4.0"), "needs 469.8 GB/s"},
      {timed("4.5"), ""},
      {theoretical("1.1", "1.2"),
       "refused: rule one: a floor of 1.1 times the ceiling can never be met"},
      {absolute("240"), "warning: rule one: the floor of 216 GB/s for allreduce is under half"},
      {absolute("250"), ""},
      {theoretical("0.4", "1.0"),
       "warning: rule one: a floor of 0.4 times the ceiling is under half"},
      {with(kMachine + kFloor, "[ceiling]\nsystem = 'dgx-h100'\n", ""),
       "[ceiling] has none for alltoall on pairs"},
  });
}

TEST(SpecLint, FlagsRulesThatProveLittle) {
  const std::string node = rule("theoretical", "fail_below = 0.8\nfail_above = 1.0\n");
  const auto until = [](const std::string& day) {
    return absolute("400", "known_issue = { reason = 'ticket 1', until = '" + day + "' }\n");
  };
  expect_findings({
      {sized("8B", absolute("400")),
       "pod.toml:33:8: warning: rule one: 8 B of allreduce is mostly latency"},
      {sized("512KiB", absolute("400")), "latency"},
      {sized("2MiB", theoretical("0.7", "1.0")), "2 MiB of allreduce is mostly latency"},
      // 10 MiB x 7/8 at 450 GB/s are 20.4 us; 12.3 us to launch and 7 steps of 1.31 us are 21.5.
      {with(sized("10MiB", theoretical("0.7", "1.0")), "'allreduce'", "'allgather'"),
       "10 MiB of allgather is mostly latency"},
      {kMachine + node + kOddPair, "rule odd: an all-bad fleet would pass"},
      {kMachine + node + kOddPair + kFloor, ""},
      {with(absolute("400"), "fail_above = 1.2\n", ""), "too good to be true"},
      {until("2026-11-20"), R"(known_issue "ticket 1" ended on 2026-11-20)"},
      {until(kToday), ""},
      {kMachine + kFloor, R"(pod.toml:14:1: warning: no rule is for device_set "node")"},
      {with(with(absolute("400"), "fingerprint = { gpu = 'H200', gpus_per_node = 8 }\n", ""),
            "kind = 'pairwise'\n", "kind = 'pairwise'\ngpus = '0-7'\n"),
       "any machine would be accepted"},
  });
  EXPECT_THAT(linted(with(absolute("400"), "timeout_s", "backend = 'mpi'\ntimeout_s")),
              AllOf(HasSubstr("pod.toml:4:15: warning: "), HasSubstr("gpu, gpus_per_node"),
                    HasSubstr("backend = \"nccl\"")));
}

TEST(SpecLint, SaysWhatAComparisonOfSoFewNodesCannotShow) {
  const auto text = [](const std::string& rules, std::size_t nodes) {
    return lint_text("pod.toml", lint(read(kMachine + rules), kToday, nodes));
  };
  EXPECT_THAT(text(kOddPair, 2), AllOf(HasSubstr("always INCONCLUSIVE; give an absolute or"),
                                       HasSubstr("not which end of a slow pair is at fault")));
  EXPECT_THAT(text(kOddPair, 3),
              AllOf(HasSubstr("on 3 this rule is"), Not(HasSubstr("which end of a slow pair"))));
  EXPECT_THAT(text(kOddPair + kFloor, 3), HasSubstr("always INCONCLUSIVE; leave it out"));
  EXPECT_THAT(text(kOddPair, 4), HasSubstr("comparing four nodes cannot distinguish"));
  for (const std::string& others :
       {text(kOddPair + kFloor, 4), text(kOddPair, 5), text(kOddPair, 0)}) {
    EXPECT_THAT(others, Not(testing::AnyOf(HasSubstr("INCONCLUSIVE"), HasSubstr("of four"))));
  }
}

TEST(SpecLint, WarnsOfAShortSizeOnceForAllCollectives) {
  const std::string text =
      linted(sized("256KiB", with(absolute("400"), "'allreduce'", "['allreduce', 'allgather']")));
  EXPECT_THAT(text, HasSubstr("256 KiB of allreduce, allgather is mostly latency"));
  EXPECT_EQ(text.find("mostly latency"), text.rfind("mostly latency")) << text;
}

TEST(SpecLint, RefusesABaselineThatIsNoRun) {
  const test::TemporaryFolder folder;
  const std::string text = kMachine + kFloor + rule("baseline", "fail_below = 0.9\n") +
                           "[baseline]\nrun = '" + folder.path() + "'\n";
  EXPECT_THAT(linted(text), HasSubstr("refused: " + folder.path() + " is not the folder of"));
  folder.write("launches.csv", "");
  EXPECT_EQ(linted(text), "");
  EXPECT_THAT(linted(with(text, "compare = 'baseline'", "compare = 'theoretical'")),
              HasSubstr("warning: no rule is compared with the [baseline]"));
}

}  // namespace
}  // namespace busbar::judge
