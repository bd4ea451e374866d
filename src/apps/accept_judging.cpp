// SPDX-License-Identifier: BSD-3-Clause
#include "apps/accept_judging.hpp"

#include <algorithm>
#include <array>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "base/embedded_text.hpp"
#include "base/text.hpp"
#include "harness/host.hpp"
#include "judge/file_matching.hpp"
#include "judge/output/verdict_output.hpp"
#include "judge/run/journal.hpp"
#include "judge/spec/reader.hpp"
#include "report/output_file.hpp"

namespace busbar {
namespace {

void add_new(std::vector<std::string>& words, const std::string& word) {
  if (!word.empty() && std::find(words.begin(), words.end(), word) == words.end()) {
    words.push_back(word);
  }
}

using Text = std::string (*)(const judge::Acceptance&, const judge::Specification&);

struct Output {
  std::string_view option;
  std::string_view file;  ///< its name in the folder of a run
  std::string AcceptOutputs::*path;
  Text text;
};

constexpr std::array kOutputs{
    Output{"--verdicts", "verdicts.csv", &AcceptOutputs::verdicts, judge::verdict_csv},
    Output{"--junit", "junit.xml", &AcceptOutputs::junit, judge::verdict_junit},
    Output{"--json", "verdicts.json", &AcceptOutputs::json, judge::verdict_json},
    Output{"--prometheus", "metrics.prom", &AcceptOutputs::prometheus, judge::verdict_prometheus},
    Output{"--markdown", "verdicts.md", &AcceptOutputs::markdown, judge::verdict_markdown},
    Output{"--html", "report.html", &AcceptOutputs::html, judge::verdict_html}};

void write_outputs(const AcceptOutputs& outputs, const judge::Acceptance& acceptance,
                   const judge::Specification& specification) {
  for (const Output& output : kOutputs) {
    const std::string& path = outputs.*output.path;
    if (path.empty()) continue;
    const std::string text = output.text(acceptance, specification);
    if (output.path == &AcceptOutputs::prometheus) {
      replace_file(path, text, output.option);
    } else {
      OutputFile(path, output.option, OutputFile::Mode::New).append(text);
    }
  }
}

std::optional<judge::Baseline> baseline_of(const judge::Specification& specification) {
  const bool wanted =
      std::any_of(specification.expectations.begin(), specification.expectations.end(),
                  [](const auto& rule) { return rule.compare == judge::Comparison::Baseline; });
  if (!wanted || !specification.baseline) return {};
  return judge::load_baseline(specification.baseline->file);
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
            "{}: the folder has no launches.csv of an accept run; name its CSV files instead",
            path));
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

AcceptOutputs outputs_in(const std::string& folder, AcceptOutputs named) {
  for (const Output& output : kOutputs) {
    std::string& path = named.*output.path;
    if (path.empty()) path = fmt::format("{}/{}", folder, output.file);
  }
  return named;
}

void check_outputs(const AcceptOutputs& outputs) {
  std::set<std::string> seen;
  for (const Output& output : kOutputs) {
    const std::string& path = outputs.*output.path;
    if (path.empty()) continue;
    if (!seen.insert(path).second) {
      throw usage_error(fmt::format("{}: {} is already the file of another output; give another",
                                    output.option, path));
    }
    std::error_code error;
    const bool replaced = output.path == &AcceptOutputs::prometheus;
    if (!replaced && std::filesystem::exists(path, error)) {
      throw usage_error(
          fmt::format("{}: {} exists; give another name or remove it", output.option, path));
    }
  }
}

AcceptJudging::AcceptJudging(judge::Specification specification,
                             std::map<std::string, std::string> assumed)
    : specification_(std::move(specification)),
      assumed_(std::move(assumed)),
      baseline_(baseline_of(specification_)) {}

judge::Acceptance AcceptJudging::judge(std::span<const judge::Observation> observations,
                                       const std::vector<std::string>& nodes) const {
  return judge::judge_all({.specification = specification_,
                           .observations = observations,
                           .baseline = baseline_ ? &*baseline_ : nullptr,
                           .today = this_day(),
                           .nodes = nodes,
                           .assumed = assumed_});
}

Status conclude(judge::Acceptance acceptance, const std::string& seed, const AcceptOptions& options,
                const AcceptOutputs& outputs, const judge::Specification& specification) {
  acceptance.head.version = std::string(version());
  acceptance.head.judged_at = local_time();
  acceptance.head.judged_at_unix = std::time(nullptr);
  acceptance.head.seed = seed;
  write_outputs(outputs, acceptance, specification);
  fmt::print("{}", judge::verdict_text(acceptance, specification,
                                       {.strict = options.strict, .all_sources = options.verbose}));
  return static_cast<Status>(judge::exit_code_of(acceptance, options.strict));
}

std::string this_day() { return local_time().substr(0, std::string_view("2026-11-21").size()); }

std::vector<judge::LintFinding> lint_findings(const judge::Specification& specification) {
  std::optional<judge::Baseline> baseline;
  try {
    if (specification.baseline) baseline = judge::load_baseline(specification.baseline->file);
  } catch (const Error&) {
    baseline.reset();  // that it cannot be read is a finding
  }
  return judge::lint(specification, baseline ? &*baseline : nullptr, this_day());
}

judge::Specification read_specification(const judge::SpecificationSource& source,
                                        const std::string& profile,
                                        const std::vector<std::string>& rules) {
  judge::Specification specification =
      judge::parse_specification(source.text, source.path, profile, rules);
  for (const judge::LintFinding& finding : lint_findings(specification)) {
    if (finding.severity != judge::LintFinding::Severity::Refused) continue;
    throw usage_error(std::string(trim(judge::lint_text(source.path, {&finding, 1}))));
  }
  return specification;
}

}  // namespace busbar
