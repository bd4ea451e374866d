// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "base/text.hpp"
#include "judge/suspects.hpp"

namespace busbar::judge {
namespace {

/// What is known of all nodes before one of them is asked for.
struct NodeEvidence {
  std::span<const CheckResult> verdicts;
  std::span<const Suspect> suspects;
  std::vector<std::string> silent{};  ///< without any value
};

struct NodeResults {
  std::size_t all = 0;
  std::size_t valued = 0;
  std::size_t good = 0;
  const CheckResult* none = nullptr;   ///< the first that is neither good nor skipped
  const CheckResult* dead = nullptr;   ///< says that the node does not answer
  const CheckResult* worst = nullptr;  ///< FAIL, ERROR or INCONCLUSIVE that no other node explains
  std::size_t unexplained = 0;         ///< of the same outcome
  std::set<std::string> culprits{};    ///< other nodes, which explain what is not good
};

/// The first other nodes that explain why the result is not good: those that are blamed, and where
/// it is no FAIL those that have no value at all.
std::vector<std::string> culprits_of(const CheckResult& verdict, const std::string& node,
                                     const NodeEvidence& findings) {
  const auto explain = [&](const std::vector<std::string>& nodes) {
    return !nodes.empty() && !contains(nodes, node) && has_all(verdict.nodes, nodes);
  };
  for (const Suspect& suspect : findings.suspects) {
    if (explain(suspect.nodes)) return suspect.nodes;
  }
  if (verdict.outcome == Outcome::Fail) return {};
  for (const std::string& other : findings.silent) {
    if (explain({other})) return {other};
  }
  return {};
}

/// A finding about all nodes together is not a measurement of one, but concerns it.
void count(NodeResults& part, const CheckResult& verdict) {
  ++part.all;
  if (verdict.value) ++part.valued;
  if (is_good(verdict.outcome)) {
    ++part.good;
  } else if (part.none == nullptr && verdict.outcome != Outcome::Skip) {
    part.none = &verdict;
  }
}

void add_unexplained(NodeResults& part, const CheckResult& verdict) {
  const auto weight = [](const CheckResult& one) {
    return std::pair(one.outcome, one.decided_by == DecidedBy::WrongData);
  };
  if (part.worst == nullptr || weight(verdict) > weight(*part.worst)) {
    if (part.worst == nullptr || verdict.outcome > part.worst->outcome) part.unexplained = 0;
    part.worst = &verdict;
  }
  if (verdict.outcome == part.worst->outcome) ++part.unexplained;
}

NodeResults part_of(const std::string& node, const NodeEvidence& findings) {
  NodeResults part;
  for (const CheckResult& verdict : findings.verdicts) {
    if (!contains(verdict.nodes, node)) continue;
    if (!verdict.of_fleet()) count(part, verdict);
    if (part.dead == nullptr && verdict.unreachable == node) part.dead = &verdict;
    if (verdict.outcome < Outcome::Inconclusive) continue;
    const std::vector<std::string> culprits = culprits_of(verdict, node, findings);
    part.culprits.insert(culprits.begin(), culprits.end());
    if (culprits.empty()) add_unexplained(part, verdict);
  }
  return part;
}

std::string result_text(const CheckResult& verdict) {
  return fmt::format("{} on {}: {}", verdict.rule, verdict.instance, verdict.reason);
}

/// The first suspect that is the node alone, or that the node is one of.
const Suspect* suspect_with(const std::string& node, std::span<const Suspect> suspects,
                            bool alone) {
  const auto found = std::ranges::find_if(suspects, [&](const Suspect& suspect) {
    return contains(suspect.nodes, node) && (suspect.nodes.size() == 1) == alone;
  });
  return found == suspects.end() ? nullptr : &*found;
}

/// The account of a node that no suspect has.
NodeAccount account_by_results(const std::string& node, const NodeResults& part) {
  const CheckResult* why = part.dead != nullptr ? part.dead : part.none;
  if (part.valued == 0) {
    if (part.all == 0) return {node, NodeState::NoData, "no rule measured it"};
    if (why == nullptr) return {node, NodeState::Inconclusive, "all was skipped"};
    return {node, NodeState::NoData, result_text(*why)};
  }
  if (part.worst != nullptr) {
    const Outcome outcome = part.worst->outcome;
    const std::string more =
        part.unexplained > 1 ? fmt::format(" (and {} more {})", part.unexplained - 1, name(outcome))
                             : "";
    return {node, outcome == Outcome::Fail ? NodeState::Suspect : NodeState::Inconclusive,
            result_text(*part.worst) + more};
  }
  if (part.good == 0) {
    return {node, NodeState::Inconclusive,
            part.none == nullptr ? "all was skipped" : result_text(*part.none)};
  }
  const std::string others =
      part.culprits.empty() ? "" : ", the others are explained by " + join_all(part.culprits, ", ");
  return {node, NodeState::Good,
          fmt::format("{} of {} verdicts good{}", part.good, part.all, others)};
}

NodeAccount account_of(const std::string& node, const NodeEvidence& findings) {
  if (const Suspect* alone = suspect_with(node, findings.suspects, true)) {
    std::string evidence = fmt::format("{}: {}", alone->rule, alone->evidence);
    const Suspect* link = suspect_with(node, findings.suspects, false);
    if (link != nullptr && link->defect > alone->defect) {
      evidence = fmt::format("{} {}: {}; {}", link->rule, join(link->nodes, "+"), link->evidence,
                             evidence);
    }
    return {node, NodeState::Failed, evidence};
  }
  const NodeResults part = part_of(node, findings);
  if (part.valued == 0) return account_by_results(node, part);
  if (const Suspect* with = suspect_with(node, findings.suspects, false)) {
    return {node, NodeState::Suspect,
            fmt::format("{} {}: {}", with->rule, join(with->nodes, "+"), with->evidence)};
  }
  return account_by_results(node, part);
}

}  // namespace

std::vector<NodeAccount> accounts_of(std::span<const std::string> nodes,
                                     std::span<const CheckResult> verdicts,
                                     std::span<const Suspect> suspects) {
  std::set<std::string> valued;
  for (const CheckResult& verdict : verdicts) {
    if (verdict.value && !verdict.of_fleet()) {
      valued.insert(verdict.nodes.begin(), verdict.nodes.end());
    }
  }
  NodeEvidence findings{.verdicts = verdicts, .suspects = suspects};
  findings.silent =
      filtered(nodes, [&](const std::string& node) { return !valued.contains(node); });
  return mapped(nodes, [&](const std::string& node) { return account_of(node, findings); });
}

}  // namespace busbar::judge
