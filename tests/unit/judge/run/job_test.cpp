// SPDX-License-Identifier: BSD-3-Clause
#include "judge/run/job.hpp"

namespace busbar::judge {
namespace {

Specification specification_with(SetKind kind) {
  Specification specification;
  specification.run = {
      .launches = 2, .iterations = 10, .warmup = 3, .check_data = true, .timeout_s = 60};
  specification.device_sets = {{.id = "set", .kind = kind, .gpus = "0-1", .ranks_per_node = 2}};
  specification.rules = {
      {.id = "r", .collectives = {"allreduce"}, .device_set = "set", .sizes = {1024, 2048, 4096}}};
  return specification;
}

Job job_of(const std::string& collective) {
  return {.device_set = "set",
          .instances = {{.name = "h1+h2", .nodes = {"h1", "h2"}}},
          .collective = collective};
}

LaunchSetup setup_of(const std::string& launcher) {
  const MpiLibrary mpich{.name = "MPICH 4.0.2", .family = MpiFamily::Mpich};
  return {.launcher = choose_launcher({.wanted = launcher,
                                       .library = &mpich,
                                       .is_program =
                                           [](std::string_view name) {
                                             return name != "mpiexec.hydra" &&
                                                    name != "mpiexec.mpich";
                                           }}),
          .arguments = {"-iface", "ib0"},
          .programs = "/bin",
          .text_file = [](const std::string& lines, auto) {
            EXPECT_EQ(lines, "h1\nh2\n");
            return "/hosts";
          }};
}
const LaunchSetup kSetup = setup_of("hydra");

std::vector<std::string> lines_of(const Specification& specification,
                                  const std::string& collective = "allreduce") {
  std::vector<std::string> lines;
  for (const Words& command : commands_of(specification, kSetup, job_of(collective))) {
    lines.push_back(command_text(command));
  }
  return lines;
}

TEST(CommandsOf, AreTheUsersLauncherAndTheContract) {
  EXPECT_THAT(
      lines_of(specification_with(SetKind::Pairwise)),
      ElementsAre("mpiexec -iface ib0 -f /hosts -n 4 -ppn 2 /bin/allreduce_perf "
                  "--backend auto -T 45 --devices 0-1 --csv - -b 1024 -e 4096 -f 2 -d float "
                  "--placement out -n 10 -w 3 -c 1"));
}

TEST(CommandsOf, AreOneOfATurnOfASoak) {
  Specification specification = specification_with(SetKind::Pairwise);
  specification.soak = SoakRule{.sizes = {kMiB}};
  Job turn = job_of("allreduce");
  turn.soak_s = 60;
  const auto commands = commands_of(specification, kSetup, turn);
  ASSERT_EQ(commands.size(), 1U);
  EXPECT_THAT(
      command_text(commands.front()),
      HasSubstr(" --csv - -b 1048576 -e 1048576 --placement out --duration 60 --timeline -"));
}

TEST(CommandsOf, HaveTheSettingsOfTheirDeviceSet) {
  Specification specification = specification_with(SetKind::Pairwise);
  DeviceSetRule& set = specification.device_sets.front();
  set.env = {{"NCCL_MNNVL_ENABLE", "0"}};
  set.backend_options = {"--cta-policy", "zero"};
  set.fingerprint = {{"nccl_links", {"NET/IB"}}};
  const std::string line = lines_of(specification).front();
  EXPECT_THAT(line, HasSubstr(" --cta-policy zero --nccl-choice --env NCCL_MNNVL_ENABLE=0"));
}

TEST(CommandsOf, BindNoPairsOfNodesThatMayShareAMachineUnlessTheSetSaysSo) {
  Specification specification = specification_with(SetKind::Pairwise);
  specification.run.same_machine = true;
  EXPECT_THAT(lines_of(specification), ElementsAre(HasSubstr(" --bind none")));
  specification.device_sets.front().backend_options = {"--bind", "core"};
  EXPECT_THAT(lines_of(specification), ElementsAre(HasSubstr(" --bind none --bind core")));
  EXPECT_THAT(lines_of(specification_with(SetKind::Pairwise)),
              ElementsAre(Not(HasSubstr("--bind"))));
  Specification alone = specification_with(SetKind::PerNode);
  alone.run.same_machine = true;
  EXPECT_THAT(lines_of(alone), ElementsAre(Not(HasSubstr("--bind"))));
}

std::string start_of_line(const std::string& launcher) {
  const std::string line = command_text(
      commands_of(specification_with(SetKind::Pairwise), setup_of(launcher), job_of("allreduce"))
          .at(0));
  return line.substr(0, line.find(" --backend"));
}

TEST(TouchCommand, AsksForTheNodesNameWhereRanksMeetByIt) {
  LaunchSetup setup = setup_of("ssh {host} {env} {program}");
  setup.text_file = [](auto, auto) { return "/hosts"; };
  EXPECT_THAT(command_text(touch_command(setup, "allreduce", "h1")), HasSubstr("_perf -g 1 "));
  EXPECT_THAT(command_text(touch_command(setup, "allreduce", "h1")), Not(HasSubstr("rendezvous")));
  setup.has_groups = true;
  EXPECT_THAT(command_text(touch_command(setup, "allreduce", "h1")),
              HasSubstr(" --version --facts - --rendezvous h1:1"));
  setup.launcher = kSetup.launcher;
  EXPECT_THAT(command_text(touch_command(setup, "allreduce", "h1")), Not(HasSubstr("rendezvous")));
}

TEST(CommandsOf, LetTheProgramStartEachRankWhereNoLauncherTakesAll) {
  EXPECT_EQ(start_of_line("ssh {host} {env} {program}"),
            "/bin/allreduce_perf -g 4 --launcher 'ssh {host} {env} {program}' --hosts @/hosts");
  EXPECT_EQ(start_of_line("go {hostfile} {program}"), "go /hosts /bin/allreduce_perf");
}

TEST(CommandsOf, NeedNoHostFileForThisHost) {
  Job job = job_of("allreduce");
  job.instances[0].nodes = {"localhost"};
  const auto start = [&](const std::string& launcher) {
    return command_text(
        commands_of(specification_with(SetKind::Whole), setup_of(launcher), job).at(0));
  };
  EXPECT_THAT(start("hydra"), StartsWith("mpiexec -iface ib0 -n 2 /bin/allreduce_perf "));
  EXPECT_THAT(start("local"),
              StartsWith("/bin/allreduce_perf -g 2 --launcher local --backend auto "));
}

TEST(CommandsOf, LeaveToTheProgramWhatTheContractDoesNotFix) {
  Specification specification = specification_with(SetKind::Pairwise);
  specification.run.iterations = 0;
  specification.run.warmup = -1;
  specification.run.check_data = false;
  const std::string line = lines_of(specification).at(0);
  EXPECT_THAT(line, EndsWith("-c 0"));
  EXPECT_THAT(line, Not(HasSubstr(" -w ")));
}

TEST(CommandsOf, HaveOneForEachTypeAndNoOperationWhereNothingIsReduced) {
  Specification specification = specification_with(SetKind::Pairwise);
  specification.rules[0].collectives = {"alltoall"};
  Rule half = specification.rules[0];
  half.type = "half";
  half.in_place = true;
  specification.rules.push_back(half);
  const std::vector<std::string> lines = lines_of(specification, "alltoall");
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_THAT(lines[0], HasSubstr("-d float --placement out -n"));
  EXPECT_THAT(lines[1], HasSubstr("-d half --placement in -n"));
}

TEST(CommandsOf, MeasureBothBufferModesAtOnceWhereRulesWantBoth) {
  Specification specification = specification_with(SetKind::Pairwise);
  specification.rules.push_back(specification.rules[0]);
  specification.rules[1].in_place = true;
  EXPECT_THAT(lines_of(specification), ElementsAre(HasSubstr("--placement both")));
  specification.rules[1].device_set = "other";
  EXPECT_THAT(lines_of(specification), ElementsAre(HasSubstr("--placement out")));
}

TEST(CommandsOf, SplitAllNodesIntoRails) {
  EXPECT_THAT(lines_of(specification_with(SetKind::Rails)),
              ElementsAre(HasSubstr(" --groups rails")));
}

TEST(CommandsOf, HaveTheRoundsOfPairsInTheLineOrInAFile) {
  const Specification specification = specification_with(SetKind::Pairwise);
  Job job{
      .device_set = "set",
      .instances = {{.name = "4 nodes", .nodes = {"h0", "h1", "h2", "h3"}}},
      .collective = "allreduce",
      .rounds = {{.number = 0, .pairs = {{0, 1}, {2, 3}}}, {.number = 1000, .pairs = {{1, 3}}}}};
  std::string file;
  const LaunchSetup setup{.launcher = choose_launcher({.wanted = "local"}),
                          .programs = "/bin",
                          .text_file = [&](const std::string& lines, std::string_view ending) {
                            if (ending == ".csv") file = lines;
                            return "0001.csv";
                          }};
  EXPECT_THAT(command_text(commands_of(specification, setup, job).front()),
              HasSubstr("--groups 0,0,0-1+2-3/0,1,4-5+6-7/1000,0,2-3+6-7"));
  job.rounds.front().pairs.assign(10000, {0, 1});
  EXPECT_THAT(command_text(commands_of(specification, setup, job).front()),
              HasSubstr("--groups 0001.csv"));
  EXPECT_TRUE(file.starts_with("0,0,0-1 2-3\n0,1,0-1 2-3\n"));
}

TEST(BreakingNode, IsTheOneThatTheProgramOrTheLauncherNames) {
  const std::vector<std::string> nodes{"h1", "h2", "h3"};
  const auto named = [&](std::string_view log) { return breaking_node(log, nodes, 8); };
  EXPECT_EQ(named("x\nallreduce_perf: timeout: no progress for 6 s (-T): rank 9 on h2 does not "
                  "answer; 22 others wait"),
            "h2");
  EXPECT_EQ(named("rank 23 on h3.x.org is behind, all-reduce for 61 s"), "h3");
  EXPECT_EQ(named("rank 0 on h1 ended before the others"), "h1");
  EXPECT_EQ(named("=   RANK 16 PID 1234 RUNNING AT h3\n=   KILLED BY SIGNAL: 9"), "h3");
  EXPECT_EQ(named("srun: error: h2: task 8: Killed"), "h2");
  EXPECT_EQ(named("rank 99 on h9 does not answer"), "");
  EXPECT_EQ(named("out of luck"), "");
}

TEST(SizeRuns, AreFewProgressionsThatGiveEverySizeAndNoOther) {
  const auto text = [](const std::vector<Bytes>& sizes) {
    std::string all;
    for (const SizeRun& run : size_runs(sizes)) {
      all += std::to_string(run.first) + "-" + std::to_string(run.last) + "x" +
             std::to_string(run.factor) + " ";
    }
    return all;
  };
  EXPECT_EQ(text({1024, 2048, 4096}), "1024-4096x2 ");
  EXPECT_EQ(text({1000}), "1000-1000x2 ");
  EXPECT_EQ(text({1, 3, 9, 10}), "1-9x3 10-10x2 ");
  EXPECT_EQ(text({8, Bytes{8} << 30U}), "8-8x2 8589934592-8589934592x2 ");  // -f takes 2^20 at most
  EXPECT_EQ(text({6, 9}), "6-6x2 9-9x2 ");
}

TEST(CollectivesOf, AreEachThereOnceInTheOrderOfTheRules) {
  Specification specification = specification_with(SetKind::Whole);
  specification.rules.push_back(specification.rules[0]);
  specification.rules[1].collectives = {"alltoall", "allreduce"};
  EXPECT_THAT(collectives_of(specification, "set"), ElementsAre("allreduce", "alltoall"));
  EXPECT_THAT(collectives_of(specification, "other"), IsEmpty());
}

TEST(CommandText, IsReadByAShellAsTheSameWords) {
  EXPECT_EQ(command_text({"a", "b c", "it's", ""}), "a 'b c' 'it'\\''s' ''");
}

}  // namespace
}  // namespace busbar::judge
