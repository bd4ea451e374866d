// SPDX-License-Identifier: BSD-3-Clause
#include "judge/run/campaign.hpp"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "tests/unit/support/temporary_folder.hpp"

namespace busbar::judge {
namespace {

/// One rule of each node, measured by a program that is this script.
class CampaignTest : public testing::Test {
 protected:
  CampaignTest() {
    specification_.device_sets = {{.id = "set", .kind = SetKind::PerNode, .ranks_per_node = 1}};
    specification_.rules = {
        {.id = "rule", .collectives = {"allreduce"}, .device_set = "set", .sizes = {kMiB}}};
  }
  CampaignRequest request(const std::vector<std::string>& nodes, const std::string& script) const {
    const std::string program = folder_.path("allreduce_perf");
    std::ofstream(program) << "#!/bin/sh\n" << script;
    std::filesystem::permissions(program, std::filesystem::perms::owner_all);
    return {
        .specification = specification_,
        .nodes = nodes,
        .setup = {.launcher = choose_launcher({.wanted = "local"}), .programs = folder_.path(".")},
        .judge = [](auto) { return Acceptance{}; }};
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

TEST_F(CampaignTest, ContactsAHostAgainThatDoesNotAnswerAtFirstAndKeepsThatItAnsweredLate) {
  specification_.run = {.launches = 1, .timeout_s = 20, .reach_timeout_s = 20};
  const std::string asked = folder_.path("asked");
  CampaignRequest one = request({"localhost"}, "case $* in *--version*) mkdir " + asked +
                                                   " || exit 0; echo 'No route to host' >&2; "
                                                   "exit 255;; esac\n"
                                                   "printf 'collective,size_bytes\n'\n");
  one.contact_again = {Seconds{0.01}, Seconds{0.01}};
  EXPECT_TRUE(Campaign(one, run_).run());
  const std::vector<std::string> notes{
      "localhost answered only at the 2nd contact (localhost before: exit 255: No route to host)"};
  EXPECT_EQ(run_.journal().notes, notes);
  EXPECT_EQ(load_journal(run_.journal_path()).notes, notes) << "for accept judge";
  EXPECT_EQ(run_.journal().lines.at(0).unreachable, "");
}

TEST_F(CampaignTest, GivesUpAHostAfterThreeContactsAndEndsWhereNoNameIsResolved) {
  specification_.run = {.launches = 1, .timeout_s = 20, .reach_timeout_s = 20};
  const std::string asked = folder_.path("asked");
  CampaignRequest one = request({"localhost"}, "echo >> " + asked + "; exit 255\n");
  one.contact_again = {Seconds{0.01}, Seconds{0.01}};
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

TEST_F(CampaignTest, OfASimulationAsksNoNodeForItsVersionAndIsNotJudgedOnceInterrupted) {
  specification_.run = {.launches = 1, .timeout_s = 20, .backend = "sim"};
  CampaignRequest two =
      request({"h1", "h2"}, "case $* in *--version*) mkdir " + folder_.path("asked") +
                                ";; esac\nprintf 'collective,size_bytes\\nallreduce,1048576\\n'\n");
  bool stop = false;
  std::string ended;
  two.stop = [&] { return stop; };
  two.note = [&](const std::string& launch, const LaunchResult* result) {
    if (result != nullptr) ended += launch.substr(0, 4);
    stop = ended == "1/2 2/2 ";
  };
  two.refuse = [](auto) { return "not this machine"; };
  Campaign campaign(two, run_);
  EXPECT_FALSE(campaign.run());
  EXPECT_EQ(ended, "1/2 2/2 ");
  EXPECT_EQ(campaign.refusal(), "");
  EXPECT_FALSE(run_.journal().lines.at(0).records.empty()) << "which could be refused";
  EXPECT_FALSE(std::filesystem::exists(folder_.path("asked")));
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
  CampaignRequest rest = request({"a", "b", "c", "d"}, "");
  rest.simulated = {
      .answers = [](auto) { return true; },
      .launch = [](const Job& job) -> LaunchResult { throw usage_error(job_name(job)); }};
  for (const auto& [at_once, soaked_s] : {std::pair{2U, 300.0}, {1U, 600.0}}) {
    rest.at_once = at_once;
    rest.soak_s = soaked_s;
    EXPECT_NO_THROW(EXPECT_TRUE(Campaign(rest, run_).run()));
    rest.soak_s = soaked_s + 1;
    EXPECT_THROW(static_cast<void>(Campaign(rest, run_).run()), Error);
  }
}

}  // namespace
}  // namespace busbar::judge
