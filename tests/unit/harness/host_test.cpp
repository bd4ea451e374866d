// SPDX-License-Identifier: BSD-3-Clause
#include "harness/host.hpp"

#include <algorithm>
#include <cstdlib>
#include <regex>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/support/temporary_folder.hpp"

namespace busbar {
namespace {

/// A /proc and a /sys of its own, with 1 GiB available.
class FakeHost : public testing::Test {
 protected:
  FakeHost() {
    write("proc/meminfo",
          "MemTotal:        2097152 kB\nMemFree:          100 kB\nMemAvailable:    1048576 kB\n");
  }

  void write(const std::string& file, const std::string& text) const { folder_.write(file, text); }
  [[nodiscard]] Bytes available() const { return available_memory(folder_.path()); }
  [[nodiscard]] std::uint64_t processes() const { return available_processes(folder_.path()); }
  [[nodiscard]] std::optional<double> quota() const { return processor_quota(folder_.path()); }

 private:
  test::TemporaryFolder folder_;
};

using AvailableMemory = FakeHost;
using ProcessorQuota = FakeHost;
using AvailableProcesses = FakeHost;

TEST_F(AvailableProcesses, AreWhatTheNarrowestCgroupLeaves) {
  write("proc/self/cgroup", "0::/user/job\n");
  write("sys/fs/cgroup/user/pids.max", "100\n");
  write("sys/fs/cgroup/user/pids.current", "40\n");
  write("sys/fs/cgroup/user/job/pids.max", "max\n");
  write("sys/fs/cgroup/user/job/pids.current", "30\n");
  EXPECT_EQ(processes(), 60U);
  write("sys/fs/cgroup/pids/pids.max", "50\n");
  write("sys/fs/cgroup/pids/pids.current", "45\n");
  EXPECT_EQ(processes(), 5U);
}

TEST_F(AvailableMemory, IsMemAvailableWithoutACgroup) { EXPECT_EQ(available(), kGiB); }

TEST_F(AvailableMemory, IsNothingWhereTheKernelDoesNotTell) {
  write("proc/meminfo", "MemTotal: 2097152 kB\n");
  EXPECT_EQ(available(), 0U);
}

TEST_F(AvailableMemory, IsWhatACgroupOfVersionTwoLeaves) {
  write("proc/self/cgroup", "0::/job\n");
  write("sys/fs/cgroup/job/memory.max", "536870912\n");
  write("sys/fs/cgroup/job/memory.current", "134217728\n");
  EXPECT_EQ(available(), 402653184U);
}

TEST_F(AvailableMemory, IsWhatTheNarrowestOfNestedCgroupsLeaves) {
  write("proc/self/cgroup", "0::/user/job/step\n");
  write("sys/fs/cgroup/user/memory.max", "734003200\n");
  write("sys/fs/cgroup/user/memory.current", "524288000\n");
  write("sys/fs/cgroup/user/job/memory.max", "536870912\n");
  write("sys/fs/cgroup/user/job/memory.current", "104857600\n");
  write("sys/fs/cgroup/user/job/step/memory.max", "max\n");
  write("sys/fs/cgroup/user/job/step/memory.current", "104857600\n");
  EXPECT_EQ(available(), 209715200U);  // 200 MiB, in the outermost
}

TEST_F(AvailableMemory, IsWhatTheGroupThatIsMountedInAContainerLeaves) {
  write("proc/self/cgroup", "0::/\n");
  write("sys/fs/cgroup/memory.max", "536870912\n");
  write("sys/fs/cgroup/memory.current", "0\n");
  EXPECT_EQ(available(), 536870912U);
}

TEST_F(AvailableMemory, IsNotLimitedByMax) {
  write("proc/self/cgroup", "0::/job\n");
  write("sys/fs/cgroup/job/memory.max", "max\n");
  write("sys/fs/cgroup/job/memory.current", "134217728\n");
  EXPECT_EQ(available(), kGiB);
}

TEST_F(AvailableMemory, IsNothingWhereACgroupIsOverItsLimit) {
  write("proc/self/cgroup", "0::/job\n");
  write("sys/fs/cgroup/job/memory.max", "1000\n");
  write("sys/fs/cgroup/job/memory.current", "2000\n");
  EXPECT_EQ(available(), 0U);
}

TEST_F(AvailableMemory, IsWhatACgroupOfVersionOneLeaves) {
  write("proc/self/cgroup", "5:memory:/\n3:cpu,cpuacct:/\n");
  write("sys/fs/cgroup/memory/memory.limit_in_bytes", "268435456\n");
  write("sys/fs/cgroup/memory/memory.usage_in_bytes", "67108864\n");
  EXPECT_EQ(available(), 201326592U);
}

TEST_F(AvailableMemory, IsNotLimitedByVersionOnesHugeNumber) {
  write("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  write("sys/fs/cgroup/memory/memory.usage_in_bytes", "67108864\n");
  EXPECT_EQ(available(), kGiB);
}

TEST_F(ProcessorQuota, IsNoneWithoutACgroup) { EXPECT_FALSE(quota().has_value()); }

TEST_F(ProcessorQuota, IsTheShareOfThePeriod) {
  write("proc/self/cgroup", "0::/job\n");
  write("sys/fs/cgroup/job/cpu.max", "150000 100000\n");
  EXPECT_DOUBLE_EQ(quota().value_or(0), 1.5);
}

TEST_F(ProcessorQuota, IsNoneWhereItIsMax) {
  write("proc/self/cgroup", "0::/job\n");
  write("sys/fs/cgroup/job/cpu.max", "max 100000\n");
  EXPECT_FALSE(quota().has_value());
}

TEST_F(ProcessorQuota, IsTheNarrowestOfNestedCgroups) {
  write("proc/self/cgroup", "0::/user/job\n");
  write("sys/fs/cgroup/user/cpu.max", "200000 100000\n");
  write("sys/fs/cgroup/user/job/cpu.max", "800000 100000\n");
  EXPECT_DOUBLE_EQ(quota().value_or(0), 2);
}

TEST_F(ProcessorQuota, IsNoneWhereTheFileMakesNoSense) {
  write("sys/fs/cgroup/cpu.max", "100000 0\n");
  EXPECT_FALSE(quota().has_value());
  write("sys/fs/cgroup/cpu.max", "100000\n");
  EXPECT_FALSE(quota().has_value());
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

TEST(LocalTime, IsADateAndATimeOfTwoWords) {
  EXPECT_TRUE(std::regex_match(local_time(), std::regex(R"(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)")))
      << local_time();
}

using testing::Contains;
using testing::Not;
using testing::StartsWith;

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

TEST(LibraryEnvironment, ListsWhatChangesLibrariesInOrder) {
  const Variable transport("UCX_TLS", "tcp,self");
  const Variable algorithm("NCCL_ALGO", "Ring");
  const Variable other("BUSBAR_NOT_A_LIBRARY", "1");
  const auto found = library_environment();
  EXPECT_THAT(found, Contains("NCCL_ALGO=Ring"));
  EXPECT_THAT(found, Contains("UCX_TLS=tcp,self"));
  EXPECT_THAT(found, Not(Contains(StartsWith("BUSBAR_"))));
  EXPECT_TRUE(std::is_sorted(found.begin(), found.end()));
}

TEST(LibraryEnvironment, LeavesOutWhatOpenMpisLauncherSetsForItself) {
  const Variable chosen("OMPI_MCA_btl", "self,tcp");
  const Variable session("OMPI_MCA_orte_hnp_uri", "1677131776.0;tcp://192.0.2.2:37501");
  const Variable folder("OMPI_MCA_initial_wdir", "/home/x");
  const Variable job("OMPI_MCA_ess_base_jobid", "1677131777");
  const auto found = library_environment();
  EXPECT_THAT(found, Contains("OMPI_MCA_btl=self,tcp"));
  EXPECT_THAT(found, Not(Contains(StartsWith("OMPI_MCA_orte"))));
  EXPECT_THAT(found, Not(Contains(StartsWith("OMPI_MCA_initial"))));
  EXPECT_THAT(found, Not(Contains(StartsWith("OMPI_MCA_ess"))));
}

}  // namespace
}  // namespace busbar
