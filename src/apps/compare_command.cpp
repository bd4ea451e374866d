// SPDX-License-Identifier: BSD-3-Clause
#include "apps/compare_command.hpp"

#include <fmt/format.h>

#include "apps/compare_options.hpp"
#include "apps/warnings.hpp"
#include "harness/cli.hpp"
#include "study/compare/comparison_output.hpp"

namespace busbar {

Status run_compare(std::span<char* const> arguments) {
  const CompareOptions options = parse_compare_options(arguments);
  if (options.help) {
    fmt::print("{}", help_text_of("compare"));
    return Status::Ok;
  }
  constexpr double kPercent = 100;
  const std::vector<study::Launch> before = study::load_launches(options.before);
  const std::vector<study::Launch> after = study::load_launches(options.after);
  const study::GroupComparison comparison =
      study::compare_launches(before, after, options.threshold_percent / kPercent);
  print_warnings(comparison.problems);
  fmt::print("{}", options.json ? comparison_json(comparison) : comparison_text(comparison));
  if (!options.fail_percent) return Status::Ok;
  if (!comparison.can_reach_verdicts()) {
    fmt::print(
        stderr,
        "busbar: --fail-on-slower: too few launches for a verdict; give at least 4 of each by "
        "--before and --after\n");
    return Status::Unavailable;
  }
  if (!comparison.any_slower_by(*options.fail_percent / kPercent)) return Status::Ok;
  fmt::print(stderr, "busbar: slower by more than {:g} % with confidence (--fail-on-slower)\n",
             *options.fail_percent);
  return Status::Wrong;
}

}  // namespace busbar
