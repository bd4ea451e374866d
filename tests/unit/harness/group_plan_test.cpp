// SPDX-License-Identifier: BSD-3-Clause
#include "harness/group_plan.hpp"

#include <fmt/ranges.h>

#include "harness/options.hpp"
#include "tests/unit/support/thread_team.hpp"

namespace busbar {
namespace {

/// "0: 0-1 2-3 | 1: 0,2 1,3": rounds with the ranks of their groups.
std::string text_of(const std::vector<GroupRound>& rounds) {
  return join_each(rounds, " | ", [](const GroupRound& round) {
    const auto ranks_of = [](const RankGroup& group) { return format_ranges(group.ranks); };
    return fmt::format("{}: {}", round.number, join_each(round.groups, " ", ranks_of));
  });
}

GroupInput input_of(std::vector<HostRanks> hosts, int ranks) {
  return {.hosts = std::move(hosts), .ranks = ranks, .seed = 5};
}

/// Four hosts of two ranks, in blocks.
GroupInput blocks() {
  return input_of({{"h1", {0, 1}}, {"h2", {2, 3}}, {"h3", {4, 5}}, {"h4", {6, 7}}}, 8);
}

std::vector<GroupRound> rounds_of(const char* spec, GroupInput input = blocks()) {
  const GroupSpec parsed = parse_group_spec("--groups", spec);
  input.csv = join(split(parsed.csv, ';'), "\n");
  return plan_rounds(parsed, input);
}

TEST(PlanRounds, DivideTheRanksByEveryRule) {
  const std::map<const char*, const char*> rounds{
      {"hosts", "0: 0-1 2-3 4-5 6-7"},
      {"halves", "0: 0-3 4-7"},
      {"rails", "0: 0,2,4,6 1,3,5,7"},
      {"pairs", "0: 0-1,6-7 2-5 | 1: 2-3,6-7 0-1,4-5 | 2: 4-7 0-3"},
      {"and:3", "0: 0,4 1,5 2,6 3,7"},
      {"or:3", "0: 0-3 4-7"},
      {"or:2", "0: 0,2 1,3 4,6 5,7"},
      {"mod:3", "0: 0,3,6 1,4,7 2,5"},
      {"div:3", "0: 0-2 3-5 6-7"},
      {"0,0,0-1 4;0,3,7;2,0,1-7", "0: 0-1,4 7 | 2: 1-7"},
      {"round,group,ranks;1,0,5;0,1,\"0 2\";# end;0,0,1", "0: 1 0,2 | 1: 5"}};
  for (const auto& [spec, text] : rounds) EXPECT_EQ(text_of(rounds_of(spec)), text) << spec;
}

TEST(PlanRounds, KeepHostsTogetherWhoseRanksAreNotInBlocks) {
  const GroupInput input = input_of({{"h1", {0, 2, 4}}, {"h2", {1, 3}}}, 5);
  EXPECT_EQ(text_of(rounds_of("hosts", input)), "0: 0,2,4 1,3");
  EXPECT_EQ(text_of(rounds_of("rails", input)), "0: 0-1 2-3 4");
}

TEST(PlanRounds, TakeRandomPairsOfHostsAsTheyAreDrawnBySeed) {
  const std::vector<GroupRound> rounds = rounds_of("random-pairs:2");
  const auto drawn = random_matchings(4, 2, 5);
  ASSERT_EQ(rounds.size(), drawn.size());
  for (std::size_t i = 0; i < drawn.size(); ++i) {
    ASSERT_EQ(rounds[i].groups.size(), drawn[i].size());
    for (std::size_t k = 0; k < drawn[i].size(); ++k) {
      const auto low = static_cast<int>(2 * drawn[i][k].first);
      const auto high = static_cast<int>(2 * drawn[i][k].second);
      EXPECT_EQ(rounds[i].groups[k].ranks, (std::vector<int>{low, low + 1, high, high + 1}));
    }
  }
}

TEST(PlanRounds, PairHostsLevelByLevel) {
  GroupInput input = blocks();
  input.levels.emplace("host,pod\nh1.example.org,p0\nh3,p0\nh2,p1\nh4,p1\n", "levels.csv");
  EXPECT_EQ(text_of(rounds_of("levels:1", input)).substr(0, 3), "0: ");
  const std::vector<GroupRound> rounds = rounds_of("levels:2", input);
  ASSERT_EQ(rounds.size(), 2U);
  EXPECT_TRUE(rounds[0].groups[0].contains(0) == rounds[0].groups[0].contains(4));
  EXPECT_TRUE(rounds[1].groups[0].contains(0) != rounds[1].groups[0].contains(4) ||
              rounds[1].groups[0].contains(2) != rounds[1].groups[0].contains(6));
}

/// Expects the parser to refuse a text in one line that begins and goes on so.
void expect_refused(const char* text, const std::string& begin, const std::string& words,
                    void (*parse)(const std::string&)) {
  const auto failure = test::failure_of([&] { parse(text); });
  EXPECT_EQ(failure.status, Status::Usage) << text;
  EXPECT_TRUE(failure.message.starts_with(begin) && failure.says(words)) << failure.message;
  EXPECT_TRUE(failure.is_one_line()) << failure.message;
}

TEST(PlanRounds, RefuseALineByItsNumber) {
  const std::map<const char*, const char*> lines{
      {"0,0,0-3;0,1,3-4", ":2: rank 3 is in group 0 of round 0, too"},
      {"0,0,0-8", ":1: there is no rank 8; give 0 to 7"},
      {"0,0,0;0,0,1", ":2: round 0 has a group 0 already"},
      {"0,0,0;1,1,", ":2: a group without ranks"},
      {"0,0,0 0", ":1: rank 0 twice"},
      {"0,0,3-1", ":1: '3-1' is not a list of ranks"},
      {"0,0", ":1: expected round,group,ranks"},
      {"0,x,1", ":1: expected round,group,ranks"},
      {"-1,0,1", ":1: expected round,group,ranks"},
      {"round,group,ranks", ": no groups"}};
  for (const auto& [text, words] : lines) {
    expect_refused(text, std::string("--groups") + words, "",
                   [](const std::string& spec) { (void)rounds_of(spec.c_str()); });
  }
}

TEST(PlanRounds, NeedTwoHostsWhereHostsMeet) {
  for (const char* spec : {"pairs", "random-pairs:2", "halves"}) {
    const auto failure = test::failure_of([&] {
      (void)rounds_of(spec, input_of({{"h1", {0, 1}}}, 2));
    });
    EXPECT_TRUE(failure.says(fmt::format("--groups {}: all ranks are on one host", spec)));
  }
}

/// The plan of `ranks` ranks of this host.
std::vector<GroupPlan> plans_of(int ranks, const Options& options) {
  std::vector<GroupPlan> plans(static_cast<std::size_t>(ranks));
  test::on_ranks(ranks, [&](test::ThreadBootstrap& world) {
    plans[static_cast<std::size_t>(world.rank())] = plan_groups(world, options);
  });
  return plans;
}

TEST(PlanGroups, IsOneGroupOfAllRanksWhereNoneAreAskedFor) {
  const GroupPlan plan = plans_of(3, {}).at(2);
  EXPECT_EQ(plan.kind, GroupPlan::Kind::World);
  EXPECT_EQ(text_of(plan.rounds), "0: 0-2");
}

TEST(PlanGroups, HasAllPairsOfRanksInRounds) {
  Options options;
  options.pairs = Pairs::All;
  const GroupPlan plan = plans_of(4, options).at(1);
  EXPECT_EQ(plan.kind, GroupPlan::Kind::OneWay);
  EXPECT_EQ(text_of(plan.rounds), "0: 0,3 1-2 | 1: 1,3 0,2 | 2: 2-3 0-1");
  EXPECT_EQ(plan.rounds[0].group_of(2)->number, 1);
}

TEST(PlanGroups, ReadsAFileOnRankZeroForAll) {
  const test::TemporaryFolder folder;
  Options options;
  const std::string path = folder.path("rounds.csv");
  folder.write("rounds.csv", "round,group,ranks\n0,0,0-1\n1,0,1 2\n");
  options.groups = parse_group_spec("--groups", path);
  for (const GroupPlan& plan : plans_of(3, options)) {
    EXPECT_EQ(text_of(plan.rounds), "0: 0-1 | 1: 1-2");
    EXPECT_EQ(plan.rounds[0].group_of(2), nullptr);
    EXPECT_EQ(plan.group_sizes(), std::pair(2, 2));
  }
  options.groups = parse_group_spec("--groups", folder.path("none.csv"));
  test::on_ranks(2, [&](test::ThreadBootstrap& world) {
    const auto failure = test::failure_of([&] { (void)plan_groups(world, options); });
    EXPECT_TRUE(failure.says("--groups: cannot read")) << failure.message;
  });
}

TEST(ParseGroupSpec, ReadsEveryRuleAndHasItsSpellingBack) {
  for (const char* text : {"hosts", "pairs", "random-pairs:50", "rails", "halves", "levels:9",
                           "mod:8", "div:4", "and:7", "or:0", "rounds.csv", "0,0,0-3;0,1,4 6"}) {
    EXPECT_EQ(to_text(parse_group_spec("--groups", text)), text);
  }
  EXPECT_EQ(parse_group_spec("--groups", "and:0x1F").number, 31U);
  EXPECT_EQ(parse_group_spec("--groups", "mod:0b101").number, 5U);
}

TEST(ParseGroupSpec, RefusesWhatIsNoRule) {
  for (const char* text : {"", "host", "hosts:2", "pairs:", "random-pairs", "random-pairs:0",
                           "random-pairs:x", "levels", "levels:-1", "mod", "mod:", "mod:0", "div:0",
                           "mod:0xffffffff", "and:", "xor:3", "MOD 2", "rounds.txt"}) {
    expect_refused(text, "", std::string("invalid value '") + text + "' for --groups",
                   [](const std::string& spec) { (void)parse_group_spec("--groups", spec); });
  }
}

TEST(ParseSplit, ReadsDecimalHexadecimalAndBinaryNumbers) {
  EXPECT_EQ(parse_split("MOD 12").number, 12U);
  EXPECT_EQ(parse_split("MOD 0x1F").number, 31U);
  EXPECT_EQ(parse_split("MOD 0XfF").number, 255U);
  EXPECT_EQ(parse_split("MOD 0b101").number, 5U);
  EXPECT_EQ(parse_split("AND 0").number, 0U);
}

TEST(ParseSplit, TakesRulesInAnyCaseWithOrWithoutABlank) {
  for (const char* text : {"DIV 4", "DIV4", "div 4", "Div  4", "DIV0b100", "/ 0x4"}) {
    EXPECT_EQ(parse_split(text).rule, GroupRule::Div) << text;
    EXPECT_EQ(parse_split(text).number, 4U) << text;
  }
}

TEST(ParseSplit, RefusesWhatIsNoRuleAndDivisionByZeroOnOneLine) {
  for (const char* text :
       {"", "8", "MOD", "MOD x", "MOD -1", "MOD 1.5", "XOR 3", "AND 0x", "OR 0b2", "MOD 8 9",
        "AND 0xffffffff", "* 3", "MOD 99999999999999999999", "MOD 0", "DIV 0", "%0x0", "/0b0"}) {
    expect_refused(text, "NCCL_TESTS_SPLIT: ", text,
                   [](const std::string& rule) { (void)parse_split(rule); });
  }
}

TEST(ParseSplitMask, IsAHexadecimalAnd) {
  for (const char* text : {"7", "0x7", "00000007"}) {
    EXPECT_EQ(parse_split_mask(text).rule, GroupRule::And) << text;
    EXPECT_EQ(parse_split_mask(text).number, 7U) << text;
  }
  EXPECT_EQ(parse_split_mask("10").number, 16U);
}

TEST(ParseSplitMask, RefusesOtherTextByTheVariablesName) {
  for (const char* text : {"", "0x", "MOD 8", "7 ", "g"}) {
    expect_refused(text, "NCCL_TESTS_SPLIT_MASK: ", "",
                   [](const std::string& mask) { (void)parse_split_mask(mask); });
  }
}

}  // namespace
}  // namespace busbar
