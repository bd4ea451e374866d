// SPDX-License-Identifier: BSD-3-Clause
#include "apps/accept_files.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/text.hpp"
#include "judge/file_matching.hpp"
#include "judge/judge.hpp"
#include "judge/run/journal.hpp"

namespace busbar {
namespace {

void add_new(std::vector<std::string>& words, const std::string& word) {
  if (!word.empty() && std::find(words.begin(), words.end(), word) == words.end()) {
    words.push_back(word);
  }
}

}  // namespace

AcceptFiles sort_files(std::span<const std::string> paths) {
  AcceptFiles files;
  for (const std::string& path : paths) {
    std::error_code error;
    if (std::filesystem::is_directory(path, error)) {
      const std::string journal = (std::filesystem::path(path) / "launches.csv").string();
      if (!std::filesystem::exists(journal, error)) {
        throw usage_error(fmt::format(
            "{}: the folder has no launches.csv of an accept run; name its CSVs instead", path));
      }
      add_new(files.journals, journal);
    } else if (!std::filesystem::exists(path, error)) {
      throw usage_error(fmt::format("cannot read {}", path));
    } else {
      const bool is_journal = first_line_of(path).starts_with("# journal:");
      add_new(is_journal ? files.journals : files.csvs, path);
    }
  }
  return files;
}

std::string profile_of(const AcceptFiles& files) {
  std::vector<std::string> profiles;
  for (const std::string& path : files.journals) {
    add_new(profiles, judge::load_journal(path).profile);
  }
  return profiles.size() == 1 ? profiles.front() : std::string();
}

std::vector<std::string> rules_of(const AcceptFiles& files) {
  std::vector<std::string> rules;
  for (const std::string& path : files.journals) {
    const judge::Journal journal = judge::load_journal(path);
    if (journal.rules.empty()) return {};
    for (const std::string& rule : journal.rules) add_new(rules, rule);
  }
  return rules;
}

AcceptMeasurements read_files(const AcceptFiles& files, const judge::Specification& specification) {
  AcceptMeasurements measurements;
  for (const std::string& path : files.journals) {
    const judge::Journal journal = judge::load_journal(path);
    const std::string folder = std::filesystem::path(path).parent_path().string();
    for (judge::Observation& observation : judge::observe_journal(journal, folder)) {
      measurements.observations.push_back(std::move(observation));
    }
    for (const std::string& node : journal.nodes) add_new(measurements.nodes, node);
    add_new(measurements.seeds, journal.seed);
  }
  for (judge::Observation& observation :
       judge::observe_files(specification, files.csvs, measurements.notes)) {
    measurements.observations.push_back(std::move(observation));
  }
  return measurements;
}

}  // namespace busbar
