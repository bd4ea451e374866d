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

const LaunchJob kJob{.device_set = "set",
                     .instances = {{.name = "h1+h2", .nodes = {"h1", "h2"}}},
                     .collective = "allreduce"};

LaunchSetup setup_of(const std::string& launcher) {
  const MpiLibrary mpich{.name = "MPICH 4.0.2", .family = MpiFamily::Mpich};
  const auto is_program = [](std::string_view name) {
    return name != "mpiexec.hydra" && name != "mpiexec.mpich";
  };
  return {.launcher =
              choose_launcher({.wanted = launcher, .library = &mpich, .is_program = is_program}),
          .arguments = {"-iface", "ib0"},
          .programs = "/bin",
          .text_file = [](const std::string& lines, auto) {
            EXPECT_EQ(lines, "h1\nh2\n");
            return "/hosts";
          }};
}
const LaunchSetup kSetup = setup_of("hydra");

std::vector<std::string> lines_of(const Specification& specification, const LaunchJob& job = kJob,
                                  const LaunchSetup& setup = kSetup) {
  return mapped(commands_of(specification, setup, job), command_text);
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
  LaunchJob turn = kJob;
  turn.soak_s = 60;
  EXPECT_THAT(lines_of(specification, turn),
              ElementsAre(HasSubstr(" --csv - -b 1048576 -e 1048576 --placement out --duration 60 "
                                    "--timeline -")));
}

/// What is changed of a specification of a rule and two nodes, and what its one command then has.
struct CommandCase {
  std::string what{};
  std::function<void(Specification&)> change{};
  std::string has{};
  std::string lacks = "?";
  SetKind kind = SetKind::Pairwise;
};

TEST(CommandsOf, AreAsTheirSpecificationHasThem) {
  const auto same_machine = [](Specification& s) { s.run.same_machine = true; };
  const auto both_modes = [](Specification& s) {
    s.rules.push_back(s.rules[0]);
    s.rules[1].in_place = true;
  };
  const std::vector<CommandCase> cases{
      {"settings of the device set",
       [](Specification& s) {
         s.device_sets[0].env = {{"NCCL_MNNVL_ENABLE", "0"}};
         s.device_sets[0].backend_options = {"--cta-policy", "zero"};
         s.device_sets[0].fingerprint = {{"nccl_links", {"NET/IB"}}};
       },
       " --cta-policy zero --nccl-choice --env NCCL_MNNVL_ENABLE=0"},
      {"nodes that may share a machine", same_machine, " --bind none"},
      {"unless the set says so",
       [&](Specification& s) {
         same_machine(s);
         s.device_sets[0].backend_options = {"--bind", "core"};
       },
       " --bind none --bind core"},
      {"each on its own", [](Specification&) {}, "", "--bind"},
      {"alone there", same_machine, "", "--bind", SetKind::PerNode},
      {"what the contract does not fix",
       [](Specification& s) { s.run.iterations = 0, s.run.warmup = -1; }, "--placement out -c 1"},
      {"no check", [](Specification& s) { s.run.check_data = false; }, " -c 0"},
      {"both buffer modes at once", both_modes, "--placement both"},
      {"not of another set",
       [&](Specification& s) {
         both_modes(s);
         s.rules[1].device_set = "other";
       },
       "--placement out"},
      {"rails", [](Specification&) {}, " --groups rails", "?", SetKind::Rails}};
  for (const CommandCase& one : cases) {
    Specification specification = specification_with(one.kind);
    one.change(specification);
    EXPECT_THAT(lines_of(specification),
                ElementsAre(AllOf(HasSubstr(one.has), Not(HasSubstr(one.lacks)))))
        << one.what;
  }
}

