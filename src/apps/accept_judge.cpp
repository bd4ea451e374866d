// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <ctime>
#include <filesystem>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "apps/accept.hpp"
#include "base/embedded_text.hpp"
#include "base/host.hpp"
#include "base/text.hpp"
#include "format/output_file.hpp"
#include "judge/fingerprint.hpp"
#include "judge/fleet/fabric_file.hpp"
#include "judge/judge.hpp"
#include "judge/output/verdict_output.hpp"
#include "judge/run/journal.hpp"
#include "judge/spec/reader.hpp"
#include "study/plot/curves.hpp"
#include "study/run_facts.hpp"

namespace busbar {
namespace {

constexpr std::string_view kReplaced = "--prometheus";
constexpr std::string_view kPrinted = "-";  ///< an output in place of the text

struct Output {
  std::string_view option;
  std::string_view file;  ///< its name in the folder of a run
  std::string (*text)(const judge::Acceptance&, const judge::Specification&);
};

constexpr std::array kOutputs{
    Output{"--verdicts", "verdicts.csv", judge::verdict_csv},
    Output{"--junit", "junit.xml", judge::verdict_junit},
    Output{"--json", "verdicts.json", judge::verdict_json},
    Output{kReplaced, "metrics.prom", judge::verdict_prometheus},
    Output{"--markdown", "verdicts.md", judge::verdict_markdown},
    Output{"--html", "report.html", judge::verdict_html},
    Output{"--good", "good.txt", judge::listed_nodes<judge::NodeState::Good>},
    Output{"--bad", "bad.txt", judge::listed_nodes<judge::NodeState::Failed>},
    Output{"--unknown", "unknown.txt",
           judge::listed_nodes<judge::NodeState::Suspect, judge::NodeState::Inconclusive,
                               judge::NodeState::NoData>}};

struct AcceptFiles {
  judge::RunJournal runs{};  ///< of all journals
  std::vector<study::FileRows> csvs{};
  std::vector<std::string> notes{};
};

std::string unlisted_text(const std::string& journal, const std::vector<std::string>& csvs) {
  const bool is_one = csvs.size() == 1;
  return fmt::format(
      "{} does not list {} beside it ({}{}), which {} not judged: the run was killed before it "
      "could add the line",
      journal, counted(csvs.size(), "CSV"), csvs.front(), is_one ? "" : ", ...",
      is_one ? "is" : "are");
}

/// All as one, with their profile if it is one, and their rules unless one was for all.
void read_journals(AcceptFiles& files, const std::vector<std::string>& paths) {
  judge::RunJournal& runs = files.runs;
  std::vector<std::string> profiles;
  std::vector<std::string> seeds;
  bool has_all_rules = false;
  for (const std::string& path : study::distinct_files(paths, files.notes)) {
    const judge::RunJournal journal = judge::load_journal(path);
    append(runs.lines, journal.lines);
    for (const std::string& node : journal.nodes) add_new(runs.nodes, node);
    for (const std::string& rule : journal.rules) add_new(runs.rules, rule);
    has_all_rules = has_all_rules || journal.rules.empty();
    add_new(profiles, journal.profile);
    add_new(seeds, journal.seed);
    runs.machines.add_run(journal.machines);
    runs.soak = runs.soak || journal.soak;
    if (runs.levels.empty()) runs.levels = journal.levels;
    append(files.notes, journal.notes);
    if (!journal.unlisted.empty()) files.notes.push_back(unlisted_text(path, journal.unlisted));
  }
  if (profiles.size() == 1) runs.profile = profiles.front();
  if (has_all_rules) runs.rules.clear();
  runs.seed = join(seeds, " ");
}

/// Throws Error (Usage) for a missing file.
AcceptFiles read_files(const std::vector<std::string>& paths, const std::string& setting) {
  AcceptFiles files;
  std::vector<std::string> journals;
  std::vector<std::string> csvs;
  for (const std::string& path : paths) {
    std::error_code error;
    if (std::filesystem::is_directory(path, error)) {
      const std::string journal = (std::filesystem::path(path) / "launches.csv").string();
      if (!std::filesystem::exists(journal, error)) {
        throw usage_error(
            "{}: the folder has no launches.csv of an accept run; name its CSV files instead",
            path);
      }
      journals.push_back(journal);
    } else if (!std::filesystem::exists(path, error)) {
      throw usage_error("cannot read {}", path);
    } else {
      const bool is_journal = first_line_of(path).starts_with("# journal:");
      (is_journal ? journals : csvs).push_back(path);
    }
  }
  read_journals(files, journals);
  const auto of_journals = mapped(files.runs.lines, &judge::Observation::file);
  for (const std::string& path : study::distinct_files(csvs, files.notes, of_journals)) {
    files.csvs.push_back(study::read_launch(path));
    study::keep_setting(files.csvs.back().dataset, setting);
  }
  return files;
}

/// What answers for the first log of another tool, which is one launch; empty where there is none.
std::string answer_of_log(const AcceptFiles& files) {
  for (const study::FileRows& file : files.csvs) {
    const study::Dataset& log = file.dataset;
    if (origin_of(log) != study::Origin::Imported || log.records.empty()) continue;
    return fmt::format("a log is one launch; busbar expect {} --measured {} answers for it",
                       log.records.front().collective, log.path);
  }
  return {};
}

/// "auto" is the ready-made specification of the system that the first launch ran on.
void take_own_specification(AcceptOptions& options, const AcceptFiles& files) {
  if (options.specification != topo::kAutoSystem) return;
  if (const std::string answer = answer_of_log(files); !answer.empty()) {
    throw usage_error("accept judge auto: {}", answer);
  }
  judge::Observation first;
  if (!files.csvs.empty()) {
    const study::Dataset& dataset = files.csvs.front().dataset;
    first = {.file = dataset.path, .facts = dataset.facts, .records = dataset.records};
  } else if (!files.runs.lines.empty()) {
    first = files.runs.lines.front();
  }
  const topo::WantedSystem own =
      topo::wanted_system(study::identity_of(first.view(), options.assumed), judge::is_ready_made);
  options.specification = own.name;
  fmt::print(stderr, "busbar: {}\n", own.note);
}

/// Sizes of the files' curves that are slow, the worst.
std::vector<std::string> curve_notes(const AcceptFiles& files) {
  constexpr std::size_t kMost = 4;
  const auto curves =
      study::size_curves(mapped(files.csvs, &study::FileRows::dataset), study::PlotPlacement::Both);
  auto found = mapped(study::curve_findings(curves.curves), study::curve_and_text);
  if (found.size() > kMost) {
    found[kMost] =
        fmt::format("{} more of such curves; busbar report lists them", found.size() - kMost);
    found.resize(kMost + 1);
  }
  return found;
}

/// The output that is asked for as "-", else the verdicts as text, which name the page.
std::string printed_text(const judge::Acceptance& acceptance, const AcceptOptions& options,
                         const judge::Specification& specification, const std::string& page) {
  const auto shown =
      std::ranges::find(options.outputs, kPrinted, [](const auto& one) { return one.second; });
  if (shown == options.outputs.end()) {
    return judge::verdict_text(
        acceptance, specification,
        {.strict = options.strict, .all_sources = options.verbose, .page = page});
  }
  const auto* output = std::ranges::find(kOutputs, shown->first, &Output::option);
  return output->text(acceptance, specification);
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
  for (const judge::LintFinding& finding : judge::lint(specification, this_day())) {
    if (finding.severity != judge::LintFinding::Severity::Refused) continue;
    throw usage_error(std::string(trim(judge::lint_text(specification.file, {&finding, 1}))));
  }
  return specification;
}

std::string named_levels(const AcceptOptions& options, const std::vector<std::string>& hosts) {
  const std::vector<std::size_t>& members = options.levels;
  if (members.empty() || hosts.empty()) return options.fabric;
  return judge::levels_csv(hosts, judge::simulated_paths(hosts.size(), members));
}

Judge judge_by(const judge::Specification& specification, const AcceptOptions& options,
               const std::string& levels) {
  Judge judge{.specification = specification, .options = options};
  if (specification.needs_baseline()) {
    judge.baseline = judge::load_journal(specification.baseline->run + "/launches.csv");
    const std::string other =
        judge::fingerprint_error(specification, judge.baseline->lines, options.assumed);
    if (!other.empty()) throw usage_error("[baseline] run: {}", other);
  }
  if (!levels.empty()) judge.levels.emplace(levels, "levels.csv");
  return judge;
}

judge::JudgeInput Judge::input(std::span<const judge::Observation> observations,
                               const std::vector<std::string>& nodes,
                               const machine::HostWindows& machines) const {
  return {.specification = specification,
          .observations = observations,
          .baseline = baseline ? &*baseline : nullptr,
          .today = this_day(),
          .nodes = nodes,
          .levels = levels ? &*levels : nullptr,
          .soak = options.soak,
          .machines = &machines,
          .assumed = options.assumed};
}

void check_outputs(const AcceptOptions& options) {
  std::set<std::string> seen;
  for (const auto& [option, path] : options.outputs) {
    if (!seen.insert(path).second) {
      throw usage_error("{}: {} is already the file of another output; give another", option, path);
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
  std::string page;
  for (const Output& output : kOutputs) {
    const auto named = options.outputs.find(output.option);
    const bool is_named = named != options.outputs.end() && named->second != kPrinted;
    if (!is_named && folder.empty()) continue;
    const std::string path = is_named ? named->second : fmt::format("{}/{}", folder, output.file);
    const std::string text = output.text(acceptance, specification);
    if (output.option == "--html") page = path;
    // What a resumed run had concluded before is judged again.
    if (output.option == kReplaced || (options.resume && !is_named)) {
      replace_file(path, text, output.option);
    } else {
      OutputFile(path, output.option, OutputFile::Mode::New).append(text);
    }
  }
  fmt::print("{}", printed_text(acceptance, options, specification, page));
  return static_cast<Status>(judge::exit_code_of(acceptance, options.strict));
}

void write_metrics(judge::Acceptance acceptance, const AcceptOptions& options,
                   const judge::Specification& specification) {
  acceptance.head.judged_at_unix = std::time(nullptr);
  const auto named = options.outputs.find(kReplaced);
  replace_file(named == options.outputs.end() ? options.output + "/metrics.prom" : named->second,
               judge::verdict_prometheus(acceptance, specification), kReplaced);
}

std::string this_day() { return local_time().substr(0, std::string_view("2026-11-21").size()); }

Status accept_judge(AcceptOptions options) {
  check_outputs(options);
  AcceptFiles files = read_files(options.files, options.setting);
  judge::RunJournal& runs = files.runs;
  options.soak = runs.soak;
  take_own_specification(options, files);
  if (options.profile.empty()) options.profile = runs.profile;
  if (options.rules.empty()) options.rules = runs.rules;
  const judge::Specification specification = read_specification(options);
  append(runs.lines, judge::observe_files(specification, files.csvs, files.notes));
  const std::vector<std::string>& hosts = options.hosts.empty() ? runs.nodes : options.hosts;
  const std::string levels = named_levels(options, hosts);
  const Judge judge = judge_by(specification, options, levels.empty() ? runs.levels : levels);
  judge::Acceptance acceptance = judge::judge_all(judge.input(runs.lines, hosts, runs.machines));
  std::vector<std::string>& notes = acceptance.head.notes;
  append(notes, files.notes);
  if (std::cmp_less(files.csvs.size(), specification.run.min_launches)) {
    if (std::string answer = answer_of_log(files); !answer.empty()) notes.push_back(answer);
  }
  append(notes, curve_notes(files));
  return conclude(std::move(acceptance), runs.seed, options, "", specification);
}

}  // namespace busbar
