// SPDX-License-Identifier: BSD-3-Clause
#include "harness/row_result.hpp"

#include <algorithm>
#include <vector>

#include "base/text.hpp"
#include "stats/autocorrelation.hpp"
#include "stats/median_interval.hpp"
#include "stats/steady_state.hpp"
#include "stats/summary.hpp"

namespace busbar {
namespace {

/// Fewer samples cannot show their own correlation: an interval from them is flagged.
constexpr std::size_t kFewSamples = 50;

void add_interval(Record& record, const std::vector<double>& times_us) {
  record.autocorrelation_time = stats::integrated_autocorrelation_time(times_us);
  if (times_us.size() < kFewSamples) add_flag(record, "few-samples");
  const auto interval = stats::median_interval(times_us);
  if (!interval) return add_flag(record, "no-interval");
  record.time_ci_low_us = interval->low;
  record.time_ci_high_us = interval->high;
}

void add_bandwidths(Record& record, const Collective& collective) {
  const double median_us = record.time_median_us.value_or(0);
  if (median_us <= 0) return;
  record.algbw_GBps = gigabytes_per_second(record.size, Seconds{median_us / 1e6});
  const double factor = collective.bus_factor(record.ranks);
  if (factor > 0) record.busbw_GBps = *record.algbw_GBps * factor;
}

}  // namespace

void add_statistics(Record& record, const Samples& samples, const Collective& collective) {
  record.samples = samples.times_us.size();
  record.operations = samples.operations;
  record.batch = samples.batch;
  record.warmup_operations = samples.warmup_operations;
  record.stop_reason = name(samples.stop);
  record.minor_faults_per_op = samples.disturbances.minor_faults;
  record.involuntary_switches_per_op = samples.disturbances.involuntary_switches;
  const auto summary = stats::summarize(samples.times_us);
  if (!summary) return;
  record.time_median_us = summary->median;
  record.time_mean_us = summary->mean;
  record.time_min_us = summary->min;
  record.time_p90_us = summary->p90;
  record.time_p99_us = summary->p99;
  record.time_max_us = summary->max;
  add_interval(record, samples.times_us);
  if (!samples.enqueue_us.empty()) record.enqueue_time_us = stats::median(samples.enqueue_us);
  if (!samples.host_times_us.empty()) record.host_time_us = stats::median(samples.host_times_us);
  if (!samples.steady) add_flag(record, "not-steady");
  if (stats::is_drifting(samples.times_us)) add_flag(record, "drifting");
  add_bandwidths(record, collective);
}

void add_bound(Record& record, const SetBound& bound, const BoundRow& row) {
  if (bound.bus_GBps == nullptr || record.status == RowStatus::Skipped) return;
  record.bound_GBps = bound.bus_GBps(row);
  if (!record.bound_GBps) return;
  record.bound_kind = bound.kind;
  if (record.busbw_GBps) record.efficiency = *record.busbw_GBps / *record.bound_GBps;
}

bool is_launch_bound(const Record& record) {
  constexpr double kShare = 0.9;
  return record.enqueue_time_us && record.time_median_us &&
         *record.enqueue_time_us >= kShare * *record.time_median_us;
}

void add_flag(Record& record, std::string_view flag) {
  if (!record.flags.empty()) record.flags += ' ';
  record.flags += flag;
}

bool has_flag(const Record& record, std::string_view flag) {
  const std::vector<std::string> flags = split(record.flags, ' ');
  return std::find(flags.begin(), flags.end(), flag) != flags.end();
}

}  // namespace busbar
