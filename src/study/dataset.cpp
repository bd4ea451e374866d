// SPDX-License-Identifier: BSD-3-Clause
#include "study/dataset.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <set>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/text.hpp"
#include "model/flag.hpp"

namespace busbar::study {
namespace {

/// Paths of one content, with its size; none for anything but a regular file.
struct SameFiles {
  std::vector<std::string> paths{};
  std::optional<std::uintmax_t> size{};
};

std::optional<std::uintmax_t> size_of(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return {};
  const std::uintmax_t size = std::filesystem::file_size(path, error);
  return error ? std::nullopt : std::optional(size);
}

/// True also for one file by two paths.
bool same_bytes(const std::string& one, const std::string& other) {
  std::ifstream left(one, std::ios::binary);
  std::ifstream right(other, std::ios::binary);
  using Reader = std::istreambuf_iterator<char>;
  return left && right && std::equal(Reader(left), Reader(), Reader(right), Reader());
}

std::string same_file_note(const std::vector<std::string>& paths) {
  const std::set<std::string> names(paths.begin(), paths.end());
  if (names.size() == 1) {
    return fmt::format("{} is given {} times: counted once", paths.front(), paths.size());
  }
  return join_and(std::vector(names.begin(), names.end())) + " are the same file: counted once";
}

}  // namespace

std::string Dataset::setting(const std::string& key) const {
  for (const std::string& word : split(fact(fact::kConfiguration), ' ')) {
    if (word.starts_with(key + '=')) return word.substr(key.size() + 1);
  }
  return {};
}

bool contradicts_itself(const Record& record) { return has_flag(record, Flag::BandwidthDiffers); }

void FileProblems::add(const Record& record) {
  fake_ = fake_ || has_flag(record, Flag::Fake);
  if (!contradicts_itself(record)) {
    any_value_ = any_value_ || (record.status == RowStatus::Ok && record.time_median_us);
    return;
  }
  const std::string size = format_bytes(record.size);
  if (contradictory_sizes_.empty() || contradictory_sizes_.back() != size) {
    contradictory_sizes_.push_back(size);
  }
}

std::vector<std::string> FileProblems::lines(const std::string& path,
                                             const std::string& cut) const {
  std::vector<std::string> lines;
  const std::string file = std::filesystem::path(path).filename().string();
  if (!cut.empty()) lines.push_back(fmt::format("{}: {}", file, cut));
  if (!any_value_) lines.push_back(fmt::format("{}: no row with status ok and a time", file));
  if (!contradictory_sizes_.empty()) {
    lines.push_back(
        fmt::format("{}: left out, since time and bandwidth of the log contradict each other: {}",
                    file, join(contradictory_sizes_, ", ")));
  }
  if (fake_) {
    lines.push_back(
        fmt::format("{}: from the fake GPU machine of busbar's tests; no figure is real", file));
  }
  return lines;
}

std::vector<std::string> problems_of(std::span<const Dataset> datasets) {
  std::vector<std::string> all;
  for (const Dataset& dataset : datasets) {
    FileProblems problems;
    for (const Record& record : dataset.records) problems.add(record);
    append(all, problems.lines(dataset.path, dataset.cut));
  }
  return all;
}

std::vector<std::string> distinct_files(std::span<const std::string> paths,
                                        std::vector<std::string>& notes,
                                        std::span<const std::string> known) {
  std::vector<SameFiles> files;
  for (const std::string& path : known) files.push_back({{path}, size_of(path)});
  for (const std::string& path : paths) {
    const auto size = size_of(path);
    const auto same = [&](const SameFiles& file) {
      const std::string& first = file.paths.front();
      return first == path || (size && size == file.size && same_bytes(first, path));
    };
    find_or_add(files, same, {{}, size}).paths.push_back(path);
  }
  std::vector<std::string> distinct;
  for (std::size_t i = 0; i < files.size(); ++i) {
    if (i >= known.size()) distinct.push_back(files[i].paths.front());
    if (files[i].paths.size() > 1) notes.push_back(same_file_note(files[i].paths));
  }
  return distinct;
}

std::string settings_to_choose(const std::set<std::string>& settings) {
  return fmt::format("{} settings: {}; choose one: --setting '{}'", settings.size(),
                     join_each(settings, ", ", [](const auto& one) { return "'" + one + "'"; }),
                     *settings.rbegin());
}

void keep_setting(Dataset& dataset, const std::string& setting) {
  const auto settings = set_of(dataset.records, setting_of);
  const bool has_none = settings.empty() || settings == std::set<std::string>{""};
  if (setting.empty() || has_none) return;
  if (!settings.contains(setting)) {
    throw usage_error("--setting '{}': {} has no such row: it has {}", setting, dataset.path,
                      settings_to_choose(settings));
  }
  std::set<std::string> collectives;
  for (const Record& record : dataset.records) {
    if (setting_of(record) == setting) collectives.insert(record.collective);
  }
  std::erase_if(dataset.records, [&](const Record& record) {
    return collectives.contains(record.collective) && setting_of(record) != setting;
  });
}

Dataset load_dataset(const std::string& path) {
  CsvFile file = read_csv(path);
  Dataset dataset{.path = path,
                  .facts = facts_of(file.head),
                  .records = std::move(file.records),
                  .cut = std::move(file.cut)};
  dataset.label = dataset.fact(fact::kLabel);
  if (dataset.label.empty()) dataset.label = dataset.fact(fact::kSystem);
  if (dataset.label.empty()) dataset.label = std::filesystem::path(path).stem().string();
  dataset.simulated = any_has(dataset.records, "sim", &Record::backend);
  return dataset;
}

Origin origin_of(const Dataset& dataset) {
  const auto any_has = [&](Flag flag) {
    return std::ranges::any_of(dataset.records,
                               [&](const Record& record) { return has_flag(record, flag); });
  };
  if (any_has(Flag::Fake)) return Origin::Fake;
  if (dataset.simulated) return Origin::Simulated;
  return any_has(Flag::Imported) ? Origin::Imported : Origin::Measured;
}

std::string_view origin_suffix(const CurveKey& key) {
  if (key.fake) return " (fake GPUs)";
  return key.simulated ? " (simulated)" : "";
}

}  // namespace busbar::study
