// SPDX-License-Identifier: BSD-3-Clause
#include "report/json_writer.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "model/record.hpp"
#include "tests/unit/support/failure.hpp"
#include "tests/unit/support/sample_records.hpp"
#include "tests/unit/support/temporary_folder.hpp"

namespace busbar {
namespace {

using Json = nlohmann::json;

struct JsonWriterFile : testing::Test {
  [[nodiscard]] std::string path() const { return folder.path("x.json"); }
  /// Throws where the file is not a whole document.
  [[nodiscard]] Json document() const { return Json::parse(test::text_of(path())); }

  test::TemporaryFolder folder;
};

TEST_F(JsonWriterFile, IsAWholeDocumentAfterEveryStep) {
  JsonWriter writer(path(), false);
  writer.begin(test::context());
  EXPECT_EQ(document()["rows"].size(), 0U);
  EXPECT_EQ(document()["context"]["command"], "./allreduce_perf -e 32M");
  EXPECT_EQ(document()["context"]["notes"][0], "memory plan: both placements");
  writer.write(test::measured(false), {});
  EXPECT_EQ(document()["rows"].size(), 1U);
  writer.write(test::skipped(true, "a \"quoted\" reason, \\ and\nmore"), {});
  EXPECT_EQ(document()["rows"].size(), 2U);
  writer.end(
      {.rows = 3, .skipped = 2, .wrong_rows = 1, .mean_busbw_GBps = 1.5, .finished_at = "then"});
  EXPECT_EQ(document()["rows"].size(), 2U);
  EXPECT_EQ(document()["summary"],
            Json::parse(R"({"measured_rows": 3, "skipped_rows": 2, "wrong_rows": 1,
                            "mean_busbw_GBps": 1.5, "finished": "then"})"));
}

TEST_F(JsonWriterFile, HasEveryColumnUnderItsNameAndNullForAMissingNumber) {
  JsonWriter writer(path(), false);
  writer.begin(test::context());
  writer.write(test::measured(false), {});
  const Json row = document()["rows"][0];
  EXPECT_EQ(row.size(), kRecordFieldCount);
  for (const RecordField& field : record_fields())
    EXPECT_TRUE(row.contains(std::string(field.name)));
  EXPECT_EQ(row["collective"], "allreduce");
  EXPECT_EQ(row["size_bytes"], 33554432);
  EXPECT_DOUBLE_EQ(row["time_median_us"].get<double>(), 276.88);
  EXPECT_EQ(row["in_place"], 0);
  EXPECT_EQ(row["status"], "ok");
  writer.write(test::skipped(false, "no room"), {});
  const Json skipped = document()["rows"][1];
  EXPECT_TRUE(skipped["root"].is_null());
  EXPECT_TRUE(skipped["time_median_us"].is_null());
  EXPECT_EQ(skipped["flags"], "");
  EXPECT_EQ(skipped["reason"], "no room");
}

TEST_F(JsonWriterFile, SurvivesBytesThatAreNoUtf8) {
  JsonWriter writer(path(), false);
  RunContext context = test::context();
  context.facts = {{"hosts", "host\xff"}};
  writer.begin(context);
  EXPECT_TRUE(document()["context"].contains("hosts"));
}

TEST_F(JsonWriterFile, IsNeverReplacedButByTheRunThatItBelongsTo) {
  folder.write("x.json", "{}\n");
  const test::Failure failure = test::failure_of([&] { const JsonWriter writer(path(), false); });
  EXPECT_EQ(failure.status, Status::Usage);
  EXPECT_TRUE(failure.says("-J: ")) << failure.message;
  JsonWriter resumed(path(), true);
  resumed.begin(test::context());
  EXPECT_EQ(document()["rows"].size(), 0U);
}

}  // namespace
}  // namespace busbar