TEST(TouchCommand, AsksForTheNodesNameWhereRanksMeetByIt) {
  LaunchSetup setup = setup_of("ssh {host} {env} {program}");
  setup.text_file = [](auto, auto) { return "/hosts"; };
  const auto touch = [&] { return command_text(touch_command(setup, "allreduce", "h1")); };
  EXPECT_THAT(touch(), AllOf(HasSubstr("_perf -g 1 "), Not(HasSubstr("rendezvous"))));
  setup.has_groups = true;
  EXPECT_THAT(touch(), HasSubstr(" --version --facts - --rendezvous h1:1"));
  setup.launcher = kSetup.launcher;
  EXPECT_THAT(touch(), Not(HasSubstr("rendezvous")));
}

TEST(CommandsOf, LetTheProgramStartEachRankWhereNoLauncherTakesAllAndNeedNoHostFileForThisHost) {
  LaunchJob here = kJob;
  here.instances[0].nodes = {"localhost"};
  for (const auto& [launcher, job, start] :
       {std::tuple{"ssh {host} {env} {program}", kJob,
                   "/bin/allreduce_perf -g 4 --launcher 'ssh {host} {env} {program}' --hosts "
                   "@/hosts --backend"},
        {"go {hostfile} {program}", kJob, "go /hosts /bin/allreduce_perf --backend"},
        {"hydra", here, "mpiexec -iface ib0 -n 2 /bin/allreduce_perf --backend"},
        {"local", here, "/bin/allreduce_perf -g 2 --launcher local --backend auto "}}) {
    EXPECT_THAT(lines_of(specification_with(SetKind::Whole), job, setup_of(launcher)),
                ElementsAre(StartsWith(start)));
  }
}

TEST(CommandsOf, HaveOneForEachTypeAndNoOperationWhereNothingIsReduced) {
  Specification specification = specification_with(SetKind::Pairwise);
  specification.rules[0].collectives = {"alltoall"};
  specification.rules.push_back(specification.rules[0]);
  specification.rules[1].type = "half";
  specification.rules[1].in_place = true;
  LaunchJob job = kJob;
  job.collective = "alltoall";
  EXPECT_THAT(lines_of(specification, job), ElementsAre(HasSubstr("-d float --placement out -n"),
                                                        HasSubstr("-d half --placement in -n")));
}

TEST(CommandsOf, HaveTheRoundsOfPairsInTheLineOrInAFile) {
  LaunchJob job{
      .device_set = "set",
      .instances = {{.name = "4 nodes", .nodes = {"h0", "h1", "h2", "h3"}}},
      .collective = "allreduce",
      .rounds = {{.number = 0, .pairs = {{0, 1}, {2, 3}}}, {.number = 1000, .pairs = {{1, 3}}}}};
  std::string file;
  LaunchSetup setup = setup_of("local");
  setup.text_file = [&](const std::string& lines, std::string_view ending) {
    if (ending == ".csv") file = lines;
    return "0001.csv";
  };
  const auto lines = [&] { return lines_of(specification_with(SetKind::Pairwise), job, setup); };
  EXPECT_THAT(lines(), ElementsAre(HasSubstr("--groups 0,0,0-1+2-3/0,1,4-5+6-7/1000,0,2-3+6-7")));
  job.rounds.front().pairs.assign(10000, {0, 1});
  EXPECT_THAT(lines(), ElementsAre(HasSubstr("--groups 0001.csv")));
  EXPECT_THAT(file, StartsWith("0,0,0-1 2-3\n0,1,0-1 2-3\n"));
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
    return join_each(size_runs(sizes), " ", [](const SizeRun& run) {
      return fmt::format("{}-{}x{}", run.first, run.last, run.factor);
    });
  };
  EXPECT_EQ(text({1024, 2048, 4096}), "1024-4096x2");
  EXPECT_EQ(text({1000}), "1000-1000x2");
  EXPECT_EQ(text({1, 3, 9, 10}), "1-9x3 10-10x2");
  EXPECT_EQ(text({8, Bytes{8} << 30U}), "8-8x2 8589934592-8589934592x2");  // -f takes 2^20 at most
  EXPECT_EQ(text({6, 9}), "6-6x2 9-9x2");
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
