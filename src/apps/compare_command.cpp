// SPDX-License-Identifier: BSD-3-Clause
#include "apps/commands.hpp"
#include "base/options.hpp"
#include "base/text.hpp"
#include "study/compare/comparison.hpp"

namespace busbar::compare_command {

struct CompareOptions {
  std::vector<std::string> before{};
  std::vector<std::string> after{};
  double threshold_percent = study::kThresholdPercent;
  std::optional<double> fail_percent{};  ///< --fail-on-slower
  std::optional<std::string> json{};
};

using O = CompareOptions;

double parse_percent(View option, View text) {
  constexpr double kMost = 1000;
  if (text.ends_with('%')) text.remove_suffix(1);
  return parse_number(option, text, 0, kMost);
}

constexpr auto kOptions = std::to_array<Option<O>>({
    {"--before", "FILE...", set::value<&O::before>},
    {"--after", "FILE...", set::value<&O::after>},
    {"--threshold", "PCT", [](O& o, View n, View v) { o.threshold_percent = parse_percent(n, v); }},
    {"--fail-on-slower", "PCT", [](O& o, View n, View v) { o.fail_percent = parse_percent(n, v); }},
    {"--json", "[=FILE]", set::value<&O::json>},
});
constexpr CommandLineTable<O> kTable{
    {.program = "busbar compare", .help = "docs/compare-options.md"}, kOptions};

/// `BEFORE.csv AFTER.csv`, unless the groups are named.
void take_files(O& options, const std::vector<std::string>& words) {
  const bool named = !options.before.empty() || !options.after.empty();
  if (named && !words.empty()) {
    throw usage_error("compare: unexpected argument '{}'; put files after --before or --after",
                      words.front());
  }
  if (!named && words.size() == 2) {
    options.before = {words.front()};
    options.after = {words.back()};
  }
  if (options.before.empty() || options.after.empty()) {
    throw usage_error("compare: need two CSV files, or --before FILE... --after FILE...");
  }
}

Status run(O& options, const Arguments& line) {
  take_files(options, line.positionals);
  constexpr double kPercent = 100;
  std::vector<std::string> notes;
  const std::vector<study::Launch> before = study::load_launches(options.before, notes);
  const std::vector<study::Launch> after = study::load_launches(options.after, notes);
  study::GroupComparison comparison =
      study::compare_launches(before, after, options.threshold_percent / kPercent);
  comparison.warnings.insert(comparison.warnings.begin(), notes.begin(), notes.end());
  print_warnings(comparison.problems);
  fmt::print("{}",
             choose_output(options.json, comparison_json(comparison), comparison_text(comparison)));
  if (!options.fail_percent) return Status::Ok;
  if (!comparison.can_reach_verdicts()) {
    fmt::print(stderr,
               "busbar: --fail-on-slower: too few launches for a verdict; give at least 4 of each "
               "with --before and --after\n");
    return Status::Unavailable;
  }
  if (!comparison.any_slower_by(*options.fail_percent / kPercent)) return Status::Ok;
  fmt::print(stderr, "busbar: slower by more than {:g} % with confidence (--fail-on-slower)\n",
             *options.fail_percent);
  return Status::Wrong;
}

}  // namespace busbar::compare_command

busbar::Command busbar::make_compare_command() {
  return command_of<compare_command::kTable, compare_command::run>();
}
