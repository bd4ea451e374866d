// SPDX-License-Identifier: BSD-3-Clause
//
// Every column that makes rows different, with every reader of rows.

#include "format/csv_writer.hpp"
#include "model/row_key.hpp"
#include "stats/summary.hpp"
#include "study/compare/comparison.hpp"
#include "study/expect/expect.hpp"
#include "study/plot/figures.hpp"
#include "study/report/data.hpp"
#include "study/workload/workload.hpp"
#include "tests/unit/judge/judge_case.hpp"
#include "tests/unit/support/sample_records.hpp"

namespace busbar::judge {
namespace {

using Role = RecordField::Role;
using test::failure_of;

Record row_of(const RecordField& column, std::string_view cell) {
  Record row = test::measured(false);
  row.ranks = 8;
  row.size = kMiB;
  row.device_set = "0-7";
  column.set(row, cell);
  return row;
}

/// Two rows that differ in one column alone, and a file of them.
class TwoRows {
 public:
  explicit TwoRows(const RecordField& column)
      : TwoRows({row_of(column, "1"), row_of(column, "0")}) {}
  explicit TwoRows(std::vector<Record> rows)
      : dataset_{.path = "two.csv", .label = "box", .records = std::move(rows)} {
    std::string text =
        "# configuration: collective=allreduce ranks=8\n# hosts: n1\n" + csv_header();
    for (const Record& row : dataset_.records) text += csv_row(row);
    text += "# finished: now\n";
    folder_.write("two.csv", text);
  }

  [[nodiscard]] std::string folder() const { return folder_.path(); }
  [[nodiscard]] std::string path() const { return folder_.path("two.csv"); }
  [[nodiscard]] const study::Dataset& dataset() const { return dataset_; }

 private:
  study::Dataset dataset_;
  test::TemporaryFolder folder_{};
};

/// How many measurements a reader makes of two rows, by what people see of each.
using Seen = std::set<std::string>;

Seen curves(const TwoRows& two) {
  return set_of(study::size_curves({two.dataset()}, study::PlotPlacement::Both).curves,
                &study::SizeCurve::title);
}
Seen report(const TwoRows& two) {
  Seen seen;
  for (const auto& collective : study::make_report_data({two.dataset()}, {}).collectives) {
    for (const auto& curve : collective.curves) seen.insert(curve.title);
  }
  return seen;
}
Seen compared(const TwoRows& two) {
  const study::Launch launch = study::load_launch(two.path());
  return set_of(launch.rows, [](const auto& row) {
    return study::title_of(row.first) + study::key_json(row.first).dump();
  });
}
Seen indexed(const TwoRows& two) {
  Seen seen;
  std::vector<std::string> notes;
  for (const Section& section : study::index_of(two.folder(), notes).sections) {
    for (const DocumentBlock& block : section.blocks) {
      if (const auto* table = std::get_if<Table>(&block)) {
        for (const auto& row : table->rows) seen.insert(join(row, "|"));
      }
    }
  }
  return seen;
}
Seen expected(const TwoRows& two) {
  return set_of(study::read_measured(two.path(), *find_collective("allreduce"), {}),
                &study::Measured::setting);
}
Seen samples(const TwoRows& two) {
  const test::TemporaryFolder folder;
  const std::string path = folder.path("samples.csv");
  {
    SamplesWriter writer(path, false);
    writer.begin(test::context());
    for (const Record& row : two.dataset().records)
      writer.write({.record = row, .samples_us = {5}});
  }
  return set_of(study::read_samples(path, "box"),
                [](const study::SampleSet& set) { return set.key.setting; });
}

struct Reader {
  const char* name;
  Seen (*read)(const TwoRows& two);
};
constexpr Reader kReaders[] = {{"curve", curves},  {"report", report},   {"compare", compared},
                               {"index", indexed}, {"expect", expected}, {"samples", samples}};

TEST(Crossings, TwoRowsThatDifferInASettingAloneStayTwoForEveryReader) {
  for (const RecordField* column : fields_of(Role::Setting)) {
    const TwoRows two(*column);
    for (const Reader& reader : kReaders) {
      EXPECT_EQ(reader.read(two).size(), 2U) << reader.name << " and " << column->name;
    }
  }
}

TEST(Crossings, AReaderThatNeedsOneSettingNamesThoseThereAreAndTheOptionThatChooses) {
  for (const RecordField* column : fields_of(Role::Setting)) {
    const TwoRows two(*column);
    const JudgeCase one;
    std::vector<std::string> notes;
    const auto judge = [&](const std::string& setting) {
      study::FileRows file = study::read_launch(two.path());
      study::keep_setting(file.dataset, setting);
      return observe_files(one.specification, {&file, 1}, notes).size();
    };
    const auto rates = [&] { return study::rates_of({two.dataset()}, "float"); };
    for (const auto& refusal : {failure_of([&] { judge(""); }), failure_of(rates)}) {
      EXPECT_TRUE(refusal.says("2 settings: '0', '1'")) << column->name;
      EXPECT_TRUE(refusal.says("--setting '1'")) << column->name;
    }
    EXPECT_EQ(judge("1"), 1U) << column->name;
    EXPECT_TRUE(failure_of([&] { judge("2"); }).says("--setting '2'")) << column->name;
  }
}

/// Two values that a key can have, with what else a row has then.
struct KeyCells {
  const char* column;
  std::array<const char*, 2> cells;
  std::vector<std::pair<const char*, const char*>> beside{};

