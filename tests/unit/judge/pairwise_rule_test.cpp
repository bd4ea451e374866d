// SPDX-License-Identifier: BSD-3-Clause
// Pairwise sets: launches of two nodes each, as busbar 0.1 made them, and launches of all nodes in
// rounds of pairs. All values are by hand.

#include "base/random.hpp"
#include "judge/rule_check.hpp"
#include "tests/unit/judge/judge_case.hpp"

namespace busbar::judge {
namespace {

/// Healthy pairs, of 99 to 101 GB/s.
double healthy(std::size_t i, std::size_t j) {
  return 99 + static_cast<double>((i * 7 + j * 3) % 5) / 2;
}

/// Healthy but for the pairs of these nodes.
PairFunction slow_with(std::vector<std::size_t> bad, double value) {
  return [bad = std::move(bad), value](std::size_t i, std::size_t j) {
    const auto is = [&](std::size_t node) { return std::ranges::count(bad, node) > 0; };
    return is(i) || is(j) ? value : healthy(i, j);
  };
}

void expect_all_good(const Acceptance& acceptance) {
  for (const NodeAccount& node : acceptance.nodes) EXPECT_EQ(node.state, NodeState::Good);
}

TEST(PairsByBounds, NameNodesAndLinksAndNobodyElseOrTheFleet) {
  const PairFunction link = [](std::size_t i, std::size_t j) {
    return i == 0 && j == 4 ? 50.0 : healthy(i, j);
  };
  struct Case {
    std::size_t count = 0;
    PairFunction value{};
    std::vector<Names> suspects{};
    std::string states{};
    std::string evidence{};
  };
  const std::string low =
      "allreduce 1 MiB: 4 of 4 pairs low (lowest launch 17 GB/s, cv 0 %): 17 GB/s is 17 % of "
      "100 GB/s, below 90 %";
  const std::string fleet = "no node stands out: 3 of 5 nodes are low: the fleet, not a node";
  const std::string all = "suspect suspect suspect suspect suspect";
  for (const Case& one :
       {Case{6, healthy, {}, "good good good good good good"},
        Case{5, slow_with({2}, 17), {{"h3"}}, "good good failed good good", low},
        Case{4, slow_with({0, 3}, 20), {{"h1"}, {"h4"}}, "failed good good failed"},
        Case{2, slow_with({0}, 20), {{"h1", "h2"}}, "suspect suspect"},
        Case{6, link, {{"h1", "h5"}}, "suspect good good good suspect good", "only this pair"},
        Case{5, slow_with({0, 2, 4}, 20), {names(5)}, all, fleet},
        Case{5, [](auto...) { return 20; }, {names(5)}, all, "no node stands out: 20 GB/s"}}) {
    const Acceptance acceptance = pairs_case(one.count, RuleKind::Absolute, one.value).judged();
    EXPECT_EQ(acceptance.overall(), one.suspects.empty() ? Outcome::Pass : Outcome::Fail);
    EXPECT_EQ(nodes_of(acceptance.suspects), one.suspects);
    EXPECT_EQ(states(acceptance), one.states);
    for (const Suspect& suspect : acceptance.suspects) {
      EXPECT_THAT(suspect.evidence, HasSubstr(one.evidence));
    }
  }
}

TEST(PairsByBounds, OfTimesAreSlowAbove) {
  JudgeCase one = pairs_case(4, RuleKind::Absolute, healthy);
  one.rule().metric = Metric::Time;
  one.rule().bounds = {.fail_above = 1.5};
  for (Observation& o : one.observations) {
    if (o.nodes[1] == "h4") o.records[0].time_median_us = 200;
  }
  EXPECT_EQ(nodes_of(one.judged().suspects), std::vector<Names>{{"h4"}});
  EXPECT_EQ(states(one.judged()), "good good good failed");
}

TEST(PairsByBounds, OfANoisyNodeAreUndecidedThoughMostOfThemAreLow) {
  JudgeCase one = pairs_case(4, RuleKind::Absolute, healthy);
  for (Observation& o : one.observations) {
    if (contains(o.nodes, "h2") && o.launch == 1) o.records[0].busbw_GBps = 150;
  }
  EXPECT_EQ(states(one.judged()), "good inconclusive good good");
  for (Observation& o : one.observations) {
    if (contains(o.nodes, "h2") && o.launch != 1) o.records[0].busbw_GBps = 20;
  }
  EXPECT_EQ(states(one.judged()), "good inconclusive good good");
  EXPECT_THAT(one.judged().verdicts.at(1).reason,
              AllOf(HasSubstr("3 of 3 pairs low (lowest launch 20 GB/s, cv "), HasSubstr("noisy")));
}

TEST(PairsByBounds, DoNotFailANodeWhoseOwnValueIsWithinThem) {
  JudgeCase one = pairs_case(5, RuleKind::Absolute, healthy);
  for (const char* pair : {"h1+h2", "h2+h3"}) one.set_rate(89, pair);
  const Acceptance acceptance = one.judged();
  EXPECT_THAT(acceptance.suspects, IsEmpty());
  expect_result(acceptance.verdicts.at(1), "INCONCLUSIVE 2 of 4 pairs low, but its median ");
}

TEST(PairsByBounds, ShareOneCutWhereNoLevelIsKnown) {
  const auto across = [](std::size_t i, std::size_t j) { return (i < 4) != (j < 4); };
  const auto every = [&](std::size_t few) {
    return [=](std::size_t i, std::size_t j) {
      return across(i, j) && (i + j) % few == 0 ? 50.0 : healthy(i, j);
    };
  };
  // Rates show it where few of its pairs are low, too.
  const auto rates = [&](std::size_t i, std::size_t j) {
    return !across(i, j) ? 200 : j == i + 4 || (i == 0 && j == 5) ? 80 : 100;
  };
  for (const auto& [value, low] :
       {std::pair<PairFunction, std::string>{every(1), "16"}, {every(2), "8"}, {rates, "5"}}) {
    const Acceptance acceptance = pairs_case(8, RuleKind::Absolute, value).judged();
    ASSERT_EQ(acceptance.suspects.size(), 1U);
    const CheckResult& row = acceptance.verdicts.back();
    EXPECT_EQ(row.instance, "links h[1-4] - h[5-8]");
    EXPECT_TRUE(is_cut_name(row.instance));
    expect_result(row, "FAIL " + low + " of 16 pairs low");
    EXPECT_THAT(row.reason, EndsWith(": an uplink? give --levels"));
    EXPECT_EQ(acceptance.suspects[0].path, row.instance);
    expect_all_good(acceptance);
  }
}

TEST(PairsWithWrongData, NameTheNodeOrTheLinkOrAllWhateverTheRates) {
  for (const RuleKind compare : {RuleKind::Absolute, RuleKind::Fleet}) {
    JudgeCase one = pairs_case(5, compare, healthy);
    for (const char* pair : {"h2+h5", "h3+h5", "h4+h5"}) {
      one.each([](Record& r) { r.wrong = 1; }, pair);
    }
    const Acceptance node = one.judged();
    ASSERT_EQ(nodes_of(node.suspects), std::vector<Names>{{"h5"}});
    EXPECT_THAT(node.suspects[0].evidence,
                HasSubstr("wrong data in 3 of 4 pairs (h2+h5: 1 wrong element"));
    EXPECT_EQ(node.suspects[0].defect, Defect::WrongData);
    one.each([](Record& r) { r.wrong = 0; });
    one.each([](Record& r) { r.wrong = 2; }, "h1+h2");
    EXPECT_EQ(nodes_of(one.judged().suspects), (std::vector<Names>{{"h1", "h2"}}));
    one.each([](Record& r) { r.wrong = 2; });
    const Acceptance all = one.judged();
    ASSERT_EQ(all.suspects.size(), 1U);
    EXPECT_THAT(all.suspects[0].evidence, HasSubstr("wrong data in all 10 pairs"));
  }
}

TEST(PairsThatFail, NameTheNodeThatAllOfThemHave) {
  for (const RuleKind compare : {RuleKind::Absolute, RuleKind::Fleet}) {
    JudgeCase one = pairs_case(5, compare, healthy);
    for (Observation& o : one.observations) {
      if (!contains(o.nodes, "h2")) continue;
      o.failure = "exit 4: out of luck";
      o.exit_code = 4;
      o.records.clear();
    }
    const Acceptance acceptance = one.judged();
    ASSERT_EQ(nodes_of(acceptance.suspects), std::vector<Names>{{"h2"}});
    EXPECT_EQ(acceptance.suspects[0].evidence,
              "allreduce: 12 of 12 launches with it hung or crashed; 18 without it went well "
              "(h1+h2: exit 4: out of luck)");
    EXPECT_EQ(acceptance.suspects[0].defect, Defect::FailedLaunches);
  }
}

/// Launches of all nodes, whose pairs meet in rounds.
struct GroupsCase : JudgeCase {
  std::optional<HostLevels> leaves{};
  std::size_t partners = 6;

