// SPDX-License-Identifier: BSD-3-Clause
#include "model/record.hpp"

#include "model/fact.hpp"
#include "model/flag.hpp"
#include "model/variant.hpp"

namespace busbar {
namespace {

const RecordField& field(std::string_view name) {
  for (const RecordField& known : record_fields()) {
    if (known.name == name) return known;
  }
  throw std::invalid_argument("no field " + std::string(name));
}

/// A value of the column that no other column and no empty record has.
std::string cell_of(const RecordField& known) {
  if (known.name == "status") return "wrong";
  if (known.name == "in_place") return "1";
  const auto index = static_cast<std::size_t>(&known - record_fields().data());
  return fmt::format("{}{}", known.kind == RecordField::Kind::Text ? "text " : "", 100 + index);
}

/// A record with a value in each column.
Record full_record() {
  Record record;
  for (const RecordField& known : record_fields()) known.set(record, cell_of(known));
  return record;
}

TEST(NumberText, HasSevenDigitsAndNoExponentOfAWholeNumber) {
  for (const auto& [value, text] : {std::pair{0.000123456789, "0.0001234568"},
                                    {999999.5, "999999.5"},
                                    {1e6, "1000000.0"},
                                    {-123456789, "-123456789.0"}}) {
    EXPECT_EQ(number_text(value), text);
  }
}

TEST(RecordFields, StandInTheirDocumentInTheSameOrder) {
  const std::string document = test::text_of("docs/csv.md");
  std::size_t place = 0;
  std::set<std::string_view> names;
  for (const RecordField& known : record_fields()) {
    const std::size_t found = document.find(fmt::format("\n| `{}` | {} |", known.name, known.unit));
    ASSERT_NE(found, std::string::npos) << known.name;
    EXPECT_GT(found, place) << known.name;
    EXPECT_TRUE(names.insert(known.name).second) << known.name;
    place = found;
  }
}

TEST(RecordFields, HaveAMeaningAndTheUnitOfTheirName) {
  for (const RecordField& known : record_fields()) {
    EXPECT_FALSE(known.meaning.empty()) << known.name;
    EXPECT_EQ(known.meaning.find_first_of("|\n"), std::string_view::npos) << known.name;
    EXPECT_EQ(known.name.ends_with("_us"), known.unit == "us") << known.name;
    EXPECT_EQ(known.name.ends_with("_GBps"), known.unit == "GB/s") << known.name;
    EXPECT_EQ(known.name.ends_with("_bytes"), known.unit == "B") << known.name;
    EXPECT_TRUE(known.unit.empty() || known.kind == RecordField::Kind::Number) << known.name;
  }
}

TEST(RecordFields, SetTheirOwnMemberAndGiveItBack) {
  const Record full = full_record();
  for (const RecordField& known : record_fields()) {
    EXPECT_EQ(known.get(full), cell_of(known)) << known.name;
  }
}

TEST(RecordFields, OfAnEmptyRecordThatHaveNoValueAreEmptyAndNeverZero) {
  const Record empty;
  const std::set<std::string_view> always{"ranks", "nodes",  "in_place", "size_bytes",
                                          "count", "status", "cycle"};
  for (const RecordField& known : record_fields()) {
    EXPECT_EQ(known.get(empty).empty(), !always.contains(known.name)) << known.name;
  }
}

TEST(RecordFields, KeepAZeroThatWasMeasuredAndEveryDigitButAreEmptiedByAnEmptyCell) {
  Record record;
  record.wrong = 0;
  record.minor_faults_per_op = 0;
  EXPECT_EQ(field("wrong").get(record), "0");
  EXPECT_EQ(field("minor_faults_per_op").get(record), "0");
  field("time_median_us").set(record, "233.595");
  EXPECT_EQ(field("time_median_us").get(record), "233.595");
  record.time_median_us = 3004567.25;
  EXPECT_EQ(field("time_median_us").get(record), "3004567.2");
  record.time_median_us = 12345678901.0;
  EXPECT_EQ(field("time_median_us").get(record), "12345678901.0");
  field("time_median_us").set(record, "");
  EXPECT_FALSE(record.time_median_us.has_value());
}

TEST(RecordFields, TakeEveryStatusAndRefuseWhatIsNoValueOfTheirs) {
  Record record;
  for (const char* status : {"ok", "wrong", "skipped", "failed"}) {
    field("status").set(record, status);
    EXPECT_EQ(field("status").get(record), status);
  }
  for (const auto& [name, text] : {std::pair{"ranks", "many"},
                                   {"ranks", "4.5"},
                                   {"ranks", ""},
                                   {"in_place", "yes"},
                                   {"status", "fine"},
                                   {"time_median_us", "12us"},
                                   {"wrong", "-1"},
                                   {"size_bytes", "1M"}}) {
    const auto failure = test::failure_of([&, of = name, to = text] { field(of).set(record, to); });
    EXPECT_EQ(failure.status, Status::Usage) << name << ' ' << text;
  }
}

TEST(Facts, HaveAKeyOfTheirOwnAndAMeaning) {
  std::set<std::string_view> keys;
  for (const Fact& fact : fact_table()) {
    EXPECT_TRUE(keys.insert(fact.key).second) << fact.key;
    EXPECT_EQ(fact_key(fact.key), fact.key);
    EXPECT_FALSE(fact.meaning.empty()) << fact.key;
  }
  EXPECT_EQ(key(fact::kBusbar), "busbar");
  EXPECT_EQ(key(fact::kChannels), "nccl_channels");
}

TEST(Facts, HaveTheKeysOfOlderFilesAndSpecificationsToo) {
  EXPECT_EQ(fact_key("gpus-per-node"), key(fact::kGpusPerNode));
  EXPECT_EQ(fact_key("rank-10"), "rank_10");
  EXPECT_EQ(fact_key("nccl"), key(fact::kLibrary));
}

TEST(Flag, StandsBehindTheOthers) {
  Record record;
  add_flag(record, Flag::FewSamples);
  EXPECT_EQ(record.flags, "few-samples");
  add_flag(record, Flag::Fake);
  EXPECT_EQ(record.flags, "few-samples fake");
  EXPECT_TRUE(has_flag(record, Flag::FewSamples));
  EXPECT_TRUE(has_flag(record, Flag::Fake));
}

TEST(Flag, IsAWholeWord) {
  EXPECT_FALSE(has_flag({.flags = "few-samples fake-not"}, Flag::Fake));
  EXPECT_FALSE(has_flag({.flags = "not-registered"}, Flag::Registered));
  EXPECT_FALSE(has_flag({}, Flag::Fake));
}

TEST(ParseVary, RefusesWhatIsNoSetting) {
  for (const char* text :
       {"NCCL_ALGO", "=a,b", "A B=a,b", "A=", "A=a,,b", "A=a,b,a", "A=a", "A=a,#b"}) {
    EXPECT_THAT(test::refusal_of([&] { static_cast<void>(parse_vary("--vary", text)); }),
                HasSubstr("--vary"))
        << text;
  }
}

TEST(ParseVary, TakesAllBehindTheFirstEqualsSignForValues) {
  EXPECT_THAT(parse_vary("--vary", "A_1=x=y,z").values, ElementsAre("x=y", "z"));
  const Vary vary = parse_vary("--vary", "inject-delay=default,0:50");
  EXPECT_EQ(to_text(vary), "inject-delay=default,0:50");
  EXPECT_EQ(variant_text(vary, 1), "inject-delay=0:50");
}

TEST(RankFact, OfAProcessorIsReadBack) {
  const RankFact fact{.host = "h1", .node = 1, .numa = 0, .processors = 8, .group = 3};
  const std::string text = rank_fact_text(fact);
  EXPECT_EQ(text, "host h1 node 1 numa 0 core - processors 8 group 3");
  const RankFact read = parse_rank_fact(text);
  EXPECT_EQ(read.host, "h1");
  EXPECT_EQ(read.node, 1);
  EXPECT_EQ(read.numa, 0);
  EXPECT_EQ(read.core, -1);
  EXPECT_EQ(read.processors, 8);
  EXPECT_EQ(read.group, 3);
  EXPECT_FALSE(read.gpu.has_value());
}

TEST(RankFact, OfAGpuHasItsWholeName) {
  const RankFact fact{
      .host = "device",
      .core = 3,
      .processors = 2,
      .gpu = RankGpu{
          .index = 7, .bus = "0000:07:00.0", .uuid = "GPU-1", .name = "NVIDIA H200 name bus 1"}};
  const std::string text = rank_fact_text(fact);
  EXPECT_EQ(text,
            "host device node 0 numa - core 3 processors 2 device 7 bus 0000:07:00.0 uuid GPU-1 "
            "name NVIDIA H200 name bus 1");
  const RankFact read = parse_rank_fact(text);
  EXPECT_EQ(read.core, 3);
  EXPECT_EQ(read.group, std::nullopt);
  ASSERT_TRUE(read.gpu.has_value());
  EXPECT_EQ(read.gpu->bus, "0000:07:00.0");
  EXPECT_EQ(read.gpu->uuid, "GPU-1");
  EXPECT_EQ(read.gpu->name, "NVIDIA H200 name bus 1");
}

}  // namespace
}  // namespace busbar
