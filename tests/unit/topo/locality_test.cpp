// SPDX-License-Identifier: BSD-3-Clause
#include "topo/locality.hpp"

#include <algorithm>
#include <cstdlib>
#include <sched.h>

#include <gtest/gtest.h>

#include "tests/unit/support/temporary_folder.hpp"
#include "tests/unit/topo/probes/sample_hwloc.hpp"

namespace busbar::topo {
namespace {

/// Gives this process back the processors that it had.
class AffinityGuard {
 public:
  AffinityGuard() { sched_getaffinity(0, sizeof set_, &set_); }
  AffinityGuard(const AffinityGuard&) = delete;
  AffinityGuard& operator=(const AffinityGuard&) = delete;
  ~AffinityGuard() { sched_setaffinity(0, sizeof set_, &set_); }

  [[nodiscard]] std::size_t processors() const {
    return static_cast<std::size_t>(CPU_COUNT(&set_));
  }

 private:
  cpu_set_t set_{};
};

TEST(FormatRanges, JoinsNeighbours) {
  EXPECT_EQ(format_ranges({0, 1, 2, 3, 8}), "0-3,8");
  EXPECT_EQ(format_ranges({5}), "5");
  EXPECT_EQ(format_ranges({0, 2, 4}), "0,2,4");
  EXPECT_EQ(format_ranges({0, 1}), "0-1");
  EXPECT_EQ(format_ranges({1, 2, 10, 11, 12, 20}), "1-2,10-12,20");
  EXPECT_EQ(format_ranges({}), "");
}

TEST(Machine, TellsTheProcessorsThatThisProcessMayUse) {
  const AffinityGuard guard;
  const Locality locality = Machine().locality();
  EXPECT_EQ(locality.processors.size(), guard.processors());
  EXPECT_TRUE(std::is_sorted(locality.processors.begin(), locality.processors.end()));
}

TEST(Machine, NamesItsProcessor) { EXPECT_FALSE(Machine().processor_model().empty()); }

TEST(Machine, BindsToOneCoreAndSeesItAfterwards) {
  const AffinityGuard guard;
  if (guard.processors() < 2) GTEST_SKIP() << "one processor: nothing to bind";
  const Machine machine;
  ASSERT_TRUE(machine.bind_to_core(0, 1));
  const Locality locality = machine.locality();
  EXPECT_TRUE(locality.core.has_value());
  EXPECT_LE(locality.processors.size(), guard.processors());
  EXPECT_FALSE(locality.processors.empty());
}

TEST(Machine, SpreadsRanksOverDifferentCoresWhileTheyFit) {
  const AffinityGuard guard;
  const Machine machine;
  const auto core_of = [&](int index, int count) {
    EXPECT_TRUE(machine.bind_to_core(index, count));
    return machine.locality().core;
  };
  const auto first = core_of(0, 2);
  const auto second = core_of(1, 2);
  if (guard.processors() < 2 || !first || !second) GTEST_SKIP() << "fewer than two cores";
  EXPECT_NE(first, second);
}

TEST(Machine, TakesCoresInTurnWhereThereAreMoreRanks) {
  const AffinityGuard guard;
  const Machine machine;
  constexpr int kMany = 100000;
  ASSERT_TRUE(machine.bind_to_core(0, kMany));
  const auto first = machine.locality().core;
  ASSERT_TRUE(machine.bind_to_core(1, kMany));
  const auto second = machine.locality().core;
  if (guard.processors() < 2) GTEST_SKIP() << "fewer than two cores";
  EXPECT_NE(first, second);
}

TEST(Machine, BindsToANumaNode) {
  const AffinityGuard guard;
  const Machine machine;
  ASSERT_TRUE(machine.bind_to_numa(0, 1));
  EXPECT_TRUE(machine.locality().numa.has_value());
}

/// Lets hwloc take the sample (processor 0 near bus 07, processor 1 near bus 85) for this machine.
class SampleMachine {
 public:
  SampleMachine() {
    folder_.write("sample.xml", sample::hwloc_xml());
    setenv("HWLOC_XMLFILE", folder_.path("sample.xml").c_str(), 1);
    setenv("HWLOC_THISSYSTEM", "1", 1);
  }
  SampleMachine(const SampleMachine&) = delete;
  SampleMachine& operator=(const SampleMachine&) = delete;
  ~SampleMachine() {
    unsetenv("HWLOC_XMLFILE");
    unsetenv("HWLOC_THISSYSTEM");
  }

 private:
  test::TemporaryFolder folder_{};
};

TEST(Machine, BindsNearADevice) {
  const AffinityGuard guard;
  if (guard.processors() < 2) GTEST_SKIP() << "one processor: nothing to bind";
  const SampleMachine sample;
  const Machine machine;
  ASSERT_TRUE(machine.bind_near("00000000:85:00.0", 0, 1));
  EXPECT_EQ(machine.locality().processors, std::vector<int>{1});
  ASSERT_TRUE(machine.bind_near("07:00.0", 0, 1));
  EXPECT_EQ(machine.locality().processors, std::vector<int>{0});
}

TEST(Machine, BindsTheRanksBeyondTheCoresNearADeviceInTurn) {
  const AffinityGuard guard;
  if (guard.processors() < 2) GTEST_SKIP() << "one processor: nothing to bind";
  const SampleMachine sample;
  const Machine machine;
  ASSERT_TRUE(machine.bind_near("0000:85:00.0", 2, 3));
  EXPECT_EQ(machine.locality().processors, std::vector<int>{1});
}

TEST(Machine, BindsNearNothingThatItDoesNotKnow) {
  const AffinityGuard guard;
  const SampleMachine sample;
  const Machine machine;
  const auto before = machine.locality().processors;
  EXPECT_FALSE(machine.bind_near("0000:ee:00.0", 0, 1));
  EXPECT_FALSE(machine.bind_near("GPU0", 0, 1));
  EXPECT_FALSE(machine.bind_near("", 0, 1));
  EXPECT_EQ(machine.locality().processors, before);  // cppcheck-suppress knownConditionTrueFalse
}

}  // namespace
}  // namespace busbar::topo
