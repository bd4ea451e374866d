// SPDX-License-Identifier: BSD-3-Clause
#include "base/units.hpp"

namespace busbar {
namespace {

using test::Failure;
using test::failure_of;

Failure refusal(std::string_view size) {
  return failure_of([&] { (void)parse_bytes("-b", size); });
}

void expect_bytes(const std::vector<const char*>& texts, const std::vector<Bytes>& expected) {
  ASSERT_EQ(texts.size(), expected.size());
  for (std::size_t i = 0; i < texts.size(); ++i) {
    EXPECT_EQ(parse_bytes("-b", texts[i]), expected[i]) << texts[i];
  }
}

TEST(ParseBytes, TakesPlainBytesAndNcclTestsSuffixesAsPowersOfTwo) {
  expect_bytes({"1", "8", "8B", "1048577", "0"}, {1, 8, 8, 1048577, 0});
  expect_bytes({"8K", "8k", "1M", "1m", "1G", "1g", "2T"},
               {8192, 8192, 1048576, 1048576, 1073741824, 1073741824, 2199023255552});
  expect_bytes({"64KiB", "3MiB", "2GiB", "1TiB"}, {65536, 3145728, 2147483648, 1099511627776});
  expect_bytes({"8 M"}, {8388608});  // one blank, as nccl-tests
}

TEST(ParseBytes, TakesFractionsThatAreWholeBytes) {
  expect_bytes({"1.5K", "1.5GiB", "0.5M"}, {1536, 1610612736, 524288});
}

TEST(ParseBytes, RefusesOnOneLineWhatNcclTestsSwallows) {
  for (const char* size :
       {"nan",    "inf", "-inf",      "1,000",    "-1",  "+1",    "",         " ",
        "abc",    "M",   "2^20",      "0x10",     "1e6", "1e",    "1.5",      "1..5K",
        "1.2.3M", "8MM", "8 MiBytes", "32MBytes", "8M ", "1_000", "infinity", "NaN"}) {
    const Failure failure = refusal(size);
    EXPECT_EQ(failure.status, Status::Usage) << size;
    EXPECT_TRUE(failure.message.starts_with("-b: '" + std::string(size) + "'")) << failure.message;
    EXPECT_TRUE(failure.is_one_line()) << failure.message;
  }
}

TEST(ParseBytes, RefusesSuffixesThatCouldBeDecimalAndSizesThatNoMachineHas) {
  for (const char* size : {"4KB", "4MB", "4GB", "4TB"}) {
    EXPECT_EQ(refusal(size).status, Status::Usage) << size;
    EXPECT_TRUE(refusal(size).says("decimal or binary")) << refusal(size).message;
  }
  EXPECT_TRUE(refusal("4GB").says("G or GiB")) << refusal("4GB").message;
  for (const char* size : {"1000000T", "99999999999999999999"}) {
    EXPECT_TRUE(refusal(size).says("too large")) << refusal(size).message;
  }
}

TEST(FormatBytes, UsesTheLargestBinaryUnitWithTwoDecimalsAtMost) {
  std::string all;
  for (const Bytes bytes :
       std::vector<Bytes>{0, 8, 1023, 1024, 1536, 65536, 1048576, 1288490189, 1073741824,
                          1099511627776, 1395864371, 1310720, 10485760}) {
    all += format_bytes(bytes) + ", ";
  }
  EXPECT_EQ(all,
            "0 B, 8 B, 1023 B, 1 KiB, 1.5 KiB, 64 KiB, 1 MiB, 1.2 GiB, 1 GiB, 1 TiB, 1.3 GiB, "
            "1.25 MiB, 10 MiB, ");
}

TEST(ParseInteger, TakesBothEndsOfTheRange) {
  EXPECT_EQ(parse_integer("-a", "0", 0, 3), 0);
  EXPECT_EQ(parse_integer("-a", "3", 0, 3), 3);
  EXPECT_EQ(parse_integer("-x", "-5", -5, 0), -5);
}

TEST(ParseInteger, RefusesWhatIsNoWholeNumber) {
  for (const char* text :
       {"", "1.5", "1e3", "nan", "ten", "1,000", " 1", "1 ", "0x1", "+1", "9223372036854775808"}) {
    test::expect_failure(Status::Usage, {"-n: ", "is not a whole number"},
                         [&] { (void)parse_integer("-n", text, 0, 1000000); });
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

TEST(ParseDuration, TakesUnitsOrSeconds) {
  const std::vector<std::pair<const char*, double>> times{
      {"90", 90}, {"90s", 90}, {"1.5m", 90}, {"2h", 7200}, {"1d", 86400}, {"500ms", 0.5}};
  for (const auto& [text, seconds] : times) {
    EXPECT_EQ(parse_duration("--duration", text, 0.1), Seconds{seconds}) << text;
  }
  for (const char* text : {"", "m", "5w", "-5", "1.2.3", "50ms", "200d", "5 minutes"}) {
    const Failure failure = failure_of([&] { (void)parse_duration("--duration", text, 0.1); });
    EXPECT_EQ(failure.status, Status::Usage) << text;
    EXPECT_TRUE(failure.says("--duration: ")) << failure.message;
  }
}

}  // namespace
}  // namespace busbar
