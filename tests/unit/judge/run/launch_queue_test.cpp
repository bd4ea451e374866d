// SPDX-License-Identifier: BSD-3-Clause
#include "judge/run/launch_queue.hpp"

#include <filesystem>
#include <sys/resource.h>

namespace busbar::judge {
namespace {

TEST(ChooseAtOnce, IsWhatIsAskedForOrWhatTheScarcestAllows) {
  struct Case {
    std::size_t open_files = 1U << 20U;
    std::size_t processes = 1U << 20U;
    Bytes memory = 1024 * kGiB;
    std::size_t processors = 1024;
    std::optional<int> wanted{};
    std::size_t launches = 0;
    std::string token{};
  };
  for (const Case& one :
       {Case{.processors = 2, .launches = 512, .token = "2 processors"},
        Case{.memory = kGiB, .processors = 2, .launches = 32, .token = "1 GiB"},
        Case{.processes = 100,
        .memory = kGiB,
        .processors = 2,
        .launches = 12,
        .token = "100 more processes"},
        Case{.memory = kGiB, .wanted = 500, .launches = 500, .token = "--at-once"},
        Case{.open_files = 512, .processes = 80, .wanted = 500, .launches = 10}}) {
    const AtOnce at_once = choose_at_once({.open_files = one.open_files,
                                           .used_files = 8,
                                           .processes = one.processes,
                                           .memory = one.memory,
                                           .processors = one.processors},
                                          one.wanted, one.wanted ? "--at-once" : "");
    EXPECT_EQ(at_once.launches, one.launches);
    EXPECT_THAT(at_once.reason, HasSubstr(one.token));
  }
  EXPECT_EQ(choose_at_once({}, {}, "").launches, 1U) << "never none";
}

Words shell(const std::string& text) { return {"/bin/sh", "-c", text}; }

/// What is reported of launches.
struct Report {
  std::vector<std::size_t> begun{};
  std::map<std::size_t, LaunchResult> results{};
  std::size_t running = 0;
  std::size_t most = 0;  ///< at the same time
  std::optional<std::string> failure{};
};

Report report_of(const std::vector<LaunchCommands>& launches, const LaunchControl& control) {
  Report report;
  const auto begun = [&](std::size_t number) {
    report.begun.push_back(number);
    report.most = std::max(report.most, ++report.running);
  };
  const auto ended = [&](std::size_t number, const LaunchResult& result) {
    report.results[number] = result;
    --report.running;
  };
  report.failure = run_launches(launches, control, {.begun = begun, .ended = ended});
  return report;
}

LaunchResult run(const std::vector<Words>& commands, double timeout_s = 10) {
  Report report = report_of({commands}, {.timeout = Seconds{timeout_s}});
  EXPECT_FALSE(report.failure);
  return report.results.at(0);
}

/// Lets this process open so many files more, while it lives.
class FewFiles {
 public:
  explicit FewFiles(std::size_t more) {
    getrlimit(RLIMIT_NOFILE, &before_);
    rlimit few = before_;
    const std::filesystem::directory_iterator files("/proc/self/fd");
    few.rlim_cur = static_cast<rlim_t>(std::distance(begin(files), end(files))) + more - 1;
    setrlimit(RLIMIT_NOFILE, &few);
  }
  FewFiles(const FewFiles&) = delete;
  FewFiles& operator=(const FewFiles&) = delete;
  ~FewFiles() { setrlimit(RLIMIT_NOFILE, &before_); }

