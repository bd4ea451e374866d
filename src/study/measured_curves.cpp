// SPDX-License-Identifier: BSD-3-Clause
#include "study/measured_curves.hpp"

#include <algorithm>
#include <filesystem>
#include <map>

#include <fmt/format.h>

#include "base/text.hpp"
#include "stats/summary.hpp"
#include "study/dataset.hpp"
#include "study/import/log_reader.hpp"
#include "study/import/log_runs.hpp"
#include "study/report_text.hpp"

namespace busbar::study {
namespace {

using topo::EqualHosts;
using topo::MeasuredCurve;
using topo::MeasuredTime;

/// The rows of a file, and the GPUs of each process that a log names.
struct FileRows {
  std::vector<Record> records{};
  std::optional<int> gpus_per_process{};
};

FileRows rows_of_file(const std::string& path, const CurveRequest& request) {
  if (path.ends_with(".csv")) return {.records = load_dataset(path).records};
  const auto text = read_file(path);
  if (!text) throw usage_error(fmt::format("cannot read {}", path));
  const LogReading reading{.skip_bad_lines = true, .ranks = request.ranks};
  const std::vector<LogFile> logs{read_log(*text, path, reading)};
  const LogHints hints{.collective = request.collective, .ranks = request.ranks};
  const std::vector<LogLaunch> launches = launches_of(logs.front(), hints);
  for (const LogLaunch& launch : launches) {
    if (launch.setting == launches.front().setting) continue;
    throw usage_error(fmt::format(
        "{} has runs of several settings: {}; make a CSV of each by busbar import, and give one",
        path, settings_text(launches)));
  }
  return {.records = records_of(logs, hints).records,
          .gpus_per_process = logs.front().tables.front().gpus_per_process};
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
  const auto far =
      std::count_if(errors.begin(), errors.end(), [](double error) { return error > kFar; });
  const auto summary = stats::summarize(errors);
  if (!summary) return row.resize(row.size() + 4);
  row.insert(row.end(), {fmt::format("{}", errors.size()), format_percent(summary->median),
                         format_percent(summary->max), fmt::format("{}", far)});
}

}  // namespace

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
    using Key = std::tuple<std::string, int, bool>;  // collective, ranks, in place
    std::map<Key, std::vector<MeasuredTime>> times;
    const FileRows rows = rows_of_file(path, request);
    for (const Record& record : rows.records) {
      if (!counts(record) || record.sender) continue;
      times[{record.collective, record.ranks, record.in_place}].push_back(
          {.bytes = static_cast<double>(record.size), .time_us = *record.time_median_us});
    }
    for (auto& [key, values] : times) {
      const auto& [collective, ranks, in_place] = key;
      if (in_place && times.contains({collective, ranks, false})) continue;
      curves.push_back(curve_of(
          fmt::format("{} {} {}", std::filesystem::path(path).stem().string(), collective, ranks),
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
      const std::vector<double> more = topo::errors_of(curve, large);
      errors.insert(errors.end(), more.begin(), more.end());
    }
    add_errors(row, errors);
  }
  return row;
}

}  // namespace busbar::study
