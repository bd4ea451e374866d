// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <fnmatch.h>
#include <map>

#include <fmt/format.h>

#include "base/text.hpp"
#include "judge/fingerprint.hpp"
#include "judge/judge.hpp"

namespace busbar::judge {
namespace {

using machine::FactKey;
using machine::FactValue;
using machine::HostWindow;

/// The instances of a rule on a node, with their last values.
std::map<std::string, FactValue> values_of(const FactRule& rule, const HostWindow& window) {
  std::map<std::string, FactValue> values;
  for (const auto& [key, value] : window.last.values) {
    const bool wanted =
        key.first == rule.fact && fnmatch(rule.instance.c_str(), key.second.c_str(), 0) == 0;
    if (wanted) values[key.second] = value;
  }
  return values;
}

/// "eth0 ", or of the whole machine nothing.
std::string named(const std::string& instance) { return instance.empty() ? "" : instance + " "; }

std::string is_text(const std::string& instance, const std::string& text) {
  return fmt::format("{}is {}", named(instance), text.empty() ? "absent" : text);
}

/// The value that most nodes have of each instance; empty where there is none.
std::map<std::string, std::string> fleet_values(const FactRule& rule, const JudgeInput& input) {
  std::map<std::string, std::map<std::string, std::size_t>> counts;
  for (const std::string& node : input.nodes) {
    const HostWindow* window = input.machines->find(node);
    if (window == nullptr) continue;
    for (const auto& [instance, value] : values_of(rule, *window)) ++counts[instance][value.text];
  }
  std::map<std::string, std::string> most;
  for (const auto& [instance, texts] : counts) {
    const auto best =
        std::ranges::max_element(texts, {}, [](const auto& text) { return text.second; });
    most[instance] = 2 * best->second > input.nodes.size() ? best->first : std::string();
  }
  return most;
}

struct FactFinding {
  Outcome outcome = Outcome::Pass;
  std::vector<std::string> reasons{};

  void add(Outcome found, std::string reason) {
    outcome = reasons.empty() ? found : std::max(outcome, found);
    reasons.push_back(std::move(reason));
  }
};

void check_fleet(FactFinding& finding, const std::string& instance, const std::string& text,
                 const std::string& most) {
  if (most.empty()) {
    finding.add(Outcome::Inconclusive, is_text(instance, text) + ", and no value is most nodes'");
  } else if (most != text) {
    finding.add(Outcome::Fail,
                fmt::format("{}, most nodes have {}", is_text(instance, text), most));
  }
}

void check_rise(FactFinding& finding, const FactRule& rule, const std::string& instance,
                const HostWindow& window) {
  const auto rise = machine::rise_of(window, {rule.fact, instance});
  if (!rise) {
    finding.add(Outcome::Inconclusive,
                named(instance) + "was reset or is new: the machine started again?");
  } else if (*rise > *rule.delta_max) {
    finding.add(Outcome::Fail, fmt::format("{}rose by {:.0f}, at most {:g} is allowed",
                                           named(instance), *rise, *rule.delta_max));
  }
}

void check_value(FactFinding& finding, const FactRule& rule, const HostWindow& window,
                 const std::string& instance) {
  const std::string text = window.last.text({rule.fact, instance});
  if (!rule.equals.empty() && !contains(rule.equals, text)) {
    finding.add(Outcome::Fail,
                fmt::format("{}, expected {}", is_text(instance, text), alternatives(rule.equals)));
  }
  const auto number = to_number<double>(text.substr(0, text.find(' ')));
  if (rule.at_least && number < rule.at_least) {
    finding.add(Outcome::Fail,
                fmt::format("{}, expected at least {:g}", is_text(instance, text), *rule.at_least));
  }
  if (rule.delta_max) check_rise(finding, rule, instance, window);
}

FactFinding check_values(const FactRule& rule, const HostWindow& window,
                         const std::map<std::string, std::string>& fleet) {
  FactFinding finding;
  const auto values = values_of(rule, window);
  if (values.empty() && fleet.empty()) {
    finding.add(Outcome::Error, fmt::format("the node has no {}{}", rule.fact,
                                            rule.instance == "*" ? "" : " " + rule.instance));
  }
  for (const auto& [instance, value] : values) {
    if (!value.reason.empty()) {
      finding.add(Outcome::Error, fmt::format("{}not read: {}", named(instance), value.reason));
      continue;
    }
    check_value(finding, rule, window, instance);
    if (!rule.same.empty()) check_fleet(finding, instance, value.text, fleet.at(instance));
  }
  for (const auto& [instance, most] : fleet) {
    if (!values.contains(instance)) check_fleet(finding, instance, "", most);
  }
  return finding;
}

FactFinding check_node(const FactRule& rule, const JudgeInput& input, const std::string& node,
                       const std::map<std::string, std::string>& fleet) {
  const bool any = input.machines != nullptr && !input.machines->all().empty();
  const HostWindow* window = any ? input.machines->find(node) : nullptr;
  if (!any) return {Outcome::Skip, {"no facts were read"}};
  if (window == nullptr) return {Outcome::Error, {"no facts of this node were read"}};
  if (!rule.same.empty() && input.nodes.size() < 2) {
    return {Outcome::Skip, {"there is one node only"}};
  }
  return check_values(rule, *window, fleet);
}

}  // namespace

std::vector<CheckResult> judge_facts(const JudgeInput& input) {
  constexpr std::size_t kMostReasons = 4;
  std::vector<CheckResult> results;
  for (const FactRule& rule : input.specification.facts) {
    std::map<std::string, std::string> fleet;
    if (!rule.same.empty() && input.machines != nullptr) fleet = fleet_values(rule, input);
    for (const std::string& node : input.nodes) {
      FactFinding finding = check_node(rule, input, node, fleet);
      std::vector<std::string>& reasons = finding.reasons;
      const std::size_t count = reasons.size();
      if (count > kMostReasons) {
        reasons.resize(kMostReasons);
        reasons.push_back(fmt::format("and {} more", count - kMostReasons));
      }
      results.push_back({.rule = rule.id,
                         .instance = node,
                         .nodes = {node},
                         .collective = rule.fact,
                         .metric = Metric::None,
                         .outcome = finding.outcome,
                         .reason = join(reasons, "; ")});
    }
  }
  return results;
}

void add_fact_evidence(std::vector<Suspect>& suspects, const machine::HostWindows& machines) {
  constexpr std::size_t kMost = 4;
  for (Suspect& suspect : suspects) {
    if (suspect.defect == Defect::Fact) continue;
    for (const std::string& node : suspect.nodes) {
      const HostWindow* window = machines.find(node);
      std::vector<std::string> faults = window == nullptr ? Words{} : faults_of(*window);
      if (faults.empty()) continue;
      if (faults.size() > kMost) {
        faults[kMost - 1] = fmt::format("and {} more", faults.size() - kMost + 1);
        faults.resize(kMost);
      }
      suspect.evidence += fmt::format("; facts of {}: {}", node, join(faults, ", "));
    }
  }
}

}  // namespace busbar::judge
