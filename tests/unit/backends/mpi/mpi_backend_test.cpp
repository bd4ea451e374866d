// SPDX-License-Identifier: BSD-3-Clause
// With one rank; tests/programs has more, and runs MpiOneWay with several.

#include "backends/mpi/control_variable.hpp"
#include "backends/mpi/routines.hpp"
#include "tests/unit/support/checked_call.hpp"
#include "tests/unit/support/mpi_singleton.hpp"

namespace busbar {
namespace {

using test::call_of;

std::unique_ptr<Communicator> connect(Progress progress = Progress::Block) {
  static_cast<void>(test::mpi_singleton());  // only then is the backend available
  return choose_backend("mpi").backend->connect(test::mpi_singleton(), {.progress = progress});
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

using Names = std::vector<std::string>;

TEST(ControlVariableTest, FindsNamesOnLinesOfTheirOwnOrWhereMpichJoinsLinesAndNoneInOrdinaryText) {
  for (const auto& [text, names] : std::vector<std::pair<const char*, Names>>{
           {"Variable to select the algorithmauto - Internal selection (or by a FILE)nb   - Force "
            "nonblocking algorithmsmp - Force smp algorithmsched_smp - Force receivestsp_tree - "
            "Force a tree",
            {"auto", "nb", "smp", "sched_smp", "tsp_tree"}},
           {"intra-node bcastmpir - Fallback to MPIR collectivesrelease_gather  - Force shm",
            {"mpir", "release_gather"}},
           {"one - for sched-based algorithmssched_naive - Force naive phasetsp_ring - Force ring",
            {"one", "sched_naive", "tsp_ring"}},
           {"Select an algorithm\nauto - Internal\nring    - Force ring algorithm",
            {"auto", "ring"}},
           {"Messages below this size, in bytes, are short.", {}},
       }) {
    EXPECT_EQ(described_values(text), names);
  }
}

/// Memory that a library takes for a collective of this size over these ranks.
struct Need {
  const char* collective;
  Bytes size;
  int ranks;
  Bytes expected;
};

void expect_needs(MpiFamily family, const std::vector<Need>& needs) {
  for (const auto& [collective, size, ranks, expected] : needs) {
    EXPECT_EQ(mpi_routine(collective).temporary.bytes(family, size, ranks), expected)
        << collective << ' ' << ranks;
  }
}

TEST(TemporaryMemory, IsThatOfTheAlgorithmsOfMpich) {
  expect_needs(MpiFamily::Mpich, {{"allreduce", kGiB, 16, kGiB / 2},
                                  {"allreduce", kGiB, 2, kGiB / 2},
                                  {"allreduce", kGiB, 6, kGiB},
                                  {"allreduce", kGiB, 1, 0},
                                  {"reducescatter", kGiB, 16, 64 * kMiB},
                                  {"reducescatter", 64 * kKiB, 16, 128 * kKiB},
                                  {"broadcast", kGiB, 16, 0},
                                  {"allgather", kGiB, 16, 0},
                                  {"reduce", kGiB, 16, 2 * kGiB + kGiB / 2},
                                  {"reduce", kGiB, 6, 3 * kGiB},
                                  {"reduce", kGiB, 1, 0},
                                  {"gather", kGiB, 16, kGiB / 2},
                                  {"scatter", kGiB, 16, kGiB},
                                  {"scatter", kGiB, 1, 0},
                                  {"alltoall", kGiB, 16, 64 * kMiB},
                                  {"sendrecv", kGiB, 16, 0}});
}

TEST(TemporaryMemory, IsTheWholeMessageOfOpenMpisTreesOrUpToThreeTimesThat) {
  for (const char* collective : {"allreduce", "gather"}) {
    expect_needs(MpiFamily::OpenMpi, {{collective, kGiB, 16, kGiB}, {collective, kGiB, 1, 0}});
  }
  for (const char* collective : {"reduce", "reducescatter"}) {
    expect_needs(MpiFamily::OpenMpi, {{collective, kGiB, 16, 3 * kGiB},
                                      {collective, kGiB, 3, 2 * kGiB},
                                      {collective, kGiB, 2, kGiB},
                                      {collective, kGiB, 1, 0}});
  }
  expect_needs(MpiFamily::OpenMpi,
               {{"allgather", kGiB, 16, 0}, {"allgather", kGiB, 6, kGiB}});  // 16: a power of two
}

TEST(TemporaryMemory, IsTheLargerNeedWhereTheLibraryIsNeither) {
  for (const Collective* collective : measured_collectives()) {
    const TemporaryMemory& memory = mpi_routine(collective->name).temporary;
    for (const int ranks : {1, 2, 6, 16}) {
      EXPECT_EQ(memory.bytes(MpiFamily::Other, kGiB, ranks),
                std::max(memory.bytes(MpiFamily::Mpich, kGiB, ranks),
                         memory.bytes(MpiFamily::OpenMpi, kGiB, ranks)))
          << collective->name << ' ' << ranks;
    }
  }
}

}  // namespace
}  // namespace busbar
