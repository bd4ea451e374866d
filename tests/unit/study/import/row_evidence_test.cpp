// SPDX-License-Identifier: BSD-3-Clause
#include "study/import/row_evidence.hpp"

#include <gtest/gtest.h>

#include "base/text.hpp"
#include "study/import/log_lines.hpp"
#include "study/import/nccl_row.hpp"

namespace busbar::study {
namespace {

const std::string kBoth =
    "size count type redop root time algbw busbw #wrong time algbw busbw #wrong";
const std::string kOpOnly = "size count type redop time algbw busbw error time algbw busbw error";
const std::string kRootOnly = "size count type root time algbw busbw error time algbw busbw error";
const std::string kNeither = "size count type time algbw busbw error time algbw busbw error";

LogTable table_of(const std::string& columns, const std::string& row) {
  LogTable table{.columns = words_of(columns)};
  table.rows.push_back(read_row(table.columns, words_of(row)));
  return table;
}

/// A log's line, its columns, the ranks where they are known, and the collectives that remain.
struct Case {
  std::string columns;
  std::string row;
  int ranks = 0;
  std::string fitting;
};

class Candidates : public testing::TestWithParam<Case> {};

TEST_P(Candidates, AreThoseThatCanHavePrintedTheRow) {
  const Case& one = GetParam();
  const LogTable table = table_of(one.columns, one.row);
  const RowEvidence evidence(table, one.ranks > 0 ? std::optional(one.ranks) : std::nullopt);
  EXPECT_EQ(join(evidence.candidates(), " "), one.fitting) << evidence.text();
}

// 8000 bytes in 1 us are 8 GB/s.
INSTANTIATE_TEST_SUITE_P(
    OfToday, Candidates,
    testing::Values(
        Case{kBoth, "8000 2000 float sum -1 1.00 8.00 14.00 0 1.00 8.00 14.00 0", 8, "allreduce"},
        Case{kBoth, "8000 2000 float sum -1 1.00 8.00 14.00 0 1.00 8.00 14.00 0", 0, "allreduce"},
        Case{kBoth, "8000 2000 float sum -1 1.00 8.00 14.00 N/A 1.00 8.00 14.00 N/A", 8,
             "allreduce"},
        Case{kBoth, "8000 2000 float sum -1 1.00 8.00 8.00 0 1.00 8.00 8.00 0", 2, "allreduce"},
        Case{kBoth, "8000 2000 float sum -1 1.00 8.00 8.00 N/A 1.00 8.00 8.00 N/A", 2,
             "allreduce sendrecv"},
        Case{kBoth, "8000 2000 float sum -1 1.00 8.00 8.00 0 1.00 8.00 8.00 N/A", 8, "sendrecv"},
        Case{kBoth, "8000 2000 float none -1 1.00 8.00 8.00 0 1.00 8.00 8.00 N/A", 8, "sendrecv"},
        Case{kBoth, "8000 250 float sum -1 1.00 8.00 7.00 0 1.00 8.00 7.00 0", 8, "reducescatter"},
        Case{kBoth, "8000 2000 float sum 0 1.00 8.00 8.00 0 1.00 8.00 8.00 0", 8, "reduce"},
        Case{kBoth, "8000 2000 float none 0 1.00 8.00 8.00 0 1.00 8.00 8.00 0", 8, "broadcast"},
        Case{kBoth, "8000 250 float none 0 1.00 8.00 7.00 0 1.00 8.00 7.00 0", 8, "gather scatter"},
        Case{kBoth, "8000 250 float none -1 1.00 8.00 7.00 0 1.00 8.00 7.00 0", 8, "allgather"},
        Case{kBoth, "8000 250 float none -1 1.00 8.00 7.00 0 1.00 8.00 7.00 N/A", 8, "alltoall"},
        Case{kBoth, "8000 250 float none -1 1.00 8.00 7.00 N/A 1.00 8.00 7.00 N/A", 8,
             "allgather alltoall"},
        Case{kBoth, "8000 250 float none -1 1.00 8.00 7.00 N/A 1.00 8.00 7.00 N/A", 0,
             "allgather alltoall"},
        // One rank: the whole is its part, so that the count shows nothing.
        Case{kBoth, "8000 2000 float none -1 1.00 8.00 0.00 0 1.00 8.00 0.00 0", 1, "allgather"}));

// Until August 2022 each test had its own columns, and in-place results were always verified.
INSTANTIATE_TEST_SUITE_P(
    OfOldVersions, Candidates,
    testing::Values(
        Case{kOpOnly, "8000 2000 float sum 1.00 8.00 14.00 1e-7 1.00 8.00 14.00 1e-7", 8,
             "allreduce"},
        Case{kOpOnly, "8000 2000 float sum 1.00 8.00 8.00 1e-7 1.00 8.00 8.00 1e-7", 2,
             "allreduce"},
        Case{kOpOnly, "8000 250 float 1.00 8.00 7.00 0e+00 1.00 8.00 7.00 0e+00", 8, "alltoall"},
        Case{kNeither, "8000 250 float 1.00 8.00 7.00 0e+00 1.00 8.00 7.00 0e+00", 8, "allgather"},
        Case{kNeither, "8000 250 float 1.00 7.00 7.00 0e+00 1.00 7.00 7.00 0e+00", 8,
             "allgather hypercube"},
        Case{kNeither, "8000 2000 float 1.00 8.00 8.00 0e+00 1.00 8.00 8.00 0e+00", 8, "sendrecv"},
        Case{kRootOnly, "8000 2000 float 0 1.00 8.00 8.00 0e+00 1.00 8.00 8.00 0e+00", 8,
             "broadcast"},
        Case{kRootOnly, "8000 250 float 0 1.00 8.00 7.00 0e+00 1.00 8.00 7.00 0e+00", 8,
             "gather scatter"}));

INSTANTIATE_TEST_SUITE_P(
    OfNone, Candidates,
    testing::Values(
        Case{kBoth, "8000 2000 float sum -1 1.00 8.00 3.00 0 1.00 8.00 3.00 0", 8, ""},
        Case{kBoth, "8000 2000 float sum -1 1.00 8.00 14.00 0 1.00 8.00 14.00 0", 16, ""},
        Case{kBoth, "8000 2000 float none -1 1.00 8.00 14.00 0 1.00 8.00 14.00 0", 8, ""},
        // A count that is neither the size nor a part of it: NCCL's alltoallv.
        Case{kBoth, "8000 300 float none -1 1.00 8.00 7.00 N/A 1.00 8.00 7.00 N/A", 8,
             "allgather alltoall alltoallv"}));

TEST(RowEvidence, SaysWhatItSaw) {
  const LogTable table =
      table_of(kBoth, "8000 250 float none -1 1.00 8.00 7.00 0 1.00 8.00 7.00 N/A");
  EXPECT_EQ(RowEvidence(table, 8).text(),
            "redop none, no root, a count of 1/8 of the size, not verified in place, bus bandwidth "
            "0.875 times size over time, 8 ranks");
  EXPECT_EQ(
      RowEvidence(table_of(kBoth, "8000 2000 float none 0 1.00 8.00 8.00 0 1.00 8.00 8.00 0"), 8)
          .text(),
      "redop none, a root, verified in place, bus bandwidth 1 times size over time, 8 ranks");
  EXPECT_EQ(
      RowEvidence(table_of(kBoth, "8000 2000 float sum 0 1.00 8.00 8.00 0 1.00 8.00 8.00 0"), 8)
          .text(),
      "redop sum, a root, bus bandwidth 1 times size over time, 8 ranks");
}

}  // namespace
}  // namespace busbar::study
