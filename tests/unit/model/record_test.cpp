// SPDX-License-Identifier: BSD-3-Clause
#include "model/record.hpp"

#include "model/fact.hpp"
#include "model/flag.hpp"
#include "model/sweep.hpp"
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

TEST(Flag, IsAWholeWordBehindTheOthers) {
  Record record;
  for (const Flag flag : {Flag::FewSamples, Flag::Fake}) {
    add_flag(record, flag);
    EXPECT_TRUE(has_flag(record, flag));
  }
  EXPECT_EQ(record.flags, "few-samples fake");
  EXPECT_FALSE(has_flag({.flags = "few-samples fake-not"}, Flag::Fake));
  EXPECT_FALSE(has_flag({.flags = "not-registered"}, Flag::Registered));
  EXPECT_FALSE(has_flag({}, Flag::Fake));
}

TEST(ParseVary, RefusesWhatIsNoSetting) {
  for (const char* text :
       {"NCCL_ALGO", "=a,b", "A B=a,b", "A=", "A=a,,b", "A=a,b,a", "A=a", "A=a,#b"}) {
    test::expect_failure(Status::Usage, "--vary", [&] { (void)parse_vary("--vary", text); });
  }
}

TEST(ParseVary, TakesAllBehindTheFirstEqualsSignForValues) {
  EXPECT_THAT(parse_vary("--vary", "A_1=x=y,z").values, ElementsAre("x=y", "z"));
  const Vary vary = parse_vary("--vary", "inject-delay=default,0:50");
  EXPECT_EQ(to_text(vary), "inject-delay=default,0:50");
  EXPECT_EQ(variant_text(vary, 1), "inject-delay=0:50");
}

TEST(RankFact, OfAProcessorOrAGpuIsReadBackFromItsText) {
  const RankGpu gpu{
      .index = 7, .bus = "0000:07:00.0", .uuid = "GPU-1", .name = "NVIDIA H200 name bus 1"};
  for (const auto& [fact, text] : std::vector<std::pair<RankFact, std::string>>{
           {{.host = "h1", .node = 1, .numa = 0, .processors = 8, .group = 3},
            "host h1 node 1 numa 0 core - processors 8 group 3"},
           {{.host = "device", .core = 3, .processors = 2, .gpu = gpu},
            "host device node 0 numa - core 3 processors 2 device 7 bus 0000:07:00.0 uuid GPU-1 "
            "name NVIDIA H200 name bus 1"}}) {
    EXPECT_EQ(rank_fact_text(fact), text);
    const RankFact read = parse_rank_fact(text);
    EXPECT_EQ(rank_fact_text(read), text);
    EXPECT_EQ(std::tuple(read.host, read.node, read.numa, read.core, read.processors, read.group,
                         read.gpu.has_value()),
              std::tuple(fact.host, fact.node, fact.numa, fact.core, fact.processors, fact.group,
                         fact.gpu.has_value()));
  }
}

using Sizes = std::vector<Bytes>;

TEST(Sweep, GoesFromOneMebibyteToOneGibibyteByDefault) {
  const Sizes sizes = Sweep{}.sizes();
  ASSERT_EQ(sizes.size(), 11U);
  EXPECT_EQ(sizes.front(), 1048576U);
  EXPECT_EQ(sizes.at(1), 2097152U);
  EXPECT_EQ(sizes.back(), 1073741824U);
}

TEST(Sweep, MultipliesByItsFactorOrAddsItsStepUpToTheLastSize) {
  constexpr Bytes kHuge = std::numeric_limits<Bytes>::max();
  EXPECT_EQ((Sweep{.first = 8, .last = 100, .factor = 3}.sizes()), (Sizes{8, 24, 72}));
  EXPECT_EQ((Sweep{.first = 8, .last = 30, .step = 10, .factor = 1}.sizes()), (Sizes{8, 18, 28}));
  EXPECT_EQ((Sweep{.first = 64, .last = 64}.sizes()), (Sizes{64}));
  EXPECT_EQ((Sweep{.first = 1, .last = 4}.sizes()), (Sizes{1, 2, 4}));
  EXPECT_EQ((Sweep{.first = kHuge / 2 + 1, .last = kHuge}.sizes()), (Sizes{kHuge / 2 + 1}));
}

TEST(Sweep, IsReadBackFromItsText) {
  for (const char* text : {"8-1024x2", "8-1024+64"}) {
    const auto sweep = parse_sweep(text);
    ASSERT_TRUE(sweep.has_value()) << text;
    EXPECT_EQ(sweep->first, 8U);
    EXPECT_EQ(sweep->last, 1024U);
    EXPECT_EQ(sweep_text(*sweep), text);
  }
  for (const char* text : {"", "8", "8-1024", "8-1024x1", "8-1024+0", "8-x2", "a-1024x2"}) {
    EXPECT_FALSE(parse_sweep(text).has_value()) << text;
  }
}

}  // namespace
}  // namespace busbar
