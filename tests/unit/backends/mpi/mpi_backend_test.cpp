// SPDX-License-Identifier: BSD-3-Clause
// With one rank; tests/mpi has more, and runs MpiOneWay with several.
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backends/mpi/routines.hpp"
#include "model/backend.hpp"
#include "tests/unit/support/checked_call.hpp"
#include "tests/unit/support/mpi_singleton.hpp"

namespace busbar {
namespace {

using test::call_of;

std::unique_ptr<Communicator> connect(Progress progress = Progress::Block) {
  static_cast<void>(test::mpi_singleton());  // only then is the backend available
  return choose_backend("mpi").backend->connect(test::mpi_singleton(), {.progress = progress});
}

TEST(MpiBackend, ReportsWhyACallCannotRun) {
  const auto mpi = connect();
  const auto why = [&](const Call& call) { return mpi->unsupported(call).value_or(""); };
  EXPECT_EQ(why(call_of("allreduce", DataType::Half)), "MPI has no type half");
  EXPECT_EQ(why(call_of("broadcast", DataType::Bfloat16)), "MPI has no type bfloat16");
  EXPECT_EQ(why(call_of("allreduce", DataType::Float, ReduceOp::Avg)), "MPI has no reduction avg");
  EXPECT_EQ(why(call_of("allgather")), "");
  Call call = call_of("sendrecv");
  EXPECT_EQ(why(call), "");
  call.in_place = true;
  EXPECT_EQ(why(call), "");
  call = call_of("alltoallv");
  EXPECT_EQ(why(call), "");
  call.in_place = true;
  EXPECT_THAT(why(call), testing::HasSubstr("only if both directions have the same length"));
  const Collective unknown{.name = "hypercube", .nccl_name = "hypercube", .title = "hypercube"};
  EXPECT_EQ(why({.collective = &unknown}), "the mpi backend has no hypercube");
}

TEST(MpiBackend, TakesAsManyElementsAsAnIntegerCounts) {
  const auto mpi = connect();
  constexpr std::uint64_t kMost = std::numeric_limits<int>::max();
  EXPECT_EQ(mpi->largest_count(call_of("allreduce")), kMost);
  EXPECT_EQ(mpi->largest_count(call_of("broadcast")), kMost / 4);
  EXPECT_EQ(mpi->largest_count(call_of("reducescatter")), kMost);  // over one rank
  EXPECT_EQ(mpi->largest_count(call_of("reduce")), kMost);
  for (const char* name : {"gather", "scatter", "alltoall", "sendrecv"}) {
    EXPECT_EQ(mpi->largest_count(call_of(name)), kMost / 4) << name;
  }
  EXPECT_GT(mpi->largest_count(call_of("allgather", DataType::Int8)), kMost);
}

TEST(MpiBackend, LeavesAnInPlaceReduceScatterAtTheStart) {
  EXPECT_EQ(connect()->in_place(test::collective("reducescatter"), 100).recv_offset, 0U);
}

DataCheck run(std::string_view name, bool in_place, Progress progress, std::uint64_t segment) {
  return test::run_checked(test::mpi_singleton(), *connect(progress), call_of(name), in_place,
                           segment);
}

TEST(MpiBackend, GivesCorrectResultsInBothBufferModesAndKindsOfProgress) {
  for (const Collective* collective : measured_collectives()) {
    const std::string name(collective->name);
    for (const bool in_place : {false, true}) {
      if (in_place && name == "alltoallv") continue;  // refused
      for (const Progress progress : {Progress::Block, Progress::Yield}) {
        const DataCheck verdict = run(name, in_place, progress, 0);
        EXPECT_EQ(verdict.wrong, 0U) << name << ' ' << verdict.first_wrong;
      }
    }
  }
}

TEST(MpiBackend, GivesCorrectResultsInSegmentsOfAnyLength) {
  for (const char* name : {"allreduce", "broadcast", "reduce"}) {
    for (const std::uint64_t segment : {1U, 100U, 1023U, 1024U, 5000U}) {
      EXPECT_EQ(run(name, true, Progress::Block, segment).wrong, 0U) << name << ' ' << segment;
      EXPECT_EQ(run(name, false, Progress::Yield, segment).wrong, 0U) << name << ' ' << segment;
    }
  }
}

/// Sends one way between a pair, in a buffer of each rank that was poisoned; false where a rank has
/// what it should not, or has not what it should.
bool sends_only(Pair pair, Progress progress) {
  Bootstrap& ranks = test::mpi_singleton();
  const auto mpi = connect(progress);
  Call like = call_of("sendrecv");
  const Position me{.rank = ranks.rank(), .ranks = ranks.size(), .pair = pair};
  like.peers = like.collective->peers(me);
  RowBuffers buffers(
      *mpi,
      {.footprint = like.collective->footprint({.wanted = 4096, .element = 4, .ranks = me.ranks})},
      0);
  const auto calls = buffers.calls(like, false);
  Verifier verifier({.world = ranks, .members = ranks}, *mpi, like.type, like.op, pair);
  buffers.poison_results(false);
  verifier.fill(calls, like.count, 1);
  mpi->enqueue(calls.front());
  mpi->wait();
  const bool untouched = calls.front().recv[0] == std::byte{0xa5};
  return verifier.check(calls, 1).wrong == 0 && untouched == (me.rank != pair.receiver);
}

TEST(MpiOneWay, GivesOnlyTheReceiverWhatTheSenderSends) {
  const int ranks = test::mpi_singleton().size();
  for (const Progress progress : {Progress::Block, Progress::Yield}) {
    for (int sender = 0; sender < ranks; ++sender) {
      for (int receiver = 0; receiver < ranks; ++receiver) {
        EXPECT_TRUE(sends_only({.sender = sender, .receiver = receiver}, progress))
            << sender << " to " << receiver;
      }
    }
  }
}

}  // namespace
}  // namespace busbar
