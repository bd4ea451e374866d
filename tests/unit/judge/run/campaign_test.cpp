// SPDX-License-Identifier: BSD-3-Clause
#include "judge/run/campaign.hpp"

namespace busbar::judge {
namespace {

/// One rule of each node, measured by a program that is this script.
class CampaignTest : public testing::Test {
 protected:
  CampaignTest() {
    specification_.run = {.launches = 1, .timeout_s = 20, .reach_timeout_s = 20};
    specification_.device_sets = {{.id = "set", .kind = SetKind::PerNode, .ranks_per_node = 1}};
    specification_.rules = {{.id = "rule",
                             .collectives = {"allreduce"},
                             .device_set = "set",
                             .sizes = {kMiB},
                             .value = 1}};
  }
  CampaignRequest request(const std::vector<std::string>& nodes, const std::string& script) {
    const std::string program = folder_.path("allreduce_perf");
    std::ofstream(program) << "#!/bin/sh\n" << script;
    std::filesystem::permissions(program, std::filesystem::perms::owner_all);
    const auto input = [this, nodes](std::span<const Observation> seen) {
      return JudgeInput{.specification = specification_, .observations = seen, .nodes = nodes};
    };
    return {
        .specification = specification_,
        .nodes = nodes,
        .setup = {.launcher = choose_launcher({.wanted = "local"}),
                  .programs = folder_.path("."),
                  .text_file = [this](auto lines, auto end) { return run_.text_file(lines, end); }},
        .contact_again = {Seconds{0.01}, Seconds{0.01}},
        .input = input};
  }

  const test::TemporaryFolder folder_;
  Specification specification_{};
  RunFolder run_{folder_.path("run"), {}, ""};
};

/// A launch that hangs or crashes, and its failure.
class LostNode : public CampaignTest,
                 public testing::WithParamInterface<std::pair<const char*, const char*>> {};

TEST_P(LostNode, IsAskedAgainAndNothingMoreIsLaunchedOnOneThatIsGone) {
  const auto& [launch, failure] = GetParam();
  specification_.run = {.launches = 3, .timeout_s = 0.2};
  // Prints its version once; whatever is asked of it afterwards, it does not do.
  Campaign campaign(request({"localhost"}, "case $* in *--version*) exec mkdir " +
                                               folder_.path("asked") + ";; esac\n" + launch),
                    run_);
  EXPECT_TRUE(campaign.run());
  const std::vector<Observation>& lines = run_.journal().lines;
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_EQ(lines[0].failure, failure);
  EXPECT_TRUE(lines[0].hung_or_crashed());
  for (const std::size_t later : {1U, 2U}) {
    EXPECT_EQ(lines.at(later).unreachable, "localhost");
    EXPECT_FALSE(lines.at(later).hung_or_crashed());
  }
}
INSTANTIATE_TEST_SUITE_P(Campaign, LostNode,
                         testing::Values(std::pair("exec sleep 20\n", "timeout after 0.2 s"),
                                         std::pair("exit 139\n", "exit 139")));

TEST_F(CampaignTest, GivesUpAHostAfterThreeContactsAndEndsWhereNoNameIsResolved) {
  const std::string asked = folder_.path("asked");
  CampaignRequest one = request({"localhost"}, "echo >> " + asked + "; exit 255\n");
  EXPECT_TRUE(Campaign(one, run_).run());
  EXPECT_EQ(run_.journal().lines.at(0).failure, "localhost does not answer (3 contacts: exit 255)");
  EXPECT_EQ(std::filesystem::file_size(asked), 3U) << "and no launch";

  RunFolder other(folder_.path("other"), {}, "");
  const CampaignRequest unknown =
      request({"localhost"},
              "echo 'ssh: Could not resolve hostname h1: Name or service not known' >&2\n"
              "echo >> " +
                  asked + "; exit 255\n");
  EXPECT_THROW(static_cast<void>(Campaign(unknown, other).run()), Error);
  EXPECT_EQ(std::filesystem::file_size(asked), 4U);
}

TEST_F(CampaignTest, IsNotRefusedOnceInterrupted) {
  specification_.system.fingerprint = {{"gpu", {"NVIDIA H200"}}};
  CampaignRequest two =
      request({"h1", "h2"}, "printf 'collective,size_bytes\\nallreduce,1048576\\n'\n");
  bool stop = false;
  std::string ended;
  two.stop = [&] { return stop; };
  two.note = [&](const std::string& launch, const LaunchResult* result) {
    if (result != nullptr) ended += launch.substr(0, 4);
    stop = ended == "1/2 2/2 ";
  };
  Campaign campaign(two, run_);
  EXPECT_FALSE(campaign.run());
  EXPECT_EQ(ended, "1/2 2/2 ");
  EXPECT_EQ(campaign.refusal(), "");
  EXPECT_FALSE(run_.journal().lines.at(0).records.empty()) << "which could be refused";
}

TEST_F(CampaignTest, OfASoakCountsEveryMatchingOfATurnThatWasMade) {
  std::size_t number = 0;
  for (const char* both : {"a b", "c d", "a c", "b d", "a d", "b c"}) {
    const Instance pair{.name = both, .nodes = split_words(both)};
    run_.add(++number, {.device_set = "set", .instances = {pair}, .collective = "allreduce"},
             {.seconds = 100});
  }
  specification_.device_sets.front().kind = SetKind::Pairwise;
  specification_.soak = SoakRule{.sizes = {kMiB}};
  specification_.run = {.timeout_s = 20, .reach_timeout_s = 20};
  CampaignRequest rest = request({"a", "b", "c", "d"}, "");
  bool begins = false;
  rest.note = [&](auto, auto) { begins = true; };
  rest.stop = [&] { return begins; };
  for (const auto& [at_once, soaked_s] : {std::pair{2U, 300.0}, {1U, 600.0}}) {
    rest.at_once = at_once;
    rest.soak_s = soaked_s;
    EXPECT_TRUE(Campaign(rest, run_).run());
    EXPECT_FALSE(std::exchange(begins, false)) << soaked_s;
    rest.soak_s = soaked_s + 10;
    EXPECT_TRUE(Campaign(rest, run_).run());
    EXPECT_TRUE(std::exchange(begins, false)) << soaked_s;
  }
}

/// Eight nodes that meet in pairs, measured by a script.
class PairsCampaign : public CampaignTest {
 protected:
  PairsCampaign() {
    specification_.run = {.launches = 3, .min_launches = 3, .timeout_s = 60, .reach_timeout_s = 60};
    specification_.device_sets.front() = {
        .id = "set", .kind = SetKind::Pairwise, .ranks_per_node = 8};
    specification_.rules.front().compare = RuleKind::Fleet;
    specification_.rules.front().bounds.fail_below = 0.95;
  }

