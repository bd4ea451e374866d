// SPDX-License-Identifier: BSD-3-Clause
#include "study/expect/measured_file.hpp"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <map>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/text.hpp"
#include "stats/summary.hpp"
#include "study/import/file_rows.hpp"

namespace busbar::study {
namespace {

using topo::EqualHosts;
using topo::MeasuredCurve;
using topo::MeasuredTime;

/// The launches of a file as one, where all are of one setting.
FileRows rows_of_file(const std::string& path, const CurveRequest& request) {
  std::vector<FileRows> launches =
      read_launches(path, {.collective = request.collective, .ranks = request.ranks},
                    {.skip_bad_lines = true, .ranks = request.ranks});
  const auto settings = mapped(launches, &FileRows::setting);
  FileRows all = std::move(launches.front());
  for (FileRows& launch : std::span(launches).subspan(1)) {
    if (launch.setting != all.setting) {
      throw usage_error(
          "{} has runs of several settings: {}; make a CSV of each by busbar import, and give one",
          path, settings_text(settings));
    }
    std::ranges::move(launch.dataset.records, std::back_inserter(all.dataset.records));
  }
  return all;
}

bool counts(const Record& record) {
  return record.status == RowStatus::Ok && record.ranks > 1 && record.size > 0 &&
         record.time_median_us.value_or(0) > 0 && !contradicts_itself(record);
}

/// The machine with the hosts that the ranks need, where a network joins them.
EqualHosts large_enough(EqualHosts machine, int ranks) {
  const auto each = static_cast<int>(machine.host.devices.size());
  if (each > 0) machine.hosts = std::max(machine.hosts, (ranks + each - 1) / each);
  return machine;
}

/// Number, median, worst and number above 40 %.
void add_errors(std::vector<std::string>& row, const std::vector<double>& errors) {
  constexpr double kFar = 0.4;
  const auto far = std::ranges::count_if(errors, [](double error) { return error > kFar; });
  const auto summary = stats::summarize(errors);
  if (!summary) return row.resize(row.size() + 4);
  row.insert(row.end(), {fmt::format("{}", errors.size()), format_percent(summary->median),
                         format_percent(summary->max), fmt::format("{}", far)});
}

}  // namespace

std::vector<Measured> read_measured(const std::string& text, const Collective& collective,
                                    std::optional<Bytes> size) {
  if (text.empty()) return {{}};
  if (const auto figure = to_number<double>(text)) {
    if (*figure > 0) return {{.busbw_GBps = figure}};
    throw usage_error("--measured {}: expected GB/s above 0, or a file", text);
  }
  if (!std::filesystem::exists(text)) {
    throw usage_error("--measured {}: neither a number (GB/s) nor an existing file",
                      one_line(text));
  }
  std::vector<Measured> all;
  for (FileRows& launch :
       read_launches(text, {.collective = std::string(collective.name)}, {.size = size})) {
    for (const Dataset& part : split_by(launch.dataset, setting_of)) {
      const std::string own[] = {launch.setting, setting_of(part.records.front())};
      const std::string setting = setting_text(own);
      if (!any_has(all, setting, &Measured::setting)) {
        all.push_back({.setting = setting, .facts = launch.dataset.facts});
      }
      Measured& measured = *find_by(all, setting, &Measured::setting);
      append(measured.records, part.records);
      append(measured.notes, launch.notes);
      if (!part.cut.empty()) measured.notes.push_back(text + ": " + part.cut);
    }
  }
  bool any_alone = false;
  for (Measured& measured : all) {
    std::erase_if(measured.records, [&](const Record& record) {
      const bool counts =
          record.collective == collective.name && record.status == RowStatus::Ok && !record.group;
      any_alone = any_alone || (counts && record.ranks == 1);
      return !counts || record.busbw_GBps.value_or(0) <= 0;
    });
  }
  std::erase_if(all, [](const Measured& measured) { return measured.records.empty(); });
  if (!all.empty()) return all;
  throw usage_error(
      "--measured {}: {}", text,
      any_alone ? std::string(kOneRank) : "no row of " + std::string(collective.title));
}

MeasuredCurve curve_of(std::string name, const std::string& collective, int ranks,
                       const EqualHosts& machine, int gpus_per_process) {
  return {.name = std::move(name),
          .collective = find_collective(collective),
          .predictor = topo::Predictor(large_enough(machine, ranks),
                                       {.ranks = ranks, .gpus_per_process = gpus_per_process})};
}

std::vector<MeasuredCurve> curves_of_files(const std::vector<std::string>& paths,
                                           const EqualHosts& machine, const CurveRequest& request) {
  std::vector<MeasuredCurve> curves;
  for (const std::string& path : paths) {
    using Key = std::tuple<std::string, int, std::string, bool>;  // ranks, setting, in place
    std::map<Key, std::vector<MeasuredTime>> times;
    const FileRows rows = rows_of_file(path, request);
    for (const Record& record : rows.dataset.records) {
      if (!counts(record) || record.sender || record.receiver) continue;
      times[{record.collective, record.ranks, setting_of(record), record.in_place}].push_back(
          {.bytes = static_cast<double>(record.size), .time_us = *record.time_median_us});
    }
    for (auto& [key, values] : times) {
      const auto& [collective, ranks, setting, in_place] = key;
      if (in_place && times.contains({collective, ranks, setting, false})) continue;
      curves.push_back(
          curve_of(fmt::format("{} {} {}{}{}", std::filesystem::path(path).stem().string(),
                               collective, ranks, setting.empty() ? "" : " ", setting),
                   collective, ranks, machine,
                   request.gpus_per_process.value_or(rows.gpus_per_process.value_or(1))));
      curves.back().times = std::move(values);
    }
  }
  return curves;
}

std::vector<std::string> error_columns(std::string first) {
  std::vector<std::string> columns{std::move(first)};
  for (const char* size : {"", "below: "}) {
    for (const char* what : {"points", "median", "worst", "above 40 %"}) {
      columns.push_back(fmt::format("{}{}", size, what));
    }
  }
  return columns;
}

std::vector<std::string> error_row(std::string name, std::span<const MeasuredCurve> curves) {
  std::vector<std::string> row{std::move(name)};
  for (const bool large : {true, false}) {
    std::vector<double> errors;
    for (const MeasuredCurve& curve : curves) {
      append(errors, topo::errors_of(curve, large));
    }
    add_errors(row, errors);
  }
  return row;
}

}  // namespace busbar::study
