// SPDX-License-Identifier: BSD-3-Clause
// An object that the linker drops would take its collective along in silence: the makefile tells
// which files its wildcard found.
#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/text.hpp"
#include "model/collective.hpp"

#ifndef BUSBAR_COLLECTIVES
#define BUSBAR_COLLECTIVES ""  // the linter reads this file without the makefile's list
#endif

namespace busbar {
namespace {

std::vector<std::string> files() {
  std::vector<std::string> names = split(BUSBAR_COLLECTIVES, ' ');
  std::sort(names.begin(), names.end());
  return names;
}

TEST(RegisteredCollectives, AreTheFilesInSrcCollectives) {
  std::vector<std::string> registered;
  for (const Collective* collective : registered_collectives())
    registered.emplace_back(collective->name);
  EXPECT_EQ(registered, files());
}

TEST(RegisteredCollectives, AreWholeDescriptions) {
  for (const Collective* collective : registered_collectives()) {
    EXPECT_FALSE(collective->nccl_name.empty()) << collective->name;
    EXPECT_FALSE(collective->title.empty()) << collective->name;
    EXPECT_NE(collective->footprint, nullptr) << collective->name;
    EXPECT_NE(collective->bus_factor, nullptr) << collective->name;
    EXPECT_NE(collective->in_place, nullptr) << collective->name;
    EXPECT_NE(collective->expected, nullptr) << collective->name;
  }
}

/// Elements of the receive buffer that a correct result has, without a gap from the first one on.
std::uint64_t covered(const Collective& collective, std::uint64_t count, const Position& position) {
  std::uint64_t next = 0;
  for (const Piece& piece : collective.expected(count, position)) {
    EXPECT_EQ(piece.first, next) << collective.name;
    next += piece.count;
  }
  return next;
}

TEST(RegisteredCollectives, AccountForEveryElementOfTheirReceiveBuffer) {
  constexpr std::uint64_t kCount = 48;
  for (const Collective* collective : registered_collectives()) {
    for (const int ranks : {1, 2, 3, 16}) {
      const Footprint footprint =
          collective->footprint(kCount * 4 * static_cast<Bytes>(ranks), 4, ranks);
      for (int rank = 0; rank < ranks; ++rank) {
        const Position position{.rank = rank, .ranks = ranks, .root = ranks - 1};
        const std::uint64_t elements = covered(*collective, footprint.count, position);
        const bool not_the_root = collective->rooted && rank != position.root;
        if (elements == 0 && not_the_root) continue;  // the result is at the root only
        EXPECT_EQ(elements * 4, footprint.recv)
            << collective->name << " rank " << rank << " of " << ranks;
      }
    }
  }
}

TEST(RegisteredCollectives, HaveNoBusFactorForOneRank) {
  for (const Collective* collective : registered_collectives()) {
    EXPECT_EQ(collective->bus_factor(1), 0) << collective->name;
  }
}

}  // namespace
}  // namespace busbar
