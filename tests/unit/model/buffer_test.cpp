// SPDX-License-Identifier: BSD-3-Clause
#include "model/buffer.hpp"

#include <array>

#include <gtest/gtest.h>

namespace busbar {
namespace {

struct Releases {
  int count = 0;
  Bytes size = 0;

  [[nodiscard]] Buffer::Release release() {
    return [this](std::byte*, Bytes bytes) {
      ++count;
      size = bytes;
    };
  }
};

TEST(Buffer, GoesBackOnceWhenItGoes) {
  std::array<std::byte, 8> memory{};
  Releases releases;
  { const Buffer buffer(memory.data(), memory.size(), releases.release()); }
  EXPECT_EQ(releases.count, 1);
  EXPECT_EQ(releases.size, 8U);
}

TEST(Buffer, MovesWithoutGoingBack) {
  std::array<std::byte, 8> memory{};
  Releases releases;
  {
    Buffer first(memory.data(), memory.size(), releases.release());
    const Buffer second(std::move(first));
    EXPECT_EQ(releases.count, 0);
    EXPECT_EQ(second.data(), memory.data());
    EXPECT_EQ(second.size(), 8U);
  }
  EXPECT_EQ(releases.count, 1);
}

TEST(Buffer, GoesBackWhenAnotherTakesItsPlace) {
  std::array<std::byte, 8> old_memory{};
  std::array<std::byte, 4> new_memory{};
  Releases old_releases;
  Releases new_releases;
  Buffer buffer(old_memory.data(), old_memory.size(), old_releases.release());
  buffer = Buffer(new_memory.data(), new_memory.size(), new_releases.release());
  EXPECT_EQ(old_releases.count, 1);
  EXPECT_EQ(new_releases.count, 0);
  EXPECT_EQ(buffer.data(), new_memory.data());
}

TEST(Buffer, IsNothingUnlessItWasGivenMemory) {
  const Buffer buffer;
  EXPECT_EQ(buffer.data(), nullptr);
  EXPECT_EQ(buffer.size(), 0U);
}

}  // namespace
}  // namespace busbar
