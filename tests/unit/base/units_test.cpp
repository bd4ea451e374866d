// SPDX-License-Identifier: BSD-3-Clause
#include "base/units.hpp"

namespace busbar {
namespace {

using test::expect_failure;
using test::refusal_of;

std::string refusal(std::string_view size) {
  return refusal_of([&] { (void)parse_bytes("-b", size); });
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
  expect_bytes({"1.5K", "1.5GiB", "0.5M"}, {1536, 1610612736, 524288});
}

TEST(ParseBytes, RefusesOnOneLineWhatNcclTestsSwallows) {
  for (const char* size :
       {"nan",    "inf", "-inf",      "1,000",    "-1",  "+1",    "",         " ",
        "abc",    "M",   "2^20",      "0x10",     "1e6", "1e",    "1.5",      "1..5K",
        "1.2.3M", "8MM", "8 MiBytes", "32MBytes", "8M ", "1_000", "infinity", "NaN"}) {
    EXPECT_THAT(refusal(size),
                AllOf(StartsWith(fmt::format("-b: '{}'", size)), Not(HasSubstr("\n"))));
  }
}

TEST(ParseBytes, RefusesSuffixesThatCouldBeDecimalAndSizesThatNoMachineHas) {
  for (const char* size : {"4KB", "4MB", "4GB", "4TB"}) {
    EXPECT_THAT(refusal(size), HasSubstr("decimal or binary"));
  }
  EXPECT_THAT(refusal("4GB"), HasSubstr("G or GiB"));
  for (const char* size : {"1000000T", "99999999999999999999"}) {
    EXPECT_THAT(refusal(size), HasSubstr("too large"));
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
    expect_failure(Status::Usage, {"-n: ", "is not a whole number"},
                   [&] { (void)parse_integer("-n", text, 0, 1000000); });
  }
}

TEST(ParseInteger, NamesTheRangeOfANumberBeyondIt) {
  constexpr auto kNoLimit = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(refusal_of([] { (void)parse_integer("-a", "4", 0, 3); }),
            "-a: 4 is out of range; give 0 to 3");
  EXPECT_EQ(refusal_of([] { (void)parse_integer("-n", "0", 1, kNoLimit); }),
            "-n: 0 is out of range; give 1 or more");
}

TEST(ParseNumber, TakesFiniteDecimals) {
  EXPECT_DOUBLE_EQ(parse_number("--time-budget", "0.05", 0.001, 10), 0.05);
  EXPECT_DOUBLE_EQ(parse_number("--time-budget", "1e1", 0.001, 10), 10);
}

TEST(ParseNumber, RefusesWhatIsNotFiniteOrNotANumberAndNamesTheRangeOfOneBeyondIt) {
  for (const char* text : {"nan", "inf", "-inf", "", "1,5", "3s", "1e999", "0x1"}) {
    EXPECT_EQ(refusal_of([&] { (void)parse_number("--time-budget", text, 0, 1e9); }),
              fmt::format("--time-budget: '{}' is not a number", text));
  }
  EXPECT_EQ(refusal_of([] { (void)parse_number("--ci-width", "60", 0.01, 50); }),
            "--ci-width: 60 is out of range; give 0.01 to 50");
}

TEST(GigabytesPerSecond, AreTenToTheNinth) {
  EXPECT_DOUBLE_EQ(gigabytes_per_second(1000000000, Seconds{0.5}), 2.0);
  EXPECT_DOUBLE_EQ(gigabytes_per_second(1073741824, Seconds{1}), 1.073741824);
}

TEST(ParseDuration, TakesUnitsOrSeconds) {
  const std::vector<std::pair<const char*, double>> times{
      {"90", 90}, {"90s", 90}, {"1.5m", 90}, {"2h", 7200}, {"1d", 86400}, {"500ms", 0.5}};
  for (const auto& [text, seconds] : times) {
    EXPECT_EQ(parse_duration("--duration", text, 0.1), Seconds{seconds}) << text;
  }
  for (const char* text : {"", "m", "5w", "-5", "1.2.3", "50ms", "200d", "5 minutes"}) {
    expect_failure(Status::Usage,
                   "--duration: ", [&] { (void)parse_duration("--duration", text, 0.1); });
  }
}

}  // namespace
}  // namespace busbar
