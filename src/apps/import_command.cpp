// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cctype>
#include <filesystem>

#include "apps/commands.hpp"
#include "base/options.hpp"
#include "report/csv_writer.hpp"
#include "report/output_file.hpp"
#include "study/import/log_reader.hpp"
#include "study/import/log_records.hpp"
#include "study/plot_figures.hpp"

namespace busbar {
namespace import_command {

namespace fs = std::filesystem;
using View = std::string_view;

/// Logs that become one CSV.
struct ImportTarget {
  std::string file{};
  std::string system{};  ///< for the head: a label for people
  std::vector<std::string> logs{};
};

/// Options of `busbar import`.
struct ImportOptions {
  std::string out{};
  std::string system{};
  std::vector<ImportTarget> targets{};
  std::string folder{};  ///< of all targets, if -o names one
  study::LogHints hints{};
  study::LogReading reading{};
};

using O = ImportOptions;

int parse_count(View option, View text) {
  constexpr int kMost = 1 << 24;
  return static_cast<int>(parse_integer(option, text, 1, kMost));
}

void set_columns(O& options, View option, View text) {
  const std::vector<std::string> words = split_words(text);
  const auto columns = study::columns_of(words);
  if (!columns) {
    throw usage_error(fmt::format(
        "{}: at least size, count, type, time, algbw and busbw are needed, as in \"nodes size "
        "count type redop time algbw busbw error\"",
        option));
  }
  options.reading.columns = *columns;
}

constexpr auto kOptions = std::to_array<Option<O>>({
    {"-o,--output", "FILE", set::value<&O::out>},
    {"--collective", "NAME", [](O& o, View, View v) { o.hints.collective = v; }},
    {"--ranks", "N",
     [](O& o, View n, View v) { o.reading.ranks = o.hints.ranks = parse_count(n, v); }},
    {"--nodes", "N", [](O& o, View n, View v) { o.hints.nodes = parse_count(n, v); }},
    {"--columns", "\"NAME ...\"", set_columns},
    {"--size", "SIZE", [](O& o, View n, View v) { o.reading.size = parse_bytes(n, v); }},
    {"--matrix", "NAME", [](O& o, View, View v) { o.reading.matrix = v; }},
    {"--system", "NAME", set::value<&O::system>},
    {"--skip-bad-lines", "", [](O& o, View, View) { o.reading.skip_bad_lines = true; }},
});
constexpr CommandLineTable<O> kTable{{.program = "busbar import", .help = "docs/import-options.md"},
                                     kOptions};

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
    const auto known = std::find_if(targets.begin(), targets.end(),
                                    [&](const auto& target) { return target.file == file; });
    if (known == targets.end()) {
      targets.push_back(
          {.file = file, .system = log.label.empty() ? system : log.label, .logs = {log.path}});
    } else if (!log.label.empty() && known->system == log.label) {
      known->logs.push_back(log.path);
    } else {
      throw usage_error(fmt::format("import: {} would hold {} and {}; label them: LABEL=LOG", file,
                                    known->logs.front(), log.path));
    }
  }
  return targets;
}

void set_targets(O& options, const std::vector<std::string>& words) {
  std::vector<LabelledPath> logs;
  for (const std::string& word : words) logs.push_back(labelled_path(word));
  const std::string& label = logs.front().label;
  const bool labelled = std::any_of(logs.begin(), logs.end(),
                                    [](const LabelledPath& log) { return !log.label.empty(); });
  if (!options.system.empty() && labelled) {
    throw usage_error("--system and LABEL=LOG are mutually exclusive");
  }
  if (options.out.ends_with('/') || fs::is_directory(options.out)) {
    options.folder = options.out;
    options.targets = targets_in(options.out, logs, options.system);
    return;
  }
  ImportTarget target{.file = options.out, .system = label.empty() ? options.system : label};
  for (const LabelledPath& log : logs) {
    target.logs.push_back(log.path);
    if (log.label == label) continue;
    throw usage_error(fmt::format(
        "import: {} can hold only one label; give a folder for several: -o FOLDER/", options.out));
  }
  options.targets = {std::move(target)};
}

/// The same CSV as report/csv_writer writes row by row.
std::string csv_of(const study::ImportedRows& rows, const std::string& system) {
  std::string text = fmt::format("# busbar: {}\n", version());
  if (!system.empty()) text += fmt::format("# system: {}\n", one_line(system));
  for (const auto& [key, value] : rows.facts) {
    text += fmt::format("# {}: {}\n", key, one_line(value));
  }
  for (const std::string& warning : rows.warnings) {
    text += fmt::format("# note: {}\n", one_line(warning));
  }
  text += csv_header();
  for (const Record& record : rows.records) text += csv_row(record);
  return text;
}

study::ImportedRows rows_of(const ImportTarget& target, const ImportOptions& options) {
  std::vector<study::LogFile> logs;
  for (const std::string& path : target.logs) {
    const auto text = read_file(path);
    if (!text) throw usage_error(fmt::format("cannot read {}", path));
    logs.push_back(study::read_log(*text, path, options.reading));
  }
  return study::records_of(logs, options.hints);
}

void write(const ImportTarget& target, const study::ImportedRows& rows) {
  OutputFile(target.file, "-o", OutputFile::Mode::New).append(csv_of(rows, target.system));
  for (const std::string& warning : rows.warnings) {
    fmt::print(stderr, "busbar: {}\n", one_line(warning));
  }
  fmt::print(stderr, "busbar: wrote {} of {} to {}\n", counted(rows.records.size(), "row"),
             counted(target.logs.size(), "log"), target.file);
}

Status run(std::span<char* const> arguments) {
  O options;
  const Arguments line = parse_options(kTable, arguments, options);
  if (line.help) return print_help(kTable.help);
  if (line.positionals.empty()) throw usage_error("import: missing log; see busbar import --help");
  if (options.out.empty()) throw usage_error("import: missing output; give -o FILE.csv");
  set_targets(options, line.positionals);
  // Nothing is written before all logs are read.
  std::vector<study::ImportedRows> rows;
  for (const ImportTarget& target : options.targets) {
    rows.push_back(rows_of(target, options));
    check_new(target.file, "-o");
  }
  std::error_code ignored;  // creating the file reports why
  if (!options.folder.empty()) fs::create_directories(options.folder, ignored);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    write(options.targets[i], rows[i]);
  }
  return Status::Ok;
}

}  // namespace import_command

Status run_import(std::span<char* const> arguments) { return import_command::run(arguments); }

}  // namespace busbar
