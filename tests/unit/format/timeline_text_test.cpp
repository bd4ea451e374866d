// SPDX-License-Identifier: BSD-3-Clause
#include "format/timeline_text.hpp"

#include "format/timeline_file.hpp"
#include "tests/unit/support/sample_records.hpp"

namespace busbar {
namespace {

/// A run of intervals of 1 s, with a median and the rate of each tenth of them.
template <class MedianOf, class RateOf>
std::vector<std::string> lines_of(int intervals, MedianOf median_of, RateOf rate_of) {
  stats::Timeline timeline;
  for (int i = 0; i < intervals; ++i) {
    std::vector<double> rates;
    for (int part = 0; part < 10; ++part) rates.push_back(rate_of(10 * i + part));
    timeline.add({.at_s = i + 1.0, .median_us = median_of(i), .p99_us = 2 * median_of(i)}, rates);
  }
  return describe_events(timeline, stats::find_events(timeline));
}

constexpr auto kSteady = [](int /*n*/) { return 100.0; };

TEST(TimelineText, SaysWhatWasNotThereAndHowSmallItCouldBe) {
  EXPECT_THAT(
      lines_of(300, kSteady, kSteady),
      ElementsAre("level: no lasting change of 3.0 % or more", "drift: none of 3.0 % or more",
                  "slowdowns: none of 20.0 % or more in 0.1 s"));
}

TEST(TimelineText, NamesLevelsWithTheirTimes) {
  const auto lines = lines_of(
      300, [](int i) { return i < 134 || i >= 200 ? 100.0 : 112.0; }, kSteady);
  EXPECT_THAT(lines, Contains("level: median time 12.0 % longer from 00:02:14 to 00:03:20; 100 us "
                              "before, 112 us after"));
  EXPECT_THAT(lines, Contains("level: median time 10.7 % shorter from 00:03:20 to the end; 112 us "
                              "before, 100 us after"));
}

TEST(TimelineText, NamesADrift) {
  const auto lines = lines_of(
      320, [](int i) { return 100 + 0.05 * i; }, kSteady);
  EXPECT_THAT(lines, Contains("drift: median time 14.9 % longer from the begin to the end"));
}

TEST(TimelineText, HasDepthAndTimeToRecoverOfTheDeepestSlowdowns) {
  const auto lines = lines_of(300, kSteady, [](int part) {
    if (part >= 1000 && part < 1020) return 25.0;
    return part % 600 == 300 ? 50.0 : 100.0;
  });
  EXPECT_THAT(lines,
              Contains("slowdowns: 6 (a 0.1 s part at least 20.0 % slower); 5 lasted at most "
                       "1.5 s; about every 60 s (4 of 4 gaps)"));
  EXPECT_THAT(lines, Contains("slowdown at 00:01:40.0: from 100 operations/s to 25 %, recovered "
                              "after 2.0 s (+-0.1) to within 2.0 %; held 10 s: yes"));
  const auto ended = lines_of(100, kSteady, [](int part) { return part < 580 ? 100.0 : 60.0; });
  EXPECT_THAT(ended, Contains("slowdown at 00:00:58.0: from 100 operations/s to 60 %, not "
                              "recovered to within 2.0 % in 42.0 s (run ended), stays at 60 %"));
  const auto back = lines_of(100, kSteady, [](int part) { return part / 10 == 98 ? 60.0 : 100.0; });
  EXPECT_THAT(back, Contains(HasSubstr("back to 100 %, but the run ended")));
}

TEST(TimelineText, SaysThatARunIsTooNoisyToShowMuch) {
  stats::TimelineEvents events;
  events.level.least = 5.4;
  EXPECT_THAT(describe_events({}, events),
              Contains("level: too noisy: only changes of 540.0 % or more would have been seen"));
}

TEST(ClockText, HasHours) {
  EXPECT_EQ(clock_text(134), "00:02:14");
  EXPECT_EQ(clock_text(90061.25, true), "25:01:01.2");
}

struct TimelineFiles : testing::Test {
  /// What is wrong with a file of this text.
  test::Failure failure_of(const std::string& text) {
    std::ofstream(path) << text;
    return test::failure_of([&] { (void)read_timeline(path); });
  }

  test::TemporaryFolder folder;
  std::string path = folder.path() + "/t.csv";
};

TEST_F(TimelineFiles, AreReadBackAsTheyWereWritten) {
  {
    TimelineWriter writer(path);
    writer.begin(test::context());
    writer.append({.at_s = 1.002,
                   .seconds = 1.002,
                   .operations = 4000000,
                   .median_us = 250.5,
                   .p99_us = 300,
                   .max_us = 412.25,
                   .busbw_GBps = 41.5,
                   .operations_per_s = 3990.25,
                   .checked_bytes = 3000000000,
                   .wrong = 2,
                   .part_rates = {3990, 2000.5}});
    writer.append({.at_s = 2, .median_us = 260, .p99_us = 300});
    writer.write({.findings = {"level: none", "two\nlines"}});
    writer.end({.finished_at = "now"});
  }
  const TimelineFile file = read_timeline(path);
  EXPECT_EQ(value_of(file.facts, fact::kCommand),
            value_of(facts_of(CsvReader(path).head()), fact::kCommand));
  EXPECT_EQ(file.seconds, 2);
  EXPECT_EQ(file.checked_bytes, 3000000000U);
  EXPECT_EQ(file.wrong, 2U);
  EXPECT_EQ(file.timeline.points().size(), 2U);
  EXPECT_EQ(file.timeline.rates(), (std::vector<double>{3990, 2000.5}));
  const std::string text = read_file(path).value();
  EXPECT_THAT(text, HasSubstr("\n1.002,1.002,4000000,250.5,300,412.25,41.5,3990.25,2000.5,"
                              "3000000000,2,3990 2000.5\n2,0,0,260,300,0,,0,,0,0,\n"));
  EXPECT_THAT(text, EndsWith("# level: none\n# two lines\n# finished: now\n"));
}

TEST_F(TimelineFiles, ThatAreNoneAreRefusedByPlace) {
  const std::string names = "at_s,median_us,p99_us,parts_per_s\n";
  EXPECT_TRUE(failure_of("collective,size_bytes\n").says("no column at_s"));
  EXPECT_TRUE(
      failure_of(names + "1,5,6,3\n2,x,6,3\n").says(":3: 'x' is not a value of column median_us"));
  EXPECT_TRUE(failure_of(names + "1,5,6,3 -1\n").says("column parts_per_s"));
  EXPECT_TRUE(failure_of(names + "1,5,0,3\n").says(":2: not a line of a timeline"));
  EXPECT_TRUE(failure_of(names + "1,5\n").says(":2: not a line of a timeline"));
  EXPECT_EQ(failure_of(names + "1,5,6,3\n2,5,6").status, Status::Ok);  // a killed run's last line
}

}  // namespace
}  // namespace busbar
