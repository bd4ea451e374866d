// SPDX-License-Identifier: BSD-3-Clause
#include "judge/baseline.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <set>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/text.hpp"
#include "judge/csv_table.hpp"
#include "judge/rule_check.hpp"
#include "judge/run_facts.hpp"
#include "stats/summary.hpp"

namespace busbar::judge {
namespace {

std::chrono::sys_days day_of(const std::string& date) {
  const auto number = [&](std::size_t from, std::size_t length) {
    return to_number<int>(std::string_view(date).substr(from, length)).value_or(-1);
  };
  if (date.size() == 10 && date[4] == '-' && date[7] == '-') {
    const std::chrono::year_month_day day{std::chrono::year{number(0, 4)},
                                          std::chrono::month{static_cast<unsigned>(number(5, 2))},
                                          std::chrono::day{static_cast<unsigned>(number(8, 2))}};
    if (day.ok()) return day;
  }
  throw usage_error(fmt::format("'{}' is no date: write it as 2026-11-21", date));
}

}  // namespace

int days_between(const std::string& from, const std::string& to) {
  return static_cast<int>((day_of(to) - day_of(from)).count());
}

namespace {

constexpr std::string_view kColumns =
    "device_set,instance,collective,type,size_bytes,metric,statistic,median,mad,launches";
constexpr std::size_t kColumnCount = 10;
constexpr const char* kDateKey = "baseline-made-on";

template <class T>
T number_of(const CsvRow& row, std::size_t cell, std::string_view column) {
  const auto value = to_number<T>(row.cells[cell]);
  if (value) return *value;
  throw usage_error(
      fmt::format("{}: column {}: '{}' is not a number", row.place, column, row.cells[cell]));
}

template <class Enum, std::size_t n>
Enum value_named(const CsvRow& row, std::size_t cell, const std::array<Enum, n>& values,
                 std::string_view column) {
  for (const Enum value : values) {
    if (name(value) == row.cells[cell]) return value;
  }
  throw usage_error(
      fmt::format("{}: invalid value '{}' in column {}", row.place, row.cells[cell], column));
}

BaselineRow row_of(const CsvRow& line) {
  constexpr std::array<Metric, 3> kMetrics{Metric::BusBandwidth, Metric::AlgorithmBandwidth,
                                           Metric::Time};
  constexpr std::array<Statistic, 6> kStatistics{Statistic::Median, Statistic::Mean,
                                                 Statistic::Min,    Statistic::P90,
                                                 Statistic::P99,    Statistic::Max};
  const std::vector<std::string>& c = line.cells;
  if (c.size() != kColumnCount) {
    throw usage_error(fmt::format("{}: not a line of {} cells", line.place, kColumnCount));
  }
  BaselineRow row{.key = {.device_set = c[0],
                          .instance = c[1],
                          .collective = c[2],
                          .type = c[3],
                          .size = number_of<Bytes>(line, 4, "size_bytes"),
                          .metric = value_named(line, 5, kMetrics, "metric"),
                          .statistic = value_named(line, 6, kStatistics, "statistic")},
                  .median = number_of<double>(line, 7, "median"),
                  .mad = number_of<double>(line, 8, "mad"),
                  .launches = number_of<std::size_t>(line, 9, "launches")};
  const bool usable = std::isfinite(row.median) && row.median > 0 && std::isfinite(row.mad);
  if (!usable) {
    throw usage_error(fmt::format("{}: column median: {} is not a usable value", line.place, c[7]));
  }
  return row;
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

const BaselineRow* Baseline::find(const BaselineKey& key) const {
  const auto found = std::find_if(rows.begin(), rows.end(),
                                  [&](const BaselineRow& row) { return row.key == key; });
  return found == rows.end() ? nullptr : &*found;
}

Baseline load_baseline(const std::string& path) {
  CsvTable table = read_csv_table(path);
  if (!table.columns_place.empty() && table.columns != kColumns) {
    throw usage_error(fmt::format("{}: the columns are not {}", table.columns_place, kColumns));
  }
  if (!table.cut.empty()) {
    throw usage_error(fmt::format("{}: its last line has no end: the file is cut off", table.cut));
  }
  Baseline baseline{.file = path};
  for (const CsvRow& row : table.rows) baseline.rows.push_back(row_of(row));
  if (baseline.rows.empty()) throw usage_error(fmt::format("{}: no figure in the baseline", path));
  const auto date = table.facts.extract(kDateKey);
  if (!date.empty()) baseline.made_on = date.mapped();
  baseline.facts = std::move(table.facts);
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
    const BaselineKey& key = row.key;
    text += csv_line({key.device_set, key.instance, key.collective, key.type,
                      fmt::format("{}", key.size), std::string(name(key.metric)),
                      std::string(name(key.statistic)), fmt::format("{:.9g}", row.median),
                      fmt::format("{:.9g}", row.mad), fmt::format("{}", row.launches)});
  }
  return text;
}

namespace {

using Facts = std::map<std::string, std::string>;

/// "rule pair-floor, pairs h1+h2, alltoall 16 GiB".
std::string row_words(const CheckResult& verdict) {
  return fmt::format("rule {}, {} {}, {} {}", verdict.rule, verdict.device_set, verdict.instance,
                     verdict.collective, format_bytes(verdict.size));
}

/// Why a row is no measure for others, or empty. Stricter than judging: every launch must be good.
std::string unfit(const CheckedRow& row, const Expectation& rule,
                  const Specification& specification) {
  const CheckResult& verdict = row.verdict;
  if (row.decided) return verdict.reason;
  if (!row.sample.failures.empty()) return row.sample.failures.front().reason;
  if (row.sample.simulated) return "simulated, not measured";
  if (row.sample.fake) return "measured on no real GPU";
  if (row.sample.oversubscribed) return "oversubscribed";
  if (specification.run.check_data && row.sample.unchecked) return "data were not checked";
  const double most = rule.max_cv.value_or(specification.noise.max_cv);
  if (verdict.cv && *verdict.cv > most) {
    return fmt::format("noisy: cv {:.3g} % is above {:.3g} %", *verdict.cv * 100, most * 100);
  }
  return {};
}

double deviation_of(const std::vector<double>& values, double median) {
  std::vector<double> deviations;
  for (const double value : values) deviations.push_back(std::abs(value - median));
  return stats::median(deviations);
}

void add_row(Baseline& baseline, const CheckResult& verdict, std::string instance,
             const std::vector<double>& values) {
  BaselineRow row{.key = {verdict.device_set, std::move(instance), verdict.collective, verdict.type,
                          verdict.size, verdict.metric, verdict.statistic},
                  .median = stats::median(values),
                  .launches = values.size()};
  row.mad = deviation_of(values, row.median);
  if (baseline.find(row.key) == nullptr) baseline.rows.push_back(std::move(row));
}

/// A row per instance, and where there are several one of all together: a new node has no past.
void add_size(Baseline& baseline, const std::vector<CheckResult>& verdicts) {
  std::vector<double> all;
  for (const CheckResult& verdict : verdicts) {
    add_row(baseline, verdict, verdict.instance, verdict.values);
    all.insert(all.end(), verdict.values.begin(), verdict.values.end());
  }
  if (verdicts.size() > 1) add_row(baseline, verdicts.front(), "", all);
}

/// One collective and size on all instances of the rule's set.
void add_curve_point(Baseline& baseline, const Expectation& rule,
                     std::span<const Instance> instances, const std::string& collective, Bytes size,
                     const ReferenceInput& input) {
  const DeviceSetRule& set = input.specification.device_set(rule.device_set);
  std::vector<CheckResult> verdicts;
  for (const Instance& instance : instances) {
    CheckedRow row = judge_sample({rule, set, instance, collective, size}, input);
    if (row.decided && row.verdict.outcome == Outcome::Skip) continue;
    if (const std::string why = unfit(row, rule, input.specification); !why.empty()) {
      throw usage_error(fmt::format("no baseline of {}: {}", row_words(row.verdict), why));
    }
    verdicts.push_back(std::move(row.verdict));
  }
  add_size(baseline, verdicts);
}

void add_rule(Baseline& baseline, const Expectation& rule, std::span<const std::string> nodes,
              const ReferenceInput& input) {
  const DeviceSetRule& set = input.specification.device_set(rule.device_set);
  const auto instances = instances_of(set, nodes, input.observations);
  if (instances.empty()) {
    throw usage_error(fmt::format("rule {}: no data of device set {}", rule.id, set.id));
  }
  for (const std::string& collective : rule.collectives) {
    for (const Bytes size : rule.sizes) {
      add_curve_point(baseline, rule, instances, collective, size, input);
    }
  }
}

/// All values of a fact, in the set's launches or in all.
std::set<std::string> values_of(std::span<const Observation> observations, const std::string& fact,
                                const std::string& set) {
  std::set<std::string> values;
  for (const Observation& observation : observations) {
    if (!set.empty() && observation.device_set != set) continue;
    if (const auto value = fact_of(observation, fact)) values.insert(*value);
  }
  return values;
}

/// Facts that hold for all launches stand as they are; what differs by device set stands with its
/// name, and what differs within one is no baseline.
void add_facts(Baseline& baseline, const Specification& specification,
               std::span<const Observation> observations, const Facts& assumed) {
  for (const char* fact : {"gpu", "gpus_per_node", "processor", "library", "nccl", "driver",
                           "ngpus", "device_set", "kernel", "busbar", "environment"}) {
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
  baseline.facts["hosts"] = join_all(hosts, " ");
  std::vector<std::string> untold;
  for (const auto& [fact, value] : assumed) {
    if (!values_of(observations, fact, "").empty()) continue;
    baseline.facts[fact] = value;
    untold.push_back(fact);
  }
  if (!untold.empty()) baseline.facts["assumed"] = join(untold, " ");
  baseline.facts["system"] = specification.system.name;
  baseline.facts["specification"] = specification.file;
}

}  // namespace

Baseline build_baseline(const Specification& specification,
                        std::span<const Observation> observations, const std::string& today,
                        const Facts& assumed) {
  CeilingTable ceilings(specification.ceiling);
  const ReferenceInput input{.specification = specification,
                             .observations = observations,
                             .today = today,
                             .assumed = assumed,
                             .ceilings = ceilings};
  if (observations.empty()) throw usage_error("no measurement to make a baseline of");
  const std::string stranger = fingerprint_error(specification, observations, assumed);
  if (!stranger.empty()) throw usage_error("no baseline: " + stranger);
  const std::vector<std::string> nodes = nodes_to_judge({}, specification, observations);
  Baseline baseline{.made_on = today};
  add_facts(baseline, specification, observations, assumed);
  for (const Expectation& rule : specification.expectations) {
    add_rule(baseline, rule, nodes, input);
  }
  if (baseline.rows.empty()) throw usage_error("no row with a value to make a baseline of");
  return baseline;
}

}  // namespace busbar::judge
