// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "judge/output/describe.hpp"
#include "judge/output/verdict_output.hpp"
#include "report/markup_text.hpp"

namespace busbar::judge {
namespace {

constexpr std::size_t kMostInstances = 64;

using Label = std::pair<std::string_view, std::string>;

std::string label_value(std::string_view value) {
  std::string text;
  for (const char c : clean_text(value)) {
    if (c == '\n') {
      text += "\\n";
      continue;
    }
    if (c == '\\' || c == '"') text += '\\';
    text += c;
  }
  return text;
}

/// One metric: its help and type once, then its series, none twice: the first one counts.
class Family {
 public:
  Family(std::string_view name, std::string_view help, std::string system)
      : name_(name),
        system_(std::move(system)),
        text_(fmt::format("# HELP {0} {1}\n# TYPE {0} gauge\n", name, help)) {}

  void add(const std::vector<Label>& labels, std::optional<double> value) {
    if (!finite(value)) return;
    std::string series = fmt::format("{}{{system=\"{}\"", name_, label_value(system_));
    for (const auto& [key, words] : labels) {
      series += fmt::format(",{}=\"{}\"", key, label_value(words));
    }
    series += "}";
    if (!seen_.insert(series).second) return;
    text_ += fmt::format("{} {}\n", series, *value);
  }
  /// Nothing where the metric has no series.
  [[nodiscard]] std::string text() const { return seen_.empty() ? std::string() : text_; }

 private:
  std::string_view name_;
  std::string system_;
  std::string text_;
  std::set<std::string> seen_{};
};

/// Verdicts that have series of their own.
std::vector<const CheckResult*> own_results(const Acceptance& acceptance) {
  std::map<std::string, std::set<std::string>> instances;
  for (const CheckResult& verdict : acceptance.verdicts) {
    instances[verdict.device_set].insert(verdict.instance);
  }
  std::vector<const CheckResult*> results;
  for (const CheckResult& verdict : acceptance.verdicts) {
    if (verdict.outcome != Outcome::Pass ||
        instances[verdict.device_set].size() <= kMostInstances) {
      results.push_back(&verdict);
    }
  }
  return results;
}

std::vector<Label> what_is_measured(const CheckResult& verdict) {
  return {{"device_set", verdict.device_set},
          {"instance", verdict.instance},
          {"collective", verdict.collective},
          {"dtype", verdict.type},
          {"size_bytes", fmt::format("{}", verdict.size)},
          {"statistic", std::string(name(verdict.statistic))}};
}

struct MetricFamily {
  Metric metric;
  std::string_view name;
  std::string_view help;
  double factor;
};
constexpr std::array<MetricFamily, 3> kMetrics{
    {{Metric::BusBandwidth, "interconnect_busbw_gbytes_per_second",
      "Bus bandwidth over launches, in 10^9 bytes per second.", 1},
     {Metric::AlgorithmBandwidth, "interconnect_algbw_gbytes_per_second",
      "Algorithm bandwidth over launches, in 10^9 bytes per second.", 1},
     {Metric::Time, "interconnect_time_seconds", "Time of one operation over launches.", 1e-6}}};

std::string measured(const std::vector<const CheckResult*>& results, const std::string& system) {
  std::string text;
  for (const MetricFamily& metric : kMetrics) {
    Family family(metric.name, metric.help, system);
    for (const CheckResult* verdict : results) {
      if (verdict->metric != metric.metric || !verdict->value) continue;
      family.add(what_is_measured(*verdict), *verdict->value * metric.factor);
    }
    text += family.text();
  }
  Family ratios("interconnect_reference_ratio", "Measured value over the reference of the rule.",
                system);
  for (const CheckResult* verdict : results) {
    std::vector<Label> labels{{"rule", verdict->rule}};
    for (Label& label : what_is_measured(*verdict)) labels.push_back(std::move(label));
    ratios.add(labels, verdict->ratio);
  }
  return text + ratios.text();
}

/// Per rule, whatever the number of instances.
std::string summaries(const Acceptance& acceptance, const std::string& system) {
  std::map<std::string, double> lowest;
  std::map<std::string, double> highest;
  std::map<std::pair<std::string, Outcome>, double> counts;
  for (const CheckResult& verdict : acceptance.verdicts) {
    for (const Outcome outcome : all_values<Outcome>())
      counts.try_emplace({verdict.rule, outcome}, 0);
    counts[{verdict.rule, verdict.outcome}] += 1;
    if (!finite(verdict.ratio)) continue;
    double& low = lowest.try_emplace(verdict.rule, *verdict.ratio).first->second;
    double& high = highest.try_emplace(verdict.rule, *verdict.ratio).first->second;
    low = std::min(low, *verdict.ratio);
    high = std::max(high, *verdict.ratio);
  }
  Family low("interconnect_reference_ratio_lowest",
             "Lowest ratio of a rule over all instances and sizes.", system);
  for (const auto& [rule, ratio] : lowest) low.add({{"rule", rule}}, ratio);
  Family high("interconnect_reference_ratio_highest",
              "Highest ratio of a rule over all instances and sizes.", system);
  for (const auto& [rule, ratio] : highest) high.add({{"rule", rule}}, ratio);
  Family words("interconnect_verdicts", "Number of verdicts of a rule by word.", system);
  for (const auto& [key, number] : counts) {
    words.add({{"rule", key.first}, {"verdict", std::string(name(key.second))}}, number);
  }
  return low.text() + high.text() + words.text();
}

/// The worst outcome of a rule's instance over collectives and sizes.
std::string verdicts(const std::vector<const CheckResult*>& results, const std::string& system) {
  std::map<std::pair<std::string, std::string>, Outcome> worst;
  for (const CheckResult* verdict : results) {
    const auto [found, added] =
        worst.try_emplace({verdict->rule, verdict->instance}, verdict->outcome);
    found->second = std::max(found->second, verdict->outcome);
  }
  Family family("interconnect_verdict", "Worst verdict of a rule on an instance; always 1.",
                system);
  for (const auto& [key, outcome] : worst) {
    family.add(
        {{"rule", key.first}, {"instance", key.second}, {"verdict", std::string(name(outcome))}},
        1);
  }
  return family.text();
}

std::string states(const Acceptance& acceptance, const Specification& specification,
                   const std::string& system) {
  Family family("interconnect_node_state", "State of a node; always 1.", system);
  for (const NodeAccount& account : acceptance.nodes) {
    family.add({{"node", account.node}, {"state", std::string(name(account.state))}}, 1);
  }
  for (const std::string& node : account_for(acceptance, specification).missing) {
    family.add({{"node", node}, {"state", std::string(name(NodeState::NoData))}}, 1);
  }
  return family.text();
}

}  // namespace

std::string verdict_prometheus(const Acceptance& acceptance, const Specification& specification) {
  const std::string system = system_name(specification);
  const std::vector<const CheckResult*> results = own_results(acceptance);
  Family overall("interconnect_overall", "Overall verdict; always 1.", system);
  overall.add({{"verdict", std::string(name(acceptance.overall()))}}, 1);
  Family stamp("interconnect_last_run_timestamp_seconds",
               "When the system was judged, in seconds since 1970.", system);
  stamp.add({}, static_cast<double>(acceptance.head.judged_at_unix));
  return measured(results, system) + verdicts(results, system) + summaries(acceptance, system) +
         states(acceptance, specification, system) + overall.text() + stamp.text();
}

}  // namespace busbar::judge
