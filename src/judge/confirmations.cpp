// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include <fmt/format.h>

#include "base/text.hpp"
#include "judge/suspects.hpp"

namespace busbar::judge {
namespace {

bool has_all(const std::vector<std::string>& nodes, const std::vector<std::string>& wanted) {
  return std::all_of(wanted.begin(), wanted.end(), [&](const std::string& node) {
    return std::find(nodes.begin(), nodes.end(), node) != nodes.end();
  });
}

bool misses(const RuleVerdict& verdict, double value) {
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

void count(Confirmations& counts, const Observation& launch, const JudgedRule& judged,
           const JudgedRow& row, const Suspect& suspect) {
  const Instance all{.name = launch.instance, .nodes = launch.nodes};
  const SampleKey key{*judged.rule, *judged.set, all, row.verdict.collective, row.verdict.size};
  const auto value = launch_value(launch, key);
  if (!value) return;
  ++(misses(row.verdict, *value) ? counts.low : counts.good);
  for (const std::string& node : launch.nodes) {
    const bool self =
        std::find(suspect.nodes.begin(), suspect.nodes.end(), node) != suspect.nodes.end();
    const bool known =
        std::find(counts.partners.begin(), counts.partners.end(), node) != counts.partners.end();
    if (!self && !known) counts.partners.push_back(node);
  }
}

Confirmations confirmations_of(const JudgedRule& judged, const Suspect& suspect,
                               std::span<const Observation> observations) {
  Confirmations counts;
  for (const Observation& launch : observations) {
    const bool of_set = launch.purpose == Purpose::Confirm && launch.device_set == judged.set->id &&
                        has_all(launch.nodes, suspect.nodes);
    if (!of_set) continue;
    for (const JudgedRow& row : judged.rows) {
      const RuleVerdict& verdict = row.verdict;
      const bool other = !launch.collective.empty() && launch.collective != verdict.collective;
      if (other || !is_low(row) || !has_all(verdict.nodes, suspect.nodes)) continue;
      if (!row.verdict.of_fleet()) count(counts, launch, judged, row, suspect);
    }
  }
  return counts;
}

bool has_wrong_data(const JudgedRule& judged, const Suspect& suspect) {
  return std::any_of(judged.rows.begin(), judged.rows.end(), [&](const JudgedRow& row) {
    return row.wrong_data && has_all(row.verdict.nodes, suspect.nodes);
  });
}

bool explained_by_another(const RuleVerdict& verdict, const std::vector<Suspect>& suspects) {
  return std::any_of(suspects.begin(), suspects.end(), [&](const Suspect& suspect) {
    return suspect.rule == verdict.rule && has_all(verdict.nodes, suspect.nodes);
  });
}

/// A low row that only cleared suspects explain is not known to be low.
void excuse_rows(JudgedRule& judged, const std::vector<Suspect>& suspects,
                 const std::vector<Cleared>& cleared) {
  for (JudgedRow& row : judged.rows) {
    RuleVerdict& verdict = row.verdict;
    const bool stays = verdict.of_fleet() || row.wrong_data || !is_low(row);
    if (stays || explained_by_another(verdict, suspects)) continue;
    const auto one = std::find_if(cleared.begin(), cleared.end(), [&](const Cleared& each) {
      return has_all(verdict.nodes, each.suspect.nodes);
    });
    if (one == cleared.end()) continue;
    verdict.word = Word::Inconclusive;
    verdict.reason = fmt::format("{}: {}", one->words, verdict.reason);
  }
}

}  // namespace

std::vector<Cleared> confirm(JudgedRule& judged, std::vector<Suspect>& suspects,
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
  excuse_rows(judged, suspects, cleared);
  return cleared;
}

}  // namespace busbar::judge
