// SPDX-License-Identifier: BSD-3-Clause
#include "study/expect/expect.hpp"

#include "tests/unit/support/study_rows.hpp"

namespace busbar::study {
namespace {

PublishedRate rate(double busbw_GBps, std::optional<Bytes> size, RateEvidence evidence) {
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
/// Sixteen ranks on two hosts.
ExpectRequest on_two(std::optional<double> measured_GBps, const std::string& system = "dgx-h100") {
  ExpectRequest two = request(measured_GBps);
  two.machine = topo::load_machine(system);
  two.machine.hosts = 2;
  two.ranks = 16;
  return two;
}
std::vector<std::string_view> fitting(const Answer& answer) {
  return mapped(filtered(answer.causes, &CauseResult::fits),
                [](const CauseResult& each) { return each.cause->id; });
}

const PublishedRates kPublished{
    rate(480, 8 * kGiB, RateEvidence::Measured), rate(470, 16 * kGiB, RateEvidence::Measured),
    rate(476, 1 * kGiB, RateEvidence::Measured), rate(300, 64 * kMiB, RateEvidence::Measured),
    rate(460, {}, RateEvidence::Floor),          rate(900, 8 * kGiB, RateEvidence::User)};

TEST(Expect, ComparesWithWhatOthersMeasuredAtTheSizeElseNearIt) {
  const Answer large = expect(request({}), kPublished);
  EXPECT_DOUBLE_EQ(*large.reference_GBps, 480);
  EXPECT_EQ(large.reference, ReferenceKind::SameSize);
  EXPECT_THAT(large.published, SizeIs(4));
  EXPECT_THAT(large.floors, SizeIs(1));
  const Answer other = expect(request({}, 4 * kGiB), kPublished);
  EXPECT_DOUBLE_EQ(*other.reference_GBps, 476) << "the median of 470, 476 and 480";
  EXPECT_EQ(other.reference, ReferenceKind::NearSize);
  const Answer small = expect(request({}, 100 * kMiB), kPublished);
  EXPECT_DOUBLE_EQ(*small.reference_GBps, 300);
  EXPECT_TRUE(small.floors.empty()) << "a floor without a size is of a large one";
}

TEST(Expect, ListsFiguresOfTheSizeBeforeThoseNearIt) {
  EXPECT_THAT(mapped(expect(request({}, kGiB), kPublished).published, &PublishedRate::busbw_GBps),
              ElementsAre(476, 480, 470, 900));
}

TEST(Expect, TakesThePredictionWhereNothingIsPublished) {
  const Answer expected = expect(request({}), {});
  EXPECT_EQ(expected.reference, ReferenceKind::Prediction);
  EXPECT_EQ(expected.reference_GBps, expected.predicted_GBps);
  EXPECT_DOUBLE_EQ(*expected.bound_GBps, 700);
  Answer checked = expected;
  checked.checking_logs = 1;
  EXPECT_THAT(figures_table(request({}), checked).rows.at(1).at(2),
              HasSubstr("checked by one published log"));
}

TEST(Expect, LeavesOutWhatIsNotHowAHealthyMachineRuns) {
  PublishedRates published = kPublished;
  published.push_back(rate(100, 8 * kGiB, RateEvidence::Measured));
  published.back().usual = false;
  EXPECT_DOUBLE_EQ(*expect(request({}), published).reference_GBps, 480);
}

TEST(Expect, TakesNoFigureOfAnotherNetwork) {
  PublishedRates published = kPublished;
  published.front().ranks = 16;
  published.front().nodes = 2;
  ExpectRequest two = on_two({});
  EXPECT_NE(expect(two, published).reference, ReferenceKind::Prediction);
  published.front().system = "p5";  // the same GPUs
  EXPECT_EQ(expect(two, published).reference, ReferenceKind::Prediction);
  published.front().system = "dgx-h100";
  two.own_network = false;
  EXPECT_EQ(expect(two, published).reference, ReferenceKind::Prediction);
}

TEST(Expect, JudgesAgainstTheReference) {
  const auto grade = [](double GBps, const PublishedRates& published) {
    return expect(request(GBps), published).grade;
  };
  EXPECT_EQ(grade(461, kPublished), Grade::AsExpected);
  EXPECT_EQ(grade(459, kPublished), Grade::Low) << "below the only floor";
  EXPECT_EQ(grade(409, kPublished), Grade::Low);
  EXPECT_EQ(grade(407, kPublished), Grade::TooLow);
  PublishedRates no_floor = kPublished;
  std::erase_if(no_floor, [](const auto& each) { return each.evidence == RateEvidence::Floor; });
  EXPECT_EQ(grade(457, no_floor), Grade::AsExpected);
  EXPECT_EQ(grade(455, no_floor), Grade::Low);
  EXPECT_EQ(grade(720, kPublished), Grade::AboveBound);
  const double predicted = *expect(request({}), {}).predicted_GBps;
  EXPECT_EQ(grade(0.86 * predicted, {}), Grade::AsExpected);
  EXPECT_EQ(grade(0.84 * predicted, {}), Grade::Low);
  EXPECT_EQ(grade(0.69 * predicted, {}), Grade::TooLow);
}

TEST(Expect, RoundsTheShareOfTheReferenceDown) {
  // 407.5 of 480 GB/s is 0.84896, and 0.85 would be only low.
  EXPECT_THAT(verdict_text(expect(request(407.5), kPublished), 407.5),
              AllOf(StartsWith("0.84 of "), HasSubstr("too low")));
}

TEST(Expect, TakesFiguresOfTheSameGpusWithinAnNvlinkDomain) {
  PublishedRates published = kPublished;
  published.front() = {.system = "gb200-nvl72",
                       .nodes = 2,
                       .collective = "allreduce",
                       .ranks = 8,
                       .size = 8 * kGiB,
                       .busbw_GBps = 891.6};
  ExpectRequest trays = request({});
  trays.system = "gb200-tray";
  trays.machine = topo::load_machine("gb200-tray");
  trays.machine.hosts = 2;
  EXPECT_DOUBLE_EQ(*expect(trays, published).reference_GBps, 891.6);
}

TEST(Expect, NamesWhatTheBoundAssumes) {
  ExpectRequest clouds = request({});
  clouds.machine = topo::load_machine("p5");
  EXPECT_TRUE(expect(clouds, {}).assumptions.empty()) << "its PCIe tree is no part of one node's";
  EXPECT_EQ(expect(on_two({}, "p5"), {}).assumptions.size(), 1U);
}

TEST(Expect, TakesWhatIsPublishedWhereNoLogChecksThePredictionAndItAgrees) {
  // As kubernetes.recipes has it for eight H200 NVL, whose prediction no log checks.
  const auto h200_nvl = [](double measured_GBps) {
    ExpectRequest nvl = request(measured_GBps);
    nvl.system = "h200-nvl-x8";
    nvl.machine = topo::load_machine(nvl.system);
    return nvl;
  };
  PublishedRates stated{rate(68.7, 8 * kGiB, RateEvidence::ThirdHand)};
  stated.front().system = "h200-nvl-x8";
  const Answer same = expect(h200_nvl(68.66), stated);
  EXPECT_EQ(same.checking_logs, 0U);
  EXPECT_EQ(same.reference, ReferenceKind::Published);
  EXPECT_EQ(same.grade, Grade::AsExpected);
  EXPECT_TRUE(same.causes.empty());
  EXPECT_FALSE(is_wrong(same));
  EXPECT_EQ(expect(h200_nvl(50), stated).reference, ReferenceKind::Prediction);
  EXPECT_EQ(expect(h200_nvl(68.66), {}).grade, Grade::TooLow);
  stated.front().system = "dgx-h100";
  const Answer checked = expect(request(68.7), stated);
  EXPECT_GT(checked.checking_logs, 1U);
  EXPECT_EQ(checked.grade, Grade::TooLow) << "the prediction is checked";
}

TEST(Expect, FailsWhereTheCurveFallsAtLargeSizes) {
  const auto with_fall_at = [](Bytes size) {
    ExpectRequest falls = request(470);
    for (const auto& [bytes, GBps] :
         {std::pair{size / 2, 40.0}, std::pair{size, 10.0}, std::pair{8 * kGiB, 470.0}}) {
      falls.rows.push_back(test::study_row(bytes, GBps, 8));
    }
    falls.rows.push_back(test::study_row(8 * kGiB, 1, 4));
    return expect(falls, kPublished);
  };
  const Answer large = with_fall_at(kMiB);
  EXPECT_EQ(large.grade, Grade::AsExpected);
  EXPECT_EQ(large.curve_findings.size(), 1U) << "rows of other ranks are another curve";
  EXPECT_TRUE(is_wrong(large));
  const Answer small = with_fall_at(32 * kKiB);
  EXPECT_EQ(small.curve_findings.size(), 1U);
  EXPECT_FALSE(is_wrong(small)) << "one late row of a few microseconds";
}

/// Two H100 of two nodes over a NIC of 50 GB/s each.
Answer of_a_pair(double measured_GBps, const std::string& gpudirect = {}) {
  ExpectRequest pair = request(measured_GBps);
  pair.machine =
      part_of(pair.machine, 1, 2, topo::NetworkRequest{.adapters = 1, .adapter_GBps = 50});
  pair.ranks = 2;
  pair.own_network = false;
  pair.gpudirect = gpudirect;
  pair.collective = find_collective("sendrecv");
  return expect(pair, {});
}

TEST(Expect, TakesARangeOfWhatSoftwareReachesOfANetwork) {
  EXPECT_EQ(of_a_pair(36.5).grade, Grade::AsExpected) << "0.73 of the link";
  EXPECT_EQ(of_a_pair(35).grade, Grade::Low) << "0.70 of the link, and 0.875 of the prediction";
  EXPECT_EQ(of_a_pair(49).grade, Grade::AsExpected);
  EXPECT_THAT(fitting(of_a_pair(24.6)), Contains("half-network")) << "0.98 of half of the link";
}

TEST(Expect, LeavesOutGpudirectWhereConnectionsUseIt) {
  EXPECT_EQ(of_a_pair(13.1).causes.front().cause->id, "acs") << "NVIDIA/nccl#2409";
  EXPECT_THAT(fitting(of_a_pair(28)), Contains("gdr-off"));
  EXPECT_THAT(fitting(of_a_pair(28, "yes, 4 of 4 connections")), Not(Contains("gdr-off")));
  EXPECT_THAT(fitting(of_a_pair(28, "no, 2 of 4 connections")), Contains("gdr-off"));
}

TEST(Measured, HasTheNotesOfItsLogAndRefusesOneRank) {
  const test::TemporaryFolder folder;
  const auto read_with = [&](const std::string& head, const std::string& row) {
    folder.write("x.log",
                 head +
                     "mlx:1:2 [0] NCCL INFO Channel 00 : 0[0] -> 1[0] via NET/IB/0/GDRDMA\n"
                     "# size count type redop root time algbw busbw #wrong\n" +
                     row + "# Avg bus bandwidth : 9\n");
    return read_measured(folder.path("x.log"), *find_collective("allreduce"), {});
  };
  const auto pair = read_with("# nThread 1 nGpus 2 minBytes 8 maxBytes 8\n",
                              "33554432 8388608 float sum -1 276.88 121.19 121.19 0\n");
  EXPECT_THAT(pair.front().notes, Contains(HasSubstr("rows are missing")));
  EXPECT_EQ(value_of(pair.front().facts, fact::kGpudirectRdma), "yes, 1 of 1 connections");
  test::expect_failure(Status::Usage, "one rank took part", [&] {
    (void)read_with("# Rank 0 Group 0 Pid 1 on h device 0 [0000:06:00] NVIDIA H100\n",
                    "64 16 float sum -1 3.25 0.02 0.00 0\n");
  });
}

}  // namespace
}  // namespace busbar::study
