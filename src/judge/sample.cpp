// SPDX-License-Identifier: BSD-3-Clause
#include "judge/sample.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>
#include <set>
#include <vector>

#include <fmt/format.h>

#include "base/text.hpp"
#include "model/flag.hpp"
#include "stats/summary.hpp"

namespace busbar::judge {

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
  std::sort(sorted.begin(), sorted.end());
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

namespace {

struct TimeColumn {
  const char* name;
  std::optional<double> Record::*time;
};

TimeColumn column_of(Statistic statistic) {
  constexpr std::array<TimeColumn, 6> kColumns{{{"time_median_us", &Record::time_median_us},
                                                {"time_mean_us", &Record::time_mean_us},
                                                {"time_min_us", &Record::time_min_us},
                                                {"time_p90_us", &Record::time_p90_us},
                                                {"time_p99_us", &Record::time_p99_us},
                                                {"time_max_us", &Record::time_max_us}}};
  return kColumns.at(static_cast<std::size_t>(statistic));
}

RowValue judged(std::optional<double> value, std::string_view column) {
  if (!value) return {.error = fmt::format("the row has no value in column {}", column)};
  if (!std::isfinite(*value) || *value <= 0) {
    return {.error = fmt::format("{} is {:g}: not a number that can be judged", column, *value)};
  }
  return {.value = value};
}

}  // namespace

RowValue value_of(const Record& record, Metric metric, Statistic statistic) {
  const TimeColumn column = column_of(statistic);
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

namespace {

/// nccl-tests and Busbar round a size down until all ranks have equal parts of whole 16 bytes.
bool is_size(Bytes measured, Bytes wanted, int ranks) {
  if (measured == wanted) return true;
  constexpr Bytes kPart = 16;
  constexpr Bytes kSmallShare = 1000;
  const bool near = measured < wanted && wanted - measured < kPart * static_cast<Bytes>(ranks);
  return near && (wanted - measured) * kSmallShare < wanted;
}

bool has_op(const Record& record, const std::string& op) {
  return record.op.empty() || record.op == "none" || record.op == op;
}

/// True for a row of what is measured, whatever its type, operation, placement and size.
bool is_related(const Record& record, const SampleKey& key) {
  const bool group = key.instance.group == -1 || record.group == key.instance.group;
  return record.collective == key.collective && group && !record.sender;
}

bool has_size(const Record& record, const SampleKey& key) {
  return is_size(record.size, key.size, std::max(1, record.ranks));
}

bool is_wanted(const Record& record, const SampleKey& key) {
  return is_related(record, key) && record.type == key.rule.type && has_op(record, key.rule.op) &&
         record.in_place == key.rule.in_place && has_size(record, key);
}

/// How a row differs from the rule: "as double", "in place".
std::vector<std::string> differences_of(const Record& record, const Expectation& rule) {
  std::vector<std::string> words;
  if (record.type != rule.type) words.push_back("as " + record.type);
  if (!has_op(record, rule.op)) words.push_back("with " + record.op);
  if (record.in_place != rule.in_place) {
    words.emplace_back(record.in_place ? "in place" : "out of place");
  }
  return words;
}

void add_unique(std::vector<std::string>& words, std::string word) {
  if (std::find(words.begin(), words.end(), word) == words.end()) words.push_back(std::move(word));
}

/// "1 MiB to 4 GiB (13 sizes)".
std::string sizes_words(const std::set<Bytes>& sizes) {
  if (sizes.size() == 1) return format_bytes(*sizes.begin());
  return fmt::format("{} to {} ({} sizes)", format_bytes(*sizes.begin()),
                     format_bytes(*sizes.rbegin()), sizes.size());
}

/// "no row of 8 GiB: 8 GiB only as double": what there is instead of the row that a rule wants.
std::string missing_words(const Observation& observation, const SampleKey& key) {
  if (observation.records.empty()) return "no row in it";
  std::map<std::size_t, std::vector<std::string>> others;  // by the number of differences
  std::set<Bytes> sizes;
  for (const Record& record : observation.records) {
    if (!is_related(record, key)) continue;
    const std::vector<std::string> words = differences_of(record, key.rule);
    if (has_size(record, key)) {
      add_unique(others[words.size()], join(words, " "));
    } else if (words.empty()) {
      sizes.insert(record.size);
    }
  }
  const std::string size = format_bytes(key.size);
  if (!others.empty()) {
    return fmt::format("no row of {0}: {0} only {1}", size, join(others.begin()->second, ", "));
  }
  if (!sizes.empty()) return fmt::format("no row of {}: there is {}", size, sizes_words(sizes));
  return fmt::format("no row of {}", size);
}

std::vector<const Record*> rows_of(const Observation& observation, const SampleKey& key) {
  std::vector<const Record*> rows;
  for (const Record& record : observation.records) {
    if (is_wanted(record, key)) rows.push_back(&record);
  }
  const bool exact = std::any_of(rows.begin(), rows.end(),
                                 [&](const Record* row) { return row->size == key.size; });
  if (exact) std::erase_if(rows, [&](const Record* row) { return row->size != key.size; });
  return rows;
}

bool is_wrong(const Record& record) {
  return record.status == RowStatus::Wrong || record.wrong.value_or(0) > 0;
}

std::string wrong_words(const Record& record) {
  if (record.wrong.value_or(0) > 0) return counted(*record.wrong, "wrong element");
  return record.reason.empty() ? "wrong data" : "wrong data: " + record.reason;
}

/// Two tight levels: most operations at one time, at least a tenth at another that is far from it.
bool has_two_levels(const Record& r) {
  if (!r.time_min_us || !r.time_median_us || !r.time_p90_us || !r.time_p99_us) return false;
  constexpr double kTight = 1.02;
  constexpr double kApart = 1.10;
  return *r.time_median_us < *r.time_min_us * kTight &&
         *r.time_p99_us<*r.time_p90_us * kTight&& * r.time_p90_us> * r.time_median_us * kApart;
}

void note_flags(Sample& sample, const Record& record) {
  sample.oversubscribed = sample.oversubscribed || has_flag(record, Flag::Oversubscribed);
  sample.fake = sample.fake || has_flag(record, Flag::Fake);
  sample.simulated =
      sample.simulated || record.backend == "sim" || has_flag(record, Flag::Simulated);
  sample.unchecked = sample.unchecked || !record.wrong;
  sample.two_levels = sample.two_levels || has_two_levels(record);
  if (record.bound_GBps) sample.bounds_GBps.push_back(*record.bound_GBps);
}

/// Why a row cannot be judged, or empty.
std::string row_error(const Record& record, const SampleKey& key) {
  const int wanted = ranks_of(key.set, key.instance);
  if (record.ranks != wanted) {
    return fmt::format("{} took part where {} are wanted",
                       counted(static_cast<std::size_t>(std::max(0, record.ranks)), "rank"),
                       wanted);
  }
  if (record.status == RowStatus::Skipped) return "skipped: " + record.reason;
  if (record.status == RowStatus::Failed) return "failed: " + record.reason;
  return value_of(record, key.rule.metric, key.rule.statistic).error;
}

bool is_one_rank(const SampleKey& key) {
  return key.rule.metric == Metric::BusBandwidth && ranks_of(key.set, key.instance) == 1;
}

/// The launch's rows of the size: its value, or what is the matter with it.
void add_launch(Sample& sample, const Observation& observation, const SampleKey& key) {
  const std::vector<const Record*> rows = rows_of(observation, key);
  if (!observation.failure.empty()) {
    sample.failures.push_back({observation.failure, observation.unreachable});
    return;
  }
  if (rows.empty()) {
    sample.failures.push_back({.reason = missing_words(observation, key)});
    return;
  }
  std::vector<double> values;
  for (const Record* row : rows) {
    note_flags(sample, *row);
    if (row->ranks == 1 && is_one_rank(key) && row->status != RowStatus::Failed) {
      sample.skipped_one_rank = true;
      continue;
    }
    if (std::string error = row_error(*row, key); !error.empty()) {
      add_unique(sample.errors, std::move(error));
      continue;
    }
    values.push_back(*value_of(*row, key.rule.metric, key.rule.statistic).value);
  }
  if (!values.empty()) sample.values.push_back(stats::median(values));
}

/// The launches of an instance: of the collective, and which other collectives there are.
struct Launches {
  std::vector<const Observation*> of_key{};
  std::vector<std::string> others{};
  int last = -1;  ///< the last attempt
};

Launches launches_of(const SampleKey& key, std::span<const Observation> observations) {
  Launches launches;
  for (const Observation& o : observations) {
    if (!belongs_to(o, key.set, key.instance)) continue;
    if (!o.collective.empty() && o.collective != key.collective) {
      add_unique(launches.others, o.collective);
      continue;
    }
    launches.of_key.push_back(&o);
    launches.last = std::max(launches.last, o.attempt);
  }
  return launches;
}

void add_wrong(Sample& sample, const Observation& launch, const SampleKey& key) {
  for (const Record* row : rows_of(launch, key)) {
    if (is_wrong(*row)) add_unique(sample.wrong, wrong_words(*row));
  }
}

}  // namespace

Sample gather(const SampleKey& key, std::span<const Observation> observations, Decide decide) {
  const Launches launches = launches_of(key, observations);
  Sample sample{.attempts = static_cast<std::size_t>(launches.last + 1)};
  if (launches.of_key.empty() && !launches.others.empty()) {
    sample.failures.push_back({.reason = fmt::format("no data of {}: there is {}", key.collective,
                                                     join(launches.others, ", "))});
  }
  for (const Observation* launch : launches.of_key) {
    add_wrong(sample, *launch, key);
    if (decide == Decide::Last && launch->attempt != launches.last) continue;
    add_launch(sample, *launch, key);
  }
  return sample;
}

std::optional<double> launch_value(const Observation& observation, const SampleKey& key) {
  std::vector<double> values;
  if (!observation.failure.empty()) return {};
  for (const Record* row : rows_of(observation, key)) {
    if (row->status != RowStatus::Ok) continue;
    const RowValue value = value_of(*row, key.rule.metric, key.rule.statistic);
    if (value.value) values.push_back(*value.value);
  }
  if (values.empty()) return {};
  return stats::median(values);
}

}  // namespace busbar::judge
