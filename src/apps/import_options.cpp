// SPDX-License-Identifier: BSD-3-Clause
#include "apps/import_options.hpp"

#include <algorithm>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "apps/command_parser.hpp"
#include "base/error.hpp"
#include "base/text.hpp"
#include "base/units.hpp"

namespace busbar {
namespace {

constexpr int kMostRanks = 1 << 24;

/// Texts of options before they have a meaning.
struct Texts {
  std::string ranks{};
  std::string nodes{};
  std::string columns{};
  std::string size{};
};

void declare(CLI::App& app, ImportOptions& options, Texts& texts) {
  app.set_help_flag();
  app.allow_extras();
  app.add_flag("-h,--help", options.help);
  app.add_option("-o,--output", options.out);
  app.add_option("--collective", options.hints.collective);
  app.add_option("--ranks", texts.ranks);
  app.add_option("--nodes", texts.nodes);
  app.add_option("--columns", texts.columns);
  app.add_option("--size", texts.size);
  app.add_option("--system", options.system);
  app.add_flag("--skip-bad-lines", options.reading.skip_bad_lines);
}

int parse_count(std::string_view option, const std::string& text) {
  return static_cast<int>(parse_integer(option, text, 1, kMostRanks));
}

void apply(ImportOptions& options, const Texts& texts) {
  if (!texts.ranks.empty()) options.hints.ranks = parse_count("--ranks", texts.ranks);
  if (!texts.nodes.empty()) options.hints.nodes = parse_count("--nodes", texts.nodes);
  if (!texts.size.empty()) options.reading.size = parse_bytes("--size", texts.size);
  if (texts.columns.empty()) return;
  const std::vector<std::string> words = study::words_of(texts.columns);
  const auto columns = study::columns_of(words);
  if (!columns) {
    throw usage_error(
        "--columns: at least size, count, type, time, algbw and busbw are needed, as in \"nodes "
        "size count type redop time algbw busbw error\"");
  }
  options.reading.columns = *columns;
}

void check(const ImportOptions& options) {
  for (const std::string& word : options.logs) {
    if (word.size() > 1 && word.starts_with('-')) {
      throw usage_error(fmt::format("unknown option {}; see busbar import -h", word));
    }
  }
  if (options.logs.empty()) throw usage_error("import: which log? see busbar import -h");
  if (options.out.empty()) throw usage_error("import: where to? give -o FILE.csv");
}

}  // namespace

ImportOptions parse_import_options(std::span<char* const> arguments) {
  ImportOptions options;
  Texts texts;
  CLI::App app;
  declare(app, options, texts);
  parse_arguments(app, arguments, "import");
  if (options.help) return options;
  options.logs = app.remaining();
  apply(options, texts);
  check(options);
  return options;
}

}  // namespace busbar
