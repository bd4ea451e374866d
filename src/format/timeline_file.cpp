// SPDX-License-Identifier: BSD-3-Clause
#include "format/timeline_file.hpp"

#include "format/csv_writer.hpp"
#include "format/table.hpp"

namespace busbar {
namespace {

constexpr auto kColumns = std::to_array<Column<TimelineInterval>>({
    {"at_s", "", [](const TimelineInterval& one) { return one.at_s; }},
    {"seconds", "", [](const TimelineInterval& one) { return one.seconds; }},
    {"operations", "", [](const TimelineInterval& one) { return one.operations; }},
    {"median_us", "", [](const TimelineInterval& one) { return one.median_us; }},
    {"p99_us", "", [](const TimelineInterval& one) { return one.p99_us; }},
    {"max_us", "", [](const TimelineInterval& one) { return one.max_us; }},
    {"busbw_GBps", "", [](const TimelineInterval& one) { return one.busbw_GBps; }},
    {"operations_per_s", "", [](const TimelineInterval& one) { return one.operations_per_s; }},
    {"slowest_part_per_s", "",
     [](const TimelineInterval& one) -> std::optional<double> {
       if (one.part_rates.empty()) return {};
       return std::ranges::min(one.part_rates);
     }},
    {"checked_bytes", "", [](const TimelineInterval& one) { return one.checked_bytes; }},
    {"wrong", "", [](const TimelineInterval& one) { return one.wrong; }},
    {"parts_per_s", "", [](const TimelineInterval& one) { return one.part_rates; }},
});

/// Adds the interval of the reader's line; columns without a use here may be missing.
void add_interval(const CsvReader& reader, const std::vector<std::string>& names,
                  TimelineFile& file) {
  const std::vector<std::string>& cells = reader.cells();
  const auto numbers = [&](std::string_view name) {
    std::vector<double> list;
    const auto column = std::ranges::find(names, name);
    if (column == names.end()) return list;
    const std::string& cell = cells[static_cast<std::size_t>(column - names.begin())];
    for (const std::string& word : split_words(cell)) {
      list.push_back(to_number<double>(word).value_or(-1));
      if (list.back() >= 0) continue;
      throw usage_error("{}: '{}' is not a value of column {}", reader.place(), cell, name);
    }
    return list;
  };
  const auto number = [&](std::string_view name) {
    const std::vector<double> one = numbers(name);
    return one.empty() ? 0 : one.front();
  };
  bool whole = cells.size() == names.size();
  if (whole) {
    const stats::TimelinePoint point{number("at_s"), number("median_us"), number("p99_us")};
    const std::vector<double> rates = numbers("parts_per_s");
    whole = point.at_s > 0 && point.median_us > 0 && point.p99_us > 0 &&
            std::ranges::count(rates, 0) == 0;
    file.timeline.add(point, rates);
    file.seconds = point.at_s;
    file.checked_bytes += static_cast<Bytes>(number("checked_bytes"));
    file.wrong += static_cast<std::uint64_t>(number("wrong"));
  }
  if (!whole) throw usage_error("{}: not a line of a timeline", reader.place());
}

}  // namespace

TimelineWriter::TimelineWriter(const std::string& path)
    : file_(path, "--timeline", OutputFile::Mode::New) {}

void TimelineWriter::add(std::string_view lines) {
  file_.append(file_.path() == "-" ? as_comments(kTimelinePrefix, lines) : std::string(lines));
}

void TimelineWriter::begin(const RunContext& context) {
  add(csv_head(context.facts, context.notes) + csv_text(kColumns, std::vector<TimelineInterval>{}));
}

void TimelineWriter::append(const TimelineInterval& interval) {
  add(csv_line(mapped(kColumns, [&](const Column<TimelineInterval>& column) {
    return cell_text(column.get(interval));
  })));
}

void TimelineWriter::write(const Row& row) {
  add(join_each(row.findings, "", [](const std::string& finding) {
    return fmt::format("# {}\n", one_line(finding));
  }));
}

void TimelineWriter::end(const RunSummary& summary) {
  // Of standard output the CSV's own line is the last.
  if (file_.path() == "-") return;
  add(fmt::format("# finished: {}\n", summary.finished_at));
}

TimelineFile read_timeline(const std::string& path) {
  CsvReader reader(path);
  const std::vector<std::string> names = split(reader.columns(), ',');
  for (const std::string_view needed : {"at_s", "median_us", "p99_us", "parts_per_s"}) {
    if (contains(names, needed)) continue;
    throw usage_error("{}: not a timeline: no column {}; give a file that --timeline wrote", path,
                      needed);
  }
  TimelineFile file{.facts = facts_of(reader.head())};
  while (reader.next()) add_interval(reader, names, file);
  return file;
}

}  // namespace busbar
