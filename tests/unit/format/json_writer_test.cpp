// SPDX-License-Identifier: BSD-3-Clause
#include "format/json_writer.hpp"

#include "tests/unit/support/sample_records.hpp"

namespace busbar {
namespace {

using test::measured;
using test::with;

struct NcclTestsJsonFile : testing::Test {
  [[nodiscard]] std::string path() const { return folder.path("x.json"); }
  [[nodiscard]] Json document() const { return Json::parse(test::text_of(path())); }
  /// The results of these rows.
  [[nodiscard]] Json results(const RunContext& context, const std::vector<Row>& rows,
                             HalfJoiner::Halves halves = {}) const {
    NcclTestsJson writer(path(), false, halves);
    writer.begin(context);
    for (const Row& row : rows) writer.write(row);
    return document()["results"];
  }

  test::TemporaryFolder folder;
};

RunContext per_iteration(std::uint64_t skipped) {
  return with(test::context(), &RunContext::skipped, skipped);
}

TEST_F(NcclTestsJsonFile, HasNoTimesOfProcessesForOne) {
  const Json row = results(per_iteration(0), {{.record = measured(false), .samples_us = {2, 4}},
                                              {.record = measured(true)}})[0];
  EXPECT_EQ(row["out_of_place_per_iter"]["p50_us"], 3);
  EXPECT_FALSE(row["out_of_place_per_iter"].contains("per_process_max_times_us"));
  EXPECT_FALSE(row.contains("in_place_per_iter"));
}

TEST_F(NcclTestsJsonFile, HasNullForAHalfAndNoResultForARowThatWasNotMeasured) {
  NcclTestsJson writer(path(), false, {});
  writer.begin(test::context());
  writer.write({test::skipped(false, "no room")});
  writer.write({with(measured(true), &Record::wrong, std::nullopt)});
  writer.write({test::skipped(false, "no room")});
  writer.write({test::skipped(true, "no type")});
  writer.end({.wrong_rows = 3, .finished_at = "then"});
  ASSERT_EQ(document()["results"].size(), 1U);
  EXPECT_TRUE(document()["results"][0]["out_of_place"].is_null());
  EXPECT_TRUE(document()["results"][0]["in_place"]["nwrong"].is_null());
  EXPECT_EQ(document()["errors"], Json::parse(R"(["no room", "no type"])"));
  EXPECT_EQ(document()["out_of_bounds"], Json::parse(R"({"count": 3, "okay": "false"})"));
}

TEST_F(NcclTestsJsonFile, NamesThePairOrGroupOfARow) {
  const Json rows = results(test::context(),
                            {{with(measured(false), &Record::sender, 3, &Record::receiver, 0)},
                             {with(measured(false), &Record::group, 2)}},
                            {.in_place = false});
  EXPECT_EQ(rows[0]["experiment_name"], "pair 3 -> 0");
  EXPECT_EQ(rows[1]["experiment_name"], "group 2");
}

TEST_F(NcclTestsJsonFile, HasTheHostsTimeUnderANameOfItsOwn) {
  const Json row =
      results(with(test::context(), &RunContext::enqueue_times, true),
              {{with(measured(false), &Record::enqueue_time_us, 12.5)}}, {.in_place = false})[0];
  EXPECT_EQ(row["out_of_place"]["cpu_time"], 12.5);
  EXPECT_FALSE(row["out_of_place"].contains("time"));
}

TEST_F(NcclTestsJsonFile, ContinuesOnlyAFileOfItsStyle) {
  folder.write("x.json", "{\n  \"context\": {}}");
  test::expect_failure(Status::Usage,
                       "-J: ", [&] { const NcclTestsJson writer(path(), true, {}); });
}

}  // namespace
}  // namespace busbar
