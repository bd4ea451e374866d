// SPDX-License-Identifier: BSD-3-Clause
#include "harness/verifier.hpp"

#include "tests/unit/support/fake_bootstrap.hpp"
#include "tests/unit/support/fake_communicator.hpp"
#include "tests/unit/support/thread_team.hpp"

namespace busbar {
namespace {

constexpr std::uint64_t kElements = 5000;  // more than a period
constexpr std::uint64_t kSeed = 1;

RoundGroup all_of(Bootstrap& ranks) { return {.world = ranks, .members = ranks}; }

struct Verification : testing::Test {
  /// Makes the call one of this collective, with data and buffers of its own, and runs it.
  void run(const char* name, bool operate = true) {
    send = allocate_host(kElements * sizeof(float));
    recv = allocate_host(kElements * sizeof(float));
    calls = {{.collective = &test::collective(name),
              .send = send.data(),
              .recv = recv.data(),
              .count = kElements}};
    verifier.fill(calls, kElements, kSeed);
    if (operate) communicator.enqueue(calls.front());
  }
  DataCheck check(std::uint64_t seed = kSeed) { return verifier.check(calls, seed); }

  test::FakeBootstrap bootstrap;
  test::FakeCommunicator communicator;
  Verifier verifier{all_of(bootstrap), communicator, DataType::Float, ReduceOp::Sum};
  Buffer send;
  Buffer recv;
  std::vector<Call> calls;
};

TEST_F(Verification, FindsAnOperationThatNeverRanAmongOthersToo) {
  run("allreduce", false);
  EXPECT_EQ(check().wrong, kElements);
  run("allreduce");
  const Buffer other = allocate_host(kElements * sizeof(float));
  calls.push_back(calls.front());
  calls.back().recv = other.data();
  EXPECT_EQ(check().wrong, kElements);
}

TEST_F(Verification, NamesTheFirstWrongElement) {
  run("allreduce");
  auto* result = reinterpret_cast<float*>(calls.front().recv);
  result[4500] = -1;
  result[4700] = -2;
  EXPECT_EQ(check().wrong, 2U);
  EXPECT_THAT(check().first_wrong,
              AllOf(StartsWith("rank 0, element 4500: expected "), EndsWith(", got -1")));
}

TEST_F(Verification, FindsTheDataOfAnotherSeedWrong) {
  run("allreduce");
  EXPECT_GT(check(kSeed + 1).wrong, kElements / 2);
  EXPECT_EQ(check().wrong, 0U);
  EXPECT_GT(check(0).wrong, kElements / 2);
}

TEST_F(Verification, FindsDataThatLandedElsewhereWrong) {
  run("allreduce", false);
  for (const std::uint64_t shift : {1U, 512U, 1024U, 4096U}) {  // an element, a half page, pages
    std::memcpy(calls[0].recv, calls[0].send + shift * sizeof(float),
                (kElements - shift) * sizeof(float));
    calls[0].count = kElements - shift;
    EXPECT_GT(check().wrong, calls[0].count / 2) << shift;
  }
}

/// A call whose result is where it is sent from.
Call call_in(const Buffer& memory, const char* name, std::uint64_t count, int root = 0) {
  return {.collective = &test::collective(name),
          .send = memory.data(),
          .recv = memory.data(),
          .count = count,
          .root = root};
}

TEST(VerificationOfManyRanks, ChecksOnlyTheReceiverOfAPair) {
  test::FakeCommunicator communicator;
  const Buffer memory = allocate_host(64);  // poisoned: nothing has arrived
  const std::vector<Call> calls{call_in(memory, "sendrecv", 16)};
  for (const int rank : {0, 1, 2}) {
    test::FakeBootstrap bootstrap(rank, 3);
    Verifier checks(all_of(bootstrap), communicator, DataType::Float, ReduceOp::None,
                    Pair{.sender = 0, .receiver = 2});
    EXPECT_EQ(checks.check(calls, kSeed).wrong > 0, rank == 2) << rank;
  }
}

TEST(VerificationOfManyRanks, NamesTheLowestOfThoseThatAreWrong) {
  test::on_ranks(3, [](test::ThreadBootstrap& ranks) {
    test::FakeCommunicator communicator;
    const Buffer memory = allocate_host(16);  // poisoned: nothing has arrived
    const Call call{
        .collective = &test::collective("allreduce"), .recv = memory.data(), .count = 4};
    Verifier checks(all_of(ranks), communicator, DataType::Float, ReduceOp::Sum);
    const DataCheck verdict = checks.check({&call, 1}, kSeed);
    EXPECT_EQ(verdict.wrong, 12U);
    EXPECT_THAT(verdict.first_wrong, StartsWith("rank 0, element 0: "));
  });
}

TEST(VerificationOfManyRanks, CountsRanksOfTheJobWhereACommunicatorHasSomeOfThem) {
  test::FakeBootstrap world(5, 8);
  test::FakeBootstrap group(1, 2);
  test::FakeCommunicator communicator;
  const Buffer memory = allocate_host(16);
  const Call call = call_in(memory, "broadcast", 4, 1);
  Verifier checks({.world = world, .members = group}, communicator, DataType::Float,
                  ReduceOp::None);
  checks.fill({&call, 1}, 4, kSeed);
  EXPECT_EQ(checks.check({&call, 1}, kSeed).wrong, 0U);  // it is the root, of its own data
  EXPECT_FALSE(checks.plant({.rank = 1, .index = 2}, call));
  EXPECT_TRUE(checks.plant({.rank = 5, .index = 2}, call));
  EXPECT_THAT(checks.check({&call, 1}, kSeed).first_wrong, StartsWith("rank 5, element 2: "));
}

constexpr int kRanks = 3;
constexpr int kRoot = 1;

/// What rank `me` of kRanks ends with, as MPI defines each operation, of what all have sent; empty
/// where it has no result. A part, or a whole that is in no parts, is of kElements elements.
std::vector<float> right_result(std::string_view name, const Pattern& data, int me) {
  std::vector<float> result;
  const std::uint64_t own = kElements * static_cast<std::uint64_t>(me);
  const auto send = [&](int source, std::uint64_t first) {
    for (std::uint64_t i = first; i < first + kElements; ++i) {
      result.push_back(static_cast<float>(data.value(source, i)));
    }
  };
  const auto add_up = [&](std::uint64_t first) {
    for (std::uint64_t i = first; i < first + kElements; ++i) {
      result.push_back(static_cast<float>(data.value(0, i) + data.value(1, i) + data.value(2, i)));
    }
  };
  if (name == "allreduce" || (name == "reduce" && me == kRoot)) add_up(0);
  if (name == "reducescatter") add_up(own);
  if (name == "broadcast") send(kRoot, 0);
  if (name == "scatter") send(kRoot, own);
  if (name == "sendrecv") send((me + kRanks - 1) % kRanks, 0);
  for (int source = 0; source < kRanks; ++source) {
    if (name == "allgather" || (name == "gather" && me == kRoot)) send(source, 0);
    if (name == "alltoall") send(source, own);
  }
  return result;
}

/// First and last elements of a result, of its parts and of the pattern's first period.
std::vector<std::uint64_t> boundaries(std::uint64_t elements) {
  std::vector<std::uint64_t> all{Pattern::kPeriod - 1, Pattern::kPeriod};
  for (std::uint64_t part = 0; part < elements; part += kElements) {
    all.push_back(part);
    all.push_back(part + kElements - 1);
  }
  return all;
}

class PlantedFault : public testing::TestWithParam<std::tuple<std::string_view, bool>> {};

/// Every rank has its right result; the planted fault is then the only one that all report.
TEST_P(PlantedFault, IsFoundAtItsRankAndElementWhereverItIs) {
  const auto [name, in_place] = GetParam();
  const Collective& collective = test::collective(name);
  const ReduceOp op = collective.reduces ? ReduceOp::Sum : ReduceOp::None;
  const Pattern data(DataType::Float, op, kRanks, kSeed);
  std::vector<std::vector<float>> right;
  for (int rank = 0; rank < kRanks; ++rank) right.push_back(right_result(name, data, rank));
  test::on_ranks(kRanks, [&, in_place = in_place](test::ThreadBootstrap& ranks) {
    const int me = ranks.rank();
    const auto& mine = right[static_cast<std::size_t>(me)];
    std::vector<float> memory(kRanks * kElements, -1);
    const InPlace offsets = in_place ? collective.in_place(kElements, me) : InPlace{};
    float* const result = memory.data() + offsets.recv_offset;
    std::copy(mine.begin(), mine.end(), result);
    const Call call{.collective = &collective,
                    .recv = reinterpret_cast<std::byte*>(result),
                    .count = kElements,
                    .root = kRoot,
                    .in_place = in_place};
    test::FakeCommunicator communicator;
    Verifier checks(all_of(ranks), communicator, DataType::Float, op);
    EXPECT_EQ(checks.check({&call, 1}, kSeed).wrong, 0U);
    for (int rank = 0; rank < kRanks; ++rank) {
      const auto& theirs = right[static_cast<std::size_t>(rank)];
      EXPECT_FALSE(checks.plant({.rank = rank, .index = theirs.size()}, call));
      for (const std::uint64_t index : boundaries(theirs.size())) {
        if (theirs.empty()) break;
        EXPECT_TRUE(checks.plant({.rank = rank, .index = index}, call));
        const DataCheck verdict = checks.check({&call, 1}, kSeed);
        EXPECT_EQ(verdict.wrong, 1U);
        const std::string head =
            fmt::format("rank {}, element {}: expected {}, got ", rank, index, theirs[index]);
        EXPECT_THAT(verdict.first_wrong, StartsWith(head));
        if (me == rank) {
          EXPECT_EQ(verdict.first_wrong, head + fmt::format("{}", result[index]));
        }
        EXPECT_TRUE(checks.plant({.rank = rank, .index = index}, call));  // flips it back
      }
    }
    EXPECT_EQ(checks.check({&call, 1}, kSeed).wrong, 0U);
  });
}

std::string name_of(const testing::TestParamInfo<PlantedFault::ParamType>& fault) {
  return std::string(std::get<0>(fault.param)) +
         (std::get<1>(fault.param) ? "InPlace" : "OutOfPlace");
}

INSTANTIATE_TEST_SUITE_P(OfEveryCollective, PlantedFault,
                         testing::Combine(testing::Values("allgather", "allreduce", "alltoall",
                                                          "broadcast", "gather", "reduce",
                                                          "reducescatter", "scatter", "sendrecv"),
                                          testing::Bool()),
                         name_of);

}  // namespace
}  // namespace busbar
