// SPDX-License-Identifier: BSD-3-Clause
#include "topo/locality.hpp"

#include <sched.h>

#include "base/text.hpp"
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

TEST(Machine, KnowsTheProcessorsThatThisProcessMayUse) {
  const AffinityGuard guard;
  const Locality locality = Machine().locality();
  EXPECT_EQ(locality.processors.size(), guard.processors());
  EXPECT_TRUE(std::is_sorted(locality.processors.begin(), locality.processors.end()));
}

TEST(Machine, NamesItsProcessor) { EXPECT_FALSE(Machine().processor_model().empty()); }

TEST(Machine, SpreadsRanksOverDifferentCoresWhileTheyFitAndInTurnElse) {
  const AffinityGuard guard;
  if (guard.processors() < 2) GTEST_SKIP() << "one processor: nothing to bind";
  const Machine machine;
  const auto core_of = [&](int index, int count) {
    EXPECT_TRUE(machine.bind_to(Spot::CpuCore, index, count));
    const Locality locality = machine.locality();
    EXPECT_LE(locality.processors.size(), guard.processors());
    EXPECT_FALSE(locality.processors.empty());
    EXPECT_TRUE(locality.core.has_value());
    return locality.core;
  };
  for (const int ranks : {2, 100000}) {
    const auto first = core_of(0, ranks);
    const auto second = core_of(1, ranks);
    EXPECT_NE(first, second) << ranks;
  }
}

TEST(Machine, BindsToANumaNode) {
  const AffinityGuard guard;
  const Machine machine;
  ASSERT_TRUE(machine.bind_to(Spot::NumaNode, 0, 1));
  EXPECT_TRUE(machine.locality().numa.has_value());
}

/// The processors of each of `count` ranks near the GPU `gpu` of a recorded server.
std::vector<std::string> shares(const sample::GpuServer& server, int gpu, int count, int least) {
  const sample::RecordedMachine recorded(server.hwloc_xml());
  const std::vector<Core> cores = Machine().cores_near(sample::GpuServer::bus(gpu));
  std::vector<std::string> texts;
  for (int index = 0; index < count; ++index) {
    texts.push_back(format_ranges(share_of(cores, {index, count, least})));
  }
  return texts;
}

using Texts = std::vector<std::string>;

TEST(CoresNear, AreSharedAmongTheGpusOfANodeWhereAPartIsLargeEnough) {
  const sample::GpuServer two_sockets{.numa_nodes = 2, .cores = 48, .gpus = 4};
  EXPECT_EQ(shares(two_sockets, 0, 4, 2), (Texts{"0-11", "12-23", "24-35", "36-47"}));
  EXPECT_EQ(shares(two_sockets, 7, 4, 4), (Texts{"48-59", "60-71", "72-83", "84-95"}));
  const sample::GpuServer nps4{.numa_nodes = 8, .cores = 16, .gpus = 1};
  EXPECT_EQ(shares(nps4, 3, 1, 2), Texts{"48-63"});
  const sample::GpuServer small{.numa_nodes = 2, .cores = 6, .gpus = 4};
  EXPECT_EQ(shares(small, 0, 4, 2), Texts(4, "0-5"));
  EXPECT_EQ(shares(small, 0, 2, 2), (Texts{"0-2", "3-5"}));
  EXPECT_EQ(shares(small, 0, 2, 4), Texts(2, "0-5"));
  EXPECT_EQ(shares(small, 4, 9, 2), Texts(9, "6-11"));  // fewer cores than ranks
}

TEST(CoresNear, HaveAllTheirProcessors) {
  EXPECT_EQ(share_of({{0, 4}, {1, 5}, {2, 6}, {3, 7}}, {1, 2, 2}), (std::vector<int>{2, 3, 6, 7}));
}

TEST(Machine, BindsToTheProcessorsNearADevice) {
  const AffinityGuard guard;
  if (guard.processors() < 2) GTEST_SKIP() << "one processor: nothing to bind";
  const sample::RecordedMachine recorded(sample::hwloc_xml(), true);
  const Machine machine;
  EXPECT_EQ(machine.cores_near("00000000:85:00.0"), std::vector<Core>{{1}});
  ASSERT_TRUE(machine.bind_to_processors({1}));
  EXPECT_EQ(machine.locality().processors, std::vector<int>{1});
  EXPECT_EQ(machine.cores_near("07:00.0"), std::vector<Core>{{0}});
}

TEST(Machine, KnowsNoCoresNearWhatItDoesNotKnow) {
  const AffinityGuard guard;
  const sample::RecordedMachine recorded(sample::hwloc_xml(), true);
  const Machine machine;
  EXPECT_TRUE(machine.cores_near("0000:ee:00.0").empty());
  EXPECT_TRUE(machine.cores_near("GPU0").empty());
  EXPECT_TRUE(machine.cores_near("").empty());
  EXPECT_FALSE(machine.bind_to_processors({}));
}

}  // namespace
}  // namespace busbar::topo
