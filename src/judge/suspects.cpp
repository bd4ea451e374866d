// SPDX-License-Identifier: BSD-3-Clause
#include "judge/suspects.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "base/text.hpp"
#include "judge/group_blame.hpp"
#include "stats/summary.hpp"

namespace busbar::judge {
namespace {

void add_suspect(std::vector<Suspect>& suspects, Suspect suspect) {
  const bool known = std::any_of(suspects.begin(), suspects.end(), [&](const Suspect& other) {
    return other.nodes == suspect.nodes && other.rule == suspect.rule;
  });
  if (!known) suspects.push_back(std::move(suspect));
}

std::string where(const RuleVerdict& verdict) {
  return fmt::format("{} {}", verdict.collective, format_bytes(verdict.size));
}

std::string row_evidence(const RuleVerdict& verdict) {
  return fmt::format("{}: {}", where(verdict), verdict.reason);
}

/// Rows of one collective and size that belong together.
using Rows = std::vector<const JudgedRow*>;

std::vector<Rows> tables_of(const JudgedRule& judged) {
  std::vector<Rows> tables;
  for (const std::string& collective : judged.rule->collectives) {
    for (const Bytes size : judged.rule->sizes) {
      Rows rows;
      for (const JudgedRow& row : judged.rows) {
        const RuleVerdict& v = row.verdict;
        const bool of_table = v.collective == collective && v.size == size;
        if (of_table && !v.of_fleet()) rows.push_back(&row);
      }
      if (!rows.empty()) tables.push_back(std::move(rows));
    }
  }
  return tables;
}

double as_rate(double value, Metric metric) { return metric == Metric::Time ? 1 / value : value; }

/// "3 of 3 pairs low, median 0.10 GB/s, 17 % of the fleet median 0.59 GB/s".
std::string node_evidence(const BlamedNode& node, double median, const RuleVerdict& one) {
  std::string words = fmt::format("{}: {} of {} pairs low", where(one), node.low, node.pairs);
  if (median <= 0) return words;
  words += ", median " + value_words(median, one.metric);
  if (!one.reference) return words;
  return words + fmt::format(", {} of the {} {}", percent_words(median / *one.reference),
                             one.reference_kind.starts_with("fleet") ? "fleet's" : "reference",
                             value_words(*one.reference, one.metric));
}

Suspect suspect_link(const PairValue& pair, const Rows& rows, std::span<const std::string> nodes) {
  const std::vector<std::string> names{nodes[pair.first], nodes[pair.second]};
  const auto row = std::find_if(rows.begin(), rows.end(),
                                [&](const JudgedRow* one) { return one->verdict.nodes == names; });
  return {.nodes = names,
          .rule = rows.front()->verdict.rule,
          .evidence = "only this pair: " +
                      row_evidence((row == rows.end() ? rows.front() : *row)->verdict)};
}

void add_blame(std::vector<Suspect>& suspects, const Blame& blame, const Rows& rows,
               std::span<const std::string> nodes, bool of_rates) {
  const auto failed =
      std::find_if(rows.begin(), rows.end(), [](const JudgedRow* row) { return is_low(*row); });
  if (failed == rows.end()) return;  // excused
  const RuleVerdict& one = (*failed)->verdict;
  for (const BlamedNode& node : blame.nodes) {
    const double median =
        of_rates && node.median > 0 ? as_rate(node.median, one.metric) : node.median;
    add_suspect(suspects, {.nodes = {nodes[node.node]},
                           .rule = one.rule,
                           .evidence = node_evidence(node, median, one)});
  }
  for (const PairValue& link : blame.links) {
    add_suspect(suspects, suspect_link(link, rows, nodes));
  }
}

/// Pairs of a rule that is no fleet rule.
void add_pair_suspects(std::vector<Suspect>& suspects, const Rows& rows,
                       std::span<const std::string> nodes) {
  Rows valued;
  std::vector<bool> low;
  for (const JudgedRow* row : rows) {
    // A pair whose bounds were not judged (noise, too few launches) is neither low nor good.
    const bool judged = !row->decided || is_low(*row);
    if (!judged || (!row->verdict.value && !row->wrong_data)) continue;
    valued.push_back(row);
    low.push_back(is_low(*row));
  }
  const auto count = static_cast<std::size_t>(std::count(low.begin(), low.end(), true));
  if (count == 0) return;
  std::set<std::string> members;
  for (const JudgedRow* row : valued) {
    members.insert(row->verdict.nodes.begin(), row->verdict.nodes.end());
  }
  if (count == low.size() && members.size() > 2) {
    add_suspect(suspects, {.nodes = {members.begin(), members.end()},
                           .rule = rows.front()->verdict.rule,
                           .evidence = fmt::format("{}: all {} pairs low: no node stands out",
                                                   where(rows.front()->verdict), count)});
    return;
  }
  std::vector<PairValue> pairs = pair_values(valued, nodes);
  for (PairValue& pair : pairs) pair.value = pair.value.value_or(0);  // wrong data without a value
  add_blame(suspects, blame_of(nodes.size(), pairs, low), valued, nodes, false);
}

/// Values of wrong data are in no fleet's finding.
bool has_wrong(const Rows& rows) {
  return std::any_of(rows.begin(), rows.end(),
                     [](const JudgedRow* row) { return row->wrong_data; });
}

void add_members(std::vector<Suspect>& suspects, const Rows& rows) {
  for (const JudgedRow* row : rows) {
    if (row->verdict.word != Word::Fail) continue;
    add_suspect(suspects, {.nodes = row->verdict.nodes,
                           .rule = row->verdict.rule,
                           .evidence = row_evidence(row->verdict)});
  }
}

void add_pairwise(std::vector<Suspect>& suspects, const JudgedRule& judged, const Rows& rows,
                  std::span<const std::string> nodes) {
  if (is_halved(*judged.set, nodes.size())) {
    for (Suspect& suspect : group_suspects(rows)) add_suspect(suspects, std::move(suspect));
    return;
  }
  const bool fleet = judged.rule->compare == Comparison::Fleet;
  if (!fleet || has_wrong(rows)) add_pair_suspects(suspects, rows, nodes);
  const RuleVerdict& verdict = rows.front()->verdict;
  for (const FleetBlame& blame : judged.blames) {
    const bool same = blame.collective == verdict.collective && blame.size == verdict.size;
    if (same) add_blame(suspects, blame.blame, rows, nodes, true);
  }
}

}  // namespace

bool is_low(const JudgedRow& row) {
  const RuleVerdict& verdict = row.verdict;
  if (verdict.word != Word::Fail) return false;
  return row.wrong_data || !verdict.reason.starts_with("too good");
}

std::vector<Suspect> suspects_of(const JudgedRule& judged, std::span<const std::string> nodes) {
  std::vector<Suspect> suspects;
  const SetKind kind = judged.set->kind;
  for (const Rows& rows : tables_of(judged)) {
    if (kind == SetKind::PerNode || kind == SetKind::List) add_members(suspects, rows);
    if (kind == SetKind::Pairwise) add_pairwise(suspects, judged, rows, nodes);
  }
  return suspects;
}

void drop_explained(std::vector<Suspect>& suspects) {
  std::set<std::string> blamed;
  for (const Suspect& suspect : suspects) {
    if (suspect.nodes.size() == 1) blamed.insert(suspect.nodes.front());
  }
  std::erase_if(suspects, [&](const Suspect& suspect) {
    return suspect.nodes.size() == 2 &&
           (blamed.contains(suspect.nodes[0]) || blamed.contains(suspect.nodes[1]));
  });
}

}  // namespace busbar::judge
