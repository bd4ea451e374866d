// SPDX-License-Identifier: BSD-3-Clause
#include "report/pair_matrix.hpp"

#include <gtest/gtest.h>

#include "tests/unit/support/sample_records.hpp"

namespace busbar {
namespace {

Record rate(int sender, int receiver, double rate_GBps, Bytes size = kMiB) {
  Record record = test::measured(false);
  record.sender = sender;
  record.receiver = receiver;
  record.busbw_GBps = rate_GBps;
  record.size = size;
  return record;
}

TEST(PairMatrix, HasALineForEverySenderAndAColumnForEveryReceiver) {
  PairMatrix matrix;
  matrix.add(rate(0, 1, 1));
  matrix.add(rate(1, 0, 10.25));
  matrix.add(rate(2, 0, 1234.567));
  matrix.add(rate(0, 2, 0.004));
  EXPECT_EQ(matrix.text(),
            "#\n"
            "# GB/s one way at 1 MiB, from the line's rank to the column's\n"
            "#            0       1       2\n"
            "#    0       -    1.00    0.00\n"
            "#    1   10.25       -       -\n"
            "#    2 1234.57       -       -\n"
            "#\n");
}

TEST(PairMatrix, IsOfTheLargestSize) {
  PairMatrix matrix;
  matrix.add(rate(0, 1, 1, kKiB));
  matrix.add(rate(1, 0, 2, kMiB));
  matrix.add(rate(0, 1, 3, kMiB));
  matrix.add(rate(1, 0, 4, kKiB));
  const std::string text = matrix.text();
  EXPECT_NE(text.find(" at 1 MiB,"), std::string::npos) << text;
  EXPECT_NE(text.find("#    0       -    3.00\n#    1    2.00       -\n"), std::string::npos)
      << text;
}

TEST(PairMatrix, KeepsTheLastOfSeveralCycles) {
  PairMatrix matrix;
  matrix.add(rate(0, 1, 1));
  matrix.add(rate(0, 1, 2));
  EXPECT_NE(matrix.text().find("    2.00"), std::string::npos) << matrix.text();
}

TEST(PairMatrix, IsNothingWithoutAMeasuredPair) {
  PairMatrix matrix;
  matrix.add(test::measured(false));
  matrix.add(test::skipped(false, "no room"));
  Record unmeasured = rate(0, 1, 1);
  unmeasured.busbw_GBps.reset();
  matrix.add(unmeasured);
  EXPECT_EQ(matrix.text(), "");
}

}  // namespace
}  // namespace busbar
