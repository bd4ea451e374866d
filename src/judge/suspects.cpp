// SPDX-License-Identifier: BSD-3-Clause
#include "judge/suspects.hpp"

#include <algorithm>
#include <filesystem>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "base/text.hpp"

namespace busbar::judge {
namespace {

using Names = std::vector<std::string>;

/// All are of one rule. Of two findings on the same nodes the worse stays, then the first.
void add_suspect(std::vector<Suspect>& suspects, Suspect suspect) {
  const auto same = [&](const Suspect& known) {
    return known.nodes == suspect.nodes && known.path == suspect.path;
  };
  Suspect& known = find_or_add(suspects, same, suspect);
  if (suspect.defect > known.defect) known = std::move(suspect);
}

Defect defect_of(const CheckResult& result) {
  return result.metric == Metric::None                    ? Defect::Fact
         : result.decided_by == DecidedBy::WrongData      ? Defect::WrongData
         : result.decided_by == DecidedBy::FailedLaunches ? Defect::FailedLaunches
                                                          : Defect::Slow;
}

/// The evidence begins with the size, but for launches that failed, which have all sizes.
Suspect suspect(Names nodes, const CheckResult& row, const std::string& evidence) {
  const Defect defect = defect_of(row);
  const std::string size =
      defect == Defect::FailedLaunches ? "" : fmt::format(" {}", format_bytes(row.size));
  return {.nodes = std::move(nodes),
          .path = row.nodes.empty() ? row.instance : std::string(),
          .rule = row.rule,
          .evidence = fmt::format("{}{}: {}", row.collective, size, evidence),
          .defect = defect};
}

/// What is blamed by itself: nodes, of a pairwise set also links and paths of the fabric.
void add_members(std::vector<Suspect>& suspects, const PointResult& point, SetKind kind) {
  // What is too good is a mistake of the measurement: of whose, pairs do not show.
  const auto fails = [kind](const CheckedRow& row) {
    return row.outcome == Outcome::Fail && (kind != SetKind::Pairwise || row.is_low());
  };
  const auto first = std::ranges::find_if(point.rows, fails);
  if (point.none_stands_out && first != point.rows.end()) {
    Names all;
    for (const CheckedRow& row : filtered(point.rows, fails)) append(all, row.nodes);
    add_suspect(suspects, suspect(all, *first, "no node stands out: " + first->reason));
  }
  for (const std::vector<CheckedRow>* rows : {&point.rows, &point.extra}) {
    for (const CheckedRow& row : *rows) {
      if (!fails(row) || (point.none_stands_out && rows == &point.rows)) continue;
      add_suspect(suspects, suspect(row.nodes, row, row.reason));
    }
  }
}

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

/// The first others that explain a bad result: blamed nodes, or of no FAIL those without values.
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
  if (verdict.outcome == Outcome::Skip) return;
  if (verdict.outcome <= Outcome::Warn) {
    ++part.good;
  } else if (part.none == nullptr) {
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

std::vector<Suspect> suspects_of(const RuleResult& judged) {
  std::vector<Suspect> suspects;
  if (judged.set.kind == SetKind::Whole || judged.set.kind == SetKind::Rails) return suspects;
  for (const PointResult& point : judged.points) add_members(suspects, point, judged.set.kind);
  return suspects;
}

std::vector<Suspect> suspects_of(std::span<const CheckResult> results) {
  std::vector<Suspect> suspects;
  for (const CheckResult& result : results) {
    if (result.outcome != Outcome::Fail) continue;
    suspects.push_back({.nodes = result.nodes,
                        .rule = result.rule,
                        .evidence = fmt::format("{}: {}", result.collective, result.reason),
                        .defect = defect_of(result)});
  }
  return suspects;
}

void drop_explained(std::vector<Suspect>& suspects) {
  const auto explains = [](const Suspect& node, const Suspect& link) {
    return node.nodes.size() == 1 && contains(link.nodes, node.nodes.front()) &&
           node.defect >= link.defect;
  };
  std::vector<Suspect> kept = filtered(suspects, [&](const Suspect& one) {
    const auto is_of_node = [&](const Suspect& other) { return explains(other, one); };
    return one.nodes.size() != 2 || std::ranges::none_of(suspects, is_of_node);
  });
  std::ranges::stable_sort(kept, std::ranges::greater{}, &Suspect::defect);
  suspects = std::move(kept);
}

void add_log_names(std::vector<Suspect>& suspects, std::span<const Observation> observations) {
  for (Suspect& suspect : suspects) {
    if (suspect.defect != Defect::FailedLaunches) continue;
    const auto own = [&](const Observation& launch) {
      const bool named = suspect.nodes == Names{launch.unreachable};
      return launch.hung_or_crashed() && (named || launch.nodes == suspect.nodes);
    };
    const auto launch = std::ranges::find_if(observations, own);
    if (launch == observations.end() || launch->file.empty()) continue;
    const auto log = std::filesystem::path(launch->file).replace_extension(".log");
    if (!std::filesystem::exists(log)) continue;
    suspect.evidence += "; its log: " + log.filename().string();
  }
}

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
