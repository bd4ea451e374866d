// SPDX-License-Identifier: BSD-3-Clause
#include "study/expect/measured_file.hpp"

#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/fact.hpp"
#include "tests/unit/support/failure.hpp"

namespace busbar::study {
namespace {

TEST(Measured, HasTheNotesOfItsLogAndRefusesOneRank) {
  const std::string path = testing::TempDir() + "one_rank.log";
  const auto read_with = [&](int gpus, const std::string& row) {
    std::ofstream(path) << "# nThread 1 nGpus " << gpus << " minBytes 8 maxBytes 8\n"
                        << (gpus > 1
                                ? ""
                                : "# Rank 0 Group 0 Pid 1 on h device 0 [0000:06:00] NVIDIA H100\n")
                        << "mlx:1:2 [0] NCCL INFO Channel 00 : 0[0] -> 1[0] via NET/IB/0/GDRDMA\n"
                        << "# size count type redop root time algbw busbw #wrong\n"
                        << row << "# Avg bus bandwidth : 9\n";
    return read_measured(path, *find_collective("allreduce"), {});
  };
  const auto pair = read_with(2, "33554432 8388608 float sum -1 276.88 121.19 121.19 0\n");
  EXPECT_THAT(pair.front().notes, testing::Contains(testing::HasSubstr("rows are missing")));
  EXPECT_EQ(value_of(pair.front().facts, fact::kGpudirectRdma), "yes, 1 of 1 connections");
  EXPECT_THAT(test::refusal_of([&] {
                static_cast<void>(read_with(1, "64 16 float sum -1 3.25 0.02 0.00 0\n"));
              }),
              testing::HasSubstr("one rank took part"));
}

}  // namespace
}  // namespace busbar::study
