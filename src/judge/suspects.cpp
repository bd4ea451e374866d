// SPDX-License-Identifier: BSD-3-Clause
#include "judge/suspects.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "base/text.hpp"

namespace busbar::judge {
namespace {

using Names = std::vector<std::string>;
using NameSet = std::set<std::string>;

/// All are of one rule. Of two findings on the same nodes the worse stays, then the first.
void add_suspect(std::vector<Suspect>& suspects, Suspect suspect) {
  const auto same = [&](const Suspect& known) { return known.nodes == suspect.nodes; };
  Suspect& known = find_or_add(suspects, same, suspect);
  if (suspect.defect > known.defect) known = std::move(suspect);
}

Defect defect_of(const CheckedRow& row) {
  return row.wrong_data()  ? Defect::WrongData
         : row.is_broken() ? Defect::FailedLaunches
                           : Defect::Slow;
}

/// A suspect of the rule and size of a row; the evidence begins with the size, but for launches
/// that failed, which have all sizes.
Suspect suspect(Names nodes, const CheckResult& row, const std::string& evidence, Defect defect) {
  const std::string size =
      defect == Defect::FailedLaunches ? "" : fmt::format(" {}", format_bytes(row.size));
  return {.nodes = std::move(nodes),
          .rule = row.rule,
          .evidence = fmt::format("{}{}: {}", row.collective, size, evidence),
          .defect = defect};
}

// ---- pairs ------------------------------------------------------------------------------------

using Rows = std::vector<const CheckedRow*>;

/// Noise leaves open how slow a pair is; that its median is low is evidence for a node all the
/// same.
bool is_noisy_and_low(const CheckedRow& row) {
  if (row.decided_by != DecidedBy::Noisy || !row.ratio) return false;
  const Miss miss = miss_of(row.bounds, *row.ratio);
  return miss.outcome == Outcome::Fail && miss.above == (row.metric == Metric::Time);
}

bool is_bad(const CheckedRow& row, Defect defect) {
  if (row.wrong_data() || defect == Defect::WrongData) {
    return row.wrong_data() && defect == Defect::WrongData;
  }
  if (defect == Defect::FailedLaunches) {
    return row.is_broken() || row.sample.launches().is_mostly_failed();
  }
  return !row.is_broken() && (row.is_low() || is_noisy_and_low(row));
}

/// Whether it is known that the pair has the defect or not. A pair whose bounds were not
/// judged (noise, too few launches) is neither slow nor good.
bool is_known(const CheckedRow& row, Defect defect) {
  if (is_bad(row, defect)) return row.value || defect != Defect::Slow;
  if (!row.value || defect == Defect::WrongData) return row.value.has_value();
  return defect == Defect::Slow ? !row.decided : row.sample.launches().failed == 0;
}

/// The pairs of a collective and size that may have a defect.
struct SuspectPairs {
  const Rows& rows;
  std::span<const std::string> nodes;
  Defect defect = Defect::Slow;
  bool of_fleet = false;
};

/// "9 of 9 launches with it hung or crashed; no other did (h1+h2: exit 4: ...)" by the first of its
/// pairs. Pairs with nodes `before` do not count.
std::string failed_launches_evidence(const std::string& name, const CheckedRow& row,
                                     const SuspectPairs& pairs, const NameSet& before) {
  LaunchCount own;
  LaunchCount others;
  bool silent = false;
  std::string quoted;
  for (const CheckedRow* one : pairs.rows) {
    if (std::ranges::any_of(one->nodes, [&](const auto& node) { return before.contains(node); })) {
      continue;
    }
    const bool has_node = contains(one->nodes, name);
    (has_node ? own : others).add(one->sample.launches());
    for (const LaunchFailure& failure : one->sample.failures) {
      silent = silent || failure.unreachable == name;
      if (!has_node || !failure.crashed || !quoted.empty()) continue;
      quoted = fmt::format("{}: {}", one->instance, failure.reason);
    }
  }
  if (quoted.empty()) quoted = fmt::format("{}: {}", row.instance, row.reason);
  return fmt::format("{} of {} with it hung or crashed{}; {} ({})", own.failed,
                     counted(own.made, "launch"), silent ? ", and then it did not answer" : "",
                     others.failed == 0 ? "no other did"
                                        : fmt::format("{} of {} did", others.failed,
                                                      counted(others.made, "other")),
                     quoted);
}

/// "3 of 3 pairs low, median 0.10 GB/s, 17 % of the fleet's 0.59 GB/s", or "wrong data in 3 of 3
/// pairs (h1+h2: 1 wrong element)" by the first of them. Pairs with nodes `before` do not count.
std::string node_evidence(const BlamedNode& node, const CheckedRow& row, const SuspectPairs& pairs,
                          const NameSet& before) {
  if (pairs.defect == Defect::FailedLaunches) {
    return failed_launches_evidence(pairs.nodes[node.node], row, pairs, before);
  }
  if (pairs.defect == Defect::WrongData) {
    return fmt::format("wrong data in {} of {} pairs ({}: {})", node.low, node.pairs, row.instance,
                       join(row.sample.wrong, "; "));
  }
  std::string text = fmt::format("{} of {} pairs low", node.low, node.pairs);
  const std::string& name = pairs.nodes[node.node];
  const auto noisy = std::ranges::count_if(pairs.rows, [&](const CheckedRow* one) {
    return is_noisy_and_low(*one) && contains(one->nodes, name) &&
           std::ranges::none_of(one->nodes,
                                [&](const std::string& other) { return before.contains(other); });
  });
  if (noisy > 0) text += fmt::format(" ({} of them too noisy for a verdict)", noisy);
  if (node.median <= 0) return text;
  const double median = as_rate(node.median, row.metric);
  text += ", median " + value_text(median, row.metric);
  if (!row.reference) return text;
  return text + fmt::format(", {} of the {} {}", percent_text(median / *row.reference),
                            pairs.of_fleet ? "fleet's" : "reference",
                            value_text(*row.reference, row.metric));
}

/// "only this pair" where that is known of all other pairs of its nodes.
std::string link_text(const CheckedRow& link, const SuspectPairs& pairs) {
  const std::size_t open = count_of(pairs.rows, [&](const CheckedRow* row) {
    const bool shares = contains(row->nodes, link.nodes[0]) || contains(row->nodes, link.nodes[1]);
    return shares && row->nodes != link.nodes && !is_known(*row, pairs.defect);
  });
  return open == 0
             ? "only this pair: "
             : fmt::format("this pair ({} of its nodes not judged): ", counted(open, "other pair"));
}

void add_blame(std::vector<Suspect>& suspects, const Blame& blame, const SuspectPairs& pairs) {
  NameSet before;
  for (const BlamedNode& node : blame.nodes) {
    const std::string& name = pairs.nodes[node.node];
    const auto bad = std::ranges::find_if(pairs.rows, [&](const CheckedRow* row) {
      return is_bad(*row, pairs.defect) && contains(row->nodes, name);
    });
    if (bad == pairs.rows.end()) continue;  // all are waived
    add_suspect(suspects,
                suspect({name}, **bad, node_evidence(node, **bad, pairs, before), pairs.defect));
    before.insert(name);
  }
  for (const PairValue& link : blame.links) {
    const Names names{pairs.nodes[link.first], pairs.nodes[link.second]};
    const auto row = std::ranges::find_if(
        pairs.rows, [&](const CheckedRow* one) { return one->nodes == names; });
    if (!is_bad(**row, pairs.defect)) continue;
    add_suspect(suspects,
                suspect(names, **row, link_text(**row, pairs) + (*row)->reason, pairs.defect));
  }
}

/// Pairs by their bounds or wrong data, whatever a fleet says.
void add_bad_pairs(std::vector<Suspect>& suspects, const SuspectPairs& pairs) {
  Rows judged;
  std::vector<bool> bad;
  NameSet members;
  bool fails = false;
  for (const CheckedRow* row : pairs.rows) {
    if (!is_known(*row, pairs.defect)) continue;
    judged.push_back(row);
    bad.push_back(is_bad(*row, pairs.defect));
    fails = fails || (bad.back() && row->outcome == Outcome::Fail);
    members.insert(row->nodes.begin(), row->nodes.end());
  }
  if (!fails) return;
  const auto count = static_cast<std::size_t>(std::ranges::count(bad, true));
  if (count == bad.size() && members.size() > 2) {
    const auto evidence =
        fmt::format("{}: no node stands out", pairs.defect == Defect::WrongData
                                                  ? fmt::format("wrong data in all {} pairs", count)
                                                  : fmt::format("all {} pairs low", count));
    return add_suspect(suspects, suspect({members.begin(), members.end()}, *judged.front(),
                                         evidence, pairs.defect));
  }
  add_blame(suspects, blame_of(pairs.nodes.size(), pair_values(judged, pairs.nodes), bad), pairs);
}

void add_pairs(std::vector<Suspect>& suspects, const PointResult& point, bool of_fleet,
               std::span<const std::string> nodes) {
  Rows rows;
  bool noisy = false;  // values of noisy pairs are in no fleet's finding
  for (const CheckedRow& row : point.rows) {
    rows.push_back(&row);
    noisy = noisy || is_noisy_and_low(row);
  }
  add_bad_pairs(suspects, {rows, nodes, Defect::WrongData, of_fleet});
  add_bad_pairs(suspects, {rows, nodes, Defect::FailedLaunches, of_fleet});
  const SuspectPairs slow{rows, nodes, Defect::Slow, of_fleet};
  if (!of_fleet || noisy) add_bad_pairs(suspects, slow);
  add_blame(suspects, point.blame, slow);
}

void add_members(std::vector<Suspect>& suspects, const PointResult& point) {
  for (const CheckedRow& row : point.rows) {
    if (row.outcome != Outcome::Fail) continue;
    add_suspect(suspects, suspect(row.nodes, row, row.reason, defect_of(row)));
  }
}

struct Confirmations {
  std::size_t good = 0;
  std::size_t low = 0;
  Names partners{};
  bool wrong_data = false;  ///< it has a row of wrong data, which nothing clears
};

/// Did the launch fail as those that the suspect is blamed for?
bool is_failed(const Observation& launch, const Suspect& suspect) {
  return launch.hung_or_crashed() || contains(suspect.nodes, launch.unreachable);
}

void count(Confirmations& counts, const Observation& launch, const RuleResult& judged,
           const CheckedRow& row, const Suspect& suspect) {
  const bool same = launch.purpose == Purpose::Confirm && launch.device_set == row.device_set &&
                    has_all(launch.nodes, suspect.nodes);
  if (!same) return;
  const Instance all{.name = launch.instance, .nodes = launch.nodes};
  const SampleKey key{judged.rule, judged.set, all, row.collective, row.size};
  const bool wrong = suspect.defect == Defect::WrongData && has_wrong_data(launch, key);
  const bool failed = suspect.defect == Defect::FailedLaunches && is_failed(launch, suspect);
  const auto value = launch_value(launch, key);
  if (!value && !wrong && !failed) return;
  const bool bad =
      suspect.defect == Defect::Slow
          ? !row.reference || miss_of(row.bounds, *value / *row.reference).outcome == Outcome::Fail
          : wrong || failed;
  ++(bad ? counts.low : counts.good);
  for (const std::string& node : launch.nodes) {
    if (!contains(suspect.nodes, node)) add_new(counts.partners, node);
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
  if (std::ranges::any_of(suspects, explains)) return;
  const auto one =
      std::ranges::find_if(cleared, [&](const Cleared& each) { return explains(each.suspect); });
  if (one == cleared.end()) return;
  row.outcome = Outcome::Inconclusive;
  row.reason = fmt::format("{}: {}", one->text, row.reason);
}

Suspect group_suspect(const Names& names, const CheckedRow& row) {
  const std::string kind = names.size() == 1 ? "the one of its group that is not known to be good"
                                             : "a low group that could not be divided";
  return {.nodes = names,
          .rule = row.rule,
          .evidence = fmt::format("{}: {}: {}", row.instance, kind, row.reason),
          .defect = defect_of(row)};
}

}  // namespace

std::vector<Suspect> suspects_of(const RuleResult& judged, std::span<const std::string> nodes) {
  std::vector<Suspect> suspects;
  for (const PointResult& point : judged.points) {
    if (is_bisected(judged.set, nodes.size())) {
      for (Suspect& one : group_suspects(point.rows)) add_suspect(suspects, std::move(one));
    } else if (judged.set.kind == SetKind::Pairwise) {
      add_pairs(suspects, point, judged.rule.compare == RuleKind::Fleet, nodes);
    } else if (judged.set.kind == SetKind::PerNode || judged.set.kind == SetKind::List) {
      add_members(suspects, point);
    }
  }
  return suspects;
}

void drop_explained(std::vector<Suspect>& suspects) {
  const auto explains = [](const Suspect& node, const Suspect& link) {
    return node.nodes.size() == 1 && contains(link.nodes, node.nodes.front()) &&
           node.defect >= link.defect;
  };
  std::vector<Suspect> kept;
  for (const Suspect& one : suspects) {
    const bool explained =
        one.nodes.size() == 2 &&
        std::ranges::any_of(suspects, [&](const Suspect& other) { return explains(other, one); });
    if (!explained) kept.push_back(one);
  }
  std::ranges::stable_sort(kept, std::ranges::greater{}, &Suspect::defect);
  suspects = std::move(kept);
}

// ---- confirmations ----------------------------------------------------------------------------

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
    const std::string_view was = one.defect == Defect::Slow ? "low" : name(one.defect);
    cleared.push_back({.suspect = one, .text = fmt::format("{} once, good{} again", was, with)});
  }
  suspects = std::move(kept);
  judged.each([&](CheckedRow& row) { clear_row(row, suspects, cleared); });
  return cleared;
}

// ---- groups -----------------------------------------------------------------------------------

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
    return std::ranges::any_of(names, [&](const std::string& node) { return bad.contains(node); });
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
  std::ranges::stable_sort(low, {}, [](const CheckedRow* row) { return row->nodes.size(); });
  for (const CheckedRow* row : low) {
    Names names = not_good(*row);
    if (names.empty()) names = row->nodes;  // all are good elsewhere: their links, or noise
    if (!has_bad(names)) blame(names, *row);
  }
  return suspects;
}

}  // namespace busbar::judge
