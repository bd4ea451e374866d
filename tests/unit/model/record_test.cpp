// SPDX-License-Identifier: BSD-3-Clause
#include "model/record.hpp"

#include <array>
#include <map>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "tests/unit/support/failure.hpp"

namespace busbar {
namespace {

const RecordField& field(std::string_view name) {
  for (const RecordField& known : record_fields()) {
    if (known.name == name) return known;
  }
  throw std::invalid_argument("no field " + std::string(name));
}

/// A value for each column that is not what an empty record has.
const std::map<std::string, std::string>& cells() {
  static const std::map<std::string, std::string> values{
      {"collective", "allreduce"},
      {"backend", "mpi"},
      {"ranks", "16"},
      {"nodes", "4"},
      {"type", "float"},
      {"op", "sum"},
      {"root", "3"},
      {"in_place", "1"},
      {"size_bytes", "1073741824"},
      {"count", "268435456"},
      {"status", "wrong"},
      {"reason", "rank 1, element 12345: expected 37, got 36"},
      {"flags", "segmented oversubscribed"},
      {"cadence", "isolated"},
      {"samples", "500"},
      {"operations", "10000"},
      {"stop_reason", "ci-width"},
      {"time_median_us", "233.595"},
      {"time_ci_low_us", "230.219"},
      {"time_ci_high_us", "240.5"},
      {"time_mean_us", "350.924"},
      {"time_min_us", "0.35"},
      {"time_p90_us", "588.958"},
      {"time_p99_us", "1234567.9"},
      {"time_max_us", "3000000.5"},
      {"start_skew_us", "0.231"},
      {"algbw_GBps", "4.488863"},
      {"busbw_GBps", "1.875"},
      {"wrong", "2"},
      {"autocorrelation_time", "19.5"},
      {"batch", "12"},
      {"warmup_operations", "11"},
      {"minor_faults_per_op", "8192.5"},
      {"involuntary_switches_per_op", "0.3333333"},
      {"aggregation", "max"},
      {"progress", "yield"},
      {"cache", "rotate"},
      {"segment_bytes", "16777216"},
      {"cycle", "2"},
      {"finished_at", "2026-11-21 14:02:59"},
      {"host_time_us", "277.125"},
      {"enqueue_time_us", "4.5"},
      {"group", "2"},
      {"sender", "5"},
      {"receiver", "0"},
      {"device_set", "0,1,2,3;4,5,6,7"},
      {"bound_GBps", "8.125"},
      {"bound_kind", "host-memory"},
      {"efficiency", "0.5"},
      {"algorithm", "Tree"},
      {"protocol", "LL128"},
      {"channels", "16"},
      {"pages", "huge"}};
  return values;
}

TEST(RecordFields, AreFiftyThreeWithNamesOfTheirOwn) {
  std::set<std::string_view> names;
  for (const RecordField& known : record_fields()) names.insert(known.name);
  EXPECT_EQ(kRecordFieldCount, 53U);
  EXPECT_EQ(names.size(), 53U);
}

TEST(RecordFields, BeginWithTheColumnsThatReadersMayCountOn) {
  constexpr std::array kFirst{"collective",     "backend",
                              "ranks",          "nodes",
                              "type",           "op",
                              "root",           "in_place",
                              "size_bytes",     "count",
                              "status",         "reason",
                              "flags",          "cadence",
                              "samples",        "operations",
                              "stop_reason",    "time_median_us",
                              "time_ci_low_us", "time_ci_high_us",
                              "time_mean_us",   "time_min_us",
                              "time_p90_us",    "time_p99_us",
                              "time_max_us",    "start_skew_us",
                              "algbw_GBps",     "busbw_GBps",
                              "wrong"};
  ASSERT_LE(kFirst.size(), record_fields().size());
  for (std::size_t i = 0; i < kFirst.size(); ++i) EXPECT_EQ(record_fields()[i].name, kFirst.at(i));
}

TEST(RecordFields, EndWithTheColumnsThatCameLast) {
  constexpr std::array kLast{"finished_at", "host_time_us", "enqueue_time_us", "group",
                             "sender",      "receiver",     "device_set",      "bound_GBps",
                             "bound_kind",  "efficiency",   "algorithm",       "protocol",
                             "channels",    "pages"};
  for (std::size_t i = 0; i < kLast.size(); ++i) {
    EXPECT_EQ(record_fields()[39 + i].name, kLast.at(i));
  }
}

TEST(RecordFields, EachSayWhatTheyMean) {
  for (const RecordField& known : record_fields()) {
    EXPECT_FALSE(known.meaning.empty()) << known.name;
    EXPECT_EQ(known.meaning.find_first_of("|\n"), std::string_view::npos) << known.name;
  }
}

TEST(RecordFields, CarryTheUnitOfTheirName) {
  for (const RecordField& known : record_fields()) {
    EXPECT_EQ(known.name.ends_with("_us"), known.unit == "us") << known.name;
    EXPECT_EQ(known.name.ends_with("_GBps"), known.unit == "GB/s") << known.name;
    EXPECT_EQ(known.name.ends_with("_bytes"), known.unit == "B") << known.name;
  }
}

TEST(RecordFields, GiveBackWhatTheyWereSetTo) {
  ASSERT_EQ(cells().size(), kRecordFieldCount);
  for (const RecordField& known : record_fields()) {
    const std::string& text = cells().at(std::string(known.name));
    Record record;
    known.set(record, text);
    EXPECT_EQ(known.get(record), text) << known.name;
  }
}

TEST(RecordFields, SetNothingButTheirOwnMember) {
  Record full;
  for (const RecordField& known : record_fields())
    known.set(full, cells().at(std::string(known.name)));
  for (const RecordField& known : record_fields()) {
    EXPECT_EQ(known.get(full), cells().at(std::string(known.name))) << known.name;
  }
}

TEST(RecordFields, OfAnEmptyRecordThatHaveNoValueAreEmptyAndNeverZero) {
  const Record empty;
  for (const char* name : {"root",
                           "samples",
                           "operations",
                           "time_median_us",
                           "time_ci_low_us",
                           "time_ci_high_us",
                           "time_mean_us",
                           "time_min_us",
                           "time_p90_us",
                           "time_p99_us",
                           "time_max_us",
                           "start_skew_us",
                           "algbw_GBps",
                           "busbw_GBps",
                           "wrong",
                           "autocorrelation_time",
                           "batch",
                           "warmup_operations",
                           "minor_faults_per_op",
                           "involuntary_switches_per_op",
                           "segment_bytes",
                           "host_time_us",
                           "enqueue_time_us",
                           "group",
                           "sender",
                           "receiver",
                           "reason",
                           "flags",
                           "stop_reason"}) {
    EXPECT_EQ(field(name).get(empty), "") << name;
  }
}

TEST(RecordFields, AreEmptiedByAnEmptyCell) {
  Record record;
  field("busbw_GBps").set(record, "1.5");
  field("busbw_GBps").set(record, "");
  EXPECT_FALSE(record.busbw_GBps.has_value());
}

TEST(RecordFields, KeepAZeroThatWasMeasured) {
  Record record;
  record.wrong = 0;
  record.minor_faults_per_op = 0;
  EXPECT_EQ(field("wrong").get(record), "0");
  EXPECT_EQ(field("minor_faults_per_op").get(record), "0");
}

TEST(RecordFields, WriteLargeTimesWithoutAnExponent) {
  Record record;
  record.time_median_us = 3004567.25;
  EXPECT_EQ(field("time_median_us").get(record), "3004567.2");
  record.time_median_us = 12345678901.0;
  EXPECT_EQ(field("time_median_us").get(record), "12345678901.0");
}

TEST(RecordFields, KnowEveryStatus) {
  for (const char* status : {"ok", "wrong", "skipped", "failed"}) {
    Record record;
    field("status").set(record, status);
    EXPECT_EQ(field("status").get(record), status);
  }
}

TEST(RecordFields, RefuseWhatIsNoValueOfTheirs) {
  const auto refuses = [](const char* name, const char* text) {
    Record record;
    return test::failure_of([&] { field(name).set(record, text); }).status == Status::Usage;
  };
  EXPECT_TRUE(refuses("ranks", "many"));
  EXPECT_TRUE(refuses("ranks", "4.5"));
  EXPECT_TRUE(refuses("ranks", ""));
  EXPECT_TRUE(refuses("in_place", "yes"));
  EXPECT_TRUE(refuses("status", "fine"));
  EXPECT_TRUE(refuses("time_median_us", "12us"));
  EXPECT_TRUE(refuses("wrong", "-1"));
  EXPECT_TRUE(refuses("size_bytes", "1M"));
}

TEST(RecordFields, AreTextWhereTheyHoldWordsAndNumbersElsewhere) {
  const std::set<std::string_view> words{
      "collective",  "backend",    "type",        "op",          "status",   "reason",
      "flags",       "cadence",    "stop_reason", "aggregation", "progress", "cache",
      "finished_at", "device_set", "bound_kind",  "algorithm",   "protocol", "pages"};
  for (const RecordField& known : record_fields()) {
    EXPECT_EQ(known.kind == RecordField::Kind::Text, words.contains(known.name)) << known.name;
  }
}

}  // namespace
}  // namespace busbar
