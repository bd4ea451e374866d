// SPDX-License-Identifier: BSD-3-Clause
#include "harness/row_record.hpp"

#include <cmath>
#include <tuple>

#include "harness/together.hpp"
#include "model/flag.hpp"
#include "stats/autocorrelation.hpp"
#include "stats/median_interval.hpp"

namespace busbar {
namespace {

/// Of one operation; those of a mix may have several sets of ranks.
int ranks_of(const Job& job, const PlannedRow& planned, const RankGroup& group) {
  const std::vector<MixGroup>& mixed = job.plan.mixed;
  return static_cast<int>(mixed.empty() ? group.ranks.size()
                                        : mixed[planned.sweep].sets.front().size());
}

Footprint footprint_of(const Job& job, const PlannedRow& planned, const RankGroup& group) {
  return planned.collective->footprint(
      {.wanted = planned.wanted,
       .element = info(planned.type).size,
       .ranks = ranks_of(job, planned, group),
       .distribution = job.options.distribution_of(*planned.collective)});
}

/// All that some visits have of one kind, in the order of time.
template <class Member>
auto all_of(std::span<const Evidence> visits, Member member) {
  std::remove_cvref_t<decltype(visits.front().*member)> all;
  for (const Evidence& visit : visits) append(all, visit.*member);
  return all;
}

template <class Member>
auto sum_of(std::span<const Evidence> visits, Member member) {
  std::remove_cvref_t<decltype(visits.front().*member)> sum{};
  for (const Evidence& visit : visits) sum += visit.*member;
  return sum;
}

/// Nothing of no samples.
std::optional<double> median_of(const std::vector<double>& samples) {
  return samples.empty() ? std::nullopt : std::optional{stats::median(samples)};
}

/// Flags of the job, and of how the row was run.
void add_run_flags(const Job& job, const PlannedRow& planned, const Evidence& first,
                   Record& record) {
  const Options& options = job.options_of(planned.variant);
  const auto add_if = [&](bool holds, Flag flag) {
    if (holds) add_flag(record, flag);
  };
  add_if(first.segment_bytes > 0, Flag::Segmented);
  add_if(job.rank_map.oversubscribed, Flag::Oversubscribed);
  add_if(first.in_cache, Flag::RotatesInCache);
  add_if(std::ranges::any_of(job.devices, is_fake), Flag::Fake);
  add_if(any_shared(job.devices), Flag::SharedGpu);
  add_if(!job.devices.empty() && !short_of_processors(job.rank_map).empty(), Flag::OneProcessor);
  add_if(options.unalign > 0, Flag::Unaligned);
  add_if(options.load && !options.loads_beside(), Flag::Loaded);
  add_if(options.graph_launches > 0, Flag::Graph);
  add_if(options.inject_delay.has_value(), Flag::DelayInjected);
  if (!first.registered || options.registration == Registration::None) return;
  const bool local = options.registration == Registration::Local;
  add_flag(record, !*first.registered ? Flag::NotRegistered
                   : local            ? Flag::Registered
                                      : Flag::Symmetric);
}

/// How the row was run, whether it could be measured or not.
void add_conditions(const Job& job, const PlannedRow& planned, const Evidence& first,
                    Record& record) {
  record.nodes = first.nodes;
  record.device_set = first.device_set;
  if (job.backend.backend == nullptr) return add_flag(record, Flag::Simulated);
  const Options& options = job.options_of(planned.variant);
  const bool whole = job.plan.kind == GroupPlan::Kind::World && job.plan.mixed.empty();
  if (!whole) record.connect_s = first.connect_s;
  record.cadence = name(options.cadence);
  record.aggregation = name(options.aggregation);
  record.progress = job.progress == Progress::Yield ? "yield" : "block";
  record.cache = name(options.cache);
  if (first.segment_bytes > 0) record.segment_bytes = first.segment_bytes;
  record.pages = first.pages;
  add_run_flags(job, planned, first, record);
}

void add_interval(std::span<const Evidence> visits, const std::vector<double>& times_us,
                  Record& record) {
  const auto& summary = visits.front().summary;
  const bool visited = visits.size() > 1;
  const auto samples = mapped(visits, &Evidence::times_us);
  record.visits = visits.size();
  if (visited) {
    const auto medians = stats::summarize(mapped(samples, stats::median));
    const auto count = static_cast<double>(visits.size());
    record.visit_cv = medians->deviation * std::sqrt(count / (count - 1)) / medians->mean;
  }
  auto interval = visited ? stats::run_interval(samples) : stats::median_interval(times_us);
  if (!interval) return add_flag(record, Flag::NoInterval);
  if (summary) {  // of the intervals' medians
    interval->low = std::min(interval->low, summary->median);
    interval->high = std::max(interval->high, summary->median);
  }
  record.time_ci_low_us = interval->low;
  record.time_ci_high_us = interval->high;
  record.interval_scope = visited || summary ? "run" : "moment";
}

void add_summary(const stats::Summary& summary, Record& record) {
  record.time_median_us = summary.median;
  record.time_mean_us = summary.mean;
  record.time_min_us = summary.min;
  record.time_p90_us = summary.p90;
  record.time_p99_us = summary.p99;
  record.time_max_us = summary.max;
}

/// What only a row whose samples were kept has, then what of a soak's is of its whole.
void add_tail(std::span<const Evidence> visits, const std::vector<double>& times_us,
              Record& record) {
  constexpr std::size_t kFewestForTail = 1000;  // a thousandth of them is a sample
  if (const auto& tail = visits.front().p999_us) {
    record.time_p999_us = tail->value;
    record.time_p999_low_us = tail->low;
    record.time_p999_high_us = tail->high;
  }
  if (visits.front().summary) return;
  if (times_us.size() >= kFewestForTail) {
    record.time_p999_us = stats::percentile(times_us, 99.9);
  }
  record.autocorrelation_time = stats::integrated_autocorrelation_time(times_us);
}

void add_counts(const Job& job, std::span<const Evidence> visits, Record& record) {
  record.operations = sum_of(visits, &Evidence::operations);
  record.warmup_operations = sum_of(visits, &Evidence::warmup_operations);
  record.batch = std::ranges::max(mapped(visits, &Evidence::batch));
  record.stop_reason = name(stop_of(job.options, visits));
  const auto operations = static_cast<double>(std::max<std::uint64_t>(1, *record.operations));
  record.minor_faults_per_op = record.involuntary_switches_per_op = 0;
  for (const Evidence& visit : visits) {
    *record.minor_faults_per_op += visit.disturbances.minor_faults / operations;
    *record.involuntary_switches_per_op += visit.disturbances.involuntary_switches / operations;
  }
}

/// Where operations follow each other without a wait, issuing them may be what takes the time.
bool is_limited_by_issuing(const Job& job, const PlannedRow& planned, const Record& record) {
  constexpr double kShare = 0.9;
  const Options& options = job.options_of(planned.variant);
  return job.on_devices && options.cadence == Cadence::Streaming &&
         options.blocking == Blocking::Off && record.enqueue_time_us && record.time_median_us &&
         *record.enqueue_time_us >= kShare * *record.time_median_us;
}

/// Times, interval, bandwidths.
void add_statistics(const Job& job, std::span<const Evidence> visits, double bus_factor,
                    const std::vector<double>& times_us, Record& record) {
  constexpr std::size_t kFewSamples = 50;  // fewer cannot show their own correlation
  const auto& whole = visits.front().summary;
  const auto summary = whole ? whole : stats::summarize(times_us);
  record.samples = summary ? summary->count : 0;
  add_counts(job, visits, record);
  if (!summary) return;
  add_summary(*summary, record);
  add_tail(visits, times_us, record);
  if (summary->count < kFewSamples) add_flag(record, Flag::FewSamples);
  add_interval(visits, times_us, record);
  record.enqueue_time_us = median_of(all_of(visits, &Evidence::enqueue_us));
  record.host_time_us = median_of(all_of(visits, &Evidence::host_times_us));
  if (job.rank_map.hosts == 1) {  // else of clocks that differ
    record.start_skew_us = median_of(all_of(visits, &Evidence::start_skews_us));
  }
  const auto load_us = median_of(all_of(visits, &Evidence::loads_us));
  if (load_us > 0) record.load_us = load_us;
  if (!std::ranges::all_of(visits, &Evidence::steady)) add_flag(record, Flag::NotSteady);
  if (stats::is_drifting(times_us)) add_flag(record, Flag::Drifting);
  add_bandwidths(record, bus_factor);
}

using Number = std::optional<double>;

void add_slowdown(const std::vector<double>& alone, const std::vector<double>& together,
                  Number& factor, Number& low, Number& high) {
  const auto slowdown = slowdown_of(alone, together);
  if (!slowdown) return;
  factor = slowdown->factor;
  if (slowdown->interval) std::tie(low, high) = *slowdown->interval;
}

/// What a row and what ran beside it did to each other.
void add_turns(const std::vector<Turn>& turns, Record& r) {
  if (turns.empty()) return;
  const auto all = [&](double Turn::*member) { return mapped(turns, member); };
  r.alone_time_us = stats::median(all(&Turn::alone_us));
  r.alone_p99_us = stats::median(all(&Turn::alone_p99_us));
  add_slowdown(all(&Turn::alone_us), all(&Turn::together_us), r.slowdown, r.slowdown_low,
               r.slowdown_high);
  add_slowdown(all(&Turn::alone_p99_us), all(&Turn::together_p99_us), r.slowdown_p99,
               r.slowdown_p99_low, r.slowdown_p99_high);
  const auto pass_s = [&](double Turn::*rate) {
    return mapped(turns, [rate](const Turn& turn) { return 1 / turn.*rate; });
  };
  if (turns.front().load_alone == 0) return;
  add_slowdown(pass_s(&Turn::load_alone), pass_s(&Turn::load_together), r.load_slowdown,
               r.load_slowdown_low, r.load_slowdown_high);
}

void add_check(const Evidence& first, Record& record) {
  if (first.fault_injected) add_flag(record, Flag::FaultInjected);
  if (!first.check) return;
  record.wrong = first.check->wrong;
  if (first.check->wrong == 0) return;
  record.status = RowStatus::Wrong;
  record.reason = first.check->first_wrong;
}

void add_bound(const Evidence& first, Record& record) {
  record.bound_GBps = first.bound_GBps;
  if (!record.bound_GBps) return;
  record.bound_kind = first.bound_kind;
  if (record.busbw_GBps) record.efficiency = *record.busbw_GBps / *record.bound_GBps;
}

/// nccl-tests' NCCL_TESTS_ALLTOALLV_PRINT_SUMMARY, whose bus bandwidth is always of (n - 1)/n.
std::vector<std::string> traffic_lines(const PlannedRow& planned, const Record& record,
                                       const Traffic& traffic) {
  std::vector<std::string> lines{fmt::format(
      "NCCL_TESTS_ALLTOALLV_PRINT_SUMMARY: mode={} nranks={} total_bytes={} time_usec={:.2f}",
      traffic.distribution(), record.ranks, record.size, *record.time_median_us)};
  const Bytes element = info(planned.type).size;
  for (int rank = 0; rank < record.ranks; ++rank) {
    const Bytes sent = traffic.send_offset(rank, record.ranks) * element;
    const Bytes received = traffic.recv_offset(record.ranks, rank) * element;
    const double rate =
        gigabytes_per_second(std::max(sent, received), Seconds{*record.time_median_us / 1e6});
    lines.push_back(fmt::format("  rank={} send_bytes={} recv_bytes={} alg_bw={:.2f} bus_bw={:.2f}",
                                rank, sent, received, rate,
                                rate * planned.collective->bus_factor(record.ranks)));
  }
  return lines;
}

void add_measurement(const Job& job, const PlannedRow& planned, const RankGroup& group,
                     std::span<const Evidence> visits, Row& row) {
  Record& record = row.record;
  const Evidence& first = visits.front();
  const Footprint footprint = footprint_of(job, planned, group);
  const Traffic* traffic = footprint.traffic.get();
  const double factor = bus_factor_of(*planned.collective, record.ranks, traffic);
  if (!std::ranges::all_of(visits, &Evidence::checkable)) add_flag(record, Flag::NotChecked);
  record.algorithm = first.choice.algorithm;
  record.protocol = first.choice.protocol;
  record.channels = first.choice.channels;
  row.samples_us = all_of(visits, &Evidence::times_us);
  row.arrivals = all_of(visits, &Evidence::arrivals);
  row.rank_times_us = all_of(visits, &Evidence::rank_times_us);
  row.findings = first.findings;
  add_statistics(job, visits, factor, row.samples_us, record);
  add_turns(all_of(visits, &Evidence::turns), record);
  if (is_limited_by_issuing(job, planned, record)) add_flag(record, Flag::LaunchBound);
  add_check(first, record);
  add_bound(first, record);
  if (first.summary) row.samples_us.clear();
  if (job.options.traffic_summary && record.time_median_us && traffic != nullptr) {
    row.findings = traffic_lines(planned, record, *traffic);
  }
  name_last(row, group.ranks, job.rank_map);
}

}  // namespace

void add_bandwidths(Record& record, double bus_factor) {
  const double median_us = record.time_median_us.value_or(0);
  if (median_us <= 0) return;
  record.algbw_GBps = gigabytes_per_second(record.size, Seconds{median_us / 1e6});
  if (bus_factor > 0) record.busbw_GBps = *record.algbw_GBps * bus_factor;
}

Record blank_record(const Job& job, const PlannedRow& planned, const RankGroup& group) {
  const Footprint footprint = footprint_of(job, planned, group);
  const MixGroup* mixed = job.plan.mixed.empty() ? nullptr : &job.plan.mixed[planned.sweep];
  Record record{
      .collective = std::string(planned.collective->name),
      .backend = std::string(job.backend.backend == nullptr ? "sim" : job.backend.backend->name()),
      .ranks = ranks_of(job, planned, group),
      .type = std::string(info(planned.type).name),
      .op = std::string(name(planned.op)),
      .in_place = planned.in_place,
      .size = footprint.count > 0 ? footprint.size : planned.wanted,
      .count = footprint.count};
  if (job.options.visits == 1) record.cycle = planned.pass;
  if (planned.collective->rooted) record.root = planned.root;
  if (footprint.traffic) {
    record.distribution = footprint.traffic->distribution();
    record.imbalance = footprint.traffic->imbalance();
  }
  if (job.options.vary) record.variant = variant_text(*job.options.vary, planned.variant);
  if (planned.together) record.mix = mixed != nullptr ? mixed->name : "beside load";
  if (job.plan.kind == GroupPlan::Kind::World && mixed == nullptr) return record;
  record.hosts = group.hosts;
  const auto ranges = [](const std::vector<int>& set) { return format_ranges(set, ' '); };
  record.group_ranks = mixed != nullptr ? join_each(mixed->sets, " ", ranges) : ranges(group.ranks);
  if (mixed != nullptr) return record;
  record.groups_seed = job.plan.seed;
  if (planned.pair) {
    record.sender = group.ranks.at(static_cast<std::size_t>(planned.pair->sender));
    record.receiver = group.ranks.at(static_cast<std::size_t>(planned.pair->receiver));
  } else {
    record.round = job.plan.rounds[planned.round].number;
    record.group = group.number;
  }
  return record;
}

Row row_of(const Job& job, const PlannedRow& planned, const RankGroup& group,
           std::span<const Evidence> visits) {
  const Evidence& first = visits.front();
  Row row{.record = blank_record(job, planned, group)};
  Record& record = row.record;
  add_conditions(job, planned, first, record);
  record.finished_at = visits.back().finished_at;
  if (!first.skipped.empty() || !first.failed.empty()) {
    record.status = first.failed.empty() ? RowStatus::Skipped : RowStatus::Failed;
    record.reason = first.failed.empty() ? first.skipped : first.failed;
  } else if (first.predicted_us) {
    record.time_median_us = first.predicted_us;
    const Footprint footprint = footprint_of(job, planned, group);
    add_bandwidths(record,
                   bus_factor_of(*planned.collective, record.ranks, footprint.traffic.get()));
    add_bound(first, record);
  } else {
    add_measurement(job, planned, group, visits, row);
  }
  return row;
}

}  // namespace busbar
