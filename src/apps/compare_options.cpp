// SPDX-License-Identifier: BSD-3-Clause
#include "apps/compare_options.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "apps/command_parser.hpp"
#include "base/error.hpp"
#include "base/text.hpp"
#include "base/units.hpp"

namespace busbar {
namespace {

constexpr double kMostPercent = 1000;

/// Texts of options before they have a meaning.
struct Texts {
  std::string threshold{};
  std::string fail{};
};

void declare(CLI::App& app, CompareOptions& options, Texts& texts) {
  app.set_help_flag();
  app.allow_extras();
  app.add_flag("-h,--help", options.help);
  app.add_option("--before", options.before);
  app.add_option("--after", options.after);
  app.add_option("--threshold", texts.threshold);
  app.add_option("--fail-on-slower", texts.fail);
  app.add_flag("--json", options.json);
}

double parse_percent(std::string_view option, std::string text) {
  if (text.ends_with('%')) text.pop_back();
  return parse_number(option, text, 0, kMostPercent);
}

/// `A.csv B.csv`, where the groups are not named.
void take_files(CompareOptions& options, const std::vector<std::string>& words) {
  for (const std::string& word : words) {
    if (word.size() > 1 && word.starts_with('-')) {
      throw usage_error(fmt::format("unknown option {}; see busbar compare -h", word));
    }
  }
  const bool named = !options.before.empty() || !options.after.empty();
  if (named && !words.empty()) {
    throw usage_error(fmt::format(
        "compare: '{}' is of no group; put files after --before and --after", words.front()));
  }
  if (named) return;
  if (words.size() > 2) {
    throw usage_error(
        fmt::format("compare: {} files; say which are which by --before FILE... --after FILE...",
                    words.size()));
  }
  if (!words.empty()) options.before = {words.front()};
  if (words.size() == 2) options.after = {words.back()};
}

}  // namespace

CompareOptions parse_compare_options(std::span<char* const> arguments) {
  CompareOptions options;
  Texts texts;
  CLI::App app;
  declare(app, options, texts);
  parse_arguments(app, arguments, "compare");
  if (options.help) return options;
  take_files(options, app.remaining());
  if (options.before.empty() || options.after.empty()) {
    throw usage_error(
        "compare: what with what? give two CSVs, or --before FILE... --after FILE...");
  }
  if (!texts.threshold.empty()) {
    options.threshold_percent = parse_percent("--threshold", texts.threshold);
  }
  if (!texts.fail.empty()) options.fail_percent = parse_percent("--fail-on-slower", texts.fail);
  return options;
}

}  // namespace busbar
