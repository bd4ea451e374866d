// SPDX-License-Identifier: BSD-3-Clause
#include "apps/import_command.hpp"

#include <filesystem>

#include <fmt/format.h>

#include "apps/import_options.hpp"
#include "base/text.hpp"
#include "harness/cli.hpp"
#include "report/csv_writer.hpp"
#include "report/output_file.hpp"

namespace busbar {
namespace {

std::string text_of(const std::string& path) {
  if (auto text = read_file(path)) return std::move(*text);
  throw usage_error(fmt::format("cannot read {}", path));
}

/// As report/csv_writer writes a run, but at once: nothing of it can be lost by a later row.
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
    logs.push_back(study::read_log(text_of(path), path, options.reading));
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

}  // namespace

Status run_import(std::span<char* const> arguments) {
  const ImportOptions options = parse_import_options(arguments);
  if (options.help) {
    fmt::print("{}", help_text_of("import"));
    return Status::Ok;
  }
  // Nothing is written before all logs are read.
  std::vector<study::ImportedRows> rows;
  for (const ImportTarget& target : options.targets) {
    rows.push_back(rows_of(target, options));
    check_new(target.file, "-o");
  }
  std::error_code ignored;  // the file that cannot be created says why
  if (!options.folder.empty()) std::filesystem::create_directories(options.folder, ignored);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    write(options.targets[i], rows[i]);
  }
  return Status::Ok;
}

}  // namespace busbar
