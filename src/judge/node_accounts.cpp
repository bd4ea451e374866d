// SPDX-License-Identifier: BSD-3-Clause
#include "judge/node_accounts.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.hpp"

namespace busbar::judge {
namespace {

bool has(const std::vector<std::string>& nodes, const std::string& node) {
  return std::find(nodes.begin(), nodes.end(), node) != nodes.end();
}

/// The verdicts that a node took part in.
struct Part {
  std::size_t all = 0;
  std::size_t valued = 0;
  std::size_t good = 0;               ///< PASS, WARN, KNOWN
  const RuleVerdict* own = nullptr;   ///< of this node alone, without an answer
  const RuleVerdict* none = nullptr;  ///< the first that is neither good nor blamed
  const RuleVerdict* dead = nullptr;  ///< says that the node does not answer
};

bool is_unanswered(const RuleVerdict& verdict) {
  return verdict.word == Word::Inconclusive || verdict.word == Word::Error;
}

void count(Part& part, const RuleVerdict& verdict, const std::string& node) {
  if (verdict.of_fleet() || !has(verdict.nodes, node)) return;
  ++part.all;
  if (verdict.value) ++part.valued;
  const Word word = verdict.word;
  if (word == Word::Pass || word == Word::Warn || word == Word::Known) {
    ++part.good;
  } else if (part.none == nullptr && word != Word::Skip) {
    part.none = &verdict;
  }
  if (part.own == nullptr && verdict.nodes.size() == 1 && is_unanswered(verdict)) {
    part.own = &verdict;
  }
  const bool dead = verdict.reason.find(node + " does not answer") != std::string::npos;
  if (part.dead == nullptr && dead) part.dead = &verdict;
}

std::string words_of(const RuleVerdict* verdict) {
  if (verdict == nullptr) return {};
  return fmt::format("{} on {}: {}", verdict->rule, verdict->instance, verdict->reason);
}

const Suspect* suspect_with(const std::string& node, std::span<const Suspect> suspects,
                            bool alone) {
  const auto found = std::find_if(suspects.begin(), suspects.end(), [&](const Suspect& suspect) {
    return has(suspect.nodes, node) && (suspect.nodes.size() == 1) == alone;
  });
  return found == suspects.end() ? nullptr : &*found;
}

/// Of a node without a value.
NodeAccount account_of_none(const std::string& node, const Part& part) {
  const RuleVerdict* why = part.dead != nullptr ? part.dead : part.none;
  if (part.all > 0 && why == nullptr) return {node, NodeState::Inconclusive, "all was skipped"};
  return {node, NodeState::NoData, why != nullptr ? words_of(why) : "no rule measured it"};
}

NodeAccount account_of(const std::string& node, std::span<const RuleVerdict> verdicts,
                       std::span<const Suspect> suspects, std::span<const Cleared> cleared) {
  if (const Suspect* alone = suspect_with(node, suspects, true)) {
    return {node, NodeState::Failed, fmt::format("{}: {}", alone->rule, alone->evidence)};
  }
  Part part;
  for (const RuleVerdict& verdict : verdicts) count(part, verdict, node);
  if (part.valued == 0) return account_of_none(node, part);
  if (const Suspect* with = suspect_with(node, suspects, false)) {
    return {node, NodeState::Suspect,
            fmt::format("{} {}: {}", with->rule, join(with->nodes, "+"), with->evidence)};
  }
  for (const Cleared& one : cleared) {
    if (has(one.suspect.nodes, node)) return {node, NodeState::Inconclusive, one.words};
  }
  if (part.own != nullptr) return {node, NodeState::Inconclusive, words_of(part.own)};
  if (part.good == 0) return {node, NodeState::Inconclusive, words_of(part.none)};
  const std::size_t total = part.all;
  return {node, NodeState::Good, fmt::format("{} of {} verdicts good", part.good, total)};
}

}  // namespace

std::vector<NodeAccount> accounts_of(std::span<const std::string> nodes,
                                     std::span<const RuleVerdict> verdicts,
                                     std::span<const Suspect> suspects,
                                     std::span<const Cleared> cleared) {
  std::vector<NodeAccount> accounts;
  for (const std::string& node : nodes) {
    accounts.push_back(account_of(node, verdicts, suspects, cleared));
  }
  return accounts;
}

}  // namespace busbar::judge
