// SPDX-License-Identifier: BSD-3-Clause
#include "judge/run/journal.hpp"

#include <algorithm>
#include <array>
#include <filesystem>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/text.hpp"
#include "base/units.hpp"
#include "judge/observation_file.hpp"
#include "judge/run/journal_text.hpp"
#include "report/csv_writer.hpp"

namespace busbar::judge {
namespace {

constexpr std::string_view kColumns =
    "device_set,instance,nodes,group,launch,attempt,purpose,collective,file,failure,exit_code,"
    "seconds,command";
constexpr std::size_t kColumnCount = 13;
constexpr int kMostLaunches = 1000000;
constexpr double kMostSeconds = 1e9;

Purpose parse_purpose(const std::string& place, const std::string& text) {
  for (const Purpose purpose : {Purpose::Measure, Purpose::Rerun, Purpose::Confirm}) {
    if (name(purpose) == text) return purpose;
  }
  throw usage_error(
      fmt::format("{}: '{}' is no purpose; there are measure, rerun and confirm", place, text));
}

int parse_count(const std::string& place, const std::string& text, int low) {
  return static_cast<int>(parse_integer(place, text, low, kMostLaunches));
}

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words = split(text, ' ');
  std::erase(words, "");
  return words;
}

/// Ids may have blanks.
std::vector<std::string> rules_of(std::string_view text) {
  std::vector<std::string> rules;
  for (const std::string& rule : split(text, ';')) rules.emplace_back(trim(rule));
  std::erase(rules, "");
  return rules;
}

JournalLine parse_line(const std::string& place, const std::vector<std::string>& cells) {
  if (cells.size() != kColumnCount) {
    throw usage_error(fmt::format("{}: {} where a journal has {}", place,
                                  counted(cells.size(), "cell"), kColumnCount));
  }
  constexpr int kLowestCode = -1;
  return {.device_set = cells[0],
          .instance = cells[1],
          .nodes = words_of(cells[2]),
          .group = cells[3].empty() ? -1 : parse_count(place, cells[3], 0),
          .launch = parse_count(place, cells[4], 0),
          .attempt = parse_count(place, cells[5], 0),
          .purpose = parse_purpose(place, cells[6]),
          .collective = cells[7],
          .file = cells[8],
          .failure = cells[9],
          .exit_code = parse_count(place, cells[10], kLowestCode),
          .seconds = parse_number(place, cells[11], 0, kMostSeconds),
          .command = cells[12]};
}

/// A "# key: value" line of the head.
void take_fact(Journal& journal, std::string_view line) {
  const auto value = [&line](std::string_view key) -> std::optional<std::string> {
    if (!line.starts_with(key)) return {};
    return std::string(trim(line.substr(key.size())));
  };
  if (const auto text = value("# specification:")) journal.specification = *text;
  if (const auto text = value("# profile:")) journal.profile = *text;
  if (const auto text = value("# rules:")) journal.rules = rules_of(*text);
  if (const auto text = value("# seed:")) journal.seed = *text;
  if (const auto text = value("# nodes:")) journal.nodes = words_of(*text);
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

/// Lines of one launch, which are rails, have one file; what failed did so for all of them.
void copy_rows(const Observation& other, Observation& observation) {
  observation.facts = other.facts;
  observation.records = other.records;
  if (observation.failure.empty()) observation.failure = other.failure;
}

Observation observation_of(const JournalLine& line) {
  return {.device_set = line.device_set,
          .instance = line.instance,
          .nodes = line.nodes,
          .group = line.group,
          .launch = line.launch,
          .attempt = line.attempt,
          .purpose = line.purpose,
          .collective = line.collective,
          .failure = line.failure};
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

std::string journal_row(const JournalLine& line) {
  const std::array cells{line.device_set,
                         line.instance,
                         join(line.nodes, " "),
                         line.group < 0 ? std::string() : fmt::format("{}", line.group),
                         fmt::format("{}", line.launch),
                         fmt::format("{}", line.attempt),
                         std::string(name(line.purpose)),
                         line.collective,
                         line.file,
                         line.failure,
                         fmt::format("{}", line.exit_code),
                         fmt::format("{:.3f}", line.seconds),
                         line.command};
  std::string text;
  for (const std::string& cell : cells) {
    text += (text.empty() ? "" : ",") + csv_cell(one_line(cell));
  }
  return text + '\n';
}

Journal load_journal(const std::string& path) {
  Journal journal;
  bool has_columns = false;
  for (const JournalTextLine& line : journal_lines(path)) {
    const std::string place = fmt::format("{}:{}", path, line.number);
    if (line.text.starts_with('#')) {
      take_fact(journal, line.text);
    } else if (!has_columns) {
      if (line.text != kColumns) {
        throw usage_error(
            fmt::format("{}: this is no journal of busbar accept run (launches.csv)", place));
      }
      has_columns = true;
    } else {
      journal.lines.push_back(parse_line(place, journal_cells(place, line.text)));
    }
  }
  if (!has_columns) {
    throw usage_error(
        fmt::format("{}: this is no journal of busbar accept run (launches.csv)", path));
  }
  return journal;
}

std::vector<Observation> observe_journal(const Journal& journal, const std::string& folder) {
  std::vector<Observation> observations;
  observe_more(journal, folder, observations);
  return observations;
}

void observe_more(const Journal& journal, const std::string& folder,
                  std::vector<Observation>& observations) {
  observations.reserve(journal.lines.size());
  for (std::size_t i = observations.size(); i < journal.lines.size(); ++i) {
    const JournalLine& line = journal.lines[i];
    Observation observation = observation_of(line);
    if (!line.file.empty()) {
      observation.file = (std::filesystem::path(folder) / line.file).string();
      const bool is_rail = i > 0 && journal.lines[i - 1].file == line.file;
      if (is_rail) {
        copy_rows(observations.back(), observation);
      } else {
        read_rows(observation);
      }
    } else if (line.failure.empty()) {
      observation.failure = "the journal names no file";
    }
    observations.push_back(std::move(observation));
  }
}

}  // namespace busbar::judge
