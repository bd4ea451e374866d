// SPDX-License-Identifier: BSD-3-Clause
#include "harness/memory_kernels.hpp"

#include <cstring>
#include <vector>

#include <gtest/gtest.h>

namespace busbar {
namespace {

constexpr std::size_t kCount = (2 * kCopyBlock + 4 * 1001) / sizeof(float);  // no whole blocks

std::vector<float> rising(float first) {
  std::vector<float> values(kCount);
  for (std::size_t i = 0; i < kCount; ++i) values[i] = first + static_cast<float>(i);
  return values;
}

/// What becomes of 1, 2, 3, ... by 10, 11, 12, ...
std::vector<float> result_of(MemoryKernel kernel) {
  std::vector<float> to = rising(1);
  const std::vector<float> from = rising(10);
  run_kernel(kernel, std::as_writable_bytes(std::span(to)), std::as_bytes(std::span(from)));
  return to;
}

TEST(MemoryKernels, CopyEveryByte) {
  EXPECT_EQ(result_of(MemoryKernel::CopyWhole), rising(10));
  EXPECT_EQ(result_of(MemoryKernel::CopyBlocks), rising(10));
}

TEST(MemoryKernels, AddEveryElement) {
  const std::vector<float> sums = result_of(MemoryKernel::Add);
  EXPECT_EQ(sums.front(), 11.0F);
  EXPECT_EQ(sums.back(), 11.0F + 2.0F * static_cast<float>(kCount - 1));
  EXPECT_EQ(sums[kCount - 2], 11.0F + 2.0F * static_cast<float>(kCount - 2));
}

}  // namespace
}  // namespace busbar
