// SPDX-License-Identifier: BSD-3-Clause
#include "apps/report_options.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "apps/command_parser.hpp"
#include "base/error.hpp"
#include "base/text.hpp"

namespace busbar {
namespace {

void check(const ReportOptions& options) {
  for (const std::string& file : options.files) {
    if (file.starts_with('-') && file.size() > 1) {
      throw usage_error(fmt::format("unknown option {}; see busbar report -h", file));
    }
  }
  if (options.files.empty() && options.systems.empty()) {
    throw usage_error("report: of what? give CSVs, or --system NAME; see busbar report -h");
  }
  if (options.out.empty()) {
    throw usage_error("report: where to? give -o report.html, or -o report.md");
  }
  static_cast<void>(is_markdown(options.out));
}

}  // namespace

bool is_markdown(const std::string& path) {
  if (path.ends_with(".md")) return true;
  if (path.ends_with(".html") || path.ends_with(".htm")) return false;
  throw usage_error(
      fmt::format("-o {}: the name decides on the form; end it in .html or .md", path));
}

ReportOptions parse_report_options(std::span<char* const> arguments) {
  ReportOptions options;
  CLI::App app;
  app.set_help_flag();
  app.allow_extras();
  app.add_flag("-h,--help", options.help);
  app.add_option("--system", options.systems)->allow_extra_args(false);
  app.add_option("-o,--output", options.out);
  parse_arguments(app, arguments, "report");
  if (options.help) return options;
  options.files = app.remaining();
  check(options);
  return options;
}

}  // namespace busbar