  /// Runs until it is to stop; how many launches it made.
  std::size_t run(bool resume, std::size_t most = 1000) {
    RunFolder folder(folder_.path("pairs"), {.nodes = nodes_}, "schema = 1\n", resume);
    std::size_t made = 0;
    CampaignRequest pairs = request(nodes_, script());
    pairs.setup.launcher = choose_launcher({.wanted = "env H={host} {env} {program}"});
    pairs.setup.text_file = [&](auto lines, auto end) { return folder.text_file(lines, end); };
    pairs.seed = 7;
    pairs.stop = [&] { return made >= most; };
    pairs.note = [&](auto, const LaunchResult* result) {
      if (result != nullptr && result->exit_code != kNotMade) ++made;
    };
    const bool is_complete = Campaign(pairs, folder).run();
    EXPECT_EQ(is_complete, made < most);
    lines_ = folder.journal().lines;
    return made;
  }

  /// Of a program with the nodes in a file behind --hosts: those of `dead_` do not answer, and with
  /// `breaks_` no launch goes well.
  [[nodiscard]] std::string script() const {
    return fmt::format(
        R"(hosts=$(echo "$*" | sed 's/.*--hosts @//; s/ .*//')
case $* in *--version*) ! grep -qxE '{}' "$hosts"; exit;; esac
if grep -qx '{}' "$hosts"; then echo 'x: rank 24 on h4 does not answer; 7 others wait' >&2; exit 4; fi
echo collective,backend,ranks,nodes,type,op,in_place,size_bytes,status,busbw_GBps,wrong,round,group,group_ranks
echo "$*" | sed 's/.*--groups //; s/ .*//' | tr / '\n' |
  sed -E 's/(.*),(.*)[+](.*)/allreduce,mpi,16,2,float,sum,0,1048576,ok,100,0,\1,\2 \3/'
)",
        dead_, breaks_);
  }

  [[nodiscard]] std::vector<std::string> made() const {
    return mapped(lines_, [](const Observation& line) {
      return fmt::format("{} {} {}", line.launch, line.instance, line.unreachable);
    });
  }

  std::vector<std::string> nodes_{"h1", "h2", "h3", "h4", "h5", "h6", "h7", "h8"};
  std::string dead_ = "none";    ///< an expression for the nodes
  std::string breaks_ = "none";  ///< the node that launches break with
  std::vector<Observation> lines_{};
};

TEST_F(PairsCampaign, RepeatsALaunchWithoutTheNodeThatItNamesAndLeavesItOut) {
  breaks_ = "h4";
  dead_ = "h7";
  specification_.run.launches = 2;
  EXPECT_EQ(run(false), 3U);
  EXPECT_THAT(made(), testing::UnorderedElementsAre("0 h7 h7", HasSubstr(" 7 nodes h4"),
                                                    "0 6 nodes ", "1 6 nodes "));
}

TEST_F(PairsCampaign, GoesOnWhereItWasStoppedAtAnyLaunch) {
  breaks_ = "h4";
  const std::size_t all = run(false);
  EXPECT_EQ(all, 4U);
  const auto whole = made();
  for (std::size_t first = 1; first < all; ++first) {
    std::filesystem::remove_all(folder_.path("pairs"));
    EXPECT_EQ(run(false, first), first);
    EXPECT_EQ(run(true), all - first) << first;
    EXPECT_EQ(made(), whole) << first;
  }
  EXPECT_EQ(run(true), 0U) << "nothing is left";
}

TEST_F(PairsCampaign, EndsWhereTooFewNodesAreLeft) {
  dead_ = "h[1-7]";
  EXPECT_EQ(run(false), 0U);
  EXPECT_EQ(lines_.size(), 7U);
}

}  // namespace
}  // namespace busbar::judge