  explicit GroupsCase(std::size_t count, RuleKind compare = RuleKind::Fleet)
      : JudgeCase(SetKind::Pairwise) {
    nodes = names(count);
    against_fleet(0.95);
    rule().compare = compare;
    rule().value = 100;
  }

  /// Leaves of so many nodes.
  void place(std::size_t members) {
    std::string csv = "host,leaf\n";
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      csv += fmt::format("{},leaf{}\n", nodes[i], i / members);
    }
    levels = &leaves.emplace(csv, "levels.csv");
  }

  Observation& add(int number, Purpose purpose, const std::vector<NumberedRound>& rounds,
                   const PairFunction& rate) {
    Observation& o = observations.emplace_back(Observation{.device_set = "set",
                                                           .instance = "all nodes",
                                                           .nodes = nodes,
                                                           .launch = number,
                                                           .purpose = purpose,
                                                           .collective = "allreduce",
                                                           .file = "x.csv"});
    for (const NumberedRound& round : rounds) {
      for (const auto& [i, j] : round.pairs) {
        // A deterministic noise of 1 %.
        const auto hash = splitmix64(i * 1000 + j + 77777 * round.number +
                                     static_cast<std::uint64_t>(number) * 31) %
                          1000;
        const double noise = 1 + 0.02 * (static_cast<double>(hash) / 1000 - 0.5);
        o.records.push_back(
            {.collective = "allreduce",
             .backend = "nccl",
             .ranks = 16,
             .nodes = 2,
             .type = "float",
             .op = "sum",
             .size = kMiB,
             .busbw_GBps = noise * rate(i, j),
             .wrong = 0,
             .round = static_cast<int>(round.number),
             .group_ranks = fmt::format("{}-{} {}-{}", 8 * i, 8 * i + 7, 8 * j, 8 * j + 7)});
      }
    }
    return o;
  }

