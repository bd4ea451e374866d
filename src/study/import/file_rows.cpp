// SPDX-License-Identifier: BSD-3-Clause
#include "study/import/file_rows.hpp"

#include <filesystem>
#include <fstream>
#include <utility>

#include "base/error.hpp"
#include "base/text.hpp"
#include "study/import/log_runs.hpp"

namespace busbar::study {

bool is_csv(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  while (std::getline(file, line) && line.starts_with('#')) {
  }
  return line.find("size_bytes") != std::string::npos;
}

std::vector<FileRows> read_launches(const std::string& path, const LogHints& hints,
                                    const LogReading& reading) {
  std::vector<FileRows> launches;
  if (is_csv(path)) {
    launches.push_back({.dataset = load_dataset(path)});
    return launches;
  }
  const auto text = read_file(path);
  if (!text) throw usage_error("cannot read {}", path);
  for (const LogLaunch& launch : launches_of(read_log(*text, path, reading), hints)) {
    ImportedRows rows = records_of({&launch.log, 1}, hints);
    launches.push_back({.setting = launch.setting,
                        .dataset = {.path = path,
                                    .label = std::filesystem::path(path).stem().string(),
                                    .facts = {rows.facts.begin(), rows.facts.end()},
                                    .records = std::move(rows.records)},
                        .notes = std::move(rows.warnings),
                        .gpus_per_process = launch.log.tables.front().gpus_per_process});
  }
  return launches;
}

FileRows read_launch(const std::string& path) {
  std::vector<FileRows> launches = read_launches(path);
  if (launches.size() == 1) return std::move(launches.front());
  const auto settings = mapped(launches, &FileRows::setting);
  throw usage_error(
      "{} has {} runs of the same rows: {}; a file is a launch: busbar import {} -o FOLDER/ makes "
      "a CSV of each",
      path, launches.size(), settings_text(settings), path);
}

}  // namespace busbar::study
