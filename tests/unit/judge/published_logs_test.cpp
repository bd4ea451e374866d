// SPDX-License-Identifier: BSD-3-Clause
// Published logs, where they are there, judged by the ready-made specifications.

#include "format/csv_writer.hpp"
#include "judge/fingerprint.hpp"
#include "judge/judge.hpp"
#include "study/import/log.hpp"
#include "tests/unit/judge/spec/specification_text.hpp"

namespace busbar::judge {
namespace {

const std::filesystem::path kFolder = "../shared/data/nccl_tests_logs";

/// A published log, and the rule of a ready-made specification that judges it; or why none does.
struct PublishedLog {
  std::string file{};
  int nodes = 1;
  std::string system{};
  std::string rule{};
  std::string found{};    ///< by its GPUs alone, where that is another system
  Facts assumed{};        ///< what its user adds for `--system auto`: --assume
  std::string columns{};  ///< of its rows, where the log does not name them
  std::string why{};      ///< of a log that no rule judges
};

/// The logs of tests/fixtures/published-logs.csv. A rack (gb200) is known by its number of hosts,
/// which no one host sees; the driver of the log of two racks did not know its GPUs by name, and by
/// the factor of its columns it has 128 ranks.
std::vector<PublishedLog> published_logs() {
  std::vector<std::string> lines = split(test::text_of("tests/fixtures/published-logs.csv"), '\n');
  lines.erase(lines.begin());  // the columns' names
  lines.pop_back();            // behind the last line's end
  return mapped(lines, [](const std::string& line) {
    const std::vector<std::string> cells = split(line, ',');
    PublishedLog log{cells.at(0), to_number<int>(cells.at(1)).value_or(1), cells.at(2), cells.at(3),
                     cells.at(4)};
    for (const std::string& fact : split(cells.at(5), ';')) {
      if (!fact.empty()) log.assumed[split(fact, '=').at(0)] = split(fact, '=').at(1);
    }
    log.columns = cells.at(6);
    log.why = cells.at(7);
    return log;
  });
}

class PublishedLogs : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::is_directory(kFolder)) GTEST_SKIP() << "no logs in " << kFolder;
  }

  /// The rows of the log as a launch of the specification.
  std::vector<Observation> observed(const PublishedLog& log, Specification& specification) {
    study::LogReading reading;
    if (!log.columns.empty()) reading.columns = *study::columns_of(split_words(log.columns));
    const std::string path = (kFolder / (log.file + ".txt")).string();
    const std::vector<study::LogFile> read{study::read_log(test::text_of(path), path, reading)};
    if (log.columns.empty()) reading.nodes = log.nodes;
    study::ImportedRows rows = study::records_of(read, reading);
    std::erase_if(rows.records, [&](const Record& record) { return record.nodes != log.nodes; });
    Facts facts{rows.facts.begin(), rows.facts.end()};
    std::vector<std::string> nodes = split_words(facts["hosts"]);
    if (static_cast<int>(nodes.size()) != log.nodes) {  // its list is cut short
      nodes.clear();
      for (int i = 0; i < log.nodes; ++i) nodes.push_back("h" + std::to_string(i));
      facts.erase("hosts");
    }
    std::string text;
    for (const auto& [key, value] : facts) text += fmt::format("# {}: {}\n", key, value);
    text += csv_header();
    for (const Record& record : rows.records) text += csv_row(record);
    // What a user of such a log writes: its type, one launch, its data where it checked none.
    specification.system.nodes = nodes;
    specification.run.min_launches = 1;
    const Record& last = rows.records.back();
    if (!last.wrong) specification.run.check_data = false;
    Rule& rule = specification.rules.at(0);
    rule.type = last.type;
    rule.collectives = {last.collective};
    folder_.write("log.csv", text);
    std::vector<std::string> notes;
    const std::vector files{study::read_launch(folder_.path("log.csv"))};
    auto observations = observe_files(specification, files, notes);
    EXPECT_THAT(notes, IsEmpty());
    return observations;
  }

  /// The worst result of these rows of the log.
  static CheckResult judged(const PublishedLog& log, const Specification& specification,
                            const std::vector<Observation>& observations) {
    const Acceptance acceptance = judge_all({.specification = specification,
                                             .observations = observations,
                                             .today = "2026-11-21",
                                             .nodes = specification.system.nodes,
                                             .assumed = log.assumed});
    return *std::ranges::max_element(acceptance.verdicts, {}, &CheckResult::outcome);
  }

  /// The system that the log's machine is recognized as, or none.
  static std::string recognized(const PublishedLog& log, const Observation& launch) {
    try {
      return topo::wanted_system(study::identity_of(launch.view(), log.assumed)).name;
    } catch (const Error&) {
      return "none";
    }
  }

 private:
  test::TemporaryFolder folder_{};
};

TEST_F(PublishedLogs, AreAllJudgedOrSayWhyNot) {
  std::set<std::string> there;
  for (const auto& entry : std::filesystem::directory_iterator(kFolder)) {
    if (entry.path().extension() == ".txt") there.insert(entry.path().stem());
  }
  std::set<std::string> known;
  for (const PublishedLog& log : published_logs()) {
    known.insert(log.file);
    EXPECT_NE(log.rule.empty(), log.why.empty()) << log.file;
  }
  EXPECT_EQ(known, there);
}

TEST_F(PublishedLogs, AreRecognizedAndPassAndAtSeventyPercentTheyFail) {
  for (const PublishedLog& log : published_logs()) {
    if (log.rule.empty()) continue;
    SCOPED_TRACE(log.file);
    Specification specification = load(log.system, "full");
    std::erase_if(specification.rules, [&](const auto& rule) { return rule.id != log.rule; });
    if (log.found == "none") specification.system.fingerprint.clear();
    auto observations = observed(log, specification);
    EXPECT_EQ(recognized(log, observations.at(0)), log.found.empty() ? log.system : log.found);
    const CheckResult whole = judged(log, specification, observations);
    EXPECT_EQ(name(whole.outcome), "PASS") << whole.reason << whole.value.value_or(0);
    for (Record& row : observations[0].records) {
      if (row.busbw_GBps) row.busbw_GBps = *row.busbw_GBps * 0.7;
    }
    const CheckResult less = judged(log, specification, observations);
    EXPECT_EQ(name(less.outcome), "FAIL") << less.reason;
  }
}

}  // namespace
}  // namespace busbar::judge
