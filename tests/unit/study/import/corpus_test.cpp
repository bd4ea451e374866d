// SPDX-License-Identifier: BSD-3-Clause
// Real logs, or two of our own making where they are absent: every bus bandwidth is the log's own
// in all of its digits.

#include "study/import/log_reader.hpp"
#include "tests/unit/support/captures.hpp"

namespace busbar::study {
namespace {

const std::filesystem::path kFolder = test::captures("nccl_tests_logs");
const bool kReal = std::filesystem::exists(test::kSharedData);

/// Rows of sizes; or, of summaries, rates without sizes.
std::vector<std::filesystem::path> logs(bool summaries = false) {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(kFolder)) {
    const std::string name = entry.path().filename();
    const bool summary = name.starts_with("dgx1_tartan");
    if (name.ends_with(".txt") && summary == summaries) paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

/// The collective by the file's name: what a user knows.
std::string collective_of(const std::string& name) {
  for (const char* word : {"all_reduce", "allreduce", "all_gather", "allgather", "alltoall",
                           "broadcast", "reduce_scatter", "sendrecv", "reduce"}) {
    if (name.find(word) != std::string::npos) return word;
  }
  return {};
}

ImportedRows import_file(const std::filesystem::path& path, const std::string& collective) {
  LogReading reading;
  if (path.filename().string().starts_with("p4d_")) {
    reading.columns =
        split_words("nodes size count type redop time algbw busbw error time algbw busbw error");
  }
  const std::vector<LogFile> read{read_log(test::text_of(path), path.filename(), reading)};
  return records_of(read, {.collective = collective});
}
ImportedRows import_file(const std::filesystem::path& path) {
  return import_file(path, collective_of(path.filename()));
}

struct Corpus : testing::Test {
  const std::vector<std::filesystem::path> paths = logs();
};

/// The bus bandwidths of a log: in each row the sixth and the second cell from the end.
std::vector<double> printed(const std::filesystem::path& path) {
  std::vector<double> values;
  for (const std::string& line : split(test::text_of(path), '\n')) {
    const std::vector<std::string> words = split_words(line);
    const bool row = words.size() > 10 && to_number<std::uint64_t>(words[0]) &&
                     to_number<std::uint64_t>(words[1]);
    if (!row) continue;
    for (const std::size_t from_end : {6U, 2U}) {
      values.push_back(std::stod(words[words.size() - from_end]));
    }
  }
  return values;
}

TEST_F(Corpus, BusBandwidthsAreTheLogsOwn) {
  std::size_t compared = 0;
  for (const auto& path : paths) {
    SCOPED_TRACE(path.filename().string());
    const ImportedRows rows = import_file(path);
    const std::vector<double> values = printed(path);
    ASSERT_EQ(rows.records.size(), values.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
      const Record& record = rows.records[i];
      if (!record.busbw_GBps) {
        EXPECT_EQ(record.size, 0U);
        continue;
      }
      EXPECT_NEAR(*record.busbw_GBps, values[i], 0.005 + 1e-9) << record.size;
      // Size over time, though logs of before June 2020 have the bus factor in it.
      const double rate = static_cast<double>(record.size) / (*record.time_median_us * 1e3);
      EXPECT_NEAR(record.algbw_GBps.value_or(0), rate, 0.005 + rate * 0.05) << record.size;
      EXPECT_EQ(record.flags.find("bandwidth-differs"), std::string::npos);
      ++compared;
    }
  }
  EXPECT_EQ(compared, kReal ? 1500U : 24U);
  EXPECT_EQ(paths.size(), kReal ? 40U : 2U);
}

TEST_F(Corpus, BusBandwidthsOfSummariesAreTheirOwn) {
  if (!kReal) GTEST_SKIP() << "no ../shared/data";
  const auto summaries = logs(true);
  EXPECT_EQ(summaries.size(), 2U);
  for (const auto& path : summaries) {
    const std::string text = test::text_of(path);
    const std::vector<LogFile> read{read_log(text, path.filename(), {.size = kGiB})};
    const ImportedRows rows = records_of(read, {});
    std::size_t found = 0;
    for (const std::string& line : split(text, '\n')) {
      const std::vector<std::string> cells = split(line, ',');
      if (cells.size() != 3 || !small_number(cells[1]) || cells[1] == "1") continue;
      ASSERT_LT(found, rows.records.size());
      EXPECT_NEAR(*rows.records[found].busbw_GBps, std::stod(cells[2]), 0.005 + 1e-9) << line;
      ++found;
    }
    EXPECT_EQ(found, 35U);
    EXPECT_EQ(rows.records.size(), found);
    EXPECT_EQ(rows.warnings.size(), 5U);  // the rows of one GPU
  }
}

TEST_F(Corpus, NearlyAllLogsAreImportedAtFirstTryAndNoneAsAnotherCollective) {
  std::vector<std::string> refused;
  std::size_t imported = 0;
  std::vector<std::filesystem::path> all = paths;
  for (const auto& path : logs(true)) all.push_back(path);
  for (const auto& path : all) {
    const std::string name = path.filename();
    try {  // without any option
      const std::vector<LogFile> read{read_log(test::text_of(path), name, {})};
      const std::string found = records_of(read, {}).records.front().collective;
      EXPECT_EQ(found, find_collective(collective_of(name))->name) << name;
      ++imported;
    } catch (const Error&) {
      refused.push_back(name.substr(0, 11));
    }
  }
  EXPECT_EQ(imported, kReal ? 39U : 2U);
  // One whose columns are its own, and two summaries without sizes.
  EXPECT_EQ(join(refused, " "), kReal ? "p4d_a100-40 dgx1_tartan dgx1_tartan" : "");
}

TEST_F(Corpus, NoLogIsImportedAsACollectiveThatItIsNot) {
  for (const auto& path : paths) {
    const std::string name = path.filename();
    for (const Collective& given : all_collectives()) {
      if (find_collective(collective_of(name)) == &given) continue;
      EXPECT_THROW((void)import_file(path, std::string(given.name)), Error)
          << name << ' ' << given.name;
    }
  }
}

TEST_F(Corpus, RanksAreThoseOfTheArithmeticWhereNamesOfFilesSayOtherwise) {
  if (!kReal) GTEST_SKIP() << "no ../shared/data";
  const auto ranks = [](const char* name) {
    return import_file(kFolder / name).records.back().ranks;
  };
  EXPECT_EQ(ranks("h100_allreduce_64gpu-8node_coreweave.txt"), 96);
  EXPECT_EQ(ranks("gb200nvl72_allreduce_144gpu-2rack_coreweave.txt"), 128);
  EXPECT_EQ(ranks("gb200nvl72_allreduce_1440gpu-20rack_coreweave.txt"), 1440);
  EXPECT_EQ(ranks("p4d_a100-40gb_allreduce_8to32gpu_issue-nccl527.txt"), 32);
  EXPECT_EQ(ranks("rtx2080ti_allreduce_8gpu.txt"), 8);
}

}  // namespace
}  // namespace busbar::study
