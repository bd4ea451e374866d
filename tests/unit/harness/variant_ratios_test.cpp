// SPDX-License-Identifier: BSD-3-Clause
#include "harness/variant_ratios.hpp"

#include <gtest/gtest.h>

namespace busbar {
namespace {

using Times = std::vector<double>;
using Lines = std::vector<std::string>;

Record record_of(const std::string& variant, Bytes size = 1024) {
  return {.collective = "allreduce", .size = size, .variant = variant};
}

TEST(VariantRatiosTest, ComparesVisitsInPairsWithTheFirstValue) {
  VariantRatios ratios({.name = "x", .values = {"a", "b"}});
  // The machine is four times as slow in the last visits, and b always twice as fast.
  EXPECT_TRUE(ratios.add(record_of("x=a"), Times{10, 12, 10, 11, 40, 44, 42, 46}).empty());
  EXPECT_EQ(
      ratios.add(record_of("x=b"), Times{5, 6, 5, 5.5, 20, 22, 21, 23}),
      (Lines{"b: faster than a, 2.000 times its speed (2.000 to 2.000), p 0.0078, 8 visits"}));
}

TEST(VariantRatiosTest, CountsTheComparisonsOfARow) {
  VariantRatios ratios({.name = "x", .values = {"a", "b", "c"}});
  (void)ratios.add(record_of("x=c"), Times{2, 2, 2, 2, 2, 2.1});
  (void)ratios.add(record_of("x=b"), Times{1, 1.1, 0.9, 1.05, 0.95, 1});
  const Lines lines = ratios.add(record_of("x=a"), Times{1, 1, 1, 1, 1, 1});
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(lines[0].substr(0, 21), "b: cannot tell from a");
  // 2 / 2^6 = 0.031 of one comparison is 0.063 of two.
  EXPECT_EQ(lines[1].substr(0, 21), "c: cannot tell from a");
  EXPECT_NE(lines[1].find("p 0.062"), std::string::npos) << lines[1];
}

TEST(VariantRatiosTest, CallsSameOnlyWhatIsWithinOnePercent) {
  VariantRatios ratios({.name = "x", .values = {"a", "b"}});
  (void)ratios.add(record_of("x=a"), Times{100, 200, 300, 100, 200, 300, 100, 200});
  EXPECT_EQ(ratios.add(record_of("x=b"), Times{100.1, 200.2, 299.7, 99.9, 200, 300.1, 100, 200.1})
                .front()
                .substr(0, 12),
            "b: same as a");
}

TEST(VariantRatiosTest, KeepsRowsApartAndSaysWhereVisitsAreTooFew) {
  VariantRatios ratios({.name = "x", .values = {"a", "b"}});
  EXPECT_TRUE(ratios.add(record_of("x=a", 1), Times{1}).empty());
  EXPECT_TRUE(ratios.add(record_of("x=b", 2), Times{1}).empty());
  EXPECT_EQ(ratios.add(record_of("x=b", 1), Times{}),
            (Lines{"b: 0 visits with both are too few to compare"}));
}

}  // namespace
}  // namespace busbar
