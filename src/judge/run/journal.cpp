// SPDX-License-Identifier: BSD-3-Clause
#include "judge/run/journal.hpp"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <iterator>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/text.hpp"
#include "base/units.hpp"
#include "format/csv_reader.hpp"
#include "format/table.hpp"
#include "format/timeline_file.hpp"

namespace busbar::judge {
namespace {

constexpr std::string_view kColumns =
    "device_set,instance,nodes,group,launch,attempt,purpose,collective,file,failure,exit_code,"
    "seconds,command,unreachable";
constexpr std::size_t kColumnCount = 14;
constexpr const char* kLevels = "levels.csv";
constexpr const char* kNotes = "notes.txt";
constexpr int kMostLaunches = 1000000;
constexpr double kMostSeconds = 1e9;

int parse_count(const std::string& place, const std::string& text, int low) {
  return static_cast<int>(parse_integer(place, text, low, kMostLaunches));
}

/// Ids may have blanks.
std::vector<std::string> rule_ids(std::string_view text) {
  auto rules = mapped<std::string>(split(text, ';'), trim);
  std::erase(rules, "");
  return rules;
}

Observation parse_line(const CsvReader& row) {
  const std::string& place = row.place();
  const std::vector<std::string>& cells = row.cells();
  if (cells.size() != kColumnCount) {
    throw usage_error("{}: {} where a journal has {}", place, counted(cells.size(), "cell"),
                      kColumnCount);
  }
  if (cells[8].find('/') != std::string::npos) {
    throw usage_error("{}: the file {} is not one of the journal's folder", place, cells[8]);
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

/// The rows of a launch, or why they cannot be read; `before` is the line before it, if any.
void read_rows(Observation& line, const std::string& folder, const Observation* before) {
  std::string why = "the journal names no file";
  if (!line.file.empty()) {
    line.file = (std::filesystem::path(folder) / line.file).string();
    // Lines of one launch, which are rails, have one file; what failed did so for all of them.
    if (before != nullptr && before->file == line.file) {
      line.facts = before->facts;
      line.records = before->records;
      why = before->failure;
    } else {
      try {
        study::Dataset dataset = study::read_launch(line.file).dataset;
        why = file_failure(dataset);
        line.facts = std::move(dataset.facts);
        line.records = std::move(dataset.records);
      } catch (const Error& error) {
        why = one_line(error.what());
      }
    }
  }
  if (line.failure.empty()) line.failure = why;
}

void read_rows_from(std::vector<Observation>& lines, std::size_t first, const std::string& folder) {
  for (std::size_t i = first; i < lines.size(); ++i) {
    read_rows(lines[i], folder, i > 0 ? &lines[i - 1] : nullptr);
  }
}

/// A launch that was interrupted is not one where it was made again when the run was resumed.
void drop_interrupted(std::vector<Observation>& lines) {
  std::set<LaunchKey> later;
  std::ranges::reverse(lines);
  std::erase_if(lines, [&](const Observation& line) {
    const bool is_new = later.insert(launch_key(line)).second;
    return !is_new && line.failure == kInterrupted;
  });
  std::ranges::reverse(lines);
}

/// CSVs of launches that the run was killed before it could add to the journal.
std::vector<std::string> unlisted_files(const std::string& folder,
                                        const std::set<std::string>& listed) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    const bool is_launch = name.ends_with(".csv") &&
                           name.find('-') == name.find_first_not_of("0123456789") &&
                           name.find('-') > 0;
    if (is_launch && !listed.contains(name)) names.push_back(name);
  }
  std::ranges::sort(names);
  return names;
}

void make_empty_folder(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  const bool empty = !error && std::filesystem::is_empty(path, error);
  if (error) throw usage_error("-o {}: {}", path, error.message());
  if (empty) return;
  throw usage_error("-o {}: the folder is not empty, and nothing is replaced; name a new one",
                    path);
}

/// Throws the usage error of a folder that holds another run than `head` and the specification.
RunJournal load_same_run(const std::string& folder, const RunJournal& head,
                         const std::string& specification_text) {
  RunJournal journal = load_journal(folder + "/launches.csv");
  const auto require = [&](bool same, std::string_view what) {
    if (same) return;
    throw usage_error("--resume: {} holds a run with other {}; give another folder", folder, what);
  };
  require(read_file(folder + "/spec.toml") == specification_text, "rules (its spec.toml)");
  require(journal.profile == head.profile && journal.rules == head.rules, "--profile or --rule");
  require(journal.nodes == head.nodes, "nodes");
  require(journal.levels == head.levels, "levels (--levels)");
  require(journal.soak == head.soak, "launches (run or soak)");
  return journal;
}

void write_file(const std::string& path, const std::string& text) {
  OutputFile(path, "-o", OutputFile::Mode::New).append(text);
}

/// Letters, digits, '.', '+' and '-' of a text, at most 60.
std::string file_word(const std::string& text) {
  constexpr std::size_t kMost = 60;
  std::string word = text.substr(0, kMost);
  std::ranges::replace_if(
      word,
      [](unsigned char c) { return std::isalnum(c) == 0 && c != '.' && c != '+' && c != '-'; },
      '-');
  return word;
}

}  // namespace

std::string journal_head(const RunJournal& journal) {
  return fmt::format(
      "# journal: busbar accept {}\n# specification: {}\n# profile: {}\n{}"
      "# seed: {}\n# nodes: {}\n{}\n",
      journal.soak ? "soak" : "run", one_line(journal.specification), journal.profile,
      journal.rules.empty() ? "" : fmt::format("# rules: {}\n", join(journal.rules, "; ")),
      journal.seed, join(journal.nodes, " "), kColumns);
}

std::string timeline_path(const std::string& csv) {
  const std::filesystem::path path(csv);
  return (path.parent_path() / "timelines" / path.filename()).string();
}

std::string journal_row(const Observation& line) {
  return csv_line({line.device_set, line.instance, join(line.nodes, " "),
                   line.group < 0 ? std::string() : fmt::format("{}", line.group),
                   fmt::format("{}", line.launch), fmt::format("{}", line.attempt),
                   std::string(name(line.purpose)), line.collective, line.file, line.failure,
                   fmt::format("{}", line.exit_code), fmt::format("{:.3f}", line.seconds),
                   line.command, line.unreachable});
}

RunJournal load_journal(const std::string& path) {
  CsvReader reader(path);
  if (reader.columns() != kColumns) {
    const bool is_old = reader.columns() + ",unreachable" == kColumns;
    throw usage_error("{}: not a journal of busbar accept run (launches.csv){}",
                      reader.columns().empty() ? path : reader.place(),
                      is_old ? "; the folder is of version 0.1: run again" : "");
  }
  Facts facts = facts_of(reader.head());
  RunJournal journal{.specification = facts["specification"],
                     .profile = facts["profile"],
                     .rules = rule_ids(facts["rules"]),
                     .seed = facts["seed"],
                     .soak = facts["journal"].ends_with("soak"),
                     .nodes = split_words(facts["nodes"])};
  std::set<std::string> files;
  std::set<std::pair<std::string, std::string>> launches;
  while (reader.next()) {
    Observation line = parse_line(reader);
    // Only rails, which are measured together, have one file.
    const bool is_new = launches.emplace(line.file, line.group < 0 ? "" : line.instance).second;
    if (!line.file.empty() && !is_new) {
      throw usage_error("{}: {} is of a launch that an earlier line has; remove one",
                        reader.place(), line.file);
    }
    files.insert(line.file);
    journal.lines.push_back(std::move(line));
  }
  const std::string folder = std::filesystem::path(path).parent_path().string();
  drop_interrupted(journal.lines);
  journal.unlisted = unlisted_files(folder.empty() ? "." : folder, files);
  read_rows_from(journal.lines, 0, folder);
  const std::string of_facts = beside(path, "facts.csv");
  if (std::filesystem::exists(of_facts)) journal.machines = machine::read_facts(of_facts);
  journal.levels = read_file(beside(path, kLevels)).value_or("");
  journal.notes = split(read_file(beside(path, kNotes)).value_or(""), '\n');
  std::erase(journal.notes, "");
  return journal;
}

RunFolder::RunFolder(std::string path, RunJournal head, const std::string& specification_text,
                     bool resume)
    : path_(std::move(path)), journal_(std::move(head)) {
  if (resume && std::filesystem::exists(journal_path())) {
    file_.emplace(journal_path(), "-o", OutputFile::Mode::Continue);
    file_->drop_unfinished_line();
    journal_ = load_same_run(path_, journal_, specification_text);
    // Of a soak an interrupted turn is one, and the next has another number.
    std::erase_if(journal_.lines,
                  [&](const auto& line) { return !journal_.soak && line.failure == kInterrupted; });
    for (const Observation& line : journal_.lines) earlier_.insert(launch_key(line));
    return;
  }
  make_empty_folder(path_);
  write_file(path_ + "/spec.toml", specification_text);
  try {
    if (!journal_.levels.empty()) write_file(beside(journal_path(), kLevels), journal_.levels);
    file_.emplace(journal_path(), "-o", OutputFile::Mode::New);
    file_->append(journal_head(journal_));
  } catch (const Error&) {  // on a full disk: else the folder is not empty, and of no run
    discard();
    throw;
  }
}

LaunchKey launch_key(const Observation& line) {
  return {line.device_set, line.instance, line.collective, line.launch, line.attempt, line.purpose};
}

LaunchKey launch_key(const LaunchJob& job, const Instance& instance) {
  return {job.device_set, instance.name, job.collective, job.launch, job.attempt, job.purpose};
}

bool RunFolder::has(const LaunchJob& job) const {
  return std::ranges::all_of(job.instances, [&](const Instance& instance) {
    return earlier_.contains(launch_key(job, instance));
  });
}

std::string RunFolder::text_file(const std::string& lines, std::string_view ending) {
  std::string& path = host_files_[lines];
  if (!path.empty()) return path;
  const std::string folder = path_ + "/hosts";
  std::filesystem::create_directory(folder);
  std::size_t number = host_files_.size();
  do {
    path = fmt::format("{}/{:04}{}", folder, number++, ending);  // those of a resumed run are there
  } while (read_file(path).value_or(lines) != lines);
  if (!std::filesystem::exists(path)) write_file(path, lines);
  return path;
}

void RunFolder::add_facts(const std::string& node, std::string_view output) {
  std::string rows;
  for (const std::string& line : from_comments(machine::kFactPrefix, output)) {
    std::vector<std::string> cells = csv_cells(line);
    if (cells.size() < 2) continue;
    cells[1] = node;  // by which it is judged, whatever it calls itself
    if (journal_.machines.add_cells(cells)) rows += csv_line(cells);
  }
  if (rows.empty()) return;
  if (!facts_) {
    facts_.emplace(facts_path(), "-o", OutputFile::Mode::Continue);
    facts_->drop_unfinished_line();
    if (facts_->size() == 0) {
      facts_->append(csv_text(machine::fact_columns(), std::vector<machine::FactLine>{}));
    }
  }
  facts_->append(rows);
}

void RunFolder::add_note(const std::string& line) {
  journal_.notes.push_back(one_line(line));
  OutputFile(beside(journal_path(), kNotes), "-o", OutputFile::Mode::Continue)
      .append(journal_.notes.back() + '\n');
}

void RunFolder::discard() {
  file_.reset();
  facts_.reset();
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

void RunFolder::add(std::size_t number, const LaunchJob& job, const LaunchResult& result) {
  std::string stem = fmt::format("{:03}-{}-{}-{}", number, file_word(job.device_set),
                                 file_word(job_name(job)), file_word(job.collective));
  // A launch that a killed run had made left files that are in no line.
  for (const char* suffix : {".csv", ".log"}) {
    while (std::filesystem::exists(path_ + '/' + stem + suffix)) stem += "+";
  }
  // Of one that was killed the last line may be cut off.
  const std::vector<std::string> timeline =
      from_comments(kTimelinePrefix, result.csv.substr(0, result.csv.rfind('\n') + 1));
  std::string csv = result.csv;
  if (!timeline.empty()) {
    std::vector<std::string> lines = split(csv, '\n');
    std::erase_if(lines, [](const auto& line) { return line.starts_with(kTimelinePrefix); });
    csv = join(lines, "\n");
    std::filesystem::create_directory(path_ + "/timelines");
    write_file(timeline_path(fmt::format("{}/{}.csv", path_, stem)), join(timeline, "\n") + "\n");
  }
  if (!csv.empty()) write_file(fmt::format("{}/{}.csv", path_, stem), csv);
  if (!result.log.empty()) write_file(fmt::format("{}/{}.log", path_, stem), result.log);
  std::string rows;
  const std::size_t first = journal_.lines.size();
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
  read_rows_from(journal_.lines, first, path_);
}

}  // namespace busbar::judge
