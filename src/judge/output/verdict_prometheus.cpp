// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "base/text.hpp"
#include "format/markup_text.hpp"
#include "judge/output/describe.hpp"
#include "judge/output/verdict_output.hpp"

namespace busbar::judge {
namespace {

using Labels = std::vector<std::pair<std::string_view, std::string>>;

/// Metrics one after the other: help and type once, then the series, none twice: the first counts.
class Metrics {
 public:
  explicit Metrics(const std::string& system) : system_(busbar::quoted(clean_text(system))) {}

  /// A metric without series does not appear.
  void begin(std::string_view metric, std::string_view help) {
    metric_ = metric;
    head_ = fmt::format("# HELP {0} {1}\n# TYPE {0} gauge\n", metric, help);
  }
  void add(const Labels& labels, std::optional<double> value = 1) {
    if (!finite(value)) return;
    std::string series = fmt::format("{}{{system={}", metric_, system_);
    for (const auto& [key, text] : labels) {
      series += fmt::format(",{}={}", key, busbar::quoted(clean_text(text)));
    }
    if (!seen_.insert(series).second) return;
    text_ += std::exchange(head_, {}) + fmt::format("{}}} {}\n", series, *value);
  }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::string system_;
  std::string metric_{};
  std::string head_{};
  std::string text_{};
  std::set<std::string> seen_{};
};

constexpr std::size_t kMostSeries = 500;  // of a metric and device set; of more the worst

Results own_results(const Acceptance& acceptance) {
  Results own;
  for (const Results& set :
       group_results(acceptance, [](const auto& one) { return one.device_set; })) {
    append(own, worst_results(set, kMostSeries));
  }
  return own;
}

Labels what_is_measured(const CheckResult& result) {
  return {{"device_set", result.device_set},
          {"instance", result.instance},
          {"collective", result.collective},
          {"dtype", result.type},
          {"size_bytes", fmt::format("{}", result.size)},
          {"statistic", std::string(name(result.statistic))}};
}

void add_measured(Metrics& metrics, const Results& results) {
  struct Family {
    Metric metric;
    std::string_view name;
    std::string_view help;
    double factor;
  };
  constexpr std::array<Family, 3> kFamilies{
      {{Metric::BusBandwidth, "interconnect_busbw_gbytes_per_second",
        "Bus bandwidth over launches, in 10^9 bytes per second.", 1},
       {Metric::AlgorithmBandwidth, "interconnect_algbw_gbytes_per_second",
        "Algorithm bandwidth over launches, in 10^9 bytes per second.", 1},
       {Metric::Time, "interconnect_time_seconds", "Time of one operation over launches.", 1e-6}}};
  for (const Family& family : kFamilies) {
    metrics.begin(family.name, family.help);
    for (const CheckResult* result : results) {
      const bool wrong = result->decided_by == DecidedBy::WrongData;
      if (result->metric != family.metric || !result->value || wrong) continue;
      metrics.add(what_is_measured(*result), *result->value * family.factor);
    }
  }
  metrics.begin("interconnect_reference_ratio", "Measured value over the reference of the rule.");
  for (const CheckResult* result : results) {
    if (result->decided_by == DecidedBy::WrongData) continue;
    Labels labels = what_is_measured(*result);
    labels.insert(labels.begin(), {"rule", result->rule});
    metrics.add(labels, result->ratio);
  }
}

/// The worst outcome of a rule's instance over collectives and sizes.
void add_worst(Metrics& metrics, const Results& results) {
  std::map<std::pair<std::string, std::string>, Outcome> worst;
  for (const CheckResult* result : results) {
    Outcome& outcome = worst[{result->rule, result->instance}];
    outcome = std::max(outcome, result->outcome);
  }
  metrics.begin("interconnect_verdict", "Worst verdict of a rule on an instance; always 1.");
  for (const auto& [key, outcome] : worst) {
    metrics.add(
        {{"rule", key.first}, {"instance", key.second}, {"verdict", std::string(name(outcome))}});
  }
}

/// What an alert must see beside a rate that looks good.
void add_wrong_data(Metrics& metrics, const Acceptance& acceptance) {
  metrics.begin("interconnect_wrong_data", "Data of a rule's instance were wrong; always 1.");
  for (const CheckResult& result : acceptance.verdicts) {
    if (result.decided_by != DecidedBy::WrongData) continue;
    metrics.add({{"rule", result.rule}, {"instance", result.instance}});
  }
  metrics.begin("interconnect_node_wrong_data", "The node is blamed for wrong data; always 1.");
  for (const Suspect& suspect : acceptance.suspects) {
    if (suspect.defect == Defect::WrongData && suspect.nodes.size() == 1) {
      metrics.add({{"node", suspect.nodes.front()}});
    }
  }
}

/// Per rule, whatever the number of instances.
void add_summaries(Metrics& metrics, const Acceptance& acceptance) {
  std::map<std::string, std::vector<double>> ratios;
  std::map<std::string, std::map<Outcome, double>> counts;
  for (const CheckResult& result : acceptance.verdicts) {
    ++counts[result.rule][result.outcome];
    const bool wrong = result.decided_by == DecidedBy::WrongData;
    if (finite(result.ratio) && !wrong) ratios[result.rule].push_back(*result.ratio);
  }
  metrics.begin("interconnect_reference_ratio_lowest",
                "Lowest ratio of a rule over all instances and sizes.");
  for (const auto& [rule, all] : ratios) metrics.add({{"rule", rule}}, std::ranges::min(all));
  metrics.begin("interconnect_reference_ratio_highest",
                "Highest ratio of a rule over all instances and sizes.");
  for (const auto& [rule, all] : ratios) metrics.add({{"rule", rule}}, std::ranges::max(all));
  metrics.begin("interconnect_verdicts", "Number of verdicts of a rule by word.");
  for (auto& [rule, numbers] : counts) {
    for (const Outcome outcome : all_values<Outcome>()) {
      metrics.add({{"rule", rule}, {"verdict", std::string(name(outcome))}}, numbers[outcome]);
    }
  }
}

void add_states(Metrics& metrics, const Acceptance& acceptance,
                const Specification& specification) {
  using State = std::pair<NodeState, std::string>;
  std::vector<State> states =
      mapped(acceptance.nodes, [](const NodeAccount& one) { return State(one.state, one.node); });
  for (const std::string& node : account_for(acceptance, specification).missing) {
    states.emplace_back(NodeState::NoData, node);
  }
  std::map<NodeState, double> counts;
  for (const auto& [state, node] : states) ++counts[state];
  if (states.size() > kMostSeries) {
    std::erase_if(states, [](const State& one) { return one.first == NodeState::Good; });
    std::ranges::stable_sort(states, {}, [](const State& one) {
      return one.first != NodeState::Failed && one.first != NodeState::Suspect;
    });
    states.resize(std::min(states.size(), kMostSeries));
  }
  metrics.begin("interconnect_node_state", "State of a node; always 1.");
  for (const auto& [state, node] : states) {
    metrics.add({{"node", node}, {"state", std::string(name(state))}});
  }
  metrics.begin("interconnect_nodes", "Number of nodes by state.");
  for (const auto& [state, count] : counts) {
    metrics.add({{"state", std::string(name(state))}}, count);
  }
}

}  // namespace

std::string verdict_prometheus(const Acceptance& acceptance, const Specification& specification) {
  const Results results = own_results(acceptance);
  Metrics metrics(system_name(specification));
  add_measured(metrics, results);
  add_worst(metrics, results);
  add_wrong_data(metrics, acceptance);
  add_summaries(metrics, acceptance);
  add_states(metrics, acceptance, specification);
  metrics.begin("interconnect_overall", "Overall verdict; always 1.");
  metrics.add({{"verdict", std::string(name(acceptance.overall()))}});
  metrics.begin("interconnect_last_run_timestamp_seconds",
                "When the system was judged, in seconds since 1970.");
  metrics.add({}, static_cast<double>(acceptance.head.judged_at_unix));
  return metrics.text();
}

}  // namespace busbar::judge
