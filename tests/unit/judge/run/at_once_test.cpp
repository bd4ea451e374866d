// SPDX-License-Identifier: BSD-3-Clause
#include "judge/run/at_once.hpp"

#include <sys/resource.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace busbar::judge {
namespace {

using testing::HasSubstr;

LaunchLimits ample() {
  return {.open_files = 1U << 20U,
          .used_files = 8,
          .processes = 1U << 20U,
          .memory = 1024 * kGiB,
          .processors = 1024};
}
AtOnce by_default(const LaunchLimits& limits) { return choose_at_once(limits, {}, ""); }

TEST(ChooseAtOnce, IsWhatDescriptorsAllow) {
  LaunchLimits limits = ample();
  limits.open_files = 512;
  const AtOnce at_once = by_default(limits);
  EXPECT_EQ(at_once.launches, (512U - 8 - 32) / 2);
  EXPECT_THAT(at_once.reason, HasSubstr("512 open files"));
}

TEST(ChooseAtOnce, IsWhatProcessesOrMemoryOrProcessorsAllow) {
  LaunchLimits limits = ample();
  limits.processors = 2;
  EXPECT_EQ(by_default(limits).launches, 512U);
  EXPECT_THAT(by_default(limits).reason, HasSubstr("2 processors"));
  limits.memory = kGiB;
  EXPECT_EQ(by_default(limits).launches, 32U);
  EXPECT_THAT(by_default(limits).reason, HasSubstr("1 GiB"));
  limits.processes = 100;
  EXPECT_EQ(by_default(limits).launches, 12U);
  EXPECT_THAT(by_default(limits).reason, HasSubstr("100 more processes"));
}

TEST(ChooseAtOnce, IsNeverNone) { EXPECT_EQ(by_default({}).launches, 1U); }

TEST(ChooseAtOnce, IsWhatIsAskedForUnlessDescriptorsOrProcessesDoNotSuffice) {
  LaunchLimits limits = ample();
  limits.memory = kGiB;
  EXPECT_EQ(choose_at_once(limits, 500, "--at-once").launches, 500U);
  EXPECT_EQ(choose_at_once(limits, 500, "--at-once").reason, "--at-once");
  limits.open_files = 512;
  EXPECT_EQ(choose_at_once(limits, 500, "--at-once").launches, 236U);
  EXPECT_THAT(choose_at_once(limits, 500, "--at-once").reason, HasSubstr("512 open files"));
  limits.processes = 80;
  EXPECT_EQ(choose_at_once(limits, 500, "--at-once").launches, 10U);
}

TEST(AllowLaunches, RaisesTheSoftLimitAsFarAsNeededAndNoFurtherThanTheHardOne) {
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  const LaunchLimits limits = probe_launch_limits();
  EXPECT_EQ(limits.open_files, before.rlim_max);
  EXPECT_GT(limits.memory, 0U);
  EXPECT_GT(limits.processors, 0U);
  rlimit low = before;
  low.rlim_cur = 64;
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &low), 0);
  rlimit after{};
  allow_launches(limits, 100);
  getrlimit(RLIMIT_NOFILE, &after);
  EXPECT_EQ(after.rlim_cur, limits.used_files + 32 + 200);
  allow_launches(limits, std::size_t{1} << 40U);
  getrlimit(RLIMIT_NOFILE, &after);
  EXPECT_EQ(after.rlim_cur, before.rlim_max);
  setrlimit(RLIMIT_NOFILE, &before);
}

}  // namespace
}  // namespace busbar::judge