  /// Three launches with partners of their own.
  void measure(const PairFunction& rate) {
    for (int launch = 0; launch < 3; ++launch) {
      std::vector<NumberedRound> rounds;
      for (const RoundOfPairs& pairs : fleet_rounds(input().paths_of(nodes), partners,
                                                    static_cast<std::uint64_t>(launch) + 5)) {
        rounds.push_back({.number = rounds.size(), .pairs = pairs});
      }
      add(launch, Purpose::Measure, rounds, rate);
    }
  }

  [[nodiscard]] Screening suspects() const {
    return suspects_to_repeat(specification.device_sets[0], input());
  }

  /// Those that are suspected once more.
  void confirm(const PairFunction& rate) {
    const Screening found = suspects();
    for (int launch = 0; launch < static_cast<int>(found.again); ++launch) {
      add(launch, Purpose::Confirm,
          confirmation_rounds(found, input().paths_of(nodes), 3, static_cast<std::size_t>(launch)),
          rate);
    }
  }

  /// What both give.
  Acceptance confirmed(const PairFunction& rate) {
    measure(rate);
    confirm(rate);
    return judged();
  }
};

double even(std::size_t, std::size_t) { return 100; }

PairFunction slow_node(std::size_t bad, double rate) {
  return [=](std::size_t i, std::size_t j) { return i == bad || j == bad ? rate : 100; };
}

TEST(PairsOfAFleet, BlameANodeOnlyWhereItIsLowAgain) {
  GroupsCase one(16);
  one.measure(slow_node(4, 85));
  const Acceptance once = one.judged();
  EXPECT_EQ(once.overall(), Outcome::Inconclusive);
  EXPECT_THAT(once.suspects, IsEmpty());
  expect_result(once.verdicts.at(4),
                "INCONCLUSIVE below the fleet in 3 launches; not measured again");
  ASSERT_EQ(one.suspects().nodes.size(), 1U);
  GroupsCase good = one;
  one.confirm(slow_node(4, 85));
  const Acceptance twice = one.judged();
  EXPECT_EQ(nodes_of(twice.suspects), std::vector<Names>{{"h5"}});
  EXPECT_THAT(twice.suspects.at(0).evidence,
              AllOf(HasSubstr("allreduce 1 MiB: 1"), HasSubstr(" below the fleet in 3 launches; "),
                    HasSubstr(" below the fleet again beside good partners")));
  good.confirm(even);
  EXPECT_EQ(good.judged().overall(), Outcome::Pass);
  expect_result(good.judged().verdicts.at(4), "PASS good again beside good partners");
}

TEST(PairsOfAFleet, BlameALinkAndAnUplinkAndNotTheirNodes) {
  const Acceptance link =
      GroupsCase(8).confirmed([](auto i, auto j) { return i == 1 && j == 6 ? 50 : 100; });
  EXPECT_EQ(nodes_of(link.suspects), (std::vector<Names>{{"h2", "h7"}}));
  EXPECT_EQ(link.overall(), Outcome::Fail);
  GroupsCase uplink(32);
  uplink.place(8);
  const Acceptance acceptance =
      uplink.confirmed([](auto i, auto j) { return (i / 8 == 2) != (j / 8 == 2) ? 50 : 100; });
  ASSERT_EQ(acceptance.suspects.size(), 1U);
  EXPECT_EQ(acceptance.suspects[0].path, "uplink leaf2");
  EXPECT_THAT(acceptance.suspects[0].evidence, HasSubstr("pairs over it low: 50"));
  expect_all_good(acceptance);
}

TEST(PairsOfAFleet, OfASmallOneSuspectTheLowestBeforeItsPartners) {
  GroupsCase one(4);
  const Acceptance acceptance = one.confirmed([](auto i, auto j) {
    return i == 2 || j == 2 ? 10 : i == 1 && j == 3 ? 40 : 100;
  });
  EXPECT_EQ(one.suspects().nodes.size(), 1U);
  EXPECT_EQ(nodes_of(acceptance.suspects), std::vector<Names>{{"h3"}});
  EXPECT_EQ(acceptance.verdicts.at(4).instance, "h2+h4");
  expect_result(acceptance.verdicts.at(4),
                "INCONCLUSIVE and again; too few good nodes are left to compare links");
}

TEST(PairsOfAFleet, OfASmallOneBlameLinksWhereTheNodeHasAGoodOne) {
  const Acceptance acceptance =
      GroupsCase(4).confirmed([](auto i, auto j) { return i == 0 && j > 1 ? 50 : 100; });
  EXPECT_EQ(nodes_of(acceptance.suspects), (std::vector<Names>{{"h1", "h3"}, {"h1", "h4"}}));
}

TEST(PairsOfAFleet, ShowACutThatNoLevelHas) {
  GroupsCase one(8);
  one.measure([](auto i, auto j) { return (i < 4) == (j < 4) ? 100 : 50; });
  const Acceptance acceptance = one.judged();
  EXPECT_EQ(acceptance.overall(), Outcome::Inconclusive);
  expect_result(acceptance.verdicts.at(8), "INCONCLUSIVE 16 of 16 links are low: 50");
  EXPECT_EQ(acceptance.verdicts.at(8).instance, "links h[1-4] - h[5-8]");
  expect_all_good(acceptance);
}

TEST(PairsOfAFleet, AreTooFewBelowFourNodes) {
  GroupsCase one(3);
  one.measure(even);
  const Acceptance acceptance = one.judged();
  EXPECT_EQ(acceptance.overall(), Outcome::Inconclusive);
  EXPECT_THAT(acceptance.verdicts.at(0).reason, HasSubstr("data of 3 nodes only"));
}

TEST(PairsInGroups, HaveALinkThatWasMeasuredTooSeldomMeasuredAgain) {
  GroupsCase one(16, RuleKind::Absolute);
  one.measure(even);
  const NumberPair pair = [&] {
    const auto ranks = *parse_ranges(one.observations[0].records[0].group_ranks, ' ');
    return pair_of(static_cast<std::size_t>(ranks[0]) / 8, static_cast<std::size_t>(ranks[8]) / 8);
  }();
  const PairFunction low = [&](std::size_t i, std::size_t j) {
    return pair_of(i, j) == pair ? 50 : 100;
  };
  one.observations.clear();
  one.measure(low);
  EXPECT_EQ(one.judged().overall(), Outcome::Inconclusive);
  ASSERT_EQ(one.suspects().links.size(), 1U);
  one.confirm(low);
  EXPECT_EQ(nodes_of(one.judged().suspects),
            (std::vector<Names>{{one.nodes[pair.first], one.nodes[pair.second]}}));
}

TEST(PairsInGroups, ShowAPathBetweenTwoLeavesByABound) {
  GroupsCase one(16, RuleKind::Absolute);
  one.place(8);
  one.measure([](std::size_t i, std::size_t j) { return i / 8 == j / 8 ? 100 : 40; });
  const Acceptance acceptance = one.judged();
  ASSERT_EQ(acceptance.suspects.size(), 1U);
  EXPECT_EQ(acceptance.suspects[0].path, "leaf0-leaf1");
  EXPECT_THAT(acceptance.suspects[0].evidence,
              HasSubstr("pairs over it low (lowest launch 39.97 GB/s"));
  expect_all_good(acceptance);
  // A slow node beside it is blamed, too.
  for (std::size_t bad = 0; bad < one.nodes.size(); ++bad) {
    one.observations.clear();
    one.measure([bad](std::size_t i, std::size_t j) {
      if (i == bad || j == bad) return 20;
      return i / 8 == j / 8 ? 100 : 40;
    });
    std::vector<std::string> blamed;
    for (const Suspect& each : one.judged().suspects)
      blamed.push_back(each.path + join(each.nodes, "+"));
    EXPECT_THAT(blamed, testing::UnorderedElementsAre("leaf0-leaf1", one.nodes[bad]));
  }
}

TEST(PairsInGroups, NameTheNodeThatALaunchNamedAndThatIsSilent) {
  for (const RuleKind compare : {RuleKind::Absolute, RuleKind::Fleet}) {
    GroupsCase one(8, compare);
    one.measure(even);
    for (Observation& o : one.observations) {
      o.nodes.erase(o.nodes.begin() + 7);
      std::erase_if(o.records, [](const Record& r) { return r.group_ranks.ends_with("56-63"); });
    }
    Observation& lost = one.observations.emplace_back(one.observations[0]);
    lost.nodes = one.nodes;
    lost.records.clear();
    lost.failure = "exit 4: rank 57 on h8 does not answer";
    lost.exit_code = 4;
    lost.unreachable = "h8";
    const Acceptance named = one.judged();
    EXPECT_EQ(nodes_of(named.suspects), std::vector<Names>{{"h8"}});
    EXPECT_THAT(named.suspects.at(0).evidence,
                HasSubstr("1 of 1 launch with it hung or crashed; 3 without it went well"));
    EXPECT_EQ(states(named), "good good good good good good good failed");
    EXPECT_EQ(named.count(Outcome::Warn), 0U) << "for the launch that was repeated";
    one.observations.back().exit_code = kNotMade;
    one.observations.back().nodes = {"h8"};
    one.observations.back().failure = "h8 does not answer (exit 255)";
    const Acceptance silent = one.judged();
    EXPECT_EQ(silent.overall(), Outcome::Error);
    EXPECT_EQ(states(silent), "good good good good good good good no data");
    one.observations.push_back(lost = one.observations.back());
    one.observations.back().nodes = one.nodes;
    one.observations.back().unreachable.clear();
    one.observations.back().failure = "timeout after 20 s";
    one.observations.back().exit_code = kTimedOut;
    EXPECT_THAT(one.judged().suspects.at(0).evidence, HasSubstr("and then it did not answer"));
  }
}

}  // namespace
}  // namespace busbar::judge
