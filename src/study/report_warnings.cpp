// SPDX-License-Identifier: BSD-3-Clause
// What makes a comparison of runs unsafe.
#include <algorithm>
#include <array>
#include <map>
#include <set>

#include <fmt/format.h>

#include "base/text.hpp"
#include "study/report_findings.hpp"
#include "study/report_words.hpp"

namespace busbar {
namespace {

/// Values of a key, each with the systems that have it; runs that do not tell are left out.
using Values = std::map<std::string, std::set<std::string>>;

std::string values_words(const Values& values) {
  std::vector<std::string> words;
  for (const auto& [value, systems] : values) {
    const std::vector<std::string> names(systems.begin(), systems.end());
    words.push_back(fmt::format("{} ({})", value, and_words(names)));
  }
  return join(words, "; ");
}

void warn_of_facts(const ReportData& data, std::vector<std::string>& warnings) {
  constexpr std::array<std::string_view, 5> kFacts{"busbar", "library", "nccl", "cuda", "driver"};
  for (const std::string_view fact : kFacts) {
    Values values;
    for (const Dataset& dataset : data.datasets) {
      const std::string value = dataset.fact(std::string(fact));
      const bool told = !value.empty() && (!dataset.simulated || fact == "busbar");
      if (told) values[value].insert(dataset.label);
    }
    if (values.size() > 1) {
      warnings.push_back(fmt::format(
          "runs differ in {}: {}; differences between them are not the topology's alone", fact,
          values_words(values)));
    }
  }
}

Values cadences_of(const ReportData& data) {
  Values cadences;
  for (const Dataset& dataset : data.datasets) {
    if (dataset.simulated) continue;
    for (const Record& record : dataset.records) {
      if (!record.cadence.empty()) cadences[record.cadence].insert(dataset.label);
    }
  }
  return cadences;
}

const char* source_words(const Dataset& dataset) {
  switch (origin_of(dataset)) {
    case Origin::Simulated: return "simulated";
    case Origin::Fake: return "fake GPUs";
    case Origin::Imported: return "imported means";
    case Origin::Measured: break;
  }
  return "measured medians";
}

void warn_of_rows(const ReportData& data, std::vector<std::string>& warnings) {
  const Values cadences = cadences_of(data);
  Values sources;
  std::set<std::string> wrong;
  for (const Dataset& dataset : data.datasets) {
    if (dataset.records.empty()) continue;
    sources[source_words(dataset)].insert(dataset.label);
    for (const Record& record : dataset.records) {
      if (record.status == RowStatus::Wrong) wrong.insert(dataset.label);
    }
  }
  if (sources.size() > 1) {
    warnings.push_back(
        fmt::format("curves of different origin stand side by side: {}", values_words(sources)));
  }
  if (cadences.size() > 1) {
    warnings.push_back(fmt::format("runs differ in cadence: {}", values_words(cadences)));
  }
  if (!wrong.empty()) {
    const std::vector<std::string> names(wrong.begin(), wrong.end());
    warnings.push_back(fmt::format("rows with wrong data are left out: {}", and_words(names)));
  }
}

}  // namespace

std::vector<std::string> comparison_warnings(const ReportData& data) {
  std::vector<std::string> warnings = problems_of(std::span(data.datasets));
  warn_of_rows(data, warnings);
  warn_of_facts(data, warnings);
  return warnings;
}

std::vector<std::string> systems_without_topology(const ReportData& data) {
  std::vector<std::string> names;
  for (const ReportSystem& system : data.systems) {
    if (!system.graph) names.push_back(system.name);
  }
  return names;
}

}  // namespace busbar
