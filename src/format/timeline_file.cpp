// SPDX-License-Identifier: BSD-3-Clause
#include "format/timeline_file.hpp"

#include "format/csv_writer.hpp"
#include "format/table.hpp"

namespace busbar {
namespace {

struct IntervalField {
  std::string_view name;
  std::string (*get)(const TimelineInterval& interval);
  bool (*set)(TimelineInterval& interval, std::string_view cell);  ///< false: it is no value
};

template <auto Member>
constexpr IntervalField number_field(std::string_view name) {
  return {name,
          [](const TimelineInterval& interval) {
            if constexpr (std::is_integral_v<std::remove_cvref_t<decltype(interval.*Member)>>) {
              return fmt::format("{}", interval.*Member);
            } else {
              return number_text(interval.*Member);
            }
          },
          [](TimelineInterval& interval, std::string_view cell) {
            using Value = std::remove_cvref_t<decltype(interval.*Member)>;
            const auto value = to_number<Value>(cell);
            interval.*Member = value.value_or(Value{});
            return value.has_value() && *value >= Value{};
          }};
}

/// One column for each member, in their order; the slowest part is for people.
constexpr auto kFields = std::to_array<IntervalField>({
    number_field<&TimelineInterval::at_s>("at_s"),
    number_field<&TimelineInterval::seconds>("seconds"),
    number_field<&TimelineInterval::operations>("operations"),
    number_field<&TimelineInterval::median_us>("median_us"),
    number_field<&TimelineInterval::p99_us>("p99_us"),
    number_field<&TimelineInterval::max_us>("max_us"),
    {"busbw_GBps",
     [](const TimelineInterval& interval) {
       return interval.busbw_GBps ? number_text(*interval.busbw_GBps) : std::string();
     },
     [](TimelineInterval& interval, std::string_view cell) {
       interval.busbw_GBps = to_number<double>(cell);
       return cell.empty() || interval.busbw_GBps.has_value();
     }},
    number_field<&TimelineInterval::operations_per_s>("operations_per_s"),
    {"slowest_part_per_s",
     [](const TimelineInterval& interval) {
       const auto& rates = interval.part_rates;
       return rates.empty() ? std::string() : number_text(*std::ranges::min_element(rates));
     },
     [](TimelineInterval& /*interval*/, std::string_view /*cell*/) { return true; }},
    number_field<&TimelineInterval::checked_bytes>("checked_bytes"),
    number_field<&TimelineInterval::wrong>("wrong"),
    {"parts_per_s",
     [](const TimelineInterval& interval) {
       return join_each(interval.part_rates, " ", number_text);
     },
     [](TimelineInterval& interval, std::string_view cell) {
       for (const std::string& word : split_words(cell)) {
         interval.part_rates.push_back(to_number<double>(word).value_or(0));
       }
       return std::ranges::all_of(interval.part_rates, [](double rate) { return rate > 0; });
     }},
});

/// The field of each cell; null for unknown columns.
std::vector<const IntervalField*> fields_of(const CsvReader& reader, const std::string& path) {
  const std::vector<std::string> names = split(reader.columns(), ',');
  for (const std::string_view needed : {"at_s", "median_us", "p99_us", "parts_per_s"}) {
    if (contains(names, needed)) continue;
    throw usage_error("{}: not a timeline: no column {}; give a file that --timeline wrote", path,
                      needed);
  }
  return mapped(
      names, [](const std::string& name) { return find_by(kFields, name, &IntervalField::name); });
}

TimelineInterval parse_interval(const CsvReader& reader,
                                const std::vector<const IntervalField*>& fields) {
  TimelineInterval interval;
  const std::vector<std::string>& cells = reader.cells();
  for (std::size_t i = 0; i < std::min(cells.size(), fields.size()); ++i) {
    if (fields[i] == nullptr || fields[i]->set(interval, cells[i])) continue;
    throw usage_error("{}: '{}' is not a value of column {}", reader.place(), one_line(cells[i]),
                      fields[i]->name);
  }
  const bool whole = cells.size() == fields.size() && interval.median_us > 0 && interval.p99_us > 0;
  if (!whole) throw usage_error("{}: not a line of a timeline", reader.place());
  return interval;
}

}  // namespace

TimelineWriter::TimelineWriter(const std::string& path)
    : file_(path, "--timeline", OutputFile::Mode::New) {}

void TimelineWriter::add(std::string_view lines) {
  file_.append(file_.path() == "-" ? as_comments(kTimelinePrefix, lines) : std::string(lines));
}

void TimelineWriter::begin(const RunContext& context) {
  add(csv_head(context.facts, context.notes) +
      csv_line(mapped<std::string>(kFields, &IntervalField::name)));
}

void TimelineWriter::append(const TimelineInterval& interval) {
  add(csv_line(mapped(kFields, [&](const IntervalField& field) { return field.get(interval); })));
}

void TimelineWriter::write(const Row& row) {
  add(join_each(row.findings, "", [](const std::string& finding) {
    return fmt::format("# {}\n", one_line(finding));
  }));
}

void TimelineWriter::end(const RunSummary& summary) {
  add(fmt::format("# finished: {}\n", summary.finished_at));
}

TimelineFile read_timeline(const std::string& path) {
  CsvReader reader(path);
  const auto fields = fields_of(reader, path);
  TimelineFile file{.facts = facts_of(reader.head())};
  while (reader.next()) {
    TimelineInterval& interval = file.intervals.emplace_back(parse_interval(reader, fields));
    file.timeline.add(interval.point(), std::exchange(interval.part_rates, {}));
  }
  file.finished = reader.is_finished();
  return file;
}

}  // namespace busbar