  [[nodiscard]] bool is_pair() const { return beside.size() == 3; }
};
const std::vector<KeyCells> kKeyCells{
    {"collective", {"allreduce", "allgather"}},
    {"ranks", {"8", "4"}},
    {"type", {"float", "double"}},
    {"op", {"sum", "max"}},
    {"root", {"0", "1"}, {{"collective", "broadcast"}, {"op", "none"}}},
    {"in_place", {"0", "1"}},
    {"size_bytes", {"1048576", "2097152"}},
    {"group", {"0", "1"}, {{"round", "0"}}},
    {"round", {"0", "1"}, {{"group", "0"}}},
    {"sender", {"0", "1"}, {{"collective", "sendrecv"}, {"op", "none"}, {"receiver", "2"}}},
    {"receiver", {"0", "1"}, {{"collective", "sendrecv"}, {"op", "none"}, {"sender", "2"}}}};

const RecordField& column_named(std::string_view name) {
  return *std::ranges::find(record_fields(), name, &RecordField::name);
}

/// Rows of 100 and of 25 GB/s, of whose mean, 62.5, no reader may know.
std::vector<Record> rows_apart(const KeyCells& key) {
  std::vector<Record> rows;
  for (std::size_t i = 0; i < key.cells.size(); ++i) {
    Record row = test::measured(false);
    row.ranks = 8;
    row.size = kMiB;
    row.device_set = "0-7";
    for (const auto& [column, cell] : key.beside) column_named(column).set(row, cell);
    column_named(key.column).set(row, key.cells.at(i));
    row.busbw_GBps = row.algbw_GBps = i == 0 ? 100 : 25;
    rows.push_back(row);
  }
  return rows;
}

using Numbers = std::vector<double>;

Numbers drawn(const TwoRows& two) {
  Numbers numbers;
  for (const auto& curve : study::size_curves({two.dataset()}, study::PlotPlacement::Both).curves) {
    append(numbers,
           mapped(curve.points, [](const auto& point) { return point.busbw_GBps.median; }));
  }
  return numbers;
}
/// The program takes the median of what has one size, placement and number of ranks.
Numbers answered(const TwoRows& two) {
  Numbers numbers;
  const Collective& collective = *find_collective(two.dataset().records.front().collective);
  try {
    for (const auto& measured : study::read_measured(two.path(), collective, {})) {
      std::map<std::tuple<Bytes, bool, int>, Numbers> rates;
      for (const Record& row : measured.records) {
        rates[{row.size, row.in_place, row.ranks}].push_back(*row.busbw_GBps);
      }
      for (const auto& [key, values] : rates) numbers.push_back(stats::median(values));
    }
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("outside groups and pairs"));
  }
  return numbers;
}
Numbers in_index(const TwoRows& two) {
  Numbers numbers;
  for (const std::string& row : indexed(two))
    numbers.push_back(to_number<double>(split(row, '|')[6]).value());
  return numbers;
}
Numbers judged(const TwoRows& two) {
  JudgeCase one;
  one.rule().collectives = {two.dataset().records.front().collective};
  std::vector<std::string> notes;
  const study::FileRows file = study::read_launch(two.path());
  one.observations = observe_files(one.specification, {&file, 1}, notes);
  Numbers numbers;
  for (const auto& verdict : one.judged().verdicts) append(numbers, verdict.values);
  return numbers;
}

TEST(Crossings, TwoRowsThatDifferInAKeyAloneAreNeverOneNumber) {
  for (const RecordField* column : fields_of(Role::Key)) {
    const auto key = std::ranges::find(kKeyCells, column->name, &KeyCells::column);
    ASSERT_NE(key, kKeyCells.end()) << column->name << ": say two values of this key";
    const TwoRows two(rows_apart(*key));
    for (const auto& [name, numbers] : std::map<std::string, Numbers>{{"curve", drawn(two)},
                                                                      {"expect", answered(two)},
                                                                      {"index", in_index(two)},
                                                                      {"judge", judged(two)}}) {
      EXPECT_THAT(numbers, testing::Each(testing::AnyOf(100, 25)))
          << name << " and " << column->name;
    }
    // Rows of pairs have a figure of their own, and one collective of two is asked for.
    EXPECT_EQ(drawn(two).size(), key->is_pair() ? 0U : 2U) << column->name;
    EXPECT_EQ(compared(two).size(), 2U) << column->name;
  }
}

TEST(Crossings, ManyGroupsAreOneCurveThatNamesItsRange) {
  for (const int groups : {8, 9}) {
    std::vector<Record> rows;
    for (int group = 0; group < groups; ++group) {
      rows.push_back(row_of(column_named("group"), std::to_string(group)));
    }
    const auto drawn = study::size_curves({TwoRows(rows).dataset()}, study::PlotPlacement::Both);
    EXPECT_EQ(drawn.curves.size(), groups == 8 ? 8U : 1U);
    EXPECT_EQ(drawn.common.find("range of the groups") != std::string::npos, groups == 9);
  }
}

/// A new column must say what it is: one that makes rows different gets the role of a key or of a
/// setting, and all readers know it; one that is measured, or that describes how, stands here.
TEST(Crossings, EveryColumnIsAKeyASettingOrAKnownResult) {
  const std::vector<std::string> results = split_words(
      "backend nodes count status reason flags cadence samples operations stop_reason "
      "time_median_us time_ci_low_us time_ci_high_us time_mean_us time_min_us time_p90_us "
      "time_p99_us time_max_us start_skew_us algbw_GBps busbw_GBps wrong autocorrelation_time "
      "batch warmup_operations minor_faults_per_op involuntary_switches_per_op aggregation "
      "progress cache segment_bytes cycle finished_at host_time_us enqueue_time_us device_set "
      "bound_GBps bound_kind efficiency algorithm protocol channels pages visits visit_cv "
      "interval_scope last_rank last_host last_share late_by_us load_us time_p999_us "
      "time_p999_low_us time_p999_high_us hosts group_ranks groups_seed connect_s imbalance "
      "slowdown slowdown_low slowdown_high slowdown_p99 slowdown_p99_low slowdown_p99_high "
      "alone_time_us alone_p99_us load_slowdown load_slowdown_low load_slowdown_high");
  for (const RecordField& column : record_fields()) {
    EXPECT_EQ(column.role == Role::Result, contains(results, std::string(column.name)))
        << column.name << ": say what it does to rows that differ in it alone";
  }
}

}  // namespace
}  // namespace busbar::judge
