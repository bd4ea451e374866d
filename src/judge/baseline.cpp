// SPDX-License-Identifier: BSD-3-Clause
#include "judge/baseline.hpp"

#include <chrono>
#include <cmath>
#include <set>
#include <type_traits>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/text.hpp"
#include "format/csv_reader.hpp"
#include "format/csv_writer.hpp"
#include "format/table.hpp"
#include "judge/checked_row.hpp"
#include "judge/fingerprint.hpp"
#include "judge/fleet/fleet.hpp"
#include "judge/pairwise_rule.hpp"

namespace busbar::judge {
namespace {

std::chrono::sys_days day_of(const std::string& date) {
  const auto number = [&](std::size_t from, std::size_t length) {
    return to_number<int>(std::string_view{date}.substr(from, length)).value_or(-1);
  };
  if (date.size() == 10 && date[4] == '-' && date[7] == '-') {
    const std::chrono::year_month_day day{std::chrono::year{number(0, 4)},
                                          std::chrono::month{static_cast<unsigned>(number(5, 2))},
                                          std::chrono::day{static_cast<unsigned>(number(8, 2))}};
    if (day.ok()) return day;
  }
  throw usage_error("'{}' is not a date; write it as 2026-11-21", date);
}

constexpr const char* kDateKey = "baseline_made_on";

/// The columns in the order of the file.
void visit_columns(auto& row, const auto& visit) {
  visit("device_set", row.key.device_set);
  visit("instance", row.key.instance);
  visit("collective", row.key.collective);
  visit("type", row.key.type);
  visit("size_bytes", row.key.size);
  visit("metric", row.key.metric);
  visit("statistic", row.key.statistic);
  visit("median", row.median);
  visit("mad", row.mad);
  visit("launches", row.launches);
}

std::vector<std::string> column_names() {
  std::vector<std::string> names;
  BaselineRow row;
  visit_columns(row, [&](const char* column, const auto&) { names.emplace_back(column); });
  return names;
}

template <class Value>
void read_cell(Value& value, const std::string& cell, const std::string& where) {
  if constexpr (std::is_same_v<Value, std::string>) {
    value = cell;
  } else if constexpr (NamedEnum<Value>) {
    const auto found = find_value<Value>(cell);
    if (!found) throw usage_error("{}: invalid value '{}'", where, cell);
    value = *found;
  } else {
    const auto number = to_number<Value>(cell);
    if (!number) throw usage_error("{}: '{}' is not a number", where, cell);
    value = *number;
  }
}

BaselineRow read_row(const CsvReader& line, std::size_t columns) {
  if (line.cells().size() != columns) {
    throw usage_error("{}: not a line of {} cells", line.place(), columns);
  }
  BaselineRow row;
  auto cell = line.cells().begin();
  visit_columns(row, [&](const char* column, auto& value) {
    read_cell(value, *cell++, fmt::format("{}: column {}", line.place(), column));
  });
  if (!std::isfinite(row.median) || row.median <= 0 || !std::isfinite(row.mad)) {
    throw usage_error("{}: column median: {:g} is not a usable value", line.place(), row.median);
  }
  return row;
}

/// Why a row cannot be a reference for others, or empty. Stricter than judging: every launch must
/// be good.
std::string unfit(const CheckedRow& row, const Rule& rule, const Specification& specification) {
  if (row.decided) return row.reason;
  if (!row.sample.failures.empty()) return row.sample.failures.front().reason;
  if (const auto flaw = flaw_of(row.sample, specification)) return std::string(name(*flaw));
  return noise_text(row, rule, specification);
}

void add_row(Baseline& baseline, const CheckedRow& of, const std::string& instance,
             const std::vector<double>& values) {
  const FleetSpread spread = spread_of(values);
  BaselineRow row{
      .key = {of.device_set, instance, of.collective, of.type, of.size, of.metric, of.statistic},
      .median = spread.median,
      .mad = spread.mad,
      .launches = values.size()};
  if (baseline.find(row.key) == nullptr) baseline.rows.push_back(std::move(row));
}

/// One collective and size of a rule: a row per instance, and where there are several one of all
/// together: a new node has no past.
void add_point(Baseline& baseline, std::span<const SampleKey> keys, const JudgeInput& input) {
  const bool pairs = keys.front().set.kind == SetKind::Pairwise;
  const auto no_reference = [](const SampleKey&, const Sample&) { return Reference{.error = "-"}; };
  std::vector<CheckedRow> rows;
  std::vector<double> all;
  for (CheckedRow& row :
       pairs ? judge_pairwise(keys, input, no_reference).point.rows
             : mapped(keys, [&](const SampleKey& key) { return judge_sample(key, input); })) {
    if (row.decided && row.outcome == Outcome::Skip) continue;
    if (const std::string why = unfit(row, keys.front().rule, input.specification); !why.empty()) {
      throw usage_error("no baseline of rule {}, {} {}, {} {}: {}", row.rule, row.device_set,
                        row.instance, row.collective, format_bytes(row.size), why);
    }
    append(all, row.values);
    rows.push_back(std::move(row));
  }
  for (const CheckedRow& row : rows) add_row(baseline, row, row.instance, row.values);
  if (rows.size() > 1) add_row(baseline, rows.front(), "", all);
}

void add_rule(Baseline& baseline, const Rule& rule, const JudgeInput& input) {
  const DeviceSetRule& set = input.specification.device_set(rule.device_set);
  const auto instances = instances_of(set, input.nodes);
  if (instances.empty()) {
    throw usage_error("rule {}: no data of device set {}", rule.id, set.id);
  }
  for (const std::string& collective : rule.collectives) {
    for (const Bytes size : rule.sizes) {
      add_point(baseline, keys_of(rule, set, instances, collective, size), input);
    }
  }
}

/// All values of a fact, in the set's launches or in all.
std::set<std::string> values_of(std::span<const Observation> observations, const std::string& fact,
                                const std::string& set) {
  std::set<std::string> values;
  for (const Observation& observation : observations) {
    if (!set.empty() && observation.device_set != set) continue;
    if (const auto value = study::fact_of(observation.view(), fact)) values.insert(*value);
  }
  return values;
}

/// Facts that hold for all launches stand as they are; what differs by device set stands with its
/// name, and what differs within one is no baseline.
void add_facts(Baseline& baseline, const Specification& specification,
               std::span<const Observation> observations, const Facts& assumed) {
  for (const Fact& each : {fact::kGpu, fact::kGpusPerNode, fact::kProcessor, fact::kLibrary,
                           fact::kDriver, fact::kRanksPerNode, fact::kDeviceSet, fact::kKernel,
                           fact::kBusbar, fact::kLibraryEnvironment}) {
    const std::string fact = key(each);
    const std::set<std::string> all = values_of(observations, fact, "");
    if (all.size() == 1) baseline.facts[fact] = *all.begin();
    if (all.size() < 2) continue;
    for (const DeviceSetRule& set : specification.device_sets) {
      const std::set<std::string> own = values_of(observations, fact, set.id);
      if (!own.empty()) baseline.facts[fmt::format("{}.{}", fact, set.id)] = join_all(own, " | ");
    }
  }
  std::set<std::string> hosts;
  for (const Observation& observation : observations) {
    hosts.insert(observation.nodes.begin(), observation.nodes.end());
  }
  baseline.facts[key(fact::kHosts)] = join_all(hosts, " ");
  std::vector<std::string> unreported;
  for (const auto& [fact, value] : assumed) {
    if (!values_of(observations, fact, "").empty()) continue;
    baseline.facts[fact] = value;
    unreported.push_back(fact);
  }
  if (!unreported.empty()) baseline.facts["assumed"] = join(unreported, " ");
  baseline.facts[key(fact::kSystem)] = specification.system.name;
  baseline.facts["specification"] = specification.file;
}

}  // namespace

int days_between(const std::string& from, const std::string& to) {
  return static_cast<int>((day_of(to) - day_of(from)).count());
}

const BaselineRow* Baseline::find(const BaselineKey& key) const {
  return find_by(rows, key, &BaselineRow::key);
}

Baseline load_baseline(const std::string& path) {
  CsvReader reader(path);
  const std::vector<std::string> columns = column_names();
  if (!reader.columns().empty() && reader.columns() != join(columns, ",")) {
    throw usage_error("{}: the columns are not {}", reader.place(), join(columns, ","));
  }
  Baseline baseline{.file = path, .facts = facts_of(reader.head())};
  while (reader.next()) baseline.rows.push_back(read_row(reader, columns.size()));
  if (!reader.cut_place().empty()) {
    throw usage_error("{}: its last line has no end: the file is cut off", reader.cut_place());
  }
  if (baseline.rows.empty()) throw usage_error("{}: no figure in the baseline", path);
  const auto date = baseline.facts.extract(kDateKey);
  if (date.empty() || date.mapped().empty()) {
    throw usage_error(
        "{}: no line '# {}: DATE', so its age is unknown; build it with `busbar accept baseline`",
        path, kDateKey);
  }
  baseline.made_on = date.mapped();
  static_cast<void>(days_between(baseline.made_on, baseline.made_on));
  return baseline;
}

std::string baseline_text(const Baseline& baseline) {
  HeaderFacts facts{{std::string(kDateKey), baseline.made_on}};
  append(facts, baseline.facts);
  std::string text = csv_head(facts);
  const auto exact = [](double value) { return fmt::format("{:.9g}", value); };
  text += csv_line(column_names());
  for (const BaselineRow& row : baseline.rows) {
    std::vector<std::string> cells;
    visit_columns(row, [&](const char*, const auto& value) {
      cells.push_back(cell_text(to_cell(value), exact));
    });
    text += csv_line(cells);
  }
  return text;
}

Baseline build_baseline(const Specification& specification,
                        std::span<const Observation> observations, const std::string& today,
                        const Facts& assumed) {
  const JudgeInput input{.specification = specification,
                         .observations = observations,
                         .today = today,
                         .nodes = nodes_to_judge({}, specification, observations),
                         .assumed = assumed};
  if (observations.empty()) throw usage_error("no measurement to make a baseline of");
  const std::string stranger = fingerprint_error(specification, observations, assumed);
  if (!stranger.empty()) throw usage_error("no baseline: " + stranger);
  Baseline baseline{.made_on = today};
  add_facts(baseline, specification, observations, assumed);
  for (const Rule& rule : specification.rules) add_rule(baseline, rule, input);
  if (baseline.rows.empty()) throw usage_error("no row with a value to make a baseline of");
  return baseline;
}

}  // namespace busbar::judge