 private:
  rlimit before_{};
};

std::vector<LaunchCommands> rows(std::size_t count) {
  std::vector<LaunchCommands> launches;
  for (std::size_t i = 0; i < count; ++i) {
    launches.push_back({shell(fmt::format("sleep 0.1; printf 'collective,x\\na,{}\\n'", i))});
  }
  return launches;
}

TEST(RunLaunch, JoinsTheCsvsOfItsCommandsIntoOne) {
  const LaunchResult result =
      run({shell(R"(printf '# a: 1\ncollective,y\n1,2\n# finished: now\n')"),
           shell(R"(printf '# a: 2\ncollective,y\n3,4\n# finished: later\n')")});
  EXPECT_EQ(result.csv, "# a: 1\ncollective,y\n1,2\n3,4\n# finished: later\n");
  EXPECT_EQ(result.failure, "");
  EXPECT_THAT(result.command, HasSubstr(" && /bin/sh -c "));
}

TEST(RunLaunch, LeavesWrongAndSkippedDataToTheRowsButNeedsRows) {
  EXPECT_EQ(run({shell("printf 'collective,x\\na,1\\n'; exit 1")}).failure, "");
  EXPECT_EQ(run({shell("printf 'collective,x\\na,1\\n'; exit 77")}).failure, "");
  EXPECT_EQ(run({shell("printf 'Welcome!\\n'; exit 0")}).failure,
            "no row was written; standard output begins with 'Welcome!'");
  EXPECT_EQ(run({shell("exit 0")}).failure, "no row was written");
  const std::string hydra =
      "====\\n=   BAD TERMINATION OF ONE OF YOUR APPLICATION PROCESSES\\n====\\n";
  EXPECT_THAT(run({shell("printf 'collective,x\\n" + hydra + "'; exit 1")}).failure,
              StartsWith("no row was written"));
}

TEST(RunLaunch, EndsACommandThatDoesNotAndKeepsWhatItWrote) {
  LaunchResult result;
  for (double timeout_s = 0.2; result.csv.empty(); timeout_s *= 2) {  // where the shell is slow
    result = run({shell("printf 'collective,x\\na,1\\n'; sleep 20")}, timeout_s);
  }
  EXPECT_THAT(result.failure, StartsWith("timeout after "));
  EXPECT_TRUE(result.timed_out);
  EXPECT_EQ(result.exit_code, kTimedOut);
  EXPECT_EQ(result.csv, "collective,x\na,1\n");
  EXPECT_LT(result.seconds, 15);
}

TEST(RunLaunch, SharesItsTimeoutAmongItsCommands) {
  const Words one = shell("printf 'collective,x\\na,1\\n'; sleep 0.3");
  EXPECT_TRUE(run({one, one}, 0.5).timed_out);  // they take 0.6 s at least
}

TEST(RunLaunch, TakesAJobThatWroteAllAndOnlyDoesNotEndForAGoodOne) {
  const Words stuck = shell(R"(printf 'collective,x\na,1\n# finished: now\n'; exec sleep 20)");
  const LaunchResult result =
      report_of({{stuck}}, {.timeout = Seconds{15}, .linger = Seconds{0.2}}).results.at(0);
  EXPECT_EQ(result.failure, "");
  EXPECT_FALSE(result.timed_out);
  EXPECT_LT(result.seconds, 10);
  EXPECT_THAT(result.log, HasSubstr("did not end within 0.2 s"));
}

TEST(RunLaunches, WaitOutAShortageWhileOthersRun) {
  constexpr std::size_t kForTwo = 1 + 2 + 5;  // the guard, one that runs, and one that starts
  const FewFiles few(kForTwo);
  const Report report = report_of(rows(6), {.timeout = Seconds{10}, .at_once = 6});
  EXPECT_FALSE(report.failure) << *report.failure;
  EXPECT_LT(report.most, 6U);  // one that has closed its ends may not be collected yet
  ASSERT_EQ(report.results.size(), 6U);
  for (const auto& [number, result] : report.results) EXPECT_EQ(result.failure, "");
}

TEST(RunLaunches, FailWhereAShortageLastsAndBlameNoLaunch) {
  const FewFiles few(1);
  const Report report =
      report_of(rows(2), {.timeout = Seconds{10}, .at_once = 2, .shortage_patience = Seconds{0.1}});
  ASSERT_TRUE(report.failure);
  EXPECT_THAT(*report.failure, HasSubstr("cannot start /bin/sh: "));
  EXPECT_THAT(report.begun, IsEmpty());
  EXPECT_THAT(report.results, IsEmpty());
}

TEST(RunLaunches, FailWithoutTheProgramEndTheOthersAndBlameNone) {
  const auto start = Clock::now();
  const Report report =
      report_of({{shell("sleep 20")}, {{"/no/such/program"}}, {shell("sleep 20")}},
                {.timeout = Seconds{20}, .at_once = 8});
  ASSERT_TRUE(report.failure);
  EXPECT_THAT(*report.failure, HasSubstr("cannot start /no/such/program: "));
  EXPECT_THAT(report.begun, ElementsAre(0));
  EXPECT_THAT(report.results, IsEmpty());
  EXPECT_LT(Seconds(Clock::now() - start).count(), 15);
}

TEST(Banner, IsTakenAwayFromTheCsv) {
  struct Case {
    std::string out;
    std::string csv;
    std::string banner;
  };
  const std::string hosts = "# hosts: n2\ncollective,x\na,1\n";
  const std::string csv = "# busbar: 1\ncollective,x\na,1\n";
  for (const auto& [out, rest, banner] :
       {Case{csv, csv, ""},
        Case{"\n Welcome to n2!\n# news\n" + csv + "# finished: now\nbye\n",
             csv + "# finished: now\n", "Welcome to n2!"},
        Case{"Welcome!\n" + hosts, hosts, "Welcome!"},
        Case{"Welcome!\ncollective,x\na,1\n# finished: no", "collective,x\na,1\n# finished: no",
             "Welcome!"},
        Case{"# hosts: n2\ncollective,x\n", "# hosts: n2\ncollective,x\n", ""},
        Case{"Welcome!\n", "Welcome!\n", ""}, Case{}}) {
    std::string left = out;
    EXPECT_EQ(take_banner(left), banner);
    EXPECT_EQ(left, rest);
  }
}

TEST(TellingLine, IsAProgramsReasonAndNotWhatStartsItsRanks) {
  EXPECT_EQ(telling_line("ssh: noise\nx_perf: launcher: ssh {host} {program} (--launcher)\n"
                         "x_perf: rank 1: no space\nx_perf: rank 2: no space\n"),
            "x_perf: rank 1: no space");
  EXPECT_EQ(telling_line("x_perf: launcher: ssh {host} {program} (--launcher)\nssh: refused\n"),
            "ssh: refused");
}

TEST(AppendCsv, DropsALineThatWasNotFinished) {
  std::string csv = "x,y\n1,2\n3,";
  append_csv(csv, "x,y\n5,6\n");
  EXPECT_EQ(csv, "x,y\n1,2\n5,6\n");
}

}  // namespace
}  // namespace busbar::judge
