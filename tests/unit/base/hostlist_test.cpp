// SPDX-License-Identifier: BSD-3-Clause
#include "base/hostlist.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "base/text.hpp"

namespace busbar {
namespace {

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
