// SPDX-License-Identifier: BSD-3-Clause
#include "harness/verifier.hpp"

#include <gtest/gtest.h>

#include "tests/unit/support/fake_bootstrap.hpp"
#include "tests/unit/support/fake_communicator.hpp"

namespace busbar {
namespace {

constexpr std::uint64_t kCount = 5000;  // more than a period
constexpr std::uint64_t kSeed = 1;

Crew crew_of(Bootstrap& ranks) { return {.everyone = ranks, .sharers = ranks}; }

class Verification : public testing::Test {
 protected:
  /// A call of this collective with buffers of its own.
  Call call_of(const char* name) {
    send_ = allocate_host(kCount * sizeof(float));
    recv_ = allocate_host(kCount * sizeof(float));
    return {.collective = &test::collective(name),
            .send = send_.data(),
            .recv = recv_.data(),
            .count = kCount};
  }
  Verifier verifier(ReduceOp op = ReduceOp::Sum) {
    return {crew_of(bootstrap_), bootstrap_, communicator_, DataType::Float, op};
  }
  test::FakeCommunicator& communicator() { return communicator_; }

 private:
  test::FakeBootstrap bootstrap_;
  test::FakeCommunicator communicator_;
  Buffer send_;
  Buffer recv_;
};

TEST_F(Verification, FindsACorrectResultCorrect) {
  for (const char* name : {"allreduce", "broadcast", "allgather", "reducescatter"}) {
    const std::vector<Call> calls{call_of(name)};
    Verifier checks = verifier();
    checks.fill(calls, kCount, kSeed);
    communicator().enqueue(calls.front());
    const Verdict verdict = checks.check(calls, kSeed);
    EXPECT_EQ(verdict.wrong, 0U) << name << ' ' << verdict.first_wrong;
    EXPECT_EQ(verdict.first_wrong, "");
  }
}

TEST_F(Verification, FindsAnOperationThatNeverRan) {
  const std::vector<Call> calls{call_of("allreduce")};
  Verifier checks = verifier();
  checks.fill(calls, kCount, kSeed);
  EXPECT_EQ(checks.check(calls, kSeed).wrong, kCount);
}

TEST_F(Verification, NamesTheFirstWrongElement) {
  const std::vector<Call> calls{call_of("allreduce")};
  Verifier checks = verifier();
  checks.fill(calls, kCount, kSeed);
  communicator().enqueue(calls.front());
  auto* result = reinterpret_cast<float*>(calls.front().recv);
  const float expected = result[4500];
  result[4500] = -1;
  result[4700] = -2;
  const Verdict verdict = checks.check(calls, kSeed);
  EXPECT_EQ(verdict.wrong, 2U);
  EXPECT_EQ(verdict.first_wrong,
            "rank 0, element 4500: expected " +
                element_text(DataType::Float, reinterpret_cast<const std::byte*>(&expected)) +
                ", got -1");
}

TEST_F(Verification, FindsAPlantedFault) {
  const std::vector<Call> calls{call_of("allreduce")};
  Verifier checks = verifier();
  checks.fill(calls, kCount, kSeed);
  communicator().enqueue(calls.front());
  EXPECT_TRUE(checks.plant({.rank = 0, .index = 1234}, calls.front()));
  const Verdict verdict = checks.check(calls, kSeed);
  EXPECT_EQ(verdict.wrong, 1U);
  EXPECT_TRUE(verdict.first_wrong.starts_with("rank 0, element 1234: expected "))
      << verdict.first_wrong;
}

TEST_F(Verification, PlantsNothingBeyondTheResult) {
  const std::vector<Call> calls{call_of("allreduce")};
  Verifier checks = verifier();
  checks.fill(calls, kCount, kSeed);
  communicator().enqueue(calls.front());
  EXPECT_FALSE(checks.plant({.rank = 0, .index = kCount}, calls.front()));
  EXPECT_EQ(checks.check(calls, kSeed).wrong, 0U);
}

TEST_F(Verification, FindsTheDataOfAnotherSeedWrong) {
  const std::vector<Call> calls{call_of("allreduce")};
  Verifier checks = verifier();
  checks.fill(calls, kCount, kSeed);
  communicator().enqueue(calls.front());
  EXPECT_GT(checks.check(calls, kSeed + 1).wrong, kCount / 2);
  EXPECT_EQ(checks.check(calls, kSeed).wrong, 0U);
}

TEST_F(Verification, FindsDataThatLandedElsewhereWrong) {
  std::vector<Call> calls{call_of("allreduce")};
  Verifier checks = verifier();
  checks.fill(calls, kCount, kSeed);
  for (const std::uint64_t shift : {1U, 512U, 1024U, 4096U}) {  // an element, a half page, pages
    std::memcpy(calls[0].recv, calls[0].send + shift * sizeof(float),
                (kCount - shift) * sizeof(float));
    calls[0].count = kCount - shift;
    EXPECT_GT(checks.check(calls, kSeed).wrong, calls[0].count / 2) << shift;
  }
}

TEST_F(Verification, ChecksEveryCall) {
  const Call first = call_of("allreduce");
  Verifier checks = verifier();
  checks.fill(std::vector<Call>{first}, kCount, kSeed);
  communicator().enqueue(first);
  Call second = first;
  const Buffer other = allocate_host(kCount * sizeof(float));
  second.recv = other.data();
  const std::vector<Call> calls{first, second};
  EXPECT_EQ(checks.check(calls, kSeed).wrong, kCount);
}

TEST(VerificationOfManyRanks, PlantsOnlyInARootsResultWhereThatIsTheOnlyOne) {
  test::FakeCommunicator communicator;
  const Buffer memory = allocate_host(64);
  const Call call{.collective = &test::collective("gather"),
                  .send = memory.data(),
                  .recv = memory.data(),
                  .count = 4,
                  .root = 2};
  test::FakeBootstrap root(2, 3);
  Verifier at_root(crew_of(root), root, communicator, DataType::Float, ReduceOp::None);
  EXPECT_TRUE(at_root.plant({.rank = 2, .index = 11}, call));
  EXPECT_FALSE(at_root.plant({.rank = 2, .index = 12}, call));
  test::FakeBootstrap other(0, 3);
  Verifier elsewhere(crew_of(other), other, communicator, DataType::Float, ReduceOp::None);
  EXPECT_FALSE(elsewhere.plant({.rank = 0, .index = 0}, call));
}

TEST(VerificationOfManyRanks, ChecksOnlyTheReceiverOfAPair) {
  test::FakeCommunicator communicator;
  const Buffer memory = allocate_host(64);  // poisoned: nothing has arrived
  const std::vector<Call> calls{{.collective = &test::collective("sendrecv"),
                                 .send = memory.data(),
                                 .recv = memory.data(),
                                 .count = 16}};
  for (const int rank : {0, 1, 2}) {
    test::FakeBootstrap bootstrap(rank, 3);
    Verifier checks(crew_of(bootstrap), bootstrap, communicator, DataType::Float, ReduceOp::None,
                    Pair{.sender = 0, .receiver = 2});
    EXPECT_EQ(checks.check(calls, kSeed).wrong > 0, rank == 2) << rank;
  }
}

TEST(VerificationOfManyRanks, AddsUpWhatAllFoundAndNamesTheLowestRank) {
  test::FakeBootstrap bootstrap(0, 3);  // every rank finds what this one finds
  test::FakeCommunicator communicator;
  const Buffer memory = allocate_host(16);
  const std::vector<Call> calls{{.collective = &test::collective("broadcast"),
                                 .send = memory.data(),
                                 .recv = memory.data(),
                                 .count = 4}};
  Verifier checks(crew_of(bootstrap), bootstrap, communicator, DataType::Float, ReduceOp::None);
  checks.fill(calls, 4, kSeed);
  communicator.flip_bit(memory.data() + 8);
  const Verdict verdict = checks.check(calls, kSeed);
  EXPECT_EQ(verdict.wrong, 3U);
  EXPECT_TRUE(verdict.first_wrong.starts_with("rank 0, element 2: ")) << verdict.first_wrong;
}

}  // namespace
}  // namespace busbar
