// SPDX-License-Identifier: BSD-3-Clause
#include "judge/fact_check.hpp"

#include <algorithm>
#include <fnmatch.h>
#include <map>

#include <fmt/format.h>

#include "base/text.hpp"
#include "judge/fingerprint.hpp"

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

/// "eth0 is 1500", or of the whole machine "is 0".
std::string is_text(const std::string& instance, const std::string& text) {
  return fmt::format("{}{}is {}", instance, instance.empty() ? "" : " ",
                     text.empty() ? "absent" : text);
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

/// What a rule says of one node.
struct FactFinding {
  Outcome outcome = Outcome::Pass;
  std::vector<std::string> reasons{};

  void add(Outcome found, std::string reason) {
    outcome = reasons.empty() ? found : std::max(outcome, found);
    reasons.push_back(std::move(reason));
  }
};

class NodeCheck {
 public:
  NodeCheck(const FactRule& rule, const HostWindow& window,
            const std::map<std::string, std::string>& fleet)
      : rule_(rule), window_(window), fleet_(fleet) {}

  [[nodiscard]] FactFinding check() {
    const auto values = values_of(rule_, window_);
    if (values.empty() && fleet_.empty()) {
      finding_.add(Outcome::Error, fmt::format("the node has no {}{}", rule_.fact,
                                               rule_.instance == "*" ? "" : " " + rule_.instance));
    }
    for (const auto& [instance, value] : values) {
      if (!value.reason.empty()) {
        finding_.add(Outcome::Error, fmt::format("{}{}not read: {}", instance,
                                                 instance.empty() ? "" : " ", value.reason));
      } else {
        check_value(instance, value.text);
      }
    }
    for (const auto& [instance, most] : fleet_) {
      if (!values.contains(instance)) check_fleet(instance, "");
    }
    return std::move(finding_);
  }

 private:
  void check_value(const std::string& instance, const std::string& text) {
    if (!rule_.equals.empty() && !contains(rule_.equals, text)) {
      finding_.add(Outcome::Fail, fmt::format("{}, expected {}", is_text(instance, text),
                                              alternatives(rule_.equals)));
    }
    if (rule_.at_least) {
      const auto number = to_number<double>(text.substr(0, text.find(' ')));
      if (!number || *number < *rule_.at_least) {
        finding_.add(Outcome::Fail, fmt::format("{}, expected at least {:g}",
                                                is_text(instance, text), *rule_.at_least));
      }
    }
    if (rule_.delta_max) check_rise(instance);
    if (!rule_.same.empty()) check_fleet(instance, text);
  }

  void check_rise(const std::string& instance) {
    const auto rise = machine::rise_of(window_, {rule_.fact, instance});
    if (!rise) {
      finding_.add(Outcome::Inconclusive,
                   fmt::format("{}{}was reset or is new: the machine started again?", instance,
                               instance.empty() ? "" : " "));
      return;
    }
    if (*rise <= *rule_.delta_max) return;
    finding_.add(Outcome::Fail, fmt::format("{}{}rose by {:.0f}, at most {:g} is allowed", instance,
                                            instance.empty() ? "" : " ", *rise, *rule_.delta_max));
  }

  void check_fleet(const std::string& instance, const std::string& text) {
    const std::string& most = fleet_.at(instance);
    if (most.empty()) {
      finding_.add(Outcome::Inconclusive,
                   is_text(instance, text) + ", and no value is most nodes'");
    } else if (most != text) {
      finding_.add(Outcome::Fail,
                   fmt::format("{}, most nodes have {}", is_text(instance, text), most));
    }
  }

  const FactRule& rule_;
  const HostWindow& window_;
  const std::map<std::string, std::string>& fleet_;
  FactFinding finding_{};
};

FactFinding check_node(const FactRule& rule, const JudgeInput& input, const std::string& node,
                       const std::map<std::string, std::string>& fleet) {
  const bool any = input.machines != nullptr && !input.machines->all().empty();
  const HostWindow* window = any ? input.machines->find(node) : nullptr;
  FactFinding finding;
  if (window == nullptr) {
    finding.add(any ? Outcome::Error : Outcome::Skip,
                any ? "no facts of this node were read" : "no facts were read");
    return finding;
  }
  if (!rule.same.empty() && input.nodes.size() < 2) {
    finding.add(Outcome::Skip, "there is one node only");
    return finding;
  }
  return NodeCheck(rule, *window, fleet).check();
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

std::vector<Suspect> fact_suspects(std::span<const CheckResult> results) {
  std::vector<Suspect> suspects;
  for (const CheckResult& result : results) {
    if (result.outcome != Outcome::Fail) continue;
    suspects.push_back({.nodes = result.nodes,
                        .rule = result.rule,
                        .evidence = fmt::format("{}: {}", result.collective, result.reason),
                        .defect = Defect::Fact});
  }
  return suspects;
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
