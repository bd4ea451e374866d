// SPDX-License-Identifier: BSD-3-Clause
#include "base/host.hpp"

#include <regex>

#include "base/child_process.hpp"
#include "base/hostlist.hpp"

namespace busbar {
namespace {

/// Files below a /proc and a /sys of their own, by path.
using Files = std::vector<std::pair<const char*, const char*>>;

/// What a function gives on a host with 1 GiB available and these files.
template <class Function>
auto on_host(const Function& function, const Files& files) {
  const test::TemporaryFolder folder;
  folder.write("proc/meminfo",
               "MemTotal:        2097152 kB\nMemFree:          100 kB\n"
               "MemAvailable:    1048576 kB\n");
  for (const auto& [path, text] : files) folder.write(path, std::string(text) + '\n');
  return function(folder.path());
}
Bytes available(const Files& files) {
  return on_host([](const std::string& root) { return available_memory(root); }, files);
}
std::uint64_t processes(const Files& files) {
  return on_host([](const std::string& root) { return available_processes(root); }, files);
}
std::optional<double> quota(const Files& files) {
  return on_host([](const std::string& root) { return processor_quota(root); }, files);
}

TEST(AvailableProcesses, AreWhatTheNarrowestCgroupLeaves) {
  Files files{{"proc/self/cgroup", "0::/user/job"},
              {"sys/fs/cgroup/user/pids.max", "100"},
              {"sys/fs/cgroup/user/pids.current", "40"},
              {"sys/fs/cgroup/user/job/pids.max", "max"},
              {"sys/fs/cgroup/user/job/pids.current", "30"}};
  EXPECT_EQ(processes(files), 60U);
  files.insert(files.end(),
               {{"sys/fs/cgroup/pids/pids.max", "50"}, {"sys/fs/cgroup/pids/pids.current", "45"}});
  EXPECT_EQ(processes(files), 5U);
}

TEST(AvailableProcesses, AreWhatTheThreadsOfTheUserLeave) {
  const auto left = run_isolated([] {
    constexpr uid_t kNobody = 65534;
    constexpr rlimit kLimit{.rlim_cur = 50, .rlim_max = 50};
    setenv("TMPDIR", "/tmp", 1);  // where all may write
    const bool other = geteuid() != 0 || seteuid(kNobody) == 0;
    if (!other || setrlimit(RLIMIT_NPROC, &kLimit) != 0) return std::string("root");
    return std::to_string(processes(  // 7 has two threads; self is no further process
        {{"proc/7/task/7/stat", ""}, {"proc/7/task/8/stat", ""}, {"proc/self/task/7/stat", ""}}));
  });
  if (left == "root") GTEST_SKIP() << "no other user, or one with less processes";
  EXPECT_EQ(left, "48");
}

TEST(AvailableMemory, IsMemAvailableUnlessTheKernelDoesNotReportIt) {
  EXPECT_EQ(available({}), kGiB);
  EXPECT_EQ(available({{"proc/meminfo", "MemTotal: 2097152 kB"}}), 0U);
}

TEST(AvailableMemory, IsWhatACgroupOfVersionTwoLeaves) {
  const auto left = [](const char* max, const char* current) {
    return available({{"proc/self/cgroup", "0::/pod:cri:7"},
                      {"sys/fs/cgroup/pod:cri:7/memory.max", max},
                      {"sys/fs/cgroup/pod:cri:7/memory.current", current}});
  };
  EXPECT_EQ(left("536870912", "134217728"), 402653184U);
  EXPECT_EQ(left("max", "134217728"), kGiB);
  EXPECT_EQ(left("1000", "2000"), 0U);  // over its limit
  // The group that is mounted in a container, and the narrowest of two: 200 and 412 MiB.
  EXPECT_EQ(available({{"proc/self/cgroup", "0::/job"},
                       {"sys/fs/cgroup/memory.max", "734003200"},
                       {"sys/fs/cgroup/memory.current", "524288000"},
                       {"sys/fs/cgroup/job/memory.max", "536870912"},
                       {"sys/fs/cgroup/job/memory.current", "104857600"}}),
            209715200U);
}

TEST(AvailableMemory, IsWhatACgroupOfVersionOneLeavesUnlessItsLimitIsHuge) {
  EXPECT_EQ(available({{"proc/self/cgroup", "5:memory:/\n3:cpu,cpuacct:/"},
                       {"sys/fs/cgroup/memory/memory.limit_in_bytes", "268435456"},
                       {"sys/fs/cgroup/memory/memory.usage_in_bytes", "67108864"}}),
            201326592U);
  // Slurm's step on a machine with both versions.
  EXPECT_EQ(available({{"proc/self/cgroup", "4:memory:/slurm/job_7/step_0\n1:cpu:/slurm\n0::/"},
                       {"sys/fs/cgroup/memory/slurm/job_7/memory.limit_in_bytes", "268435456"},
                       {"sys/fs/cgroup/memory/slurm/job_7/memory.usage_in_bytes", "67108864"}}),
            201326592U);
  EXPECT_EQ(available({{"sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712"},
                       {"sys/fs/cgroup/memory/memory.usage_in_bytes", "67108864"}}),
            kGiB);
}

TEST(ProcessorQuota, IsTheShareOfThePeriodInTheNarrowestCgroup) {
  const auto of_job = [](const char* text) {
    return quota({{"proc/self/cgroup", "0::/job"}, {"sys/fs/cgroup/job/cpu.max", text}});
  };
  EXPECT_DOUBLE_EQ(of_job("150000 100000").value_or(0), 1.5);
  EXPECT_FALSE(of_job("max 100000").has_value());
  EXPECT_FALSE(quota({}).has_value());
  EXPECT_FALSE(quota({{"sys/fs/cgroup/cpu.max", "100000 0"}}).has_value());
  EXPECT_FALSE(quota({{"sys/fs/cgroup/cpu.max", "100000"}}).has_value());
  EXPECT_DOUBLE_EQ(quota({{"proc/self/cgroup", "0::/user/job"},
                          {"sys/fs/cgroup/user/cpu.max", "200000 100000"},
                          {"sys/fs/cgroup/user/job/cpu.max", "800000 100000"}})
                       .value_or(0),
                   2);
}

TEST(Host, IsKnownForReal) {
  EXPECT_GT(available_memory(), kMiB);
  EXPECT_FALSE(host_name().empty());
  EXPECT_TRUE(kernel_release().starts_with("Linux ")) << kernel_release();
}

TEST(Disturbances, CountTheFaultsOfTouchingNewMemory) {
  constexpr std::size_t kPages = 64;
  const Disturbances before = disturbances();
  std::vector<char> memory(kPages * 1024 * 1024, 1);
  const Disturbances after = disturbances();
  EXPECT_GT(memory.size(), 0U);
  EXPECT_GT(after.minor_faults, before.minor_faults);
  EXPECT_GE(after.involuntary_switches, before.involuntary_switches);
}

TEST(LocalTime, IsADateAndATimeWithABlankBetween) {
  EXPECT_TRUE(std::regex_match(local_time(), std::regex(R"(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)")))
      << local_time();
}

/// Sets a variable for the time of a test.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) { setenv(name, value, 1); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;
  ~Variable() { unsetenv(name_); }

