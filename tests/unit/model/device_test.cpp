// SPDX-License-Identifier: BSD-3-Clause
#include "model/device.hpp"

#include <algorithm>

#include <gtest/gtest.h>

namespace busbar {
namespace {

Device named(std::string_view name) {
  Device device;
  std::copy(name.begin(), name.end(), device.name.begin());
  return device;
}

TEST(IsFake, KnowsTheDevicesOfTheFakeMachine) {
  EXPECT_TRUE(is_fake(named("Fake H100")));
  EXPECT_FALSE(is_fake(named("NVIDIA H200")));
  EXPECT_FALSE(is_fake(named("NVIDIA Fake")));
  EXPECT_FALSE(is_fake(Device{}));
}

}  // namespace
}  // namespace busbar
