// SPDX-License-Identifier: BSD-3-Clause
#include "apps/accept_judging.hpp"

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <utility>

#include <fmt/format.h>

#include "apps/accept_outputs.hpp"
#include "base/embedded_text.hpp"
#include "base/text.hpp"
#include "harness/cli.hpp"
#include "harness/host.hpp"
#include "judge/output/verdict_output.hpp"
#include "judge/spec/reader.hpp"

namespace busbar {
namespace {

std::optional<judge::Baseline> baseline_of(const judge::Specification& specification) {
  const bool wanted =
      std::any_of(specification.expectations.begin(), specification.expectations.end(),
                  [](const auto& rule) { return rule.compare == judge::Comparison::Baseline; });
  if (!wanted || !specification.baseline) return {};
  return judge::load_baseline(specification.baseline->file);
}

}  // namespace

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

SpecificationSource find_specification(const std::string& name) {
  std::error_code error;
  if (std::filesystem::is_regular_file(name, error)) {
    std::ifstream file(name, std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    if (!file) throw usage_error(fmt::format("cannot read {}", name));
    return {.path = name, .text = text.str()};
  }
  const std::string path = fmt::format("results/expect/{}.toml", name);
  const std::string_view text = embedded_text(path);
  if (!text.empty()) return {.path = path, .text = std::string(text)};
  throw usage_error(fmt::format(
      "{}: there is no such file, and no ready-made specification of that name; see busbar accept "
      "list",
      name));
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

judge::Specification read_specification(const SpecificationSource& source,
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
