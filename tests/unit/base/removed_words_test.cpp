// SPDX-License-Identifier: BSD-3-Clause
#include "base/removed_words.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace busbar {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

TEST(RemovedWords, NamesWhatDoesTheWorkNow) {
  EXPECT_THAT(removed_word("busbar", "published"),
              HasSubstr("busbar published was removed: results/reference"));
  EXPECT_THAT(removed_word("", "--preset"), StartsWith("--preset was removed: give "));
}

TEST(RemovedWords, HasNothingToSayOfWordsThatNeverWere) {
  EXPECT_THAT(removed_word("busbar", "nosuch"), IsEmpty());
  EXPECT_THAT(removed_word("busbar topo", "published"), IsEmpty());
}

}  // namespace
}  // namespace busbar
