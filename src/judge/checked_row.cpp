// SPDX-License-Identifier: BSD-3-Clause
#include "judge/checked_row.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "base/text.hpp"
#include "stats/summary.hpp"

namespace busbar::judge {
namespace {

/// "365.6 GB/s", "12.4 us".
std::string value_text(double value, Metric metric) {
  return fmt::format("{:.4g} {}", value, unit(metric));
}

// ---- before bounds ----------------------------------------------------------------------------

/// The first failure, whose node the result then names.
const std::string& first_failure(CheckedRow& row) {
  const LaunchFailure& failure = row.sample.failures.front();
  row.unreachable = failure.unreachable;
  return failure.reason;
}

/// "2 of 5 launches hung or crashed: timeout after 120 s"; empty if all produced data.
std::string failed_launches(CheckedRow& row) {
  const std::size_t failed = row.sample.failures.size();
  if (failed == 0) return {};
  const bool all_crashed = row.sample.crashed() == failed;
  return fmt::format("{} of {} {}: {}", failed,
                     counted(failed + row.sample.values.size(), "launch"),
                     all_crashed ? "hung or crashed" : "produced no data", first_failure(row));
}

void judge_presence(CheckedRow& row) {
  const Sample& sample = row.sample;
  if (!sample.wrong.empty()) {
    decide(row, Outcome::Fail, "wrong data: " + join(sample.wrong, "; "), DecidedBy::WrongData);
  } else if (!sample.errors.empty()) {
    decide(row, Outcome::Error, join(sample.errors, "; "));
  } else if (!sample.values.empty()) {
    return;
  } else if (!sample.failures.empty()) {
    decide(row, Outcome::Error, first_failure(row));
  } else if (sample.skipped_one_rank) {
    decide(row, Outcome::Skip, "one rank: nothing crosses a bus, so it has no bus bandwidth");
  } else {
    decide(row, Outcome::Error, "no data");
  }
}

void judge_noise(CheckedRow& row, const Rule& rule, const Specification& specification) {
  const std::size_t valid = row.values.size();
  if (const auto least = specification.run.min_launches; static_cast<int>(valid) < least) {
    const std::string failed = failed_launches(row);
    decide(row, Outcome::Inconclusive,
           fmt::format("{} where {} are needed", counted(valid, "launch"), least),
           DecidedBy::TooFewLaunches);
    return add_reason(row, failed);
  }
  std::string noise = noise_text(row, rule, specification);
  if (!noise.empty() && specification.noise.on_noisy != OnNoisy::Warn) {
    decide(row, Outcome::Inconclusive, std::move(noise), DecidedBy::Noisy);
  }
}

// ---- bounds -----------------------------------------------------------------------------------

void check_bounds(CheckResult& result, const Reference& reference) {
  result.reference_kind = reference.kind;
  result.outcome = Outcome::Error;
  if (!reference.error.empty()) {
    result.reason = reference.error;
    return;
  }
  if (!std::isfinite(reference.value) || reference.value <= 0) {
    result.reason = fmt::format("the reference ({}) is {:g}: not a number to judge by",
                                reference.kind, reference.value);
    return;
  }
  result.reference = reference.value;
  result.ratio = *result.value / reference.value;
  const Miss miss = miss_of(result.bounds, *result.ratio);
  result.outcome = miss.outcome;
  if (miss.outcome == Outcome::Pass) return;
  const bool fast = miss.above != (result.metric == Metric::Time);
  if (miss.outcome == Outcome::Fail && fast) result.decided_by = DecidedBy::TooGood;
  result.reason = fmt::format("{}{} is {} of {}, {} {}",
                              result.decided_by == DecidedBy::TooGood ? "too good: " : "",
                              value_text(*result.value, result.metric), percent_text(*result.ratio),
                              value_text(reference.value, result.metric),
                              miss.above ? "above" : "below", percent_text(miss.bound));
}

// ---- after bounds -----------------------------------------------------------------------------

void add_two_groups(CheckedRow& row) {
  if (const auto groups = two_groups_of(row.values)) {
    const std::string low = counted(groups->low, row.of_fleet() ? "instance" : "launch");
    add_reason(row, fmt::format("bimodal: {} at {} and {} at {}", low,
                                value_text(groups->low_middle, row.metric), groups->high,
                                value_text(groups->high_middle, row.metric)));
  } else if (row.sample.two_levels) {
    add_reason(row, "bimodal: the times of a launch have two levels");
  }
}

/// "slowest: GPU 3", of copies with the host.
void add_slowest(CheckedRow& row) {
  const std::set<int>& gpus = row.sample.slowest_gpus;
  if (gpus.empty() || row.outcome == Outcome::Pass) return;
  add_reason(row, fmt::format("slowest: GPU {}", format_ranges({gpus.begin(), gpus.end()})));
}

/// A pass is at most `outcome`, for the reason; an empty reason changes nothing.
void lessen(CheckedRow& row, std::string_view reason, Outcome outcome) {
  if (reason.empty()) return;
  row.outcome = std::max(row.outcome, outcome);
  add_reason(row, std::string(reason));
}

}  // namespace

std::string percent_text(double share) { return format_figure(share * 100) + " %"; }

void decide(CheckedRow& row, Outcome outcome, std::string reason, DecidedBy decided_by) {
  row.decided = true;
  row.outcome = outcome;
  row.decided_by = decided_by;
  row.reason = std::move(reason);
}

CheckedRow blank_row(const Rule& rule, const Instance& instance, const std::string& collective,
                     Bytes size) {
  return {{.rule = rule.id,
           .device_set = rule.device_set,
           .instance = instance.name,
           .nodes = instance.nodes,
           .collective = collective,
           .type = rule.type,
           .size = size,
           .metric = rule.metric,
           .statistic = rule.statistic,
           .bounds = rule.bounds}};
}

void add_reason(CheckResult& result, const std::string& more) {
  if (!result.reason.empty() && !more.empty()) result.reason += "; ";
  result.reason += more;
}

std::string noise_text(const CheckedRow& row, const Rule& rule,
                       const Specification& specification) {
  const double most = rule.max_cv.value_or(specification.noise.max_cv);
  const bool noisy = row.cv && *row.cv > most && !row.sample.is_ranked;
  return !noisy ? ""
                : fmt::format("noisy: cv {} over {} is above {}", percent_text(*row.cv),
                              counted(row.values.size(), "launch"), percent_text(most));
}

std::optional<Flaw> flaw_of(const Sample& sample, const Specification& specification) {
  const RunContract& run = specification.run;
  const auto counts = [&](Flaw flaw) {
    return !(flaw == Flaw::Unchecked && !run.check_data) &&
           !((flaw == Flaw::SameMachine || flaw == Flaw::Oversubscribed) && run.same_machine);
  };
  const auto worst = std::find_if(sample.flaws.rbegin(), sample.flaws.rend(), counts);
  return worst == sample.flaws.rend() ? std::nullopt : std::optional(*worst);
}

Miss miss_of(const Bounds& bounds, double ratio) {
  const auto below = [&](const std::optional<double>& bound) { return bound && ratio < *bound; };
  const auto above = [&](const std::optional<double>& bound) { return bound && ratio > *bound; };
  if (below(bounds.fail_below)) return {Outcome::Fail, false, *bounds.fail_below};
  if (above(bounds.fail_above)) return {Outcome::Fail, true, *bounds.fail_above};
  if (below(bounds.warn_below)) return {Outcome::Warn, false, *bounds.warn_below};
  if (above(bounds.warn_above)) return {Outcome::Warn, true, *bounds.warn_above};
  return {};
}

void judge_failed_launches(std::span<CheckedRow> rows, std::size_t fewest) {
  std::set<std::string> crashed;  // nodes with a launch that did
  bool any_good = false;
  for (const CheckedRow& row : rows) {
    any_good = any_good || (row.value && row.sample.crashed() == 0);
    if (row.sample.crashed() > 0) crashed.insert(row.nodes.begin(), row.nodes.end());
  }
  const auto fell_silent = [&](const LaunchFailure& one) {
    return crashed.contains(one.unreachable);
  };
  for (CheckedRow& row : rows) {
    const std::size_t crashes = row.sample.crashed();
    const bool failed = crashes >= fewest && crashes > row.sample.values.size();
    const bool silent = std::ranges::any_of(row.sample.failures, fell_silent);
    if (!any_good || row.wrong_data() || !(failed || silent)) continue;
    decide(row, Outcome::Fail, failed_launches(row), DecidedBy::FailedLaunches);
  }
}

void NodeLaunches::count(const Observation& launch, const std::string& name) {
  if (launch.failure.empty()) {
    ++good;
    return;
  }
  const bool is_crash = launch.hung_or_crashed();
  const bool is_named = launch.unreachable == name;
  const bool is_explained = !launch.unreachable.empty() && !is_named;
  named = named || (is_named && is_crash);
  if (is_named && !is_crash) silent = launch.failure;
  if (is_crash && !is_explained) ++crashed;
  if (is_crash && quoted.empty()) quoted = fmt::format("{}: {}", launch.instance, launch.failure);
  failures.push_back({.reason = launch.failure,
                      .unreachable = launch.unreachable,
                      .crashed = is_crash && !is_explained});
}

std::vector<NodeLaunches> node_launches(const SampleKey& key, const JudgeInput& input) {
  std::vector<NodeLaunches> all(input.nodes.size());
  std::map<std::string, NodeLaunches*> by_name;
  for (std::size_t i = 0; i < all.size(); ++i) by_name[input.nodes[i]] = &all[i];
  std::size_t good = 0;
  for (const Observation& launch : input.observations) {
    if (launch.device_set != key.set.id || launch.collective != key.collective) continue;
    if (launch.failure.empty()) ++good;
    for (const std::string& name : launch.nodes) {
      const auto found = by_name.find(name);
      if (found != by_name.end()) found->second->count(launch, name);
    }
  }
  for (const auto& [name, node] : by_name) {
    node->without = good - node->good;
    std::erase_if(node->failures, [&own = name, any = node->good > 0](const LaunchFailure& one) {
      return any && !one.unreachable.empty() && one.unreachable != own;
    });
  }
  return all;
}

void NodeLaunches::judge(CheckedRow& row, int fewest) const {
  const auto least = static_cast<std::size_t>(std::max(1, fewest));
  const bool fell_silent = !silent.empty() && !quoted.empty();
  const bool mostly = crashed >= least && crashed > good;
  if (without > 0 && (named || fell_silent || mostly)) {
    const std::size_t with = std::max<std::size_t>(crashed, 1);
    decide(row, Outcome::Fail,
           fmt::format("{} of {} with it hung or crashed{}; {} without it went well ({})", with,
                       counted(with + good, "launch"),
                       silent.empty() ? "" : ", and then it did not answer", without, quoted),
           DecidedBy::FailedLaunches);
  } else if (!silent.empty()) {
    decide(row, Outcome::Error, silent);
    row.unreachable = row.nodes.front();
  }
}

CheckedRow judge_sample(const SampleKey& key, const JudgeInput& input) {
  CheckedRow row = blank_row(key.rule, key.instance, key.collective, key.size);
  row.sample = gather(key, input.observations);
  take_sample(row, key.rule, input);
  return row;
}

void take_sample(CheckedRow& row, const Rule& rule, const JudgeInput& input) {
  row.values = row.sample.values;
  row.attempts = row.sample.attempts;
  if (!row.values.empty()) row.value = stats::median(row.values);
  row.cv = variation_of(row.values);
  judge_presence(row);
  if (!row.decided) judge_noise(row, rule, input.specification);
}

void apply_reference(CheckedRow& row, const Reference& reference) {
  if (!row.decided) return check_bounds(row, reference);
  if (!reference.error.empty() || row.outcome == Outcome::Skip) return;
  row.reference_kind = reference.kind;
  if (!row.value || row.wrong_data()) {  // the rate of wrong data is not compared
    row.reference = reference.value;
    return;
  }
  CheckResult bounded = row;
  bounded.reason.clear();
  check_bounds(bounded, reference);
  row.reference = bounded.reference;
  row.ratio = bounded.ratio;
  if (row.decided_by != DecidedBy::TooFewLaunches || !bounded.ratio) return;
  if (bounded.outcome == Outcome::Pass) {
    bounded.reason =
        fmt::format("{} is {} of {}, within the bounds", value_text(*row.value, row.metric),
                    percent_text(*bounded.ratio), value_text(*bounded.reference, row.metric));
  }
  add_reason(row, bounded.reason);
}

void qualify(CheckedRow& row, const Rule& rule, const Specification& specification) {
  if (!row.decided) {
    lessen(row, failed_launches(row), Outcome::Warn);
    lessen(row, noise_text(row, rule, specification), Outcome::Warn);
    if (const auto flaw = flaw_of(row.sample, specification)) {
      const bool never = *flaw >= Flaw::Fake;  // what is not measured is not a failure either
      if (never && row.outcome == Outcome::Fail) row.outcome = Outcome::Inconclusive;
      lessen(row, name(*flaw), Outcome::Inconclusive);
    }
  }
  add_two_groups(row);
  add_slowest(row);
}

void add_low_pairs(CheckedRow& row, std::size_t low, std::size_t pairs, const std::string& more) {
  if (!row.value || row.wrong_data()) return;
  std::string text = fmt::format("{} of {} pairs{} low", low, pairs, more);
  if (row.outcome < Outcome::Inconclusive) {
    row.outcome = Outcome::Inconclusive;
    text += fmt::format(", but its median {} is not", value_text(*row.value, row.metric));
  }
  if (row.values.size() > 1 && row.cv) {
    const auto lowest = std::ranges::min_element(
        row.values, {}, [&](double value) { return as_rate(value, row.metric); });
    text += fmt::format(" (lowest launch {}, cv {})", value_text(*lowest, row.metric),
                        percent_text(*row.cv));
  }
  row.reason = text + (row.reason.empty() ? "" : ": " + row.reason);
}

std::string low_text(double log_effect) {
  return percent_text(-std::expm1(log_effect)) + " below the fleet";
}

void judge_suspect(CheckedRow& row, const NodeFinding* suspect, const NodeFinding* again,
                   bool is_cleared) {
  if (suspect == nullptr) {
    if (!row.is_low()) return;
    row.outcome = Outcome::Pass;
    return add_reason(row, "within the fleet's scatter");
  }
  row.reason =
      fmt::format("{} in {}", low_text(suspect->log_effect), counted(row.values.size(), "launch"));
  if (again != nullptr) {
    row.outcome = again->blamed ? Outcome::Fail : Outcome::Inconclusive;
    add_reason(row, fmt::format("{} again beside good partners{}", low_text(again->log_effect),
                                again->blamed ? "" : ", as low as good nodes may be by chance"));
  } else if (is_cleared) {
    row.outcome = Outcome::Pass;
    add_reason(row, "good again beside good partners");
  } else {
    row.outcome = Outcome::Inconclusive;
    add_reason(row, "not measured again");
  }
}

}  // namespace busbar::judge
