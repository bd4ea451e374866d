// SPDX-License-Identifier: BSD-3-Clause
#include "study/expect.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace busbar::study {
namespace {

PublishedRate rate(double busbw_GBps, std::optional<Bytes> size, Evidence evidence) {
  return {.system = "dgx-h100",
          .collective = "allreduce",
          .ranks = 8,
          .size = size,
          .busbw_GBps = busbw_GBps,
          .evidence = evidence};
}

ExpectRequest request(std::optional<double> measured_GBps, Bytes size = 8 * kGiB) {
  return {.system = "hgx-h100",  // an alias
          .machine = topo::load_machine("dgx-h100"),
          .collective = find_collective("allreduce"),
          .size = size,
          .ranks = 8,
          .measured_GBps = measured_GBps};
}

const Published kPublished{
    .rates = {rate(480, 8 * kGiB, Evidence::Measured), rate(470, 16 * kGiB, Evidence::Measured),
              rate(476, 1 * kGiB, Evidence::Measured), rate(300, 64 * kMiB, Evidence::Measured),
              rate(460, {}, Evidence::Floor), rate(900, 8 * kGiB, Evidence::User)}};

TEST(Expect, TakesTheMedianOfWhatOthersMeasuredAtSuchASize) {
  const Expectation large = expect(request({}), kPublished);
  EXPECT_DOUBLE_EQ(*large.reference_GBps, 476);
  EXPECT_TRUE(large.reference_is_published);
  EXPECT_EQ(large.published.size(), 4U);
  EXPECT_EQ(large.floors.size(), 1U);
  const Expectation small = expect(request({}, 100 * kMiB), kPublished);
  EXPECT_DOUBLE_EQ(*small.reference_GBps, 300);
  EXPECT_TRUE(small.floors.empty()) << "a floor without a size is of a large one";
}

TEST(Expect, TakesThePredictionWhereNothingIsPublished) {
  const Expectation expected = expect(request({}), {});
  EXPECT_FALSE(expected.reference_is_published);
  EXPECT_EQ(expected.reference_GBps, expected.predicted_GBps);
  EXPECT_DOUBLE_EQ(*expected.bound_GBps, 700);
}

TEST(Expect, LeavesOutWhatIsNotHowAHealthyMachineRuns) {
  Published published = kPublished;
  published.rates.push_back(rate(100, 8 * kGiB, Evidence::Measured));
  published.rates.back().usual = false;
  EXPECT_DOUBLE_EQ(*expect(request({}), published).reference_GBps, 476);
}

TEST(Expect, TakesNoFigureOfAnotherNetwork) {
  Published published = kPublished;
  published.rates.front().ranks = 16;
  published.rates.front().nodes = 2;
  ExpectRequest two = request({});
  two.machine.hosts = 2;
  two.ranks = 16;
  EXPECT_TRUE(expect(two, published).reference_is_published);
  two.own_network = false;
  EXPECT_FALSE(expect(two, published).reference_is_published);
}

TEST(Expect, JudgesAgainstTheReference) {
  const auto outcome = [](double GBps, const Published& published) {
    return expect(request(GBps), published).outcome;
  };
  EXPECT_EQ(outcome(453, kPublished), Outcome::AsExpected);
  EXPECT_EQ(outcome(452, kPublished), Outcome::Low);
  EXPECT_EQ(outcome(405, kPublished), Outcome::Low);
  EXPECT_EQ(outcome(404, kPublished), Outcome::TooLow);
  EXPECT_EQ(outcome(720, kPublished), Outcome::AboveBound);
  const double predicted = *expect(request({}), {}).predicted_GBps;
  EXPECT_EQ(outcome(0.86 * predicted, {}), Outcome::AsExpected);
  EXPECT_EQ(outcome(0.84 * predicted, {}), Outcome::Low);
  EXPECT_EQ(outcome(0.69 * predicted, {}), Outcome::TooLow);
}

TEST(Expect, NamesTheCausesThatFitTheNearestFirst) {
  const Expectation expected = expect(request(355), kPublished);
  ASSERT_FALSE(expected.causes.empty());
  EXPECT_EQ(expected.causes.front().cause->id, "nvls-off");
  EXPECT_TRUE(expected.causes.front().fits);
  for (const CauseResult& each : expected.causes) {
    EXPECT_EQ(each.fits, each.distance <= kFit) << each.cause->id;
    EXPECT_EQ(each.fits, each.cause->id == "nvls-off") << each.cause->id;
  }
  EXPECT_TRUE(expect(request(470), kPublished).causes.empty()) << "nothing is wrong";
}

}  // namespace
}  // namespace busbar::study
