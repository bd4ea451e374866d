// SPDX-License-Identifier: BSD-3-Clause
// Figures of nccl-tests' alltoallv.cu by hand, and what its all-to-all of unequal parts needs.
#include "model/distribution.hpp"
#include "tests/unit/support/fake_communicator.hpp"

namespace busbar {
namespace {

/// What each rank sends rank 0, 1, ...: rows of elements of 4 bytes.
std::vector<std::vector<std::uint64_t>> rows_of(const Traffic& traffic) {
  std::vector<std::vector<std::uint64_t>> rows;
  for (int from = 0; from < traffic.ranks(); ++from) {
    auto& row = rows.emplace_back();
    for (int to = 0; to < traffic.ranks(); ++to) row.push_back(traffic.count(from, to));
  }
  return rows;
}

Traffic skewed(const char* text, Bytes wanted, int ranks, std::uint64_t seed = 1) {
  Distribution distribution = parse_skew("--skew", text);
  distribution.seed = seed;
  return traffic_of(distribution, wanted, 4, ranks);
}

TEST(Traffic, GrowsWithTheDistanceAsNcclTestsHasIt) {
  // 1200 bytes, down to four times 16: of 1152 a sixth, two and three.
  EXPECT_THAT(rows_of(skewed("distance", 1200, 4)),
              ElementsAre(ElementsAre(0, 48, 96, 144), ElementsAre(144, 0, 48, 96),
                          ElementsAre(96, 144, 0, 48), ElementsAre(48, 96, 144, 0)));
  EXPECT_THAT(rows_of(skewed("uniform", 96, 3)),
              ElementsAre(ElementsAre(8, 8, 8), ElementsAre(8, 8, 8), ElementsAre(8, 8, 8)));
  EXPECT_EQ(rows_of(skewed("distance:0", 4096, 4)), rows_of(skewed("uniform", 4096, 4)));
  EXPECT_THAT(rows_of(skewed("distance:0.5", 6400, 2)),
              ElementsAre(ElementsAre(400, 1200), ElementsAre(1200, 400)));
  EXPECT_THAT(rows_of(skewed("distance", 100, 1)), ElementsAre(ElementsAre(24)));
}

TEST(Traffic, IsOfTheFullestPort) {
  Traffic traffic(3, "by hand");
  traffic.set(0, 0, 50);  // kept: passes no port
  traffic.set(0, 1, 10);
  traffic.set(0, 2, 20);
  traffic.set(1, 2, 40);
  EXPECT_EQ(traffic.most_sent(), 80U);
  EXPECT_EQ(traffic.most_received(), 60U);
  EXPECT_EQ(traffic.most(), 80U);
  EXPECT_EQ(traffic.fullest_port(), 60U);  // into rank 2
  EXPECT_EQ(traffic.total(), 120U);
  EXPECT_DOUBLE_EQ(traffic.port_share(), 60.0 / 80);
  EXPECT_DOUBLE_EQ(traffic.imbalance(), 60.0 / (70.0 / 3));
  EXPECT_EQ(traffic.send_offset(0, 2), 60U);
  EXPECT_EQ(traffic.recv_offset(1, 2), 20U);
}

TEST(Traffic, OfEqualPartsHasTheBusFactorOfAnAllToAllAndOfOneRankPassesNoPort) {
  EXPECT_EQ(skewed("uniform", kMiB, 1).port_share(), 0);
  EXPECT_EQ(skewed("uniform", kMiB, 1).imbalance(), 0);
  for (const int ranks : {2, 3, 16}) {
    const Traffic equal = skewed("uniform", kMiB, ranks);
    EXPECT_DOUBLE_EQ(equal.port_share(), test::collective("alltoall").bus_factor(ranks));
    EXPECT_DOUBLE_EQ(equal.imbalance(), 1);
    EXPECT_DOUBLE_EQ(skewed("distance", kMiB, ranks).imbalance(), 1);
    EXPECT_EQ(skewed("distance", kMiB, ranks).port_share(), 1);  // no rank keeps a part
  }
}

TEST(Traffic, OfHotReceiversIsForTheFewAndTheSizeIsTheirs) {
  const Traffic hot = skewed("hot:1:1", 1600, 4);
  EXPECT_EQ(hot.most_received(), 400U);
  EXPECT_EQ(hot.total(), 400U);
  EXPECT_EQ(hot.most_sent(), 100U);
  const Traffic half = skewed("hot:2", kMiB, 8);
  EXPECT_NEAR(half.imbalance(), 2, 0.01);  // a quarter of all to each of two, an eighth is even
  EXPECT_NEAR(static_cast<double>(half.most() * 4), kMiB, 8 * 16);
}

TEST(Traffic, OfZipfIsDrawnBySeedAndFallsAsItSays) {
  const Traffic traffic = skewed("zipf:1", 16000, 4);
  std::vector<std::uint64_t> received;
  for (int rank = 0; rank < 4; ++rank) received.push_back(traffic.recv_offset(4, rank));
  std::ranges::sort(received, std::greater<>());
  EXPECT_THAT(received, ElementsAre(4000, 2000, 1328, 992));  // 1, 1/2, 1/3, 1/4 of 16000 bytes
  EXPECT_EQ(rows_of(skewed("zipf:1", 16000, 16, 7)), rows_of(skewed("zipf:1", 16000, 16, 7)));
  EXPECT_NE(rows_of(skewed("zipf:1", 16000, 16, 7)), rows_of(skewed("zipf:1", 16000, 16, 8)));
}

TEST(Traffic, OfSparseParticipationHasSoManyPeers) {
  for (const auto& row : rows_of(skewed("sparse:0.25", kMiB, 16))) {
    EXPECT_EQ(std::ranges::count_if(row, [](std::uint64_t count) { return count > 0; }), 4);
  }
  EXPECT_EQ(rows_of(skewed("sparse:1", kMiB, 8)), rows_of(skewed("uniform", kMiB, 8)));
}

TEST(Traffic, OfExpertsCountsTokens) {
  Distribution tokens = parse_experts("--moe", "100,32,2,8");
  const Traffic even = traffic_of(tokens, 0, 2, 4);
  EXPECT_EQ(even.total(), 4U * 100 * 32 * 2);
  for (int rank = 0; rank < 4; ++rank) EXPECT_EQ(even.send_offset(rank, 4), 100U * 32 * 2);
  EXPECT_LT(even.imbalance(), 1.5);
  const Traffic steep = traffic_of(parse_experts("--moe", "100,32,2,8,zipf:2"), 0, 2, 4);
  EXPECT_GT(steep.imbalance(), 1.2 * even.imbalance());
  EXPECT_EQ(to_text(parse_experts("--moe", "100,32,2,8,zipf:2")), "moe:100:32:2:8:zipf:2");
  tokens.seed = 2;
  EXPECT_NE(rows_of(traffic_of(tokens, 0, 2, 4)), rows_of(even));
}

TEST(Traffic, OfAMatrixIsItsFirstRanks) {
  const test::TemporaryFolder folder;
  const std::string path = folder.path("m.txt");
  folder.write("m.txt", "100 200 150\n\n50 100 75\n300.5\t150 200\n");
  const Distribution matrix = parse_skew("--skew", "matrix:" + path, 2);
  EXPECT_THAT(
      rows_of(traffic_of(matrix, 0, 4, 3)),
      ElementsAre(ElementsAre(48, 100, 72), ElementsAre(24, 48, 36), ElementsAre(148, 72, 100)));
  EXPECT_THAT(rows_of(traffic_of(matrix, 0, 4, 2)),
              ElementsAre(ElementsAre(48, 100), ElementsAre(24, 48)));
  EXPECT_THAT(to_text(matrix), testing::MatchesRegex("matrix:m.txt@[0-9a-f]{8}"));
  EXPECT_NE(to_text(matrix), to_text(parse_skew("--skew", "matrix:" + path)));
  const test::Failure failure = test::failure_of([&] { (void)traffic_of(matrix, 0, 4, 4); });
  EXPECT_THAT(failure.message, HasSubstr("it is of 3 ranks, and there are 4"));
}

TEST(Traffic, OfATokenThatGoesToAllExpertsIsOneEachHoweverRareTheyAre) {
  const Distribution all = parse_experts("--moe", "5,2,64,64,zipf:4");
  EXPECT_THAT(rows_of(traffic_of(all, 0, 4, 2)),
              ElementsAre(ElementsAre(320, 320), ElementsAre(320, 320)));
}

TEST(Traffic, RefusesMatricesThatAreNone) {
  const test::TemporaryFolder folder;
  for (const auto& [text, message] :
       {std::pair{"1 2\n3\n", "m.txt:2: 1 figure, and the first line has 2"},
        {"1 2\n", "1 line of 2 figures"},
        {"", "0 lines"},
        {"1 x\n2 3\n", "m.txt:1: 'x' is not a number of bytes"},
        {"1 -5\n2 3\n", "m.txt:1: '-5' is not a number of bytes"},
        {"1 nan\n2 3\n", "'nan' is not"},
        {"1 1e30\n2 3\n", "'1e30' is not"}}) {
    folder.write("m.txt", text);
    test::expect_failure(Status::Usage, message,
                         [&] { (void)parse_skew("--skew", "matrix:" + folder.path("m.txt")); });
  }
  EXPECT_THAT(test::failure_of([] { (void)parse_skew("--skew", "matrix:/nowhere"); }).message,
              HasSubstr("cannot read '/nowhere'"));
}

TEST(Traffic, RefusesDistributionsThatAreNone) {
  for (const char* text : {"", "even", "zipf", "zipf:x", "zipf:1:2", "hot", "hot:0", "hot:1:2",
                           "sparse:0", "sparse:1.5", "distance:2", "uniform:1", "moe:1"}) {
    EXPECT_EQ(test::failure_of([&] { (void)parse_skew("--skew", text); }).status, Status::Usage)
        << text;
  }
  for (const char* text : {"1,2,3", "0,1,1,1", "1,1,3,2", "1,1,1,1,zipf", "1,1,1,1,zipf:9", "a"}) {
    EXPECT_EQ(test::failure_of([&] { (void)parse_experts("--moe", text); }).status, Status::Usage)
        << text;
  }
  for (const char* text : {"16777216,1,16777216,16777216", "1,1,16777216,16777216"}) {
    EXPECT_THAT(test::refusal_of([&] { (void)parse_experts("--moe", text); }),
                HasSubstr("too many to draw; give fewer TOKENS, TOPK or EXPERTS"));
  }
  (void)parse_experts("--moe", "131072,7168,8,1024");
  EXPECT_THAT(test::failure_of([] { (void)skewed("hot:4", kMiB, 4); }).message,
              HasSubstr("--skew hot:4: there are 4 ranks; give fewer than that"));
}

TEST(AllToAllV, HasTheFootprintOfTheRankWithTheMost) {
  const Collective& collective = test::collective("alltoallv");
  EXPECT_TRUE(collective.is_measured());
  EXPECT_FALSE(collective.equal_parts);
  const Distribution distribution = parse_skew("--skew", "hot:1:1");
  const Footprint footprint = collective.footprint(
      {.wanted = 1600, .element = 4, .ranks = 4, .distribution = &distribution});
  EXPECT_EQ(std::tuple(footprint.size, footprint.send, footprint.recv, footprint.count),
            std::tuple(1600U, 400U, 1600U, 100U));
}

TEST(AllToAllV, CopiesAllThatIsSent) {
  const Traffic hot = skewed("hot:1:1", 1600, 4);
  const MinTraffic least = min_traffic_of(test::collective("alltoallv"), 4, false, &hot);
  EXPECT_DOUBLE_EQ(least.copied, 1);
  EXPECT_DOUBLE_EQ(least.touched, 2);
  EXPECT_EQ(bus_factor_of(test::collective("alltoallv"), 4, &hot), 0.75);
}

}  // namespace
}  // namespace busbar
