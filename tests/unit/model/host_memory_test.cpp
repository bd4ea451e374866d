// SPDX-License-Identifier: BSD-3-Clause
#include "model/host_memory.hpp"

namespace busbar {
namespace {

constexpr std::uint64_t kPeriod = Pattern::kPeriod;

Tile tile_of(DataType type, int rank = 1) { return {Pattern(type, ReduceOp::None, 4, 1), rank}; }

TEST(AllocateHost, BeginsOnATwoMebibytePageAndIsPoisoned) {
  EXPECT_NE(allocate_host(0).data(), nullptr);
  for (const Bytes size : {1U, 100U, 2097152U, 2097153U}) {
    const Buffer buffer = allocate_host(size);
    EXPECT_EQ(buffer.size(), size);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(buffer.data()) % (2 * kMiB), 0U);
    EXPECT_TRUE(std::all_of(buffer.data(), buffer.data() + size,
                            [](std::byte byte) { return byte == std::byte{0xa5}; }));
  }
}

TEST(AllocateHost, TakesSmallPagesWhereTheyAreAskedFor) {
  const Buffer huge = allocate_host(6 * kMiB, Pages::Huge);
  const Buffer small = allocate_host(6 * kMiB, Pages::Small);
  const bool reported =
      test::text_of("/proc/self/smaps").find("AnonHugePages:") != std::string::npos;
  // (qemu-user reports them with addresses of its own.)
  if (!reported || !huge_page_share(small)) GTEST_SKIP() << "the kernel does not report its pages";
  EXPECT_EQ(huge_page_share(small), 0.0);
  EXPECT_GE(huge_page_share(huge).value_or(-1), 0.0);
  EXPECT_LE(huge_page_share(huge).value_or(2), 1.0);
}

TEST(FillHost, RepeatsThePatternFromAnyElementOfItsPeriod) {
  const Tile tile = tile_of(DataType::Int32);
  for (const std::uint64_t first :
       {std::uint64_t{0}, std::uint64_t{1}, kPeriod - 1, kPeriod, 10 * kPeriod + 17}) {
    std::vector<std::int32_t> data(3 * kPeriod + 5);
    fill_host(reinterpret_cast<std::byte*>(data.data()), data.size(), tile, first);
    const Pattern pattern(DataType::Int32, ReduceOp::None, 4, 1);
    for (std::size_t i = 0; i < data.size(); i += 61) {
      ASSERT_EQ(static_cast<std::uint64_t>(data[i]), pattern.value(1, first + i))
          << first << ' ' << i;
    }
  }
}

TEST(FillHost, WritesNothingBeyondItsCount) {
  const Tile tile = tile_of(DataType::Int8);
  std::vector<std::byte> data(20, std::byte{0xff});
  fill_host(data.data(), 10, tile, kPeriod - 3);
  EXPECT_EQ(std::count(data.begin() + 10, data.end(), std::byte{0xff}), 10);
}

/// Two periods and a half of a type, filled from an odd place.
template <class T>
struct Filled {
  static constexpr std::uint64_t kFirst = 1000;
  Tile tile;
  std::vector<T> data = std::vector<T>(10000);

  explicit Filled(DataType type) : tile(tile_of(type)) {
    fill_host(reinterpret_cast<std::byte*>(data.data()), data.size(), tile, kFirst);
  }
  [[nodiscard]] Difference compare() const {
    return compare_host(reinterpret_cast<const std::byte*>(data.data()), data.size(), tile, kFirst);
  }
};

TEST(CompareHost, FindsASingleFlippedBitWhereverItIs) {
  Filled<std::uint64_t> filled(DataType::Uint64);
  for (const std::size_t index : {std::size_t{0}, std::size_t{3092}, std::size_t{3093},
                                  std::size_t{7185}, std::size_t{9999}}) {
    for (const unsigned bit : {0U, 7U, 31U, 63U}) {
      filled.data[index] ^= std::uint64_t{1} << bit;
      const Difference comparison = filled.compare();
      EXPECT_EQ(comparison.wrong, 1U);
      EXPECT_EQ(comparison.first_wrong, index);
      filled.data[index] ^= std::uint64_t{1} << bit;
    }
  }
}

TEST(CompareHost, CountsWrongElementsAndShowsTheFirst) {
  EXPECT_EQ(compare_host(nullptr, 0, tile_of(DataType::Float), 5).wrong, 0U);
  Filled<std::int32_t> filled(DataType::Int32);
  const std::int32_t expected = filled.data[4000];
  filled.data[4000] = -7;
  filled.data[4001] = -8;
  filled.data[9000] = -9;
  const Difference comparison = filled.compare();
  EXPECT_EQ(comparison.wrong, 3U);
  EXPECT_EQ(comparison.first_wrong, 4000U);
  EXPECT_EQ(comparison.expected, std::to_string(expected));
  EXPECT_EQ(comparison.got, "-7");
}

TEST(CompareHost, DistinguishesANegativeZeroFromZero) {
  Filled<float> filled(DataType::Float);
  const auto zero = std::find(filled.data.begin(), filled.data.end(), 0.0F);
  *(zero == filled.data.end() ? filled.data.begin() : zero) *= -1;
  EXPECT_EQ(filled.compare().wrong, 1U);
}

TEST(PoisonHost, IsNeverDataInAnyTypeOrOperation) {
  for (const TypeInfo& type : kTypes) {
    if (type.type == DataType::Half || type.type == DataType::Bfloat16) continue;
    std::vector<std::byte> poison(kPeriod * type.size);
    poison_host(poison.data(), poison.size());
    for (const ReduceOp op : {ReduceOp::Sum, ReduceOp::Prod, ReduceOp::Max, ReduceOp::Min}) {
      for (const int ranks : {1, 2, 16, 300}) {
        const Pattern pattern(type.type, op, ranks, 1);
        const Tile reduced(pattern, kAllRanks);
        const Tile sent(pattern, 0);
        EXPECT_EQ(compare_host(poison.data(), kPeriod, reduced, 0).wrong, kPeriod)
            << type.name << name(op);
        EXPECT_EQ(compare_host(poison.data(), kPeriod, sent, 0).wrong, kPeriod)
            << type.name << name(op);
      }
    }
  }
}

}  // namespace
}  // namespace busbar
