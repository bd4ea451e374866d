// SPDX-License-Identifier: BSD-3-Clause
#include "judge/sample.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>
#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/text.hpp"
#include "model/collective.hpp"
#include "model/flag.hpp"
#include "model/host_levels.hpp"
#include "stats/summary.hpp"

namespace busbar::judge {
namespace {

/// A column of times, in the order of Statistic.
struct TimeColumn {
  const char* name;
  std::optional<double> Record::*time;
};
constexpr std::array<TimeColumn, 6> kTimeColumns{{{"time_median_us", &Record::time_median_us},
                                                  {"time_mean_us", &Record::time_mean_us},
                                                  {"time_min_us", &Record::time_min_us},
                                                  {"time_p90_us", &Record::time_p90_us},
                                                  {"time_p99_us", &Record::time_p99_us},
                                                  {"time_max_us", &Record::time_max_us}}};

RowValue judged(std::optional<double> value, std::string_view column) {
  if (!value) return {.error = fmt::format("the row has no value in column {}", column)};
  if (!std::isfinite(*value) || *value <= 0) {
    return {.error = fmt::format("{} is {:g}: not a number that can be judged", column, *value)};
  }
  return {.value = value};
}

/// nccl-tests and Busbar round a size down until all ranks have equal parts of whole 16 bytes.
bool has_size(const Record& record, Bytes wanted) {
  if (record.size >= wanted) return record.size == wanted;
  constexpr Bytes kPart = 16;
  constexpr Bytes kSmallShare = 1000;
  const Bytes missing = wanted - record.size;
  const auto ranks = static_cast<Bytes>(std::max(1, record.ranks));
  return missing < kPart * ranks && missing * kSmallShare < wanted;
}

/// A row of one GPU's copies, which have bytes and no elements.
bool is_host_copy(const Record& record) {
  const Collective* known = find_collective(record.collective);
  return known != nullptr && known->movement == Movement::HostCopy;
}

/// How a row differs from the rule: "as double", "in place".
std::vector<std::string> differences_of(const Record& record, const Rule& rule) {
  std::vector<std::string> differences;
  if (record.type != rule.type && !is_host_copy(record)) differences.push_back("as " + record.type);
  const bool has_op = record.op.empty() || record.op == "none" || record.op == "sum";
  if (!has_op) differences.push_back("with " + record.op);
  if (record.in_place != rule.in_place) {
    differences.emplace_back(record.in_place ? "in place" : "out of place");
  }
  return differences;
}

/// The rows of what is measured, whatever their type, operation, buffer mode and size.
std::vector<const Record*> related_rows(const Observation& observation, const SampleKey& key) {
  std::vector<const Record*> rows;
  for (const Record& record : observation.records) {
    const bool group = key.instance.group == -1 || record.group == key.instance.group;
    const bool pair = record.sender && record.receiver;
    if (record.collective == key.collective && group && !pair) rows.push_back(&record);
  }
  return rows;
}

/// "no row of 8 GiB: 8 GiB only as double": what there is instead of the row that a rule wants.
std::string missing_text(const Observation& observation, const SampleKey& key) {
  if (observation.records.empty()) return "no row in it";
  std::map<std::size_t, std::vector<std::string>> others;  // by the number of differences
  std::set<Bytes> sizes;
  for (const Record* record : related_rows(observation, key)) {
    const std::vector<std::string> differences = differences_of(*record, key.rule);
    if (has_size(*record, key.size)) {
      add_new(others[differences.size()], join(differences, " "));
    } else if (differences.empty()) {
      sizes.insert(record->size);
    }
  }
  std::string missing = "no row of " + format_bytes(key.size);
  if (!others.empty()) {
    return fmt::format("{}: {} only {}", missing, format_bytes(key.size),
                       join(others.begin()->second, ", "));
  }
  if (sizes.empty()) return missing;
  const std::string range =
      sizes.size() == 1
          ? ""
          : fmt::format(" to {} ({} sizes)", format_bytes(*sizes.rbegin()), sizes.size());
  return fmt::format("{}: there is {}{}", missing, format_bytes(*sizes.begin()), range);
}

std::vector<const Record*> rows_of(const Observation& observation, const SampleKey& key) {
  const auto rows = filtered(related_rows(observation, key), [&](const Record* row) {
    return has_size(*row, key.size) && differences_of(*row, key.rule).empty();
  });
  auto exact = filtered(rows, [&](const Record* row) { return row->size == key.size; });
  return exact.empty() ? rows : exact;
}

bool is_wrong(const Record& record) {
  return record.status == RowStatus::Wrong || record.wrong.value_or(0) > 0;
}

std::string wrong_text(const Record& record) {
  if (record.wrong.value_or(0) > 0) return counted(*record.wrong, "wrong element");
  return record.reason.empty() ? "not counted" : record.reason;
}

/// Two tight levels: most operations at one time, at least a tenth at another that is far from it.
/// Of a few samples one slow one would be both p90 and p99.
bool has_two_levels(const Record& r) {
  constexpr std::uint64_t kFewSamples = 20;
  if (r.samples.value_or(0) < kFewSamples) return false;
  if (!r.time_min_us || !r.time_median_us || !r.time_p90_us || !r.time_p99_us) return false;
  const auto is_tight = [](double from, double to) { return to < from * 1.02; };
  const bool apart = *r.time_p90_us > *r.time_median_us * 1.10;
  return apart && is_tight(*r.time_min_us, *r.time_median_us) &&
         is_tight(*r.time_p90_us, *r.time_p99_us);
}

void note_flags(Sample& sample, const Record& record) {
  const bool simulated = record.backend == "sim" || has_flag(record, Flag::Simulated);
  if (!record.wrong) sample.flaws.insert(Flaw::Unchecked);
  if (has_flag(record, Flag::Oversubscribed)) sample.flaws.insert(Flaw::Oversubscribed);
  if (has_flag(record, Flag::Fake)) sample.flaws.insert(Flaw::Fake);
  if (simulated) sample.flaws.insert(Flaw::Simulated);
  sample.two_levels = sample.two_levels || has_two_levels(record);
  const auto& bound = record.bound_GBps;
  if (bound) sample.bound_GBps = std::min(*bound, sample.bound_GBps.value_or(*bound));
}

RowValue value_for(const Record& record, const SampleKey& key) {
  if (record.ranks != key.shape().ranks) {
    return {.error = fmt::format("run with {}; the rule needs {}",
                                 counted(std::max(0, record.ranks), "rank"), key.shape().ranks)};
  }
  if (record.status == RowStatus::Skipped) return {.error = "skipped: " + record.reason};
  if (record.status == RowStatus::Failed) return {.error = "failed: " + record.reason};
  return value_of(record, key.rule.metric, key.rule.statistic);
}

/// The value of a launch: of several roots the slowest's, and of copies with the host the slowest
/// GPU's, where each has a row.
void add_value(Sample& sample, std::span<const std::pair<const Record*, double>> values,
               const SampleKey& key) {
  if (values.empty()) return;
  const Record& any = *values.front().first;
  std::map<int, std::vector<double>> parts;
  for (const auto& [row, value] : values) {
    parts[row->root.value_or(row->receiver.value_or(row->sender.value_or(0)))].push_back(value);
  }
  if (is_host_copy(any) && std::cmp_less(parts.size(), any.ranks)) {
    return add_new(sample.errors, fmt::format("rows of {} of {}; the rule needs all", parts.size(),
                                              counted(any.ranks, "GPU")));
  }
  const auto rate = [&](const auto& part) {
    return as_rate(stats::median(part.second), key.rule.metric);
  };
  const auto slowest = std::ranges::min_element(parts, {}, rate);
  sample.values.push_back(stats::median(slowest->second));
  if (is_host_copy(any)) sample.slowest_gpus.insert(slowest->first);
}

/// True where the launch's nodes are fewer hosts.
bool shares_machine(const Observation& observation) {
  const std::set<std::string> hosts = hosts_of(observation);
  return !hosts.empty() && hosts.size() < observation.nodes.size();
}

/// The launch's rows of the size: its value, or what is the matter with it.
void add_launch(Sample& sample, const Observation& observation, const SampleKey& key) {
  const std::vector<const Record*> rows = rows_of(observation, key);
  for (const Record* row : rows) {
    if (is_wrong(*row)) add_new(sample.wrong, wrong_text(*row));
  }
  if (!observation.failure.empty()) {
    sample.failures.push_back({.reason = observation.failure,
                               .unreachable = observation.unreachable,
                               .crashed = observation.hung_or_crashed()});
    return;
  }
  if (rows.empty()) {
    sample.failures.push_back({.reason = missing_text(observation, key)});
    return;
  }
  if (shares_machine(observation)) sample.flaws.insert(Flaw::SameMachine);
  const bool one_rank = key.rule.metric == Metric::BusBandwidth && key.shape().ranks == 1;
  std::vector<std::pair<const Record*, double>> values;
  for (const Record* row : rows) {
    note_flags(sample, *row);
    if (row->ranks == 1 && one_rank && row->status != RowStatus::Failed && !is_host_copy(*row)) {
      sample.skipped_one_rank = true;
    } else if (RowValue value = value_for(*row, key); value.value) {
      values.emplace_back(row, *value.value);
    } else {
      add_new(sample.errors, value.error);
    }
  }
  add_value(sample, values, key);
}

using NodeNumbers = std::map<std::string, std::size_t, std::less<>>;

/// By the ranks of a row's group or else its hosts, or the two of its launch.
std::optional<NumberPair> pair_of_row(const Record& row, const Observation& launch,
                                      int ranks_per_node, const NodeNumbers& numbers) {
  std::set<std::size_t> places;
  for (const int rank : parse_ranges(row.group_ranks, ' ').value_or(std::vector<int>{})) {
    places.insert(static_cast<std::size_t>(rank / ranks_per_node));
  }
  if (row.group_ranks.empty() && launch.nodes.size() == 2) places = {0, 1};
  for (const std::string& host : split_words(places.empty() ? row.hosts : "")) {
    const auto found = std::ranges::find(launch.nodes, known_host(host, launch.nodes));
    places.insert(static_cast<std::size_t>(found - launch.nodes.begin()));
  }
  if (places.size() != 2 || *places.rbegin() >= launch.nodes.size()) return {};
  const auto first = numbers.find(launch.nodes[*places.begin()]);
  const auto second = numbers.find(launch.nodes[*places.rbegin()]);
  if (first == numbers.end() || second == numbers.end()) return {};
  return pair_of(first->second, second->second);
}

/// The rows of a launch, which has this number: of one that failed only how data were wrong.
void add_pairs(PairTable& table, const Observation& launch, const SampleKey& key,
               const NodeNumbers& numbers, std::size_t number) {
  const bool failed = !launch.failure.empty();
  const std::vector<const Record*> rows = rows_of(launch, key);
  if (!failed && shares_machine(launch)) table.common.flaws.insert(Flaw::SameMachine);
  if (!failed && rows.empty()) {
    table.common.failures.push_back({.reason = missing_text(launch, key)});
  }
  for (const Record* row : rows) {
    const auto pair = pair_of_row(*row, launch, key.set.ranks_per_node, numbers);
    if (pair && is_wrong(*row)) add_new(table.wrong[*pair], wrong_text(*row));
    if (!pair || failed) continue;
    note_flags(table.common, *row);
    const RowValue value = value_for(*row, key);
    if (value.value) {
      table.pairs.push_back({.nodes = *pair,
                             .launch = number,
                             .round = static_cast<std::size_t>(row->round.value_or(0)),
                             .value = *value.value});
    } else {
      add_new(table.errors[*pair], value.error);
    }
  }
}

}  // namespace

double as_rate(double value, Metric metric) { return metric == Metric::Time ? 1 / value : value; }

std::size_t Sample::crashed() const { return count_of(failures, &LaunchFailure::crashed); }

std::optional<double> variation_of(std::span<const double> values) {
  if (values.size() < 2) return {};
  const auto count = static_cast<double>(values.size());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / count;
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return std::sqrt(squares / (count - 1)) / mean;
}

std::optional<TwoGroups> two_groups_of(std::span<const double> values) {
  constexpr std::size_t kFewest = 4;
  constexpr double kSeen = 0.01;
  if (values.size() < kFewest) return {};
  std::vector<double> sorted(values.begin(), values.end());
  std::ranges::sort(sorted);
  std::size_t upper = 2;  // where the upper group begins
  const auto gap = [&](std::size_t place) { return sorted[place] - sorted[place - 1]; };
  for (std::size_t i = 2; i + 1 < sorted.size(); ++i) {
    if (gap(i) > gap(upper)) upper = i;
  }
  const std::span<const double> all(sorted);
  const auto low = all.first(upper);
  const auto high = all.subspan(upper);
  const double widest = std::max(low.back() - low.front(), high.back() - high.front());
  if (gap(upper) <= widest || gap(upper) <= kSeen * stats::median(all)) return {};
  return TwoGroups{.low = low.size(),
                   .high = high.size(),
                   .low_middle = stats::median(low),
                   .high_middle = stats::median(high)};
}

std::vector<SampleKey> keys_of(const Rule& rule, const DeviceSetRule& set,
                               std::span<const Instance> instances, const std::string& collective,
                               Bytes size) {
  return mapped(instances, [&](const Instance& one) {
    return SampleKey{rule, set, one, collective, size};
  });
}

RowValue value_of(const Record& record, Metric metric, Statistic statistic) {
  const TimeColumn& column = kTimeColumns.at(static_cast<std::size_t>(statistic));
  RowValue time = judged(record.*(column.time), column.name);
  if (metric == Metric::Time) return time;
  const bool bus = metric == Metric::BusBandwidth;
  RowValue rate =
      judged(bus ? record.busbw_GBps : record.algbw_GBps, bus ? "busbw_GBps" : "algbw_GBps");
  if (!rate.value || statistic == Statistic::Median) return rate;
  RowValue median = judged(record.time_median_us, "time_median_us");
  if (!median.value) return median;
  if (!time.value) return time;
  return {.value = *rate.value * *median.value / *time.value};
}

Sample gather(const SampleKey& key, std::span<const Observation> observations) {
  Sample sample;
  std::vector<std::string> others;  // collectives
  for (const Observation& launch : observations) {
    if (!belongs_to(launch, key.set, key.instance)) continue;
    if (!launch.collective.empty() && launch.collective != key.collective) {
      add_new(others, launch.collective);
      continue;
    }
    sample.attempts = std::max(sample.attempts, static_cast<std::size_t>(launch.attempt) + 1);
    add_launch(sample, launch, key);
  }
  if (sample.attempts == 0 && !others.empty()) {
    sample.failures.push_back(
        {.reason = fmt::format("no data of {}: there is {}", key.collective, join(others, ", "))});
  }
  return sample;
}

PairTable gather_pairs(const SampleKey& key, std::span<const Observation> observations,
                       std::span<const std::string> nodes, bool confirmations) {
  NodeNumbers numbers;
  for (const std::string& node : nodes) numbers.emplace(node, numbers.size());
  PairTable table{.common = {.attempts = 1}};
  std::map<std::pair<int, int>, std::size_t> launches;  // their numbers by launch and attempt
  for (const Observation& launch : observations) {
    const bool is_it = launch.device_set == key.set.id && launch.collective == key.collective &&
                       (launch.purpose == Purpose::Confirm) == confirmations;
    if (!is_it) continue;
    const auto attempts = static_cast<std::size_t>(launch.attempt) + 1;
    table.common.attempts = std::max(table.common.attempts, attempts);
    const std::pair which(launch.launch, launch.attempt);
    const bool failed = !launch.failure.empty();
    add_pairs(table, launch, key, numbers,
              failed ? 0 : launches.emplace(which, launches.size()).first->second);
  }
  table.launches = launches.size();
  return table;
}

}  // namespace busbar::judge
