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

TEST_F(NcclTestsJsonFile, HasTheMembersOfVersionThreeAndItsTextsOfTruth) {
  NcclTestsJson writer(path(), false, {});
  writer.begin(with(test::context(), &RunContext::arguments,
                    std::vector<std::string>{"all_reduce_perf", "-e", "32 M"}));
  writer.write({measured(false)});
  writer.write({measured(true)});
  writer.end({.rows = 2, .mean_busbw_GBps = 178.222, .finished_at = "2026-11-21 14:05:00"});
  const Json json = document();
  EXPECT_THAT(
      mapped(json.items(), [](const auto& item) { return item.key(); }),
      ElementsAre("version", "start_time", "args", "env", "nccl_version", "config", "results",
                  "out_of_bounds", "average_bus_bandwidth", "errors", "end_time"));
  EXPECT_EQ(json["version"], 3);
  EXPECT_EQ(json["args"][2], "32 M");
  const Json& config = json["config"];
  EXPECT_EQ(config["step_bytes"], 1048576);
  EXPECT_FALSE(config.contains("step_factor"));
  EXPECT_EQ(config["per_iter_timing"], "false");
  EXPECT_EQ(config["devices"][0]["hostname"], "node1");
  const Json& row = json["results"][0];
  EXPECT_EQ(row["root"], "    -1");
  EXPECT_DOUBLE_EQ(row["out_of_place"]["time"].get<double>(), 276.88);
  EXPECT_DOUBLE_EQ(row["in_place"]["bus_bw"].get<double>(), 227.13);
  EXPECT_EQ(row["in_place"]["nwrong"], 0);
  EXPECT_FALSE(row.contains("out_of_place_per_iter"));
  EXPECT_EQ(json["out_of_bounds"], Json::parse(R"({"count": 0, "okay": "true"})"));
  EXPECT_EQ(json["average_bus_bandwidth"]["okay"], "unchecked");
}

TEST_F(NcclTestsJsonFile, HasTimesOfEveryRankWhoseLongestAreTheRows) {
  const Row row{.record = measured(false),
                .samples_us = {1, 1, 1},
                .rank_times_us = {{9, 8}, {2, 4}, {6, 5}}};
  const Json times =
      results(per_iteration(1), {row}, {.in_place = false})[0]["out_of_place_per_iter"];
  EXPECT_EQ(times["times_us"], Json::parse("[9.0, 4.0, 6.0]"));
  EXPECT_EQ(times["per_process_max_times_us"], Json::parse("[[9.0, 2.0, 6.0], [8.0, 4.0, 5.0]]"));
  EXPECT_EQ(times["skipped_iterations"], 1);
  EXPECT_EQ(times["avg_us"], 5);
  EXPECT_EQ(times["max_us"], 6);
  EXPECT_EQ(times["cv_pct"], 20);
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
