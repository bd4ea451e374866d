// SPDX-License-Identifier: BSD-3-Clause
#include "judge/suspects.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "base/text.hpp"
#include "judge/fleet_rule.hpp"

namespace busbar::judge {
namespace {

using Names = std::vector<std::string>;
using NameSet = std::set<std::string>;

/// All are of one rule.
void add_suspect(std::vector<Suspect>& suspects, Suspect suspect) {
  const bool known = std::any_of(suspects.begin(), suspects.end(), [&](const Suspect& other) {
    return other.nodes == suspect.nodes;
  });
  if (!known) suspects.push_back(std::move(suspect));
}

/// A suspect of the rule and size of a row; the evidence begins with the size.
Suspect suspect(Names nodes, const CheckResult& row, const std::string& evidence) {
  return {.nodes = std::move(nodes),
          .rule = row.rule,
          .evidence = fmt::format("{} {}: {}", row.collective, format_bytes(row.size), evidence)};
}

// ---- pairs ------------------------------------------------------------------------------------

using Rows = std::vector<const CheckedRow*>;

/// "3 of 3 pairs low, median 0.10 GB/s, 17 % of the fleet's 0.59 GB/s".
std::string node_evidence(const BlamedNode& node, const CheckResult& row, bool of_fleet) {
  std::string text = fmt::format("{} of {} pairs low", node.low, node.pairs);
  if (node.median <= 0) return text;
  const double median = as_rate(node.median, row.metric);
  text += ", median " + value_text(median, row.metric);
  if (!row.reference) return text;
  return text + fmt::format(", {} of the {} {}", percent_text(median / *row.reference),
                            of_fleet ? "fleet's" : "reference",
                            value_text(*row.reference, row.metric));
}

void add_blame(std::vector<Suspect>& suspects, const Blame& blame, const Rows& rows,
               std::span<const std::string> nodes, bool of_fleet) {
  const auto low =
      std::find_if(rows.begin(), rows.end(), [](const CheckedRow* row) { return row->is_low(); });
  if (low == rows.end()) return;  // all are waived
  for (const BlamedNode& node : blame.nodes) {
    add_suspect(suspects, suspect({nodes[node.node]}, **low, node_evidence(node, **low, of_fleet)));
  }
  for (const PairValue& link : blame.links) {
    const Names names{nodes[link.first], nodes[link.second]};
    const auto row = std::find_if(rows.begin(), rows.end(),
                                  [&](const CheckedRow* one) { return one->nodes == names; });
    Suspect one = suspect(names, **row, (*row)->reason);
    one.evidence.insert(0, "only this pair: ");
    add_suspect(suspects, std::move(one));
  }
}

/// Pairs by their bounds or wrong data, whatever a fleet says.
void add_low_pairs(std::vector<Suspect>& suspects, const Rows& rows,
                   std::span<const std::string> nodes, bool of_fleet) {
  Rows judged;
  std::vector<bool> low;
  NameSet members;
  for (const CheckedRow* row : rows) {
    // A pair whose bounds were not judged (noise, too few launches) is neither low nor good.
    const bool known = !row->decided || row->is_low();
    if (!known || (!row->value && !row->wrong_data())) continue;
    judged.push_back(row);
    low.push_back(row->is_low());
    members.insert(row->nodes.begin(), row->nodes.end());
  }
  const auto count = static_cast<std::size_t>(std::count(low.begin(), low.end(), true));
  if (count == 0) return;
  if (count == low.size() && members.size() > 2) {
    const auto evidence = fmt::format("all {} pairs low: no node stands out", count);
    return add_suspect(suspects,
                       suspect({members.begin(), members.end()}, *judged.front(), evidence));
  }
  const auto blame = blame_of(nodes.size(), pair_values(judged, nodes), low);
  add_blame(suspects, blame, judged, nodes, of_fleet);
}

void add_pairs(std::vector<Suspect>& suspects, const PointResult& point, bool of_fleet,
               std::span<const std::string> nodes) {
  Rows rows;
  bool wrong = false;  // values of wrong data are in no fleet's finding
  for (const CheckedRow& row : point.rows) {
    rows.push_back(&row);
    wrong = wrong || row.wrong_data();
  }
  if (!of_fleet || wrong) add_low_pairs(suspects, rows, nodes, of_fleet);
  add_blame(suspects, point.blame, rows, nodes, of_fleet);
}

void add_members(std::vector<Suspect>& suspects, const PointResult& point) {
  for (const CheckedRow& row : point.rows) {
    if (row.outcome != Outcome::Fail) continue;
    add_suspect(suspects, suspect(row.nodes, row, row.reason));
  }
}

}  // namespace

std::vector<Suspect> suspects_of(const RuleResult& judged, std::span<const std::string> nodes) {
  std::vector<Suspect> suspects;
  for (const PointResult& point : judged.points) {
    if (is_bisected(judged.set, nodes.size())) {
      for (Suspect& one : group_suspects(point.rows)) add_suspect(suspects, std::move(one));
    } else if (judged.set.kind == SetKind::Pairwise) {
      add_pairs(suspects, point, judged.rule.compare == Comparison::Fleet, nodes);
    } else if (judged.set.kind == SetKind::PerNode || judged.set.kind == SetKind::List) {
      add_members(suspects, point);
    }
  }
  return suspects;
}

void drop_explained(std::vector<Suspect>& suspects) {
  NameSet blamed;
  for (const Suspect& one : suspects) {
    if (one.nodes.size() == 1) blamed.insert(one.nodes.front());
  }
  std::erase_if(suspects, [&](const Suspect& one) {
    return one.nodes.size() == 2 &&
           (blamed.contains(one.nodes[0]) || blamed.contains(one.nodes[1]));
  });
}

// ---- confirmations ----------------------------------------------------------------------------

namespace {

bool misses(const CheckResult& row, double value) {
  if (!row.reference) return true;
  const double ratio = value / *row.reference;
  const Bounds& bounds = row.bounds;
  return (bounds.fail_below && ratio < *bounds.fail_below) ||
         (bounds.fail_above && ratio > *bounds.fail_above);
}

/// What confirmations say of a suspect.
struct Confirmations {
  std::size_t good = 0;
  std::size_t low = 0;
  Names partners{};
  bool wrong_data = false;  ///< it has a row of wrong data, which nothing clears
};

void count(Confirmations& counts, const Observation& launch, const RuleResult& judged,
           const CheckedRow& row, const Suspect& suspect) {
  const bool same = launch.purpose == Purpose::Confirm && launch.device_set == row.device_set &&
                    has_all(launch.nodes, suspect.nodes);
  if (!same) return;
  const Instance all{.name = launch.instance, .nodes = launch.nodes};
  const auto value = launch_value(launch, {judged.rule, judged.set, all, row.collective, row.size});
  if (!value) return;
  ++(misses(row, *value) ? counts.low : counts.good);
  for (const std::string& node : launch.nodes) {
    const bool known = has_node(suspect.nodes, node) || has_node(counts.partners, node);
    if (!known) counts.partners.push_back(node);
  }
}

Confirmations confirmations_of(RuleResult& judged, const Suspect& suspect,
                               std::span<const Observation> observations) {
  Confirmations counts;
  judged.each([&](const CheckedRow& row) {
    if (!row.is_low() || row.of_fleet() || !has_all(row.nodes, suspect.nodes)) return;
    counts.wrong_data = counts.wrong_data || row.wrong_data();
    for (const Observation& launch : observations) count(counts, launch, judged, row, suspect);
  });
  return counts;
}

/// A low row that only cleared suspects explain is not known to be low.
void clear_row(CheckedRow& row, const std::vector<Suspect>& suspects,
               const std::vector<Cleared>& cleared) {
  const auto explains = [&](const Suspect& one) { return has_all(row.nodes, one.nodes); };
  if (row.of_fleet() || row.wrong_data() || !row.is_low()) return;
  if (std::any_of(suspects.begin(), suspects.end(), explains)) return;
  const auto one = std::find_if(cleared.begin(), cleared.end(),
                                [&](const Cleared& each) { return explains(each.suspect); });
  if (one == cleared.end()) return;
  row.outcome = Outcome::Inconclusive;
  row.reason = fmt::format("{}: {}", one->text, row.reason);
}

}  // namespace

std::vector<Cleared> confirm(RuleResult& judged, std::vector<Suspect>& suspects,
                             std::span<const Observation> observations) {
  std::vector<Cleared> cleared;
  std::vector<Suspect> kept;
  for (Suspect& one : suspects) {
    const Confirmations counts = confirmations_of(judged, one, observations);
    one.confirmed = counts.low > 0;
    if (counts.good == 0 || counts.low > 0 || counts.wrong_data) {
      kept.push_back(one);
      continue;
    }
    const std::string with = counts.partners.empty() ? "" : " with " + join(counts.partners, ", ");
    cleared.push_back({.suspect = one, .text = fmt::format("low once, good{} again", with)});
  }
  suspects = std::move(kept);
  judged.each([&](CheckedRow& row) { clear_row(row, suspects, cleared); });
  return cleared;
}

// ---- groups -----------------------------------------------------------------------------------

namespace {

Suspect group_suspect(const Names& names, const CheckedRow& row) {
  const std::string kind = names.size() == 1 ? "the one of its group that is not known to be good"
                                             : "a low group that could not be divided";
  return {.nodes = names,
          .rule = row.rule,
          .evidence = fmt::format("{}: {}: {}", row.instance, kind, row.reason)};
}

}  // namespace

std::vector<Suspect> group_suspects(std::span<const CheckedRow> rows) {
  NameSet good;
  Rows low;
  for (const CheckedRow& row : rows) {
    if (is_good(row.outcome)) good.insert(row.nodes.begin(), row.nodes.end());
    if (row.is_low()) low.push_back(&row);
  }
  std::vector<Suspect> suspects;
  NameSet bad;
  const auto blame = [&](const Names& names, const CheckedRow& row) {
    bad.insert(names.begin(), names.end());
    suspects.push_back(group_suspect(names, row));
  };
  const auto has_bad = [&](const Names& names) {
    return std::any_of(names.begin(), names.end(),
                       [&](const std::string& node) { return bad.contains(node); });
  };
  const auto not_good = [&](const CheckedRow& row) {
    Names names = row.nodes;
    std::erase_if(names, [&](const std::string& node) { return good.contains(node); });
    return names;
  };
  for (const CheckedRow* row : low) {
    const Names names = not_good(*row);
    if (names.size() == 1 && !has_bad(names)) blame(names, *row);
  }
  // The smallest first: a group that has one of them in it is explained by it.
  std::stable_sort(low.begin(), low.end(), [](const CheckedRow* left, const CheckedRow* right) {
    return left->nodes.size() < right->nodes.size();
  });
  for (const CheckedRow* row : low) {
    Names names = not_good(*row);
    if (names.empty()) names = row->nodes;  // all are good elsewhere: their links, or noise
    if (!has_bad(names)) blame(names, *row);
  }
  return suspects;
}

}  // namespace busbar::judge
