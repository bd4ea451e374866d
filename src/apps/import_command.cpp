// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cctype>
#include <filesystem>
#include <optional>

#include "apps/commands.hpp"
#include "base/options.hpp"
#include "base/text.hpp"
#include "format/csv_writer.hpp"
#include "format/markup_text.hpp"
#include "format/output_file.hpp"
#include "model/fact.hpp"
#include "study/import/file_rows.hpp"
#include "study/plot/figures.hpp"

namespace busbar {
namespace import_command {

namespace fs = std::filesystem;

/// Logs that become one CSV.
struct ImportTarget {
  std::string file{};
  std::string system{};  ///< for the head: a label for people
  Words logs{};
};

struct ImportedFile {
  std::string path{};
  std::string system{};
  std::string label{};  ///< of a launch of one setting of several
  std::size_t logs = 0;
  study::ImportedRows rows{};
};

struct ImportOptions {
  std::string out{};
  std::string system{};
  std::vector<ImportTarget> targets{};
  bool into_folder = false;
  std::optional<int> run{};  ///< of the launches of a log, from 1
  study::LogReading reading{};
};

using O = ImportOptions;

int parse_count(View option, View text) {
  constexpr int kMost = 1 << 24;
  return static_cast<int>(parse_integer(option, text, 1, kMost));
}

void set_columns(O& options, View option, View text) {
  const Words words = split_words(text);
  const auto columns = study::columns_of(words);
  if (!columns) {
    throw usage_error(
        "{}: at least size, count, type, time, algbw and busbw are needed, as in \"nodes size "
        "count type redop time algbw busbw error\"",
        option);
  }
  options.reading.columns = *columns;
}

constexpr auto kOptions = std::to_array<Option<O>>({
    {"-o,--output", "FILE", set::value<&O::out>},
    {"--collective", "NAME", [](O& o, View, View v) { o.reading.collective = v; }},
    {"--ranks", "N", [](O& o, View n, View v) { o.reading.ranks = parse_count(n, v); }},
    {"--nodes", "N", [](O& o, View n, View v) { o.reading.nodes = parse_count(n, v); }},
    {"--columns", "\"NAME ...\"", set_columns},
    {"--size", "SIZE", [](O& o, View n, View v) { o.reading.size = parse_bytes(n, v); }},
    {"--matrix", "NAME", [](O& o, View, View v) { o.reading.matrix = v; }},
    {"--system", "NAME", set::value<&O::system>},
    {"--run", "N", [](O& o, View n, View v) { o.run = parse_count(n, v); }},
    {"--skip-bad-lines", "", [](O& o, View, View) { o.reading.skip_bad_lines = true; }},
});
constexpr CommandLineTable<O> kTable{{.program = "busbar import", .help = "docs/import-options.md"},
                                     kOptions};

/// "DGX A100" as the name of a file: DGX-A100.
std::string file_name_of(std::string label) {
  const auto is_plain = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || View("._+=").find(c) != View::npos;
  };
  for (char& c : label) c = is_plain(c) ? c : '-';
  return label;
}

/// The CSV of a system has a log more, unless it would hold what does not belong together.
void add_log(O& options, const std::string& file, const study::LabelledPath& log) {
  const std::string& system = log.label.empty() ? options.system : log.label;
  ImportTarget* known = find_by(options.targets, file, &ImportTarget::file);
  if (known == nullptr) {
    options.targets.push_back({.file = file, .system = system, .logs = {log.path}});
  } else if (known->system == system && !(options.into_folder && log.label.empty())) {
    known->logs.push_back(log.path);
  } else if (options.into_folder) {
    throw usage_error("import: {} would hold {} and {}; label them: LABEL=LOG", known->file,
                      known->logs.front(), log.path);
  } else {
    throw usage_error("import: {} can hold only one label; give a folder for several: -o FOLDER/",
                      options.out);
  }
}

/// Into a folder a CSV for each label, and for each log that has none; else one of all.
void set_targets(O& options, const Words& words) {
  const std::vector<study::LabelledPath> logs = mapped(words, study::labelled_path);
  const bool unlabelled =
      std::ranges::all_of(logs, [](const study::LabelledPath& log) { return log.label.empty(); });
  if (!options.system.empty() && !unlabelled) {
    throw usage_error("--system and LABEL=LOG are mutually exclusive");
  }
  options.into_folder = options.out.ends_with('/') || fs::is_directory(options.out);
  for (const study::LabelledPath& log : logs) {
    const std::string name =
        log.label.empty() ? fs::path(log.path).stem().string() : file_name_of(log.label);
    fs::path file = options.out;
    if (options.into_folder) file /= name + ".csv";
    add_log(options, file.string(), log);
  }
}

/// The same CSV as report/csv_writer writes row by row.
std::string csv_of(const ImportedFile& file) {
  HeaderFacts facts{{key(fact::kBusbar), std::string(version())}};
  if (!file.system.empty()) facts.emplace_back(key(fact::kSystem), file.system);
  if (!file.label.empty()) facts.emplace_back(key(fact::kLabel), file.label);
  append(facts, file.rows.facts);
  std::string text = csv_head(facts, file.rows.warnings) + csv_header();
  for (const Record& record : file.rows.records) text += csv_row(record);
  return clean_text(text);
}

/// The logs of a target; `left_out` gets a line for each that cannot be read.
std::vector<study::LogFile> read_logs(const ImportTarget& target, const O& options,
                                      Words& left_out) {
  std::vector<study::LogFile> logs;
  for (const std::string& path : target.logs) {
    try {
      const auto text = read_file(path);
      if (!text) throw usage_error("cannot read {}", path);
      study::LogFile log = study::read_log(*text, path, options.reading);
      static_cast<void>(study::launches_of({&log, 1}, options.reading));  // throws what it lacks
      logs.push_back(std::move(log));
    } catch (const Error& error) {
      left_out.emplace_back(error.what());
    }
  }
  return logs;
}

/// One launch of the logs, or the refusal of a file that would hold several.
study::LogLaunch chosen_launch(const std::vector<study::LogFile>& logs,
                               const std::vector<study::LogLaunch>& launches,
                               std::optional<int> run) {
  const std::string& path = launches.front().logs.front().path;
  const std::string what =
      fmt::format("{} {} {} of the same rows: {}", join_and(mapped(logs, &study::LogFile::path)),
                  logs.size() == 1 ? "has" : "have", counted(launches.size(), "run"),
                  study::settings_text(mapped(launches, &study::LogLaunch::setting)));
  if (!run) {
    throw usage_error("import: {}; give a folder for a CSV each, -o {}/, or take one by --run N",
                      what, fs::path(path).stem().string());
  }
  if (static_cast<std::size_t>(*run) <= launches.size()) {
    return launches.at(static_cast<std::size_t>(*run) - 1);
  }
  throw usage_error(launches.size() == 1 ? fmt::format("--run {}: {} has one run", *run, path)
                                         : fmt::format("--run {}: {}", *run, what));
}

/// "sweep-NCCL_ALGO=Ring.csv", and "sweep-NCCL_ALGO=Ring-2.csv" of the second launch.
std::string launch_path(const fs::path& file, const study::LogLaunch& launch,
                        const std::vector<ImportedFile>& others) {
  constexpr std::size_t kLongest = 120;
  std::string name = file.stem().string();
  if (!launch.setting.empty()) name += '-' + file_name_of(launch.setting).substr(0, kLongest);
  for (int number = launch.number;; ++number) {
    std::string path =
        (file.parent_path() / (number < 2 ? name : fmt::format("{}-{}", name, number))).string() +
        ".csv";
    if (!any_has(others, path, &ImportedFile::path)) return path;
  }
}

/// Adds the files of a target: one, or one for each launch into a folder.
void add_files(std::vector<ImportedFile>& files, const ImportTarget& target, const O& options,
               Words& left_out) {
  const std::vector<study::LogFile> logs = read_logs(target, options, left_out);
  if (logs.empty()) return;
  std::vector<study::LogLaunch> launches = study::launches_of(logs, options.reading);
  const bool labelled = options.run || launches.size() > 1;
  if (options.run || (labelled && !options.into_folder)) {
    launches = {chosen_launch(logs, launches, options.run)};
  }
  for (const study::LogLaunch& launch : launches) {
    std::string label = target.system;
    if (label.empty()) label = fs::path(launch.logs.front().path).stem().string();
    if (!launch.setting.empty()) label += ' ' + launch.setting;
    files.push_back(
        {.path = options.into_folder ? launch_path(target.file, launch, files) : target.file,
         .system = target.system,
         .label = labelled ? label : "",
         .logs = launch.logs.size(),
         .rows = study::records_of(launch.logs, options.reading)});
  }
}

void write(const ImportedFile& file) {
  OutputFile(file.path, "-o", OutputFile::Mode::New).append(csv_of(file));
  for (const std::string& warning : file.rows.warnings) {
    fmt::print(stderr, "busbar: {}\n", one_line(warning));
  }
  fmt::print(stderr, "busbar: wrote {} of {} to {}\n", counted(file.rows.records.size(), "row"),
             counted(file.logs, "log"), file.path);
}

Status run(O& options, const Arguments& line) {
  if (line.positionals.empty()) throw usage_error("import: missing log; see busbar import --help");
  if (options.out.empty()) throw usage_error("import: missing output; give -o FILE.csv");
  set_targets(options, line.positionals);
  // Nothing is written before all logs are read.
  std::vector<ImportedFile> files;
  Words left_out;
  for (const ImportTarget& target : options.targets) add_files(files, target, options, left_out);
  if (files.empty()) {
    print_warnings(std::span(left_out).first(left_out.size() - 1));
    throw usage_error(left_out.back());
  }
  print_warnings(left_out);
  for (const ImportedFile& file : files) check_new(file.path, "-o");
  std::error_code ignored;  // creating the file reports why
  if (options.into_folder) fs::create_directories(options.out, ignored);
  for (const ImportedFile& file : files) write(file);
  return left_out.empty() ? Status::Ok : Status::Unavailable;
}

}  // namespace import_command

Command make_import_command() { return command_of<import_command::kTable, import_command::run>(); }

}  // namespace busbar
