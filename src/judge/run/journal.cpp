// SPDX-License-Identifier: BSD-3-Clause
#include "judge/run/journal.hpp"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/text.hpp"
#include "base/units.hpp"
#include "judge/csv_table.hpp"

namespace busbar::judge {
namespace {

constexpr std::string_view kColumns =
    "device_set,instance,nodes,group,launch,attempt,purpose,collective,file,failure,exit_code,"
    "seconds,command,unreachable";
constexpr std::size_t kColumnCount = 14;
constexpr int kMostLaunches = 1000000;
constexpr double kMostSeconds = 1e9;

int parse_count(const std::string& place, const std::string& text, int low) {
  return static_cast<int>(parse_integer(place, text, low, kMostLaunches));
}

/// Ids may have blanks.
std::vector<std::string> rule_ids(std::string_view text) {
  std::vector<std::string> rules;
  for (const std::string& rule : split(text, ';')) rules.emplace_back(trim(rule));
  std::erase(rules, "");
  return rules;
}

Observation parse_line(const CsvRow& row) {
  const std::string& place = row.place;
  const std::vector<std::string>& cells = row.cells;
  if (cells.size() != kColumnCount) {
    throw usage_error(fmt::format("{}: {} where a journal has {}", place,
                                  counted(cells.size(), "cell"), kColumnCount));
  }
  constexpr int kLowestCode = -1;
  return {.device_set = cells[0],
          .instance = cells[1],
          .nodes = split_words(cells[2]),
          .group = cells[3].empty() ? -1 : parse_count(place, cells[3], 0),
          .launch = parse_count(place, cells[4], 0),
          .attempt = parse_count(place, cells[5], 0),
          .purpose = parse_value<Purpose>("the purpose in " + place, cells[6]),
          .collective = cells[7],
          .file = cells[8],
          .failure = cells[9],
          .exit_code = parse_count(place, cells[10], kLowestCode),
          .seconds = parse_number(place, cells[11], 0, kMostSeconds),
          .command = cells[12],
          .unreachable = cells[13]};
}

/// The rows of a launch, or why they cannot be read.
void read_rows(Observation& observation) {
  try {
    ObservationFile file = read_observation_file(observation.file);
    observation.facts = std::move(file.dataset.facts);
    observation.records = std::move(file.dataset.records);
    if (observation.failure.empty()) observation.failure = file.failure;
  } catch (const Error& error) {
    if (observation.failure.empty()) observation.failure = one_line(error.what());
  }
}

}  // namespace

std::string journal_head(const Journal& journal) {
  return fmt::format(
      "# journal: busbar accept run\n# specification: {}\n# profile: {}\n{}"
      "# seed: {}\n# nodes: {}\n{}\n",
      one_line(journal.specification), journal.profile,
      journal.rules.empty() ? "" : fmt::format("# rules: {}\n", join(journal.rules, "; ")),
      journal.seed, join(journal.nodes, " "), kColumns);
}

std::string journal_row(const Observation& line) {
  return csv_line({line.device_set, line.instance, join(line.nodes, " "),
                   line.group < 0 ? std::string() : fmt::format("{}", line.group),
                   fmt::format("{}", line.launch), fmt::format("{}", line.attempt),
                   std::string(name(line.purpose)), line.collective, line.file, line.failure,
                   fmt::format("{}", line.exit_code), fmt::format("{:.3f}", line.seconds),
                   line.command, line.unreachable});
}

Journal load_journal(const std::string& path) {
  CsvTable table = read_csv_table(path);
  if (table.columns != kColumns) {
    throw usage_error(fmt::format("{}: this is no journal of busbar accept run (launches.csv)",
                                  table.columns_place.empty() ? path : table.columns_place));
  }
  std::map<std::string, std::string>& facts = table.facts;
  Journal journal{.specification = facts["specification"],
                  .profile = facts["profile"],
                  .rules = rule_ids(facts["rules"]),
                  .seed = facts["seed"],
                  .nodes = split_words(facts["nodes"])};
  for (const CsvRow& row : table.rows) journal.lines.push_back(parse_line(row));
  return journal;
}

void observe_journal(const Journal& journal, const std::string& folder,
                     std::vector<Observation>& observations) {
  observations.reserve(journal.lines.size());
  for (std::size_t i = observations.size(); i < journal.lines.size(); ++i) {
    Observation& seen = observations.emplace_back(journal.lines[i]);
    const std::string file = seen.file;
    if (file.empty()) {
      if (seen.failure.empty()) seen.failure = "the journal names no file";
      continue;
    }
    seen.file = (std::filesystem::path(folder) / file).string();
    if (i == 0 || journal.lines[i - 1].file != file) {
      read_rows(seen);
      continue;
    }
    // Lines of one launch, which are rails, have one file; what failed did so for all of them.
    const Observation& first = observations[i - 1];
    seen.facts = first.facts;
    seen.records = first.records;
    if (seen.failure.empty()) seen.failure = first.failure;
  }
}

namespace {

void make_empty_folder(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  const bool empty = !error && std::filesystem::is_empty(path, error);
  if (error) throw usage_error(fmt::format("-o {}: {}", path, error.message()));
  if (empty) return;
  throw usage_error(
      fmt::format("-o {}: the folder is not empty, and nothing is replaced; name a new one", path));
}

void write_file(const std::string& path, const std::string& text) {
  OutputFile(path, "-o", OutputFile::Mode::New).append(text);
}

/// Letters, digits, '.', '+' and '-' of a text, at most 60.
std::string file_word(const std::string& text) {
  constexpr std::size_t kMost = 60;
  std::string word = text.substr(0, kMost);
  std::replace_if(
      word.begin(), word.end(),
      [](unsigned char c) { return std::isalnum(c) == 0 && c != '.' && c != '+' && c != '-'; },
      '-');
  return word;
}

}  // namespace

RunFolder::RunFolder(std::string path, Journal head, const std::string& specification_text)
    : path_(std::move(path)), journal_(std::move(head)) {
  make_empty_folder(path_);
  write_file(path_ + "/spec.toml", specification_text);
  file_.emplace(journal_path(), "-o", OutputFile::Mode::New);
  file_->append(journal_head(journal_));
}

void RunFolder::add(std::size_t number, const Job& job, const LaunchResult& result) {
  const std::string stem = fmt::format("{:03}-{}-{}-{}", number, file_word(job.device_set),
                                       file_word(job_name(job)), file_word(job.collective));
  if (!result.csv.empty()) write_file(fmt::format("{}/{}.csv", path_, stem), result.csv);
  if (!result.log.empty()) write_file(fmt::format("{}/{}.log", path_, stem), result.log);
  std::string rows;
  for (const Instance& instance : job.instances) {
    journal_.lines.push_back({.device_set = job.device_set,
                              .instance = instance.name,
                              .nodes = instance.nodes,
                              .group = instance.group,
                              .launch = job.launch,
                              .attempt = job.attempt,
                              .purpose = job.purpose,
                              .collective = job.collective,
                              .file = result.csv.empty() ? "" : stem + ".csv",
                              .failure = result.failure,
                              .exit_code = result.exit_code,
                              .seconds = result.seconds,
                              .command = result.command,
                              .unreachable = result.unreachable});
    rows += journal_row(journal_.lines.back());
  }
  file_->append(rows);
}

}  // namespace busbar::judge