 private:
  const char* name_;
};

TEST(LibraryEnvironment, ListsWhatChangesLibrariesInOrderAndNotWhatOpenMpisLauncherSetsForItself) {
  const Variable transport("UCX_TLS", "tcp,self");
  const Variable algorithm("NCCL_ALGO", "Ring");
  const Variable other("BUSBAR_NOT_A_LIBRARY", "1");
  const Variable chosen("OMPI_MCA_btl", "self,tcp");
  const Variable session("OMPI_MCA_orte_hnp_uri", "1677131776.0;tcp://192.0.2.2:37501");
  const Variable folder("OMPI_MCA_initial_wdir", "/home/x");
  const Variable job("OMPI_MCA_ess_base_jobid", "1677131777");
  const auto found = library_environment();
  EXPECT_THAT(found, testing::IsSupersetOf(
                         {"NCCL_ALGO=Ring", "UCX_TLS=tcp,self", "OMPI_MCA_btl=self,tcp"}));
  EXPECT_THAT(found,
              Not(Contains(testing::ContainsRegex("^(BUSBAR_|OMPI_MCA_(orte|initial|ess))"))));
  EXPECT_TRUE(std::is_sorted(found.begin(), found.end()));
}

struct ListCase {
  std::string list;
  std::string hosts;
};

class ExpandHostlist : public ::testing::TestWithParam<ListCase> {};

TEST_P(ExpandHostlist, WritesEveryHostOut) {
  EXPECT_EQ(join(expand_hostlist("x", GetParam().list), " "), GetParam().hosts);
}

INSTANTIATE_TEST_SUITE_P(Lists, ExpandHostlist,
                         ::testing::Values(ListCase{"h1", "h1"}, ListCase{"h1,h2", "h1 h2"},
                                           ListCase{"n[001-003,7],m", "n001 n002 n003 n7 m"},
                                           ListCase{"r[1-2]n[8-9]x", "r1n8x r1n9x r2n8x r2n9x"},
                                           ListCase{"n[9-11].a.b", "n9.a.b n10.a.b n11.a.b"},
                                           ListCase{"", ""}));

TEST(ExpandHostlistErrors, NamesWhatIsWrong) {
  for (const char* list :
       {"n[1-", "n1]", "n[3-1]", "n[a]", "n[0-9999999]", "n[1-1000][1-9999]",
        "n[18446744073709551615]", "n[0-999999,5]", "n[0000000000000000000001]"}) {
    EXPECT_THROW((void)expand_hostlist("file:3", list), Error) << list;
  }
}

class Hostlist : public ::testing::TestWithParam<ListCase> {};

TEST_P(Hostlist, IsShortAndMeansTheSameHosts) {
  const std::vector<std::string> hosts = split_words(GetParam().hosts);
  EXPECT_EQ(hostlist(hosts), GetParam().list);
  auto expanded = expand_hostlist("x", hostlist(hosts));
  std::ranges::sort(expanded);
  auto sorted = hosts;
  std::ranges::sort(sorted);
  EXPECT_EQ(expanded, sorted);
}

INSTANTIATE_TEST_SUITE_P(Lists, Hostlist,
                         ::testing::Values(ListCase{"", ""}, ListCase{"h1", "h1"},
                                           ListCase{"h[1-3,5]", "h1 h2 h3 h5"},
                                           ListCase{"h[9-11]", "h10 h9 h11"},
                                           ListCase{"n[008-011]", "n008 n009 n010 n011"},
                                           ListCase{"localhost,h[1-2]", "h1 localhost h2"},
                                           ListCase{"r1n[1-2].x,r2n1.x", "r1n1.x r1n2.x r2n1.x"},
                                           ListCase{"n[98-99],n[098,100]", "n98 n99 n100 n098"}));

}  // namespace
}  // namespace busbar
