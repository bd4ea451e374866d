// SPDX-License-Identifier: BSD-3-Clause
// A baseline as a CSV: "# key: value" lines, the columns' names, a line per figure.
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <fstream>
#include <iterator>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/text.hpp"
#include "judge/baseline.hpp"
#include "report/csv_writer.hpp"

namespace busbar::judge {
namespace {

constexpr std::string_view kColumns =
    "device_set,instance,collective,type,size_bytes,metric,statistic,median,mad,launches";
constexpr std::size_t kColumnCount = 10;
constexpr std::string_view kDateKey = "baseline-made-on";

/// One line's cells by RFC 4180; nothing where a quote does not end.
std::optional<std::vector<std::string>> cells_of(std::string_view line) {
  std::vector<std::string> cells(1);
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (c == '"' && quoted && i + 1 < line.size() && line[i + 1] == '"') {
      cells.back() += c;
      ++i;
    } else if (c == '"') {
      quoted = !quoted;
    } else if (c == ',' && !quoted) {
      cells.emplace_back();
    } else {
      cells.back() += c;
    }
  }
  if (quoted) return {};
  return cells;
}

/// Where a reader is, for messages.
struct Line {
  const std::string& path;
  std::size_t number = 0;

  [[nodiscard]] Error error(const std::string& why) const {
    return usage_error(fmt::format("{}:{}: {}", path, number, why));
  }
};

template <class T>
T number_of(const std::string& cell, std::string_view column, const Line& line) {
  T value{};
  const auto read = std::from_chars(cell.data(), cell.data() + cell.size(), value);
  if (read.ec != std::errc{} || read.ptr != cell.data() + cell.size()) {
    throw line.error(fmt::format("column {}: '{}' is not a number", column, cell));
  }
  return value;
}

template <class Enum, std::size_t n>
Enum word_of(const std::string& cell, const std::array<Enum, n>& values, std::string_view column,
             const Line& line) {
  for (const Enum value : values) {
    if (name(value) == cell) return value;
  }
  throw line.error(fmt::format("column {}: '{}' is none of its words", column, cell));
}

BaselineRow row_of(std::string_view text, const Line& line) {
  constexpr std::array<Metric, 3> kMetrics{Metric::BusBandwidth, Metric::AlgorithmBandwidth,
                                           Metric::Time};
  constexpr std::array<Statistic, 6> kStatistics{Statistic::Median, Statistic::Mean,
                                                 Statistic::Min,    Statistic::P90,
                                                 Statistic::P99,    Statistic::Max};
  const auto cells = cells_of(text);
  if (!cells || cells->size() != kColumnCount) {
    throw line.error(fmt::format("not a line of {} cells", kColumnCount));
  }
  const std::vector<std::string>& c = *cells;
  BaselineRow row{.device_set = c[0],
                  .instance = c[1],
                  .collective = c[2],
                  .type = c[3],
                  .size = number_of<Bytes>(c[4], "size_bytes", line),
                  .metric = word_of(c[5], kMetrics, "metric", line),
                  .statistic = word_of(c[6], kStatistics, "statistic", line),
                  .median = number_of<double>(c[7], "median", line),
                  .mad = number_of<double>(c[8], "mad", line),
                  .launches = number_of<std::size_t>(c[9], "launches", line)};
  const bool usable = std::isfinite(row.median) && row.median > 0 && std::isfinite(row.mad);
  if (!usable) throw line.error(fmt::format("column median: {} is no value", c[7]));
  return row;
}

void read_fact(Baseline& baseline, std::string_view line) {
  const std::size_t colon = line.find(": ");
  if (colon == std::string_view::npos) return;
  const std::string key(trim(line.substr(1, colon - 1)));
  const std::string value(trim(line.substr(colon + 2)));
  if (key == kDateKey) {
    baseline.made_on = value;
  } else {
    baseline.facts[key] = value;
  }
}

void check_date(const Baseline& baseline, const std::string& path) {
  if (baseline.made_on.empty()) {
    throw usage_error(
        fmt::format("{}: no line '# {}: DATE', so its age is unknown; build it with "
                    "`busbar accept baseline`",
                    path, kDateKey));
  }
  static_cast<void>(days_between(baseline.made_on, baseline.made_on));
}

}  // namespace

Baseline load_baseline(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw usage_error(fmt::format("{}: cannot read the baseline", path));
  Baseline baseline{.file = path};
  Line place{.path = path};
  bool named = false;
  for (std::string line; std::getline(file, line);) {
    ++place.number;
    if (!line.empty() && line.back() == '\r') line.pop_back();
    if (line.starts_with('#')) {
      read_fact(baseline, line);
    } else if (!named) {
      if (line != kColumns) throw place.error(fmt::format("the columns are not {}", kColumns));
      named = true;
    } else if (file.eof()) {
      throw place.error("its last line has no end: the file is cut off");
    } else {
      baseline.rows.push_back(row_of(line, place));
    }
  }
  if (baseline.rows.empty()) throw usage_error(fmt::format("{}: no figure in the baseline", path));
  check_date(baseline, path);
  return baseline;
}

std::string baseline_text(const Baseline& baseline) {
  std::string text = fmt::format("# {}: {}\n", kDateKey, baseline.made_on);
  for (const auto& [key, value] : baseline.facts) {
    text += fmt::format("# {}: {}\n", key, one_line(value));
  }
  text += fmt::format("{}\n", kColumns);
  for (const BaselineRow& row : baseline.rows) {
    text +=
        fmt::format("{},{},{},{},{},{},{},{:.9g},{:.9g},{}\n", csv_cell(row.device_set),
                    csv_cell(row.instance), csv_cell(row.collective), csv_cell(row.type), row.size,
                    name(row.metric), name(row.statistic), row.median, row.mad, row.launches);
  }
  return text;
}

}  // namespace busbar::judge
