// SPDX-License-Identifier: BSD-3-Clause
#include "bootstrap/launcher.hpp"

#include <unistd.h>

#include "bootstrap/starter.hpp"

namespace busbar {
namespace {

using VariableMap = std::map<std::string, std::string>;

Environment environment_of(VariableMap variables) {
  return [variables = std::move(variables)](const char* name) -> const char* {
    const auto known = variables.find(name);
    return known == variables.end() ? nullptr : known->second.c_str();
  };
}

void expect_started(const VariableMap& variables, std::string_view name, int rank, int size,
                    JoinsBy joins_by = JoinsBy::Mpi) {
  const auto started = find_launcher(environment_of(variables));
  ASSERT_TRUE(started) << name;
  EXPECT_EQ(started->name, name);
  EXPECT_EQ(started->rank, rank);
  EXPECT_EQ(started->size, size);
  EXPECT_EQ(started->joins_by, joins_by) << name;
}

TEST(FindLauncher, FindsNoneForAProcessStartedByHandOrInABatchScript) {
  for (const VariableMap& variables : std::vector<VariableMap>{
           {},
           {{"PATH", "/bin"}, {"HOME", "/root"}},
           {{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "8"}, {"SLURM_JOB_ID", "77"}},
           // What a shell has kept of another job.
           {{"OMPI_COMM_WORLD_RANK", "3"}},
           {{"PMI_RANK", "2"}, {"PMI_SIZE", "2"}},
           // The step of a batch script, and of an interactive shell.
           {{"SLURM_PROCID", "0"}, {"SLURM_STEP_ID", "4294967291"}},
           {{"SLURM_PROCID", "0"}, {"SLURM_STEP_ID", "4294967290"}}}) {
    EXPECT_FALSE(find_launcher(environment_of(variables))) << variables.size();
  }
}

TEST(FindLauncher, KnowsItByItsVariables) {
  const char* const pmi = "mpiexec (PMI)";
  expect_started({{"PMI_RANK", "3"}, {"PMI_SIZE", "16"}, {"PMI_FD", "9"}}, pmi, 3, 16);
  expect_started({{"PMI_RANK", "0"}}, pmi, 0, 0);  // which does not report the size
  expect_started({{"OMPI_COMM_WORLD_RANK", "1"}, {"OMPI_COMM_WORLD_SIZE", "4"}},
                 "Open MPI's mpirun", 1, 4);
  expect_started({{"MV2_COMM_WORLD_RANK", "0"}, {"MV2_COMM_WORLD_SIZE", "2"}}, "MVAPICH's mpirun",
                 0, 2);
  expect_started({{"PMIX_RANK", "3"}, {"PMIX_NAMESPACE", "prterun-h1-77@1"}}, "prterun (PMIx)", 3,
                 0);
  expect_started({{"RANK", "5"}, {"WORLD_SIZE", "8"}, {"MASTER_ADDR", "h1"}}, "torchrun", 5, 8,
                 JoinsBy::Torchrun);
  expect_started({{"BUSBAR_RANK", "1"},
                  {"BUSBAR_RANKS", "2"},
                  {"BUSBAR_RENDEZVOUS", "h1:2"},
                  {"PMI_RANK", "0"}},
                 "busbar", 1, 2, JoinsBy::Busbar);
}

TEST(FindLauncher, KnowsWhetherTasksOfSlurmHaveMpi) {
  VariableMap srun{{"SLURM_PROCID", "5"}, {"SLURM_STEP_NUM_TASKS", "8"}, {"SLURM_STEP_ID", "0"}};
  expect_started(srun, "srun", 5, 8, JoinsBy::Slurm);
  VariableMap pmix = srun;
  pmix.merge(VariableMap{{"PMIX_RANK", "5"}, {"PMIX_NAMESPACE", "slurm.pmix.7.0"}});
  expect_started(pmix, "srun", 5, 8);
  // What another launcher started by daemons that srun had started.
  VariableMap daemons = srun;
  daemons.merge(VariableMap{{"PMIX_RANK", "9"}, {"PMIX_NAMESPACE", "prterun-h1-77@1"}});
  expect_started(daemons, "prterun (PMIx)", 9, 0);
  srun.merge(VariableMap{{"PMI_RANK", "7"}, {"PMI_SIZE", "16"}});
  expect_started(srun, "mpiexec (PMI)", 7, 16);
}

ProgramLookup path_with(std::set<std::string, std::less<>> names) {
  return [names = std::move(names)](std::string_view name) { return names.count(name) > 0; };
}

const MpiLibrary kMpich{.name = "MPICH 4.0.2", .family = MpiFamily::Mpich};
const MpiLibrary kOpenMpi{.name = "Open MPI 4.1.4", .family = MpiFamily::OpenMpi};
const MpiLibrary kOther{.name = "Intel MPI"};

LauncherRequest request(const MpiLibrary* library, std::set<std::string, std::less<>> programs) {
  return {.wanted = "auto",
          .library = library,
          .option = "-g 2",
          .environment = environment_of({}),
          .is_program = path_with(std::move(programs))};
}

TEST(ChooseLauncher, TakesThatOfTheMpiByTheNameThatOnlyItHas) {
  const std::set<std::string, std::less<>> both{"mpiexec", "mpirun", "mpiexec.hydra",
                                                "mpirun.openmpi"};
  EXPECT_EQ(choose_launcher(request(&kMpich, both)).program, "mpiexec.hydra");
  EXPECT_EQ(choose_launcher(request(&kOpenMpi, both)).program, "mpirun.openmpi");
  EXPECT_EQ(choose_launcher(request(&kOther, both)).launcher->name, "hydra");
  EXPECT_EQ(choose_launcher(request(&kMpich, {"mpiexec"})).program, "mpiexec");
  EXPECT_EQ(choose_launcher(request(&kOpenMpi, {"mpirun"})).text(),
            "mpirun (of Open MPI 4.1.4, which the programs are built with)");
}

TEST(ChooseLauncher, TakesSrunForTheHostsOfAnAllocationAndTellsItOfTheMpi) {
  LauncherRequest asked = request(&kMpich, {"mpiexec", "srun"});
  asked.has_hosts = true;
  EXPECT_EQ(choose_launcher(asked).program, "mpiexec");
  asked.environment = environment_of({{"SLURM_JOB_ID", "7"}});
  EXPECT_THAT(choose_launcher(asked).own, ElementsAre("--mpi=pmi2"));
  EXPECT_EQ(choose_launcher(asked).why, "in an allocation of Slurm");
  asked.library = &kOpenMpi;
  EXPECT_THAT(choose_launcher(asked).own, ElementsAre("--mpi=pmix"));
  asked.library = nullptr;
  EXPECT_THAT(choose_launcher(asked).own, ElementsAre("--mpi=none"));
  asked.has_hosts = false;
  EXPECT_TRUE(choose_launcher(asked).starts_each_rank());
}

TEST(ChooseLauncher, TakesWhatIsAskedFor) {
  LauncherRequest asked = request(&kMpich, {"prun", "ssh", "flux"});
  asked.wanted = "prrte";
  EXPECT_EQ(choose_launcher(asked).program, "prun");
  asked.wanted = "local";
  EXPECT_TRUE(choose_launcher(asked).starts_each_rank());
  EXPECT_EQ(choose_launcher(asked).text(), "busbar itself (--launcher)");
  asked.wanted = "ssh {host} {env} {program}";
  EXPECT_TRUE(choose_launcher(asked).starts_each_rank());
  asked.wanted = "flux run -n {np} {program}";
  EXPECT_FALSE(choose_launcher(asked).starts_each_rank());
}

TEST(ChooseLauncher, SaysWhatIsMissing) {
  LauncherRequest asked = request(&kOpenMpi, {});
  const auto choose = [&] { (void)choose_launcher(asked); };
  test::expect_failure(Status::Unavailable, {"-g 2", "mpirun.openmpi or mpirun", "--launcher"},
                       choose);
  asked.library = nullptr;
  asked.has_hosts = true;
  test::expect_failure(Status::Usage, {"without MPI", "ssh {host} {env} {program}"}, choose);
  asked.wanted = "/no/such/ssh {host} {program}";
  test::expect_failure(Status::Unavailable, "--launcher: there is no /no/such/ssh", choose);
}

RankLaunch launch_on(std::vector<std::string> hosts) {
  return {.hosts = std::move(hosts),
          .hostfile = "/hosts",
          .ranks = 4,
          .ranks_per_host = 2,
          .arguments = {"-x y"},
          .program = {"./p", "-b", "1M", "MOD 2"}};
}

std::string command_of(const MpiLibrary& library, std::string wanted, const RankLaunch& launch,
                       bool as_root = false) {
  LauncherRequest asked = request(&library, {"mpiexec", "mpirun", "srun", "go"});
  asked.wanted = std::move(wanted);
  asked.as_root = as_root;
  return join(launch_command(choose_launcher(asked), launch), "|");
}

TEST(LaunchCommand, AsksEachLauncherInItsWay) {
  const RankLaunch two = launch_on({"h1", "h2"});
  EXPECT_EQ(command_of(kMpich, "hydra", two), "mpiexec|-x y|-f|/hosts|-n|4|-ppn|2|./p|-b|1M|MOD 2");
  EXPECT_EQ(
      command_of(kOpenMpi, "openmpi", two, true),
      "mpirun|--allow-run-as-root|-x y|--hostfile|/hosts|--map-by|ppr:2:node|--bind-to|none|-n|"
      "4|./p|-b|1M|MOD 2");
  EXPECT_EQ(command_of(kMpich, "srun", two),
            "srun|--mpi=pmi2|-x y|-N|2|-n|4|--ntasks-per-node=2|-w|/hosts|--overlap|"
            "--cpu-bind=none|--kill-on-bad-exit=1|./p|-b|1M|MOD 2");
  EXPECT_EQ(command_of(kMpich, "go -n {np} on {hosts} {env} {program}", two),
            "go|-n|4|on|h1,h2|./p|-b|1M|percent:MOD%202");
}

TEST(LaunchCommand, NeedsNoHostsForThisHost) {
  const RankLaunch here{.ranks = 2, .program = {"./p"}};
  EXPECT_EQ(command_of(kMpich, "auto", here), "mpiexec|-n|2|./p");
  EXPECT_EQ(command_of(kOpenMpi, "auto", here), "mpirun|--oversubscribe|-n|2|./p");
}

TEST(HostLines, AreWhatEachLauncherReads) {
  const auto lines = [](const MpiLibrary& library) {
    return host_lines(choose_launcher(request(&library, {"mpiexec", "mpirun"})),
                      launch_on({"h1", "h2"}));
  };
  EXPECT_EQ(lines(kMpich), "h1\nh2\n");
  EXPECT_EQ(lines(kOpenMpi), "h1 slots=2\nh2 slots=2\n");
}

TEST(LauncherOfVersion, KnowsTheLaunchersOfTheTable) {
  const std::map<std::string_view, std::string_view> names{
      {"HYDRA build details:\n    Version: 4.0.2\n", "hydra"},
      {"mpirun (Open MPI) 4.1.4\n\nReport bugs\n", "openmpi"},
      {"mpirun.openmpi (OpenRTE) 4.1.4\n", "openmpi"},
      {"prterun (PRRTE) 3.0.2\n", "prrte"},
      {"slurm 22.05.8\n", "srun"}};
  for (const auto& [text, name] : names) EXPECT_EQ(launcher_of_version(text)->name, name);
  for (const char* text : {"\nHYDRA", ""}) EXPECT_EQ(launcher_of_version(text), nullptr);
}

TEST(CheckHostNames, RefusesWhatNoHostCanBeCalled) {
  const auto refusal = [](const std::string& host) {
    return test::failure_of([&] { check_host_names("--hosts", {"h1", host}); }).message;
  };
  for (const char* name :
       {"h1.example-site.org", "10.0.0.1", "fe80::1%eth0", "user@gpu_3", "[fe80::1]"}) {
    EXPECT_EQ(refusal(name), "");
  }
  std::vector<std::string> refused{"", "a\nb", "\x1b]0;x\a", "-oProxyCommand=x", "h\xC2\x9B"};
  for (const char sign : std::string_view(" $`;|&'\"></\\~*?{}!#()")) {
    refused.push_back(std::string("a") + sign);
  }
  for (const std::string& name : refused) {
    EXPECT_THAT(refusal(name), AllOf(StartsWith("--hosts: '"), Not(HasSubstr("\x1b"))));
  }
}

TEST(EncodedWord, HasNothingThatAShellReadsAndIsDecodedToWhatItWas) {
  EXPECT_EQ(encoded_word("-b"), "-b");
  EXPECT_EQ(encoded_word("UCX_TLS=tcp,self@1:2/3_%.+"), "UCX_TLS=tcp,self@1:2/3_%.+");
  EXPECT_EQ(encoded_word("a b'$%"), "percent:a%20b%27%24%25");
  EXPECT_EQ(encoded_word(""), "percent:");
  std::string all;
  for (int letter = 1; letter < 256; ++letter) all += static_cast<char>(letter);
  for (const std::string& word : {all, std::string(), std::string("0,0,0 1;1,0,0 1"),
                                  std::string("percent:a%20"), std::string("100%")}) {
    EXPECT_TRUE(is_plain(encoded_word(word)));
    EXPECT_EQ(decoded_word(encoded_word(word)), word);
  }
  EXPECT_EQ(decoded_word("percent:%zz%4"), "%zz%4");
}

TEST(EncodedProgram, CannotHaveAPathThatAShellReads) {
  test::expect_failure(Status::Usage, {"--launcher", "a b/x_perf", "link"}, [] {
    (void)encoded_program({"/a b/x_perf", "-b", "1"});
  });
}

TEST(FillWords, LeavesWhatItDoesNotKnow) {
  EXPECT_THAT(fill_words("a{x}b {y} {list} {", {{"x", "1 2"}}, {{"{list}", {"l", "m"}}}),
              ElementsAre("a1 2b", "{y}", "l", "m", "{"));
  EXPECT_THAT(fill_words("", {}, {}), IsEmpty());
}

LauncherChoice chosen(const std::string& wanted) {
  return choose_launcher({.wanted = wanted, .is_program = [](auto) { return true; }});
}

Words ssh(const std::string& wanted, const Words& arguments = {}, std::string_view set = "") {
  return ssh_of(chosen(wanted), arguments,
                [&](const char* name) { return name == set ? "x" : nullptr; });
}

TEST(SshHosts, AreThoseOfLaunchersThatNothingHasGivenAnotherAgent) {
  for (const char* name : {"hydra", "openmpi", "prrte"}) {
    EXPECT_THAT(ssh(name), ElementsAre("ssh")) << name;
    EXPECT_THAT(ssh(name, {"-iface", "ib0"}), ElementsAre("ssh")) << name;
    EXPECT_THAT(ssh(name, {}, "SLURM_JOB_ID"), IsEmpty()) << name;
  }
  EXPECT_THAT(ssh("hydra", {"-launcher-exec", "/opt/go"}), IsEmpty());
  EXPECT_THAT(ssh("hydra", {}, "HYDRA_BOOTSTRAP"), IsEmpty());
  EXPECT_THAT(ssh("openmpi", {"--mca", "plm_rsh_agent", "go"}), IsEmpty());
  EXPECT_THAT(ssh("srun"), IsEmpty());
  EXPECT_THAT(ssh("local"), IsEmpty());
  EXPECT_THAT(ssh("ssh -p 22 {host} {env} {program}"), ElementsAre("ssh", "-p", "22"));
  EXPECT_THAT(ssh("/usr/bin/ssh {host} {program}"), ElementsAre("/usr/bin/ssh"));
  EXPECT_THAT(ssh("ssh me@{host} {program}"), IsEmpty());
  EXPECT_THAT(ssh("kubectl exec {host} -- {env} {program}"), IsEmpty());
}

TEST(SshHosts, AreKnownByTheResolverOrByTheConfigurationOfSsh) {
  const test::TemporaryFolder folder;
  const std::string program = folder.path("ssh");
  // "ssh -F file -G HOST"
  std::ofstream(program)
      << "#!/bin/sh\ncase $4 in alias.*) echo hostname 127.0.0.1;;\n"
         "jump.*) echo proxyjump gate;; *) echo hostname $4; echo proxyjump none;; esac\n";
  std::filesystem::permissions(program, std::filesystem::perms::owner_all);
  EXPECT_THAT(unresolved_hosts({"localhost", "127.0.0.2", "a.invalid", "alias.invalid",
                                "jump.invalid", "b.invalid"},
                               {program, "-F", "file"}),
              ElementsAre("a.invalid", "b.invalid"));
  EXPECT_THAT(unresolved_hosts({"a.invalid"}, {"no-such-ssh"}), ElementsAre("a.invalid"));
  EXPECT_THAT(unresolved_hosts({"a.invalid"}, {}), IsEmpty());
}

TEST(StartRanks, ReturnsTheCodeOfTheRankThatFailsAndEndsTheOthers) {
  const char* const script = "test $BUSBAR_RANK = 1 || exec sleep 77; exit 7";
  EXPECT_EQ(start_ranks({.ranks = 3, .program = {"sh", "-c", script}}), 7);
}

TEST(StartRanks, TellsRanksWhomToEndWith) {
  EXPECT_EQ(start_ranks({.ranks = 1, .program = {"sh", "-c", "test $BUSBAR_STARTER = $PPID"}}), 0);
}

TEST(StartRanks, ReportsOnceAProgramThatIsNotThere) {
  std::string notices;
  const RankStart start{.ranks = 3,
                        .program = {"/nowhere/x_perf"},
                        .notice = [&](const auto& line) { notices += line + '\n'; }};
  EXPECT_EQ(start_ranks(start), 127);
  EXPECT_EQ(notices, "rank 0 could not be started: no such program\n");
}

TEST(RequireVariables, RefusesWhatANewStartDidNotBring) {
  setenv("BUSBAR_TEST_SET", "a b", 1);
  setenv("BUSBAR_STARTED_ANEW", std::to_string(getpid()).c_str(), 1);
  require_variables({{"BUSBAR_TEST_SET", "a b"}}, {});
  for (const std::string name : {"BUSBAR_TEST_SET", "BUSBAR_TEST_UNSET"}) {
    test::expect_failure(Status::Usage, {"--env " + name + "=c", "new start"}, [&] {
      require_variables({{"BUSBAR_TEST_SET", "a b"}, {name, "c"}}, {});
    });
  }
  unsetenv("BUSBAR_STARTED_ANEW");
  unsetenv("BUSBAR_TEST_SET");
}

}  // namespace
}  // namespace busbar
