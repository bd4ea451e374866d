// SPDX-License-Identifier: BSD-3-Clause
#include "judge/output/listing.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include <fmt/format.h>

#include "base/text.hpp"
#include "judge/output/describe.hpp"

namespace busbar::judge {
namespace {

constexpr std::size_t kPassesListed = 4;
constexpr std::size_t kOthersListed = 20;
constexpr std::size_t kMostListed = 40;

using Group = std::vector<const CheckResult*>;
using CurveKey = std::tuple<std::string, std::string, Bytes, bool>;

/// Of one rule, collective and size, and what is said of a fleet apart from its instances: in the
/// order of their first verdict.
std::vector<Group> curves_of(const Acceptance& acceptance) {
  std::vector<Group> groups;
  std::map<CurveKey, std::size_t> places;
  for (const CheckResult& verdict : acceptance.verdicts) {
    const CurveKey key{verdict.rule, verdict.collective, verdict.size, verdict.of_fleet()};
    const auto [found, added] = places.try_emplace(key, groups.size());
    if (added) groups.emplace_back();
    groups[found->second].push_back(&verdict);
  }
  return groups;
}

/// "12.1..12.9", or one figure where all have the same.
template <class Words>
std::string range_of(const Group& group, Words words, std::optional<double> CheckResult::*member) {
  std::optional<double> low;
  std::optional<double> high;
  for (const CheckResult* verdict : group) {
    const std::optional<double> value = finite(verdict->*member);
    if (!value) continue;
    low = std::min(low.value_or(*value), *value);
    high = std::max(high.value_or(*value), *value);
  }
  const std::string first = words(low);
  return first == words(high) ? first : first + ".." + words(high);
}

std::string common_bound(const Group& group) {
  const std::string first = bound_words(*group.front());
  const bool same = std::all_of(group.begin(), group.end(), [&](const CheckResult* verdict) {
    return bound_words(*verdict) == first;
  });
  return same ? first : std::string();
}

ListedRow row_of(const Group& group, std::string instance, const std::string& reason) {
  const CheckResult& first = *group.front();
  const bool measured = std::any_of(group.begin(), group.end(), [](const CheckResult* verdict) {
    return finite(verdict->value).has_value();
  });
  return {.rule = first.rule,
          .instance = std::move(instance),
          .collective = first.collective,
          .size = size_words(first.size),
          .measured = range_of(group, figure, &CheckResult::value),
          .unit = measured ? std::string(unit(first.metric)) : "",
          .bound = common_bound(group),
          .ratio = range_of(group, ratio_words, &CheckResult::ratio),
          .outcome = first.outcome,
          .reason = one_line(reason)};
}

bool is_summarized(const Group& alike) {
  return alike.size() > (alike.front()->outcome == Outcome::Pass ? kPassesListed : kOthersListed);
}

using Likeness = std::pair<Outcome, std::string>;

Likeness likeness(const CheckResult& verdict) {
  return {verdict.outcome, verdict.outcome == Outcome::Pass ? "" : verdict.reason};
}

/// Verdicts of a curve with one word and one reason.
std::map<Likeness, Group> alike_of(const Group& curve) {
  std::map<Likeness, Group> groups;
  for (const CheckResult* verdict : curve) groups[likeness(*verdict)].push_back(verdict);
  return groups;
}

/// Summaries stand where their first verdict does.
void list_curve(const Group& curve, std::string_view noun, std::vector<ListedRow>& rows) {
  std::size_t listed = 0;
  Group rest;
  const std::map<Likeness, Group> groups = alike_of(curve);
  for (const CheckResult* verdict : curve) {
    const Group& alike = groups.at(likeness(*verdict));
    if (is_summarized(alike)) {
      if (verdict != alike.front()) continue;
      rows.push_back(row_of(alike, fmt::format("{} of {} {}", alike.size(), curve.size(), noun),
                            likeness(*verdict).second));
    } else if (listed++ < kMostListed) {
      rows.push_back(row_of({verdict}, verdict->instance, verdict->reason));
    } else {
      rest.push_back(verdict);
    }
  }
  if (rest.empty()) return;
  const auto worst = std::max_element(
      rest.begin(), rest.end(),
      [](const CheckResult* a, const CheckResult* b) { return a->outcome < b->outcome; });
  rows.push_back(row_of(rest, fmt::format("{} more {}", rest.size(), noun), "and alike"));
  rows.back().outcome = (*worst)->outcome;
}

}  // namespace

std::vector<ListedRow> list_rows(const Acceptance& acceptance, const Specification& specification) {
  std::vector<ListedRow> rows;
  const bool refused = !acceptance.head.refused.empty();
  for (const Group& curve : curves_of(acceptance)) {
    if (refused) {
      const std::string_view noun = instances_noun(specification, curve.front()->device_set);
      rows.push_back(row_of(
          curve,
          curve.size() == 1 ? curve.front()->instance : fmt::format("{} {}", curve.size(), noun),
          ""));
      continue;
    }
    list_curve(curve, instances_noun(specification, curve.front()->device_set), rows);
  }
  return rows;
}

}  // namespace busbar::judge
