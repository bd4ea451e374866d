// SPDX-License-Identifier: BSD-3-Clause
#include "apps/accept_judging.hpp"

#include <algorithm>
#include <array>
#include <ctime>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "base/embedded_text.hpp"
#include "base/text.hpp"
#include "harness/host.hpp"
#include "judge/judge.hpp"
#include "judge/output/verdict_output.hpp"
#include "judge/spec/reader.hpp"
#include "judge/spec/source.hpp"
#include "report/output_file.hpp"

namespace busbar {
namespace {

constexpr std::string_view kReplaced = "--prometheus";

struct Output {
  std::string_view option;
  std::string_view file;  ///< its name in the folder of a run
  std::string (*text)(const judge::Acceptance&, const judge::Specification&);
};

constexpr std::array kOutputs{Output{"--verdicts", "verdicts.csv", judge::verdict_csv},
                              Output{"--junit", "junit.xml", judge::verdict_junit},
                              Output{"--json", "verdicts.json", judge::verdict_json},
                              Output{kReplaced, "metrics.prom", judge::verdict_prometheus},
                              Output{"--markdown", "verdicts.md", judge::verdict_markdown},
                              Output{"--html", "report.html", judge::verdict_html}};

std::optional<judge::Baseline> baseline_of(const judge::Specification& specification) {
  const bool wanted =
      std::any_of(specification.expectations.begin(), specification.expectations.end(),
                  [](const auto& rule) { return rule.compare == judge::Comparison::Baseline; });
  if (!wanted || !specification.baseline) return {};
  return judge::load_baseline(specification.baseline->file);
}

}  // namespace

judge::Specification parse_specification(const AcceptOptions& options,
                                         std::vector<std::string>* all_faults) {
  const judge::SpecificationSource source = judge::find_specification(options.specification);
  return judge::parse_specification(source.text, source.path, options.profile, options.rules,
                                    all_faults);
}

judge::Specification read_specification(const AcceptOptions& options) {
  judge::Specification specification = parse_specification(options);
  if (options.same_machine) specification.run.same_machine = true;
  for (const judge::LintFinding& finding : lint_findings(specification)) {
    if (finding.severity != judge::LintFinding::Severity::Refused) continue;
    throw usage_error(std::string(trim(judge::lint_text(specification.file, {&finding, 1}))));
  }
  return specification;
}

std::vector<judge::LintFinding> lint_findings(const judge::Specification& specification) {
  std::optional<judge::Baseline> baseline;
  try {
    if (specification.baseline) baseline = judge::load_baseline(specification.baseline->file);
  } catch (const Error&) {
    baseline.reset();  // that it cannot be read is a finding
  }
  return judge::lint(specification, baseline ? &*baseline : nullptr, this_day());
}

Judge judge_by(const judge::Specification& specification, const AcceptOptions& options) {
  return [&specification, baseline = baseline_of(specification), assumed = options.assumed,
          partial = options.partial](std::span<const judge::Observation> observations,
                                     const std::vector<std::string>& nodes) {
    return judge::judge_all({.specification = specification,
                             .observations = observations,
                             .baseline = baseline ? &*baseline : nullptr,
                             .today = this_day(),
                             .nodes = nodes,
                             .partial = partial,
                             .assumed = assumed});
  };
}

void check_outputs(const AcceptOptions& options) {
  std::set<std::string> seen;
  for (const auto& [option, path] : options.outputs) {
    if (!seen.insert(path).second) {
      throw usage_error(
          fmt::format("{}: {} is already the file of another output; give another", option, path));
    }
    if (option != kReplaced) check_new(path, option);
  }
}

Status conclude(judge::Acceptance acceptance, const std::string& seed, const AcceptOptions& options,
                const std::string& folder, const judge::Specification& specification) {
  acceptance.head.version = std::string(version());
  acceptance.head.judged_at = local_time();
  acceptance.head.judged_at_unix = std::time(nullptr);
  acceptance.head.seed = seed;
  for (const Output& output : kOutputs) {
    const auto named = options.outputs.find(output.option);
    const bool is_named = named != options.outputs.end();
    if (!is_named && folder.empty()) continue;
    const std::string path = is_named ? named->second : fmt::format("{}/{}", folder, output.file);
    const std::string text = output.text(acceptance, specification);
    // What a resumed run had concluded before is judged again.
    if (output.option == kReplaced || (options.resume && !is_named)) {
      replace_file(path, text, output.option);
    } else {
      OutputFile(path, output.option, OutputFile::Mode::New).append(text);
    }
  }
  fmt::print("{}", judge::verdict_text(acceptance, specification,
                                       {.strict = options.strict, .all_sources = options.verbose}));
  return static_cast<Status>(judge::exit_code_of(acceptance, options.strict));
}

std::string this_day() { return local_time().substr(0, std::string_view("2026-11-21").size()); }

}  // namespace busbar
