// SPDX-License-Identifier: BSD-3-Clause
#include "judge/suspects.hpp"

#include <algorithm>
#include <set>
#include <span>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/text.hpp"
#include "judge/rule_check.hpp"
#include "judge/verdict.hpp"
#include "stats/summary.hpp"

namespace busbar::judge {
namespace {

void add_suspect(std::vector<Suspect>& suspects, Suspect suspect) {
  const bool known = std::any_of(suspects.begin(), suspects.end(), [&](const Suspect& other) {
    return other.nodes == suspect.nodes && other.rule == suspect.rule;
  });
  if (!known) suspects.push_back(std::move(suspect));
}

std::string where(const CheckResult& verdict) {
  return fmt::format("{} {}", verdict.collective, format_bytes(verdict.size));
}

std::string row_evidence(const CheckResult& verdict) {
  return fmt::format("{}: {}", where(verdict), verdict.reason);
}

/// Rows of one collective and size that belong together.
using Rows = std::vector<const CheckedRow*>;

std::vector<Rows> tables_of(const RuleResult& judged) {
  std::vector<Rows> tables;
  for (const std::string& collective : judged.rule->collectives) {
    for (const Bytes size : judged.rule->sizes) {
      Rows rows;
      for (const CheckedRow& row : judged.rows) {
        const CheckResult& v = row.verdict;
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
std::string node_evidence(const BlamedNode& node, double median, const CheckResult& one,
                          bool of_fleet) {
  std::string words = fmt::format("{}: {} of {} pairs low", where(one), node.low, node.pairs);
  if (median <= 0) return words;
  words += ", median " + value_words(median, one.metric);
  if (!one.reference) return words;
  return words + fmt::format(", {} of the {} {}", percent_words(median / *one.reference),
                             of_fleet ? "fleet's" : "reference",
                             value_words(*one.reference, one.metric));
}

Suspect suspect_link(const PairValue& pair, const Rows& rows, std::span<const std::string> nodes) {
  const std::vector<std::string> names{nodes[pair.first], nodes[pair.second]};
  const auto row = std::find_if(rows.begin(), rows.end(),
                                [&](const CheckedRow* one) { return one->verdict.nodes == names; });
  return {.nodes = names,
          .rule = rows.front()->verdict.rule,
          .evidence = "only this pair: " +
                      row_evidence((row == rows.end() ? rows.front() : *row)->verdict)};
}

void add_blame(std::vector<Suspect>& suspects, const Blame& blame, const Rows& rows,
               std::span<const std::string> nodes, bool of_fleet, bool of_rates) {
  const auto failed =
      std::find_if(rows.begin(), rows.end(), [](const CheckedRow* row) { return is_low(*row); });
  if (failed == rows.end()) return;  // all are waived
  const CheckResult& one = (*failed)->verdict;
  for (const BlamedNode& node : blame.nodes) {
    const double median =
        of_rates && node.median > 0 ? as_rate(node.median, one.metric) : node.median;
    add_suspect(suspects, {.nodes = {nodes[node.node]},
                           .rule = one.rule,
                           .evidence = node_evidence(node, median, one, of_fleet)});
  }
  for (const PairValue& link : blame.links) {
    add_suspect(suspects, suspect_link(link, rows, nodes));
  }
}

/// Pairs of a rule that is no fleet rule.
void add_pair_suspects(std::vector<Suspect>& suspects, const Rows& rows,
                       std::span<const std::string> nodes, bool of_fleet) {
  Rows valued;
  std::vector<bool> low;
  for (const CheckedRow* row : rows) {
    // A pair whose bounds were not judged (noise, too few launches) is neither low nor good.
    const bool judged = !row->decided || is_low(*row);
    if (!judged || (!row->verdict.value && !row->wrong_data())) continue;
    valued.push_back(row);
    low.push_back(is_low(*row));
  }
  const auto count = static_cast<std::size_t>(std::count(low.begin(), low.end(), true));
  if (count == 0) return;
  std::set<std::string> members;
  for (const CheckedRow* row : valued) {
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
  add_blame(suspects, blame_of(nodes.size(), pairs, low), valued, nodes, of_fleet, false);
}

/// Values of wrong data are in no fleet's finding.
bool has_wrong(const Rows& rows) {
  return std::any_of(rows.begin(), rows.end(),
                     [](const CheckedRow* row) { return row->wrong_data(); });
}

void add_members(std::vector<Suspect>& suspects, const Rows& rows) {
  for (const CheckedRow* row : rows) {
    if (row->verdict.outcome != Outcome::Fail) continue;
    add_suspect(suspects, {.nodes = row->verdict.nodes,
                           .rule = row->verdict.rule,
                           .evidence = row_evidence(row->verdict)});
  }
}

void add_pairwise(std::vector<Suspect>& suspects, const RuleResult& judged, const Rows& rows,
                  std::span<const std::string> nodes) {
  if (is_bisected(*judged.set, nodes.size())) {
    for (Suspect& suspect : group_suspects(rows)) add_suspect(suspects, std::move(suspect));
    return;
  }
  const bool fleet = judged.rule->compare == Comparison::Fleet;
  if (!fleet || has_wrong(rows)) add_pair_suspects(suspects, rows, nodes, fleet);
  const CheckResult& verdict = rows.front()->verdict;
  for (const FleetBlame& blame : judged.blames) {
    const bool same = blame.collective == verdict.collective && blame.size == verdict.size;
    if (same) add_blame(suspects, blame.blame, rows, nodes, fleet, true);
  }
}

}  // namespace

bool is_low(const CheckedRow& row) {
  const CheckResult& verdict = row.verdict;
  if (verdict.outcome != Outcome::Fail) return false;
  return verdict.cause != Cause::TooGood;
}

std::vector<Suspect> suspects_of(const RuleResult& judged, std::span<const std::string> nodes) {
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

namespace {

bool misses(const CheckResult& verdict, double value) {
  if (!verdict.reference) return true;
  const double ratio = value / *verdict.reference;
  const Bounds& bounds = verdict.bounds;
  return (bounds.fail_below && ratio < *bounds.fail_below) ||
         (bounds.fail_above && ratio > *bounds.fail_above);
}

/// What confirmations say of a suspect.
struct Confirmations {
  std::size_t good = 0;
  std::size_t low = 0;
  std::vector<std::string> partners{};
};

void count(Confirmations& counts, const Observation& launch, const RuleResult& judged,
           const CheckedRow& row, const Suspect& suspect) {
  const Instance all{.name = launch.instance, .nodes = launch.nodes};
  const SampleKey key{*judged.rule, *judged.set, all, row.verdict.collective, row.verdict.size};
  const auto value = launch_value(launch, key);
  if (!value) return;
  ++(misses(row.verdict, *value) ? counts.low : counts.good);
  for (const std::string& node : launch.nodes) {
    const bool known = has_node(suspect.nodes, node) || has_node(counts.partners, node);
    if (!known) counts.partners.push_back(node);
  }
}

Confirmations confirmations_of(const RuleResult& judged, const Suspect& suspect,
                               std::span<const Observation> observations) {
  Confirmations counts;
  for (const Observation& launch : observations) {
    const bool of_set = launch.purpose == Purpose::Confirm && launch.device_set == judged.set->id &&
                        has_all(launch.nodes, suspect.nodes);
    if (!of_set) continue;
    for (const CheckedRow& row : judged.rows) {
      const CheckResult& verdict = row.verdict;
      const bool other = !launch.collective.empty() && launch.collective != verdict.collective;
      if (other || !is_low(row) || !has_all(verdict.nodes, suspect.nodes)) continue;
      if (!row.verdict.of_fleet()) count(counts, launch, judged, row, suspect);
    }
  }
  return counts;
}

bool has_wrong_data(const RuleResult& judged, const Suspect& suspect) {
  return std::any_of(judged.rows.begin(), judged.rows.end(), [&](const CheckedRow& row) {
    return row.wrong_data() && has_all(row.verdict.nodes, suspect.nodes);
  });
}

bool explained_by_another(const CheckResult& verdict, const std::vector<Suspect>& suspects) {
  return std::any_of(suspects.begin(), suspects.end(), [&](const Suspect& suspect) {
    return suspect.rule == verdict.rule && has_all(verdict.nodes, suspect.nodes);
  });
}

/// A low row that only cleared suspects explain is not known to be low.
void clear_rows(RuleResult& judged, const std::vector<Suspect>& suspects,
                const std::vector<Cleared>& cleared) {
  for (CheckedRow& row : judged.rows) {
    CheckResult& verdict = row.verdict;
    const bool stays = verdict.of_fleet() || row.wrong_data() || !is_low(row);
    if (stays || explained_by_another(verdict, suspects)) continue;
    const auto one = std::find_if(cleared.begin(), cleared.end(), [&](const Cleared& each) {
      return has_all(verdict.nodes, each.suspect.nodes);
    });
    if (one == cleared.end()) continue;
    verdict.outcome = Outcome::Inconclusive;
    verdict.reason = fmt::format("{}: {}", one->words, verdict.reason);
  }
}

}  // namespace

std::vector<Cleared> confirm(RuleResult& judged, std::vector<Suspect>& suspects,
                             std::span<const Observation> observations) {
  std::vector<Cleared> cleared;
  std::vector<Suspect> kept;
  for (Suspect& suspect : suspects) {
    const Confirmations counts = confirmations_of(judged, suspect, observations);
    suspect.confirmed = counts.low > 0;
    const bool good = counts.good > 0 && counts.low == 0 && !has_wrong_data(judged, suspect);
    if (!good) {
      kept.push_back(suspect);
      continue;
    }
    const std::string with =
        counts.partners.empty() ? "" : fmt::format(" with {}", join(counts.partners, ", "));
    cleared.push_back({.suspect = suspect, .words = fmt::format("low once, good{} again", with)});
  }
  suspects = std::move(kept);
  clear_rows(judged, suspects, cleared);
  return cleared;
}

namespace {

using Names = std::vector<std::string>;

bool is_good(const CheckedRow& row) {
  const Outcome outcome = row.verdict.outcome;
  return outcome == Outcome::Pass || outcome == Outcome::Warn || outcome == Outcome::Known;
}

Names not_good(const CheckedRow& row, const std::set<std::string>& good) {
  Names names;
  for (const std::string& node : row.verdict.nodes) {
    if (!good.contains(node)) names.push_back(node);
  }
  return names;
}

bool has_any(const Names& names, const std::set<std::string>& bad) {
  return std::any_of(names.begin(), names.end(),
                     [&](const std::string& node) { return bad.contains(node); });
}

Suspect suspect(const Names& names, const CheckedRow& row) {
  const std::string kind = names.size() == 1 ? "the one of its group that is not known to be good"
                                             : "a low group that could not be divided";
  return {.nodes = names,
          .rule = row.verdict.rule,
          .evidence = fmt::format("{}: {}: {}", row.verdict.instance, kind, row.verdict.reason)};
}

std::set<std::string> good_nodes(const std::vector<const CheckedRow*>& rows) {
  std::set<std::string> good;
  for (const CheckedRow* row : rows) {
    if (is_good(*row)) good.insert(row->verdict.nodes.begin(), row->verdict.nodes.end());
  }
  return good;
}

}  // namespace

std::vector<Suspect> group_suspects(const std::vector<const CheckedRow*>& rows) {
  const std::set<std::string> good = good_nodes(rows);
  std::vector<Suspect> suspects;
  std::set<std::string> bad;
  for (const CheckedRow* row : rows) {
    const Names names = not_good(*row, good);
    if (!is_low(*row) || names.size() != 1 || bad.contains(names.front())) continue;
    bad.insert(names.front());
    suspects.push_back(suspect(names, *row));
  }
  std::vector<const CheckedRow*> open;
  for (const CheckedRow* row : rows) {
    if (is_low(*row) && !has_any(row->verdict.nodes, bad)) open.push_back(row);
  }
  // The smallest first: a group that has one of them in it is explained by it.
  std::stable_sort(open.begin(), open.end(), [](const CheckedRow* left, const CheckedRow* right) {
    return left->verdict.nodes.size() < right->verdict.nodes.size();
  });
  for (const CheckedRow* row : open) {
    Names names = not_good(*row, good);
    if (names.empty()) names = row->verdict.nodes;  // all are good elsewhere: their links, or noise
    if (has_any(names, bad)) continue;
    bad.insert(names.begin(), names.end());
    suspects.push_back(suspect(names, *row));
  }
  return suspects;
}

}  // namespace busbar::judge
