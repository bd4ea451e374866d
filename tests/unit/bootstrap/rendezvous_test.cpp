// SPDX-License-Identifier: BSD-3-Clause
#include "bootstrap/rendezvous.hpp"

namespace busbar {
namespace {

using VariableMap = std::map<std::string, std::string>;

std::optional<Rendezvous> found(const RendezvousOptions& options, const VariableMap& variables) {
  return find_rendezvous(options, [&](const char* name) -> const char* {
    const auto known = variables.find(name);
    return known == variables.end() ? nullptr : known->second.c_str();
  });
}

std::string text_of(const RendezvousOptions& options, const VariableMap& variables) {
  const auto result = found(options, variables);
  if (!result) return "";
  return result->address.text() + " " + std::to_string(result->rank) + "/" +
         std::to_string(result->ranks) + " " + result->token;
}

const VariableMap kTorchrun{
    {"RANK", "1"}, {"WORLD_SIZE", "2"}, {"MASTER_ADDR", "h1"}, {"MASTER_PORT", "29500"}};
const VariableMap kSrun{{"SLURM_PROCID", "5"},
                        {"SLURM_STEP_NUM_TASKS", "8"},
                        {"SLURM_STEP_ID", "2"},
                        {"SLURM_JOB_ID", "100"},
                        {"SLURM_STEP_NODELIST", "gpu[03-6],h1"}};
const VariableMap kBusbar{
    {"BUSBAR_RENDEZVOUS", "h1:9"}, {"BUSBAR_RANK", "1"}, {"BUSBAR_RANKS", "2"}};

/// The same variables with one more or another value.
VariableMap with_variable(VariableMap variables, const std::string& name,
                          const std::string& value) {
  variables[name] = value;
  return variables;
}

TEST(FindRendezvous, IsNoneForMpiAndForOneProcess) {
  EXPECT_EQ(text_of({}, {}), "");
  EXPECT_EQ(text_of({}, {{"PMI_RANK", "1"}, {"PMI_SIZE", "4"}}), "");
  EXPECT_EQ(text_of({}, with_variable(kSrun, "SLURM_STEP_NUM_TASKS", "1")), "");
}

TEST(FindRendezvous, IsWhatTheCommandLineSays) {
  EXPECT_EQ(text_of({.address = "h1:29500", .rank = 3, .ranks = 4}, {}), "h1:29500 3/4 ");
  EXPECT_EQ(text_of({.address = "[fe80::1]:9", .rank = 0, .ranks = 1}, {{"BUSBAR_TOKEN", "abc"}}),
            "[fe80::1]:9 0/1 abc");
  EXPECT_EQ(text_of({}, kBusbar), "h1:9 1/2 ");
}

TEST(FindRendezvous, TakesRankAndNumberFromWhateverStartedTheRanks) {
  EXPECT_EQ(text_of({.address = "h1:9"}, {{"PMI_RANK", "1"}, {"PMI_SIZE", "4"}}), "h1:9 1/4 ");
  EXPECT_EQ(text_of({.address = "j-0.svc:9", .ranks = 8}, {{"JOB_COMPLETION_INDEX", "5"}}),
            "j-0.svc:9 5/8 ");
}

TEST(FindRendezvous, KnowsWhichJobItIsWhereTheEnvironmentHasIt) {
  const auto job = [](const RendezvousOptions& options, const VariableMap& variables) {
    return found(options, variables).value().job;
  };
  EXPECT_EQ(job({}, kSrun), "100.2");
  EXPECT_EQ(job({.address = "h1:9"}, kSrun), "100.2");
  EXPECT_EQ(job({.address = "h1:9", .rank = 1}, kSrun), "");  // two steps may meet by hand
  EXPECT_EQ(job({}, with_variable(kTorchrun, "TORCHELASTIC_RUN_ID", "train")), "train");
  EXPECT_EQ(job({.address = "h1:9"}, with_variable(kSrun, "BUSBAR_JOB", "mine")), "mine");
}

TEST(FindRendezvous, KnowsWhetherTheHostsNameMayAppearLater) {
  EXPECT_FALSE(found({.address = "pod-0:9", .rank = 1, .ranks = 2}, {})->is_known_host);
  EXPECT_FALSE(found({}, kTorchrun)->is_known_host);
  EXPECT_TRUE(found({}, kSrun)->is_known_host);
  EXPECT_TRUE(found({}, kBusbar)->is_known_host);
}

TEST(FindRendezvous, EndsWithTheProcessThatGaveTheAddress) {
  const VariableMap started = with_variable(kBusbar, "BUSBAR_STARTER", "71");
  EXPECT_EQ(found({}, started)->starter, 71);
  EXPECT_EQ(found({.address = "h1:9"}, started)->starter, 0);
}

TEST(FindRendezvous, IsBesideThePortThatTorchrunsAgentHolds) {
  const VariableMap agent = with_variable(kTorchrun, "TORCHELASTIC_USE_AGENT_STORE", "True");
  EXPECT_EQ(text_of({}, kTorchrun), "h1:29500 1/2 ");
  EXPECT_EQ(text_of({}, agent), "h1:29501 1/2 ");
  EXPECT_EQ(text_of({}, with_variable(agent, "MASTER_PORT", "65535")), "h1:65534 1/2 ");
}

TEST(FindRendezvous, IsOnTheFirstNodeOfASlurmStepAtAPortOfTheStep) {
  EXPECT_EQ(text_of({}, kSrun), "gpu03:23102 5/8 ");
  EXPECT_EQ(text_of({}, with_variable(kSrun, "SLURM_STEP_ID", "3")), "gpu03:23103 5/8 ");
}

TEST(FindRendezvous, RefusesWhatDoesNotFitTogether) {
  struct Case {
    RendezvousOptions options;
    VariableMap variables;
    std::string words;
  };
  const std::vector<Case> cases{
      {{.rank = 1}, {}, "--rank needs --rendezvous HOST:PORT"},
      {{.address = "h1:9", .ranks = 2}, {}, "--rendezvous needs --rank N or BUSBAR_RANK"},
      {{.address = "h1", .rank = 0, .ranks = 2}, {}, "'h1' is not HOST:PORT"},
      {{.address = "h1:0", .rank = 0, .ranks = 2}, {}, "'h1:0'"},
      {{.address = "h1:70000", .rank = 0, .ranks = 2}, {}, "from 1 to 65535"},
      {{.address = "::1", .rank = 0, .ranks = 2}, {}, "'::1' is not HOST:PORT"},
      {{.address = ":9", .rank = 0, .ranks = 2}, {}, "is not HOST:PORT"},
      {{.address = "h1:9"}, {{"BUSBAR_RANK", "x"}}, "BUSBAR_RANK='x'"},
      {{}, {{"RANK", "0"}, {"WORLD_SIZE", "2"}, {"MASTER_ADDR", "h1"}}, "MASTER_PORT=''"},
  };
  for (const Case& each : cases) {
    test::expect_failure(Status::Usage, each.words,
                         [&] { (void)found(each.options, each.variables); });
  }
}

}  // namespace
}  // namespace busbar
