// SPDX-License-Identifier: BSD-3-Clause
#include "apps/accept_command.hpp"

#include <filesystem>

#include <fmt/format.h>

#include "apps/accept_files.hpp"
#include "apps/accept_judging.hpp"
#include "apps/accept_options.hpp"
#include "apps/accept_outputs.hpp"
#include "apps/accept_run.hpp"
#include "apps/accept_spec_json.hpp"
#include "base/embedded_text.hpp"
#include "base/text.hpp"
#include "harness/cli.hpp"
#include "judge/output/describe.hpp"
#include "judge/spec/reader.hpp"
#include "report/output_file.hpp"
#include "report/text_table.hpp"

namespace busbar {
namespace {

Status dump(const AcceptOptions& options) {
  const SpecificationSource source = find_specification(options.specification);
  fmt::print("{}", specification_json(judge::parse_specification(source.text, source.path,
                                                                 options.profile, options.rules)));
  return Status::Ok;
}

Status list_rules(const AcceptOptions& options) {
  const SpecificationSource source = find_specification(options.specification);
  fmt::print("{}", judge::rule_list(
                       judge::parse_specification(source.text, source.path, options.profile)));
  return Status::Ok;
}

Status list() {
  TextTable table{.columns = {"name", "system", "device sets", "rules"}};
  for (const EmbeddedText& ready : embedded_texts("results/expect")) {
    const std::string path(ready.path);
    const judge::Specification specification = judge::parse_specification(ready.text, path, "");
    std::vector<std::string> sets;
    for (const judge::DeviceSetRule& set : specification.device_sets) sets.push_back(set.id);
    table.rows.push_back({std::filesystem::path(path).stem().string(), specification.system.name,
                          join(sets, " "), fmt::format("{}", specification.expectations.size())});
  }
  fmt::print("{}", plain_table(table));
  return Status::Ok;
}

Status lint(const AcceptOptions& options) {
  const SpecificationSource source = find_specification(options.specification);
  const judge::Specification specification =
      judge::parse_specification(source.text, source.path, options.profile, options.rules);
  const std::vector<judge::LintFinding> findings = lint_findings(specification);
  fmt::print("{}", judge::lint_text(source.path, findings));
  fmt::print("{}: {}, {}, {}\n", source.path, counted(specification.expectations.size(), "rule"),
             counted(specification.device_sets.size(), "device set"),
             findings.empty() ? "nothing to complain of" : counted(findings.size(), "finding"));
  return judge::is_refused(findings) ? Status::Usage : Status::Ok;
}

/// By the profile and the rules of the journals, where none are named: it is what was measured.
judge::Specification specification_for(const AcceptOptions& options, const AcceptFiles& files) {
  return read_specification(find_specification(options.specification),
                            options.profile.empty() ? profile_of(files) : options.profile,
                            options.rules.empty() ? rules_of(files) : options.rules);
}

Status judge_files(const AcceptOptions& options) {
  check_outputs(options.outputs);
  const AcceptFiles files = sort_files(options.files);
  const AcceptJudging judging(specification_for(options, files), options.assumed);
  const AcceptMeasurements measured = read_files(files, judging.specification());
  judge::Acceptance acceptance =
      judging.judge(measured.observations, options.hosts.empty() ? measured.nodes : options.hosts);
  acceptance.head.notes.insert(acceptance.head.notes.end(), measured.notes.begin(),
                               measured.notes.end());
  return conclude(std::move(acceptance), join(measured.seeds, " "), options, options.outputs,
                  judging.specification());
}

Status make_baseline(const AcceptOptions& options) {
  if (std::filesystem::exists(options.output)) {
    throw usage_error(
        fmt::format("-o {}: it exists; give another name or remove it", options.output));
  }
  const AcceptFiles files = sort_files(options.files);
  const SpecificationSource source = find_specification(options.specification);
  const judge::Specification specification = judge::parse_specification(
      source.text, source.path, options.profile.empty() ? profile_of(files) : options.profile,
      options.rules.empty() ? rules_of(files) : options.rules);
  const AcceptMeasurements measured = read_files(files, specification);
  for (const std::string& note : measured.notes) fmt::print(stderr, "busbar: {}\n", note);
  const judge::Baseline baseline =
      judge::build_baseline(specification, measured.observations, this_day(), options.assumed);
  OutputFile(options.output, "-o", OutputFile::Mode::New).append(judge::baseline_text(baseline));
  fmt::print("{}: {}\n", options.output, counted(baseline.rows.size(), "row"));
  return Status::Ok;
}

}  // namespace

Status run_accept(std::span<char* const> arguments) {
  const AcceptOptions options = parse_accept_options(arguments);
  if (options.dump_specification) return dump(options);
  switch (options.task) {
    case AcceptTask::Run: return accept_run(options);
    case AcceptTask::Judge: return judge_files(options);
    case AcceptTask::Lint: return lint(options);
    case AcceptTask::Baseline: return make_baseline(options);
    case AcceptTask::List: return options.specification.empty() ? list() : list_rules(options);
    case AcceptTask::Help: break;
  }
  fmt::print("{}", help_text_of("accept"));
  return Status::Ok;
}

}  // namespace busbar
