// SPDX-License-Identifier: BSD-3-Clause
#include "model/host_levels.hpp"

#include <gtest/gtest.h>

#include "tests/unit/support/failure.hpp"

namespace busbar {
namespace {

TEST(KnownHost, MatchesWithAndWithoutADomain) {
  const std::vector<std::string> known{"h1", "h2.example.org", "h3.a.org"};
  EXPECT_EQ(known_host("h1.example.org", known), "h1");
  EXPECT_EQ(known_host("h2", known), "h2.example.org");
  EXPECT_EQ(known_host("h3.b.org", known), "h3.b.org");
  EXPECT_EQ(known_host("h4", known), "h4");
}

TEST(HostLevels, HasThePathsOfHostsByTheirNames) {
  const HostLevels levels("# a fleet\nhost, pod, leaf\nh1,p0,l0\nh2.example.org,p1,l0\n\n", "x");
  EXPECT_EQ(levels.names(), (std::vector<std::string>{"pod", "leaf"}));
  EXPECT_EQ(levels.paths_of({"h2", "h1.example.org"}),
            (std::vector<NodePath>{{"p1", "l0"}, {"p0", "l0"}}));
  EXPECT_TRUE(test::failure_of([&] {
                (void)levels.paths_of({"h1", "h7"});
              }).says("x: it lacks host h7"));
}

struct BadLevels {
  const char* text;
  const char* message;
};

class RefusedLevels : public testing::TestWithParam<BadLevels> {};

TEST_P(RefusedLevels, AreNamedWithTheirLine) {
  const auto failure =
      test::failure_of([] { const HostLevels levels(GetParam().text, "levels.csv"); });
  EXPECT_EQ(failure.status, Status::Usage);
  EXPECT_TRUE(failure.message.starts_with(GetParam().message)) << failure.message;
}

INSTANTIATE_TEST_SUITE_P(
    Files, RefusedLevels,
    testing::Values(BadLevels{"", "levels.csv: it names no host"},
                    BadLevels{"host,pod\n", "levels.csv: it names no host"},
                    BadLevels{"node,pod\nh1,p0\n", "levels.csv:1: expected a header"},
                    BadLevels{"host\nh1\n", "levels.csv:1: expected a header"},
                    BadLevels{"host,pod\nh1\n", "levels.csv:2: expected a host and its pod"},
                    BadLevels{"host,pod,leaf\nh1,p0,\n", "levels.csv:2: expected a host"},
                    BadLevels{"host,pod\nh1,p0\nh1,p1\n", "levels.csv:3: h1 again"}));

}  // namespace
}  // namespace busbar
