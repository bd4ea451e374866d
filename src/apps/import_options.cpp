// SPDX-License-Identifier: BSD-3-Clause
#include "apps/import_options.hpp"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <utility>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "apps/command_parser.hpp"
#include "base/error.hpp"
#include "base/text.hpp"
#include "base/units.hpp"
#include "study/plot_figures.hpp"

namespace busbar {
namespace {

namespace fs = std::filesystem;

constexpr int kMostRanks = 1 << 24;

/// Texts of options before they have a meaning.
struct Texts {
  std::string out{};
  std::string system{};
  std::string ranks{};
  std::string nodes{};
  std::string columns{};
  std::string size{};
};

void declare(CLI::App& app, ImportOptions& options, Texts& texts) {
  app.set_help_flag();
  app.allow_extras();
  app.add_flag("-h,--help", options.help);
  app.add_option("-o,--output", texts.out);
  app.add_option("--collective", options.hints.collective);
  app.add_option("--ranks", texts.ranks);
  app.add_option("--nodes", texts.nodes);
  app.add_option("--columns", texts.columns);
  app.add_option("--size", texts.size);
  app.add_option("--matrix", options.reading.matrix);
  app.add_option("--system", texts.system);
  app.add_flag("--skip-bad-lines", options.reading.skip_bad_lines);
}

int parse_count(std::string_view option, const std::string& text) {
  return static_cast<int>(parse_integer(option, text, 1, kMostRanks));
}

void apply(ImportOptions& options, const Texts& texts) {
  if (!texts.ranks.empty()) options.hints.ranks = parse_count("--ranks", texts.ranks);
  options.reading.ranks = options.hints.ranks;
  if (!texts.nodes.empty()) options.hints.nodes = parse_count("--nodes", texts.nodes);
  if (!texts.size.empty()) options.reading.size = parse_bytes("--size", texts.size);
  if (texts.columns.empty()) return;
  const std::vector<std::string> words = split_words(texts.columns);
  const auto columns = study::columns_of(words);
  if (!columns) {
    throw usage_error(
        "--columns: at least size, count, type, time, algbw and busbw are needed, as in \"nodes "
        "size count type redop time algbw busbw error\"");
  }
  options.reading.columns = *columns;
}

void check(const std::vector<std::string>& words, const Texts& texts) {
  for (const std::string& word : words) {
    if (word.size() > 1 && word.starts_with('-')) {
      throw usage_error(fmt::format("unknown option {}; see busbar import -h", word));
    }
  }
  if (words.empty()) throw usage_error("import: which log? see busbar import -h");
  if (texts.out.empty()) throw usage_error("import: where to? give -o FILE.csv");
}

/// "DGX A100" as the name of a file: DGX-A100.
std::string file_name_of(std::string label) {
  const auto is_plain = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '_' || c == '+';
  };
  for (char& c : label) c = is_plain(c) ? c : '-';
  return label;
}

/// A CSV for each label, and for each log that has none.
std::vector<ImportTarget> targets_in(const fs::path& folder, const std::vector<LabelledPath>& logs,
                                     const std::string& system) {
  std::vector<ImportTarget> targets;
  for (const LabelledPath& log : logs) {
    const std::string name =
        log.label.empty() ? fs::path(log.path).stem().string() : file_name_of(log.label);
    const std::string file = (folder / (name + ".csv")).string();
    const auto known =
        std::find_if(targets.begin(), targets.end(),
                     [&](const ImportTarget& target) { return target.file == file; });
    if (known == targets.end()) {
      targets.push_back(
          {.file = file, .system = log.label.empty() ? system : log.label, .logs = {log.path}});
    } else if (!log.label.empty() && known->system == log.label) {
      known->logs.push_back(log.path);
    } else {
      throw usage_error(fmt::format("import: {} would hold {} and {}; give them labels: LABEL=LOG",
                                    file, known->logs.front(), log.path));
    }
  }
  return targets;
}

void set_targets(ImportOptions& options, const std::vector<std::string>& words,
                 const Texts& texts) {
  std::vector<LabelledPath> logs;
  for (const std::string& word : words) logs.push_back(labelled_path(word));
  const std::string& label = logs.front().label;
  const auto has_label = [](const LabelledPath& log) { return !log.label.empty(); };
  if (!texts.system.empty() && std::any_of(logs.begin(), logs.end(), has_label)) {
    throw usage_error("import: give --system NAME or LABEL=LOG, not both");
  }
  if (texts.out.ends_with('/') || fs::is_directory(texts.out)) {
    options.folder = texts.out;
    options.targets = targets_in(texts.out, logs, texts.system);
    return;
  }
  const bool one = std::all_of(logs.begin(), logs.end(),
                               [&](const LabelledPath& log) { return log.label == label; });
  if (!one) {
    throw usage_error(fmt::format(
        "import: {} is one system's; for several labels give a folder: -o FOLDER/", texts.out));
  }
  ImportTarget target{.file = texts.out, .system = label.empty() ? texts.system : label};
  for (const LabelledPath& log : logs) target.logs.push_back(log.path);
  options.targets.push_back(std::move(target));
}

}  // namespace

ImportOptions parse_import_options(std::span<char* const> arguments) {
  ImportOptions options;
  Texts texts;
  CLI::App app;
  declare(app, options, texts);
  parse_arguments(app, arguments, "import");
  if (options.help) return options;
  apply(options, texts);
  check(app.remaining(), texts);
  set_targets(options, app.remaining(), texts);
  return options;
}

}  // namespace busbar
