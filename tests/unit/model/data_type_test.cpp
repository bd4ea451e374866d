// SPDX-License-Identifier: BSD-3-Clause
#include "model/data_type.hpp"

#include <cmath>
#include <cstring>

// Literal bits are of IEEE 754 (binary16), of bfloat16 as the upper half of a float, and of the
// Open Compute Project's 8-bit formats.
namespace busbar {
namespace {

TEST(DataType, IsListedInNcclTestsOrderWithItsPropertiesWhichInfoFinds) {
  std::string list;
  for (const TypeInfo& type : kTypes)
    list += std::string(type.name) + ":" + std::to_string(type.size) + " ";
  EXPECT_EQ(list,
            "int8:1 uint8:1 int32:4 uint32:4 int64:8 uint64:8 half:2 float:4 double:8 bfloat16:2 "
            "f8e4m3:1 f8e5m2:1 ");
  EXPECT_EQ(info(DataType::Float).exact_limit, 16777216U);
  EXPECT_EQ(static_cast<float>(16777216U - 1), 16777215.0F);
  EXPECT_EQ(info(DataType::Int8).exact_limit, 127U);
  EXPECT_EQ(info(DataType::Half).exact_limit, 2048U);
  EXPECT_EQ(info(DataType::Bfloat16).exact_limit, 256U);
  EXPECT_EQ(info(DataType::F8e4m3).exact_limit, 16U);
  EXPECT_EQ(info(DataType::F8e5m2).exact_limit, 8U);
  EXPECT_TRUE(info(DataType::Half).floating);
  EXPECT_TRUE(info(DataType::F8e5m2).floating);
  EXPECT_FALSE(info(DataType::Uint64).floating);
  for (const TypeInfo& type : kTypes) EXPECT_EQ(&info(type.type), &type);
}

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

std::uint16_t bits(DataType type, double value) { return encode(*small_float(type), value); }
double number(DataType type, std::uint16_t bits) { return decode(*small_float(type), bits); }
double power(double exponent) { return std::exp2(exponent); }

/// The bits of these values, in their order.
void expect_bits(DataType type, const std::vector<double>& values, const std::vector<int>& all) {
  ASSERT_EQ(values.size(), all.size());
  for (std::size_t i = 0; i < all.size(); ++i)
    EXPECT_EQ(bits(type, values[i]), all[i]) << values[i];
}

TEST(SmallFloat, IsWhatTypesAreThatCppLacks) {
  EXPECT_EQ(small_float(DataType::Float), nullptr);
  EXPECT_EQ(small_float(DataType::Int8), nullptr);
  for (const SmallFloat& format : kSmallFloats) {
    EXPECT_EQ(small_float(format.type), &format);
    EXPECT_EQ(1 + format.exponent_bits + format.mantissa_bits,
              static_cast<int>(info(format.type).size) * 8);
  }
}

TEST(Half, HasIeeesBits) {
  expect_bits(DataType::Half, {0, -0.0, 1, -2, 1.0 / 3, 65504, power(-14), power(-24)},
              {0x0000, 0x8000, 0x3c00, 0xc000, 0x3555, 0x7bff, 0x0400, 0x0001});
}

TEST(Half, IsInfiniteBeyondItsLargestNumber) {
  expect_bits(DataType::Half, {65519.9, 65520, -1e300, kInfinity},
              {0x7bff, 0x7c00, 0xfc00, 0x7c00});
  EXPECT_EQ(bits(DataType::Half, kNan) & 0x7fff, 0x7e00);
  EXPECT_EQ(number(DataType::Half, 0xfc00), -kInfinity);
  EXPECT_TRUE(std::isnan(number(DataType::Half, 0x7c01)));
}

TEST(Bfloat16, IsTheUpperHalfOfAFloat) {
  // 257 and 259 are ties, to 256 and to 260.
  expect_bits(DataType::Bfloat16, {1, 1.0 / 3, 257, 259, power(-133), kInfinity},
              {0x3f80, 0x3eab, 0x4380, 0x4382, 0x0001, 0x7f80});
  EXPECT_EQ(bits(DataType::Bfloat16, kNan) & 0x7fff, 0x7fc0);
  for (std::uint32_t upper = 0; upper < 0x7f80; ++upper) {
    const std::uint32_t whole = upper << 16U;
    float value = 0;
    std::memcpy(&value, &whole, sizeof value);
    ASSERT_EQ(number(DataType::Bfloat16, static_cast<std::uint16_t>(upper)), value);
  }
}

TEST(F8e4m3, HasNumbersUpTo448AndNoInfinity) {
  expect_bits(DataType::F8e4m3, {1, 1.0 / 3, 448, 256, -16, 1000, -kInfinity},
              {0x38, 0x2b, 0x7e, 0x78, 0xd8, 0x7e, 0xfe});
  // Ties, to 16, to 20, to 0 and to the smallest normal number; it, and the smallest subnormal.
  expect_bits(DataType::F8e4m3, {17, 19, power(-10), 15 * power(-10), power(-6), power(-9)},
              {0x58, 0x5a, 0x00, 0x08, 0x08, 0x01});
  EXPECT_EQ(bits(DataType::F8e4m3, kNan) & 0x7f, 0x7f);
  EXPECT_TRUE(std::isnan(number(DataType::F8e4m3, 0x7f)));
  EXPECT_TRUE(std::isnan(number(DataType::F8e4m3, 0xff)));
}

TEST(F8e5m2, IsAShortHalf) {
  // 9 and 11 are ties, to 8 and to 12.
  expect_bits(DataType::F8e5m2, {1, 1.0 / 3, 9, 11, 57344, 61440, power(-16)},
              {0x3c, 0x35, 0x48, 0x4a, 0x7b, 0x7c, 0x01});
  EXPECT_EQ(bits(DataType::F8e5m2, kNan) & 0x7f, 0x7e);
  for (unsigned i = 0; i < 256; ++i) {
    const double value = number(DataType::F8e5m2, static_cast<std::uint16_t>(i));
    const double half = number(DataType::Half, static_cast<std::uint16_t>(i << 8U));
    if (std::isnan(value)) continue;
    ASSERT_EQ(value, half) << i;
  }
}

TEST(SmallFloat, ReadsBackEveryPatternAsItself) {
  for (const SmallFloat& format : kSmallFloats) {
    const unsigned patterns = 1U << (info(format.type).size * 8);
    for (unsigned i = 0; i < patterns; ++i) {
      const auto pattern = static_cast<std::uint16_t>(i);
      const double value = decode(format, pattern);
      if (std::isnan(value)) {
        ASSERT_TRUE(std::isnan(decode(format, encode(format, value)))) << i;
      } else {
        ASSERT_EQ(encode(format, value), pattern) << info(format.type).name;
      }
    }
  }
}

TEST(SmallFloat, RoundsToTheNearerNeighbourEverywhere) {
  for (const SmallFloat& format : kSmallFloats) {
    for (std::uint16_t low = 0;; ++low) {
      const std::uint16_t high = low + 1;
      const double below = decode(format, low);
      const double above = decode(format, high);
      if (!std::isfinite(above)) break;
      const double middle = (below + above) / 2;
      ASSERT_EQ(encode(format, std::nextafter(middle, below)), low);
      ASSERT_EQ(encode(format, std::nextafter(middle, above)), high);
      ASSERT_EQ(encode(format, middle), low % 2 == 0 ? low : high);
    }
  }
}

TEST(SmallFloat, HasItsSmallestNormalNumberWhereTheExponentIsOne) {
  for (const SmallFloat& format : kSmallFloats) {
    const auto first =
        static_cast<std::uint16_t>(1U << static_cast<unsigned>(format.mantissa_bits));
    EXPECT_EQ(smallest_normal(format), decode(format, first));
  }
}

}  // namespace
}  // namespace busbar
