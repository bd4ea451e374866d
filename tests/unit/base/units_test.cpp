// SPDX-License-Identifier: BSD-3-Clause
#include "base/units.hpp"

#include <limits>
#include <utility>

#include <gtest/gtest.h>

#include "tests/unit/support/failure.hpp"

namespace busbar {
namespace {

using test::Failure;
using test::failure_of;

Failure refusal(std::string_view size) {
  return failure_of([&] { (void)parse_bytes("-b", size); });
}

TEST(ParseBytes, TakesPlainBytes) {
  EXPECT_EQ(parse_bytes("-b", "1"), 1U);
  EXPECT_EQ(parse_bytes("-b", "8"), 8U);
  EXPECT_EQ(parse_bytes("-b", "8B"), 8U);
  EXPECT_EQ(parse_bytes("-b", "1048577"), 1048577U);
  EXPECT_EQ(parse_bytes("-b", "0"), 0U);
}

TEST(ParseBytes, TakesNcclTestsSuffixesAsPowersOfTwo) {
  EXPECT_EQ(parse_bytes("-b", "8K"), 8192U);
  EXPECT_EQ(parse_bytes("-b", "8k"), 8192U);
  EXPECT_EQ(parse_bytes("-b", "1M"), 1048576U);
  EXPECT_EQ(parse_bytes("-b", "1m"), 1048576U);
  EXPECT_EQ(parse_bytes("-b", "1G"), 1073741824U);
  EXPECT_EQ(parse_bytes("-b", "1g"), 1073741824U);
  EXPECT_EQ(parse_bytes("-b", "2T"), 2199023255552U);
}

TEST(ParseBytes, TakesSpelledOutSuffixes) {
  EXPECT_EQ(parse_bytes("-b", "64KiB"), 65536U);
  EXPECT_EQ(parse_bytes("-b", "3MiB"), 3145728U);
  EXPECT_EQ(parse_bytes("-b", "2GiB"), 2147483648U);
  EXPECT_EQ(parse_bytes("-b", "1TiB"), 1099511627776U);
}

TEST(ParseBytes, TakesFractionsThatAreWholeBytes) {
  EXPECT_EQ(parse_bytes("-b", "1.5K"), 1536U);
  EXPECT_EQ(parse_bytes("-b", "1.5GiB"), 1610612736U);
  EXPECT_EQ(parse_bytes("-b", "0.5M"), 524288U);
}

TEST(ParseBytes, TakesOneBlankBeforeTheSuffixAsNcclTestsDoes) {
  EXPECT_EQ(parse_bytes("-b", "8 M"), 8388608U);
}

TEST(ParseBytes, RefusesOnOneLineWhatNcclTestsSwallows) {
  for (const char* size :
       {"nan",    "inf", "-inf",      "1,000",    "-1",  "+1",    "",         " ",
        "abc",    "M",   "2^20",      "0x10",     "1e6", "1e",    "1.5",      "1..5K",
        "1.2.3M", "8MM", "8 MiBytes", "32MBytes", "8M ", "1_000", "infinity", "NaN"}) {
    const Failure failure = refusal(size);
    EXPECT_EQ(failure.status, Status::Usage) << size;
    EXPECT_TRUE(failure.message.starts_with("-b: ")) << failure.message;
    EXPECT_TRUE(failure.is_one_line()) << failure.message;
  }
}

TEST(ParseBytes, RefusesSuffixesThatCouldBeDecimalAndSaysHowToWriteThem) {
  for (const char* size : {"4KB", "4MB", "4GB", "4TB"}) {
    const Failure failure = refusal(size);
    EXPECT_EQ(failure.status, Status::Usage) << size;
    EXPECT_TRUE(failure.says("decimal or binary")) << failure.message;
  }
  EXPECT_TRUE(refusal("4GB").says("say G or GiB")) << refusal("4GB").message;
}

TEST(ParseBytes, RefusesWhatNoMachineHas) {
  EXPECT_TRUE(refusal("1000000T").says("too large")) << refusal("1000000T").message;
  EXPECT_TRUE(refusal("99999999999999999999").says("too large"));
}

TEST(ParseBytes, NamesTheTextAndShowsHowToWriteIt) {
  EXPECT_TRUE(refusal("1,000").says("'1,000' is not a size"));
  EXPECT_TRUE(refusal("1,000").says("as in 8, 64K, 1.5M or 2GiB"));
}

TEST(FormatBytes, UsesTheLargestBinaryUnitWithTwoDecimalsAtMost) {
  for (const auto& [bytes, text] : {std::pair<Bytes, const char*>{0, "0 B"},
                                    {8, "8 B"},
                                    {1023, "1023 B"},
                                    {1024, "1 KiB"},
                                    {1536, "1.5 KiB"},
                                    {65536, "64 KiB"},
                                    {1048576, "1 MiB"},
                                    {1288490189, "1.2 GiB"},
                                    {1073741824, "1 GiB"},
                                    {1099511627776, "1 TiB"},
                                    {1395864371, "1.3 GiB"},
                                    {1310720, "1.25 MiB"},
                                    {10485760, "10 MiB"}}) {
    EXPECT_EQ(format_bytes(bytes), text);
  }
}

TEST(ParseInteger, TakesBothEndsOfTheRange) {
  EXPECT_EQ(parse_integer("-a", "0", 0, 3), 0);
  EXPECT_EQ(parse_integer("-a", "3", 0, 3), 3);
  EXPECT_EQ(parse_integer("-x", "-5", -5, 0), -5);
}

TEST(ParseInteger, RefusesWhatIsNoWholeNumber) {
  for (const char* text :
       {"", "1.5", "1e3", "nan", "ten", "1,000", " 1", "1 ", "0x1", "+1", "9223372036854775808"}) {
    const Failure failure = failure_of([&] { (void)parse_integer("-n", text, 0, 1000000); });
    EXPECT_EQ(failure.status, Status::Usage) << text;
    EXPECT_TRUE(failure.says("-n: ")) << failure.message;
    EXPECT_TRUE(failure.says("is not a whole number")) << failure.message;
  }
}

TEST(ParseInteger, NamesTheRangeOfANumberBeyondIt) {
  const Failure above = failure_of([] { (void)parse_integer("-a", "4", 0, 3); });
  EXPECT_EQ(above.message, "-a: 4 is out of range; give 0 to 3");
  constexpr auto kNoLimit = std::numeric_limits<std::int64_t>::max();
  const Failure below = failure_of([] { (void)parse_integer("-n", "0", 1, kNoLimit); });
  EXPECT_EQ(below.message, "-n: 0 is out of range; give 1 or more");
}

TEST(ParseNumber, TakesFiniteDecimals) {
  EXPECT_DOUBLE_EQ(parse_number("--time-budget", "0.05", 0.001, 10), 0.05);
  EXPECT_DOUBLE_EQ(parse_number("--time-budget", "1e1", 0.001, 10), 10);
}

TEST(ParseNumber, RefusesWhatIsNotFiniteOrNotANumber) {
  for (const char* text : {"nan", "inf", "-inf", "", "1,5", "3s", "1e999", "0x1"}) {
    const Failure failure = failure_of([&] { (void)parse_number("--time-budget", text, 0, 1e9); });
    EXPECT_EQ(failure.message, "--time-budget: '" + std::string(text) + "' is not a number");
  }
}

TEST(ParseNumber, NamesTheRangeOfANumberBeyondIt) {
  const Failure failure = failure_of([] { (void)parse_number("--ci-width", "60", 0.01, 50); });
  EXPECT_EQ(failure.message, "--ci-width: 60 is out of range; give 0.01 to 50");
}

TEST(GigabytesPerSecond, AreTenToTheNinth) {
  EXPECT_DOUBLE_EQ(gigabytes_per_second(1000000000, Seconds{0.5}), 2.0);
  EXPECT_DOUBLE_EQ(gigabytes_per_second(1073741824, Seconds{1}), 1.073741824);
}

TEST(Microseconds, AreAMillionthOfASecond) {
  EXPECT_DOUBLE_EQ(microseconds(Seconds{0.25}), 250000);
}

}  // namespace
}  // namespace busbar
