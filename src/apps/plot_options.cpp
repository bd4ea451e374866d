// SPDX-License-Identifier: BSD-3-Clause
#include "apps/plot_options.hpp"

#include <algorithm>
#include <array>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "apps/command_parser.hpp"
#include "base/error.hpp"
#include "base/text.hpp"
#include "base/units.hpp"

namespace busbar {
namespace {

/// Texts of options before they have a meaning.
struct Texts {
  std::vector<std::string> figures{};
  std::string format{};
  std::string placement{};
  std::string size{};
  std::string limits{};
  std::string log_y{};
};

void declare(CLI::App& app, PlotOptions& options, Texts& texts) {
  app.set_help_flag();
  app.allow_extras();
  app.add_flag("-h,--help", options.help);
  app.add_option("-o,--output", options.folder);
  app.add_option("--figure", texts.figures);
  app.add_option("--format", texts.format);
  app.add_flag("--terminal", options.terminal);
  app.add_option("--placement", texts.placement);
  app.add_option("--size", texts.size);
  app.add_option("--limits", texts.limits);
  app.add_flag("--log-y{always}", texts.log_y);
  for (CLI::Option* option : app.get_options()) {
    if (option->get_items_expected_max() > 1) option->allow_extra_args(false);
  }
}

std::vector<std::string> parse_figures(const std::vector<std::string>& texts) {
  const std::vector<std::string> known = figure_names();
  for (const std::string& text : texts) {
    if (std::find(known.begin(), known.end(), text) != known.end()) continue;
    const std::string near = nearest_word(text, known);
    throw usage_error(fmt::format(
        "--figure: '{}' is no figure; {}", text,
        near.empty() ? "there are " + join(known, ", ") : "did you mean " + near + "?"));
  }
  return texts;
}

std::vector<std::string> parse_format(const std::string& text) {
  if (text.empty()) return {"svg", "png"};
  if (text == "svg" || text == "png") return {text};
  throw usage_error(
      fmt::format("--format: '{}' is neither svg nor png; leave it out for both", text));
}

PlotPlacement parse_placement(const std::string& text) {
  if (text.empty() || text == "out") return PlotPlacement::Out;
  if (text == "in") return PlotPlacement::In;
  if (text == "both") return PlotPlacement::Both;
  throw usage_error(fmt::format("--placement: '{}' is none of out, in, both", text));
}

PlotLimits parse_limits(const std::string& text) {
  constexpr double kMost = 1e6;
  const std::vector<std::string> parts = split(text, ':');
  if (parts.size() != 2) {
    throw usage_error(fmt::format("--limits: '{}' is not LOW:HIGH in GB/s, such as 0:50", text));
  }
  const PlotLimits limits{.low = parse_number("--limits", parts[0], 0, kMost),
                          .high = parse_number("--limits", parts[1], 0, kMost)};
  if (limits.low < limits.high) return limits;
  throw usage_error(fmt::format("--limits: {} is not below {}", parts[0], parts[1]));
}

std::optional<bool> parse_log_y(const std::string& text) {
  if (text.empty() || text == "auto") return {};
  if (text == "always") return true;
  if (text == "never") return false;
  throw usage_error(fmt::format("--log-y: '{}' is none of always, never, auto", text));
}

void apply(PlotOptions& options, const Texts& texts) {
  options.wishes.figures = parse_figures(texts.figures);
  options.formats = parse_format(texts.format);
  options.wishes.placement = parse_placement(texts.placement);
  if (!texts.size.empty()) options.wishes.size = parse_bytes("--size", texts.size);
  options.wishes.log_y = parse_log_y(texts.log_y);
  if (!texts.limits.empty()) options.wishes.limits = parse_limits(texts.limits);
}

void check(const PlotOptions& options, const Texts& texts) {
  for (const std::string& word : options.files) {
    if (word.starts_with('-')) {
      throw usage_error(fmt::format("unknown option {}; see busbar plot -h", word));
    }
  }
  if (options.files.empty()) {
    throw usage_error("plot: no FILE; give CSVs that *_perf --csv wrote, see busbar plot -h");
  }
  if (options.terminal && !options.folder.empty()) {
    throw usage_error("--terminal draws here and writes nothing; leave out -o");
  }
  if (options.terminal && !texts.format.empty()) {
    throw usage_error("--terminal draws text; leave out --format");
  }
  if (!options.terminal && options.folder.empty()) {
    throw usage_error("plot: where to? give a folder by -o DIR, or --terminal");
  }
}

}  // namespace

PlotOptions parse_plot_options(std::span<char* const> arguments) {
  PlotOptions options;
  Texts texts;
  CLI::App app;
  declare(app, options, texts);
  parse_arguments(app, arguments, "plot");
  if (options.help) return options;
  options.files = app.remaining();
  apply(options, texts);
  check(options, texts);
  return options;
}

}  // namespace busbar
