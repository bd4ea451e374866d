// SPDX-License-Identifier: BSD-3-Clause
// With one rank; tests/mpi has more.
#include <limits>

#include <gtest/gtest.h>

#include "harness/row_buffers.hpp"
#include "harness/verifier.hpp"
#include "model/backend.hpp"
#include "tests/unit/support/fake_communicator.hpp"
#include "tests/unit/support/mpi_singleton.hpp"

namespace busbar {
namespace {

using test::collective;

std::unique_ptr<Communicator> connect(Progress progress = Progress::Block) {
  return choose_backend("mpi").backend->connect(test::mpi_singleton(), progress);
}

Call call_of(const char* name, DataType type = DataType::Float, ReduceOp op = ReduceOp::Sum) {
  const Collective& asked = collective(name);
  return {
      .collective = &asked, .count = 1024, .type = type, .op = asked.reduces ? op : ReduceOp::None};
}

TEST(MpiBackend, SaysWhyATypeOrOperationCannotRun) {
  const auto mpi = connect();
  EXPECT_EQ(mpi->unsupported(call_of("allreduce", DataType::Half)), "MPI has no type half");
  EXPECT_EQ(mpi->unsupported(call_of("broadcast", DataType::Bfloat16)), "MPI has no type bfloat16");
  EXPECT_EQ(mpi->unsupported(call_of("allreduce", DataType::Float, ReduceOp::Avg)),
            "MPI has no reduction avg");
  EXPECT_FALSE(mpi->unsupported(call_of("allgather")).has_value());
}

TEST(MpiBackend, SaysWhatItIsAskedForInVain) {
  const Collective unknown{.name = "hypercube", .nccl_name = "hypercube", .title = "hypercube"};
  const auto mpi = connect();
  EXPECT_EQ(mpi->unsupported({.collective = &unknown}), "the mpi backend has no hypercube");
}

TEST(MpiBackend, TakesAsManyElementsAsAnIntegerCounts) {
  const auto mpi = connect();
  constexpr std::uint64_t kMost = std::numeric_limits<int>::max();
  EXPECT_EQ(mpi->largest_count(call_of("allreduce")), kMost);
  EXPECT_EQ(mpi->largest_count(call_of("broadcast")), kMost / 4);
  EXPECT_EQ(mpi->largest_count(call_of("reducescatter")), kMost);  // over one rank
  EXPECT_GT(mpi->largest_count(call_of("allgather", DataType::Int8)), kMost);
}

TEST(MpiBackend, LeavesAnInPlaceReduceScatterAtTheStart) {
  EXPECT_EQ(connect()->in_place(collective("reducescatter"), 100).recv_offset, 0U);
}

/// Runs a placement of a collective and checks its result.
Verdict run(const char* name, bool in_place, Progress progress, std::uint64_t segment) {
  const auto mpi = connect(progress);
  const Call like = call_of(name);
  const SizePlan plan{
      .wanted = 4096, .footprint = like.collective->footprint(4096, 4, 1), .segment = segment};
  RowBuffers buffers(*mpi, plan);
  const auto calls = buffers.calls(like, in_place);
  Verifier verifier(test::mpi_singleton(), *mpi, like.type, like.op);
  buffers.poison_results(in_place);
  verifier.fill(calls, plan.footprint.send / 4, 1);
  mpi->enqueue(calls.front());
  mpi->wait();
  return verifier.check(calls, 1);
}

TEST(MpiBackend, GivesCorrectResultsInBothPlacementsAndWaysOfWaiting) {
  for (const char* name : {"allreduce", "broadcast", "reducescatter", "allgather"}) {
    for (const bool in_place : {false, true}) {
      for (const Progress progress : {Progress::Block, Progress::Yield}) {
        const Verdict verdict = run(name, in_place, progress, 0);
        EXPECT_EQ(verdict.wrong, 0U) << name << ' ' << verdict.first_wrong;
      }
    }
  }
}

TEST(MpiBackend, GivesCorrectResultsInSegmentsOfAnyLength) {
  for (const char* name : {"allreduce", "broadcast"}) {
    for (const std::uint64_t segment : {1U, 100U, 1023U, 1024U, 5000U}) {
      EXPECT_EQ(run(name, true, Progress::Block, segment).wrong, 0U) << name << ' ' << segment;
      EXPECT_EQ(run(name, false, Progress::Yield, segment).wrong, 0U) << name << ' ' << segment;
    }
  }
}

}  // namespace
}  // namespace busbar
