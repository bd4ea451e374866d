// SPDX-License-Identifier: BSD-3-Clause
#include "harness/cli.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "base/error.hpp"
#include "base/text.hpp"
#include "harness/option_checks.hpp"
#include "harness/option_values.hpp"

namespace busbar {
namespace {

std::string first_name(std::string_view names) { return split(names, ',').front(); }

/// An argument that is no option of ours.
Error unexpected(const std::string& argument) {
  const std::string option = split(argument, '=').front();
  const std::string_view hint = foreign_option_hint(option);
  if (!hint.empty()) {
    return usage_error(
        fmt::format("{} is an option of nccl-tests, not of busbar: {}", option, hint));
  }
  if (!argument.starts_with('-')) {
    return usage_error(
        fmt::format("'{}' belongs to no option; every value follows its option, see -h", argument));
  }
  std::vector<std::string> known{"--help", "--version"};
  for (const OptionSpec& spec : option_specs()) {
    for (const std::string& spelled : split(spec.names, ',')) {
      if (spelled.starts_with("--")) known.push_back(spelled);
    }
  }
  const std::string near = nearest_word(option, known);
  const std::string advice = near.empty() ? "see -h" : fmt::format("did you mean {}?", near);
  return usage_error(fmt::format("unknown option {}; {}", option, advice));
}

}  // namespace

CommandLine parse_command_line(std::span<char* const> arguments) {
  const auto specs = option_specs();
  std::vector<std::string> values(specs.size());
  std::vector<CLI::Option*> given(specs.size());
  CLI::App app;
  app.set_help_flag();
  app.allow_extras();
  CLI::Option* help = app.add_flag("-h,--help");
  CLI::Option* show_version = app.add_flag("--version");
  for (std::size_t i = 0; i < specs.size(); ++i) {
    const std::string names(specs[i].names);
    given[i] =
        specs[i].takes_value ? app.add_option(names, values[i])->take_last() : app.add_flag(names);
  }

  std::vector<std::string> reversed(arguments.rbegin(), arguments.rend());  // as CLI11 wants them
  try {
    app.parse(reversed);
  } catch (const CLI::ArgumentMismatch&) {
    throw usage_error(fmt::format("{} needs a value; see -h", arguments.back()));
  } catch (const CLI::ParseError& error) {
    throw usage_error(one_line(error.what()));
  }
  CommandLine line;
  if (help->count() > 0) {
    line.print_and_exit = help_text();
    return line;
  }
  if (show_version->count() > 0) {
    line.print_and_exit = version_text();
    return line;
  }
  if (!app.remaining().empty()) throw unexpected(app.remaining().front());
  Options& options = line.options;
  for (std::size_t i = 0; i < specs.size(); ++i) {
    if (given[i]->count() > 0) specs[i].apply(options, first_name(specs[i].names), values[i]);
  }
  // nccl-tests: a factor wins over a step; a step alone means no factor.
  const bool step_given = options.sweep.step > 0;
  const bool factor_given = app.count("-f") > 0;
  if (step_given && !factor_given) options.sweep.factor = 1;
  if (!step_given) options.sweep.step = kMiB;
  check_options(options);
  return line;
}

}  // namespace busbar
