// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <map>
#include <tuple>

#include <fmt/format.h>

#include "base/text.hpp"
#include "judge/output/describe.hpp"

namespace busbar::judge {
namespace {

/// "nodes", "rails", "instances": what these are results of.
std::string_view instances_noun(const Specification& specification, const Results& curve) {
  const auto* set =
      find_by(specification.device_sets, curve.front()->device_set, &DeviceSetRule::id);
  if (set != nullptr && set->kind == SetKind::Rails) return "rails";
  const auto is_node = [](const CheckResult* one) { return one->nodes.size() == 1; };
  return std::ranges::all_of(curve, is_node) ? "nodes" : "instances";
}

/// Whether a bound is missed: then every number counts.
bool is_miss(Outcome outcome) {
  return outcome == Outcome::Fail || outcome == Outcome::Warn || outcome == Outcome::Known;
}

/// What results have in common that become one line.
std::string kind_of(const CheckResult& one) {
  if (one.outcome == Outcome::Pass) return {};
  return is_miss(one.outcome) ? one.reason : without_numbers(one.reason);
}

ListedRow summary_of(const Results& alike, std::string instance) {
  const CheckResult& first = *alike.front();
  ListedRow row{alike, std::move(instance), first.outcome};
  if (first.outcome == Outcome::Pass) return row;
  const bool varies = std::ranges::any_of(
      alike, [&](const CheckResult* one) { return one->reason != first.reason; });
  row.reason = (varies ? "e.g. " : "") + first.reason;
  return row;
}

/// Results with one outcome and one kind of reason; summaries stand where their first result does.
void list_curve(const Results& curve, std::string_view noun, std::vector<ListedRow>& rows) {
  constexpr std::size_t kFewListed = 4;
  constexpr std::size_t kMissesListed = 20;
  constexpr std::size_t kMostListed = 40;
  const auto key_of = [](const CheckResult& one) { return std::pair(one.outcome, kind_of(one)); };
  std::map<std::pair<Outcome, std::string>, Results> groups;
  for (const CheckResult* result : curve) groups[key_of(*result)].push_back(result);
  std::size_t listed = 0;
  ListedRow rest{.outcome = Outcome::Skip, .reason = "and alike"};
  for (const CheckResult* result : curve) {
    const auto& [key, alike] = *groups.find(key_of(*result));
    const Outcome outcome = result->outcome;
    if (alike.size() > (is_miss(outcome) ? kMissesListed : kFewListed)) {
      if (result != alike.front()) continue;
      rows.push_back(
          summary_of(alike, fmt::format("{} of {} {}", alike.size(), curve.size(), noun)));
    } else if (listed++ < kMostListed) {
      rows.push_back({{result}, result->instance, outcome, result->reason});
    } else {
      rest.results.push_back(result);
      rest.outcome = std::max(rest.outcome, outcome);
    }
  }
  if (rest.results.empty()) return;
  rest.instance = fmt::format("{} more {}", rest.results.size(), noun);
  rows.push_back(std::move(rest));
}

/// "12.1..12.9", or one text. None of wrong data: people would read the rate as the finding.
template <class Text>
std::string range_of(const ListedRow& row, std::optional<double> CheckResult::*member, Text text) {
  std::vector<double> values;
  const CheckResult& first_row = row.first();
  if (first_row.decided_by == DecidedBy::WrongData && is_of_rules(first_row.metric)) return {};
  for (const CheckResult* result : row.results) {
    if (const auto value = finite(result->*member)) values.push_back(*value);
  }
  if (values.empty()) return {};
  const auto [low, high] = std::ranges::minmax_element(values);
  const std::string first = text(*low);
  return first == text(*high) ? first : first + ".." + text(*high);
}

std::string measured(const ListedRow& row) { return range_of(row, &CheckResult::value, figure); }

std::string unit_of(const ListedRow& row) {
  return measured(row).empty() ? "" : std::string(unit(row.first().metric));
}

template <class Text>
std::string common_text(const ListedRow& row, Text text, std::string_view otherwise = "several") {
  const std::string first = text(row.first());
  const bool same =
      std::ranges::all_of(row.results, [&](const CheckResult* one) { return text(*one) == first; });
  return same ? first : std::string(otherwise);
}

constexpr auto kListedColumns = std::to_array<Column<ListedRow>>({
    {"rule", "rule", [](const ListedRow& row) { return row.first().rule; }},
    {"instance", "instance", [](const ListedRow& row) { return row.instance; }},
    {"collective", "collective",
     [](const ListedRow& row) {
       return common_text(row, [](const CheckResult& one) { return one.collective; });
     }},
    {"size", "size",
     [](const ListedRow& row) {
       return common_text(row, [](const CheckResult& one) { return size_text(one.size); });
     }},
    {"measured", "measured", [](const ListedRow& row) { return measured(row); }},
    {"unit", "unit", [](const ListedRow& row) { return unit_of(row); }},
    {"value", "measured",
     [](const ListedRow& row) { return std::string(trim(measured(row) + " " + unit_of(row))); }},
    {"bound", "bound", [](const ListedRow& row) { return common_text(row, bound_text, ""); }},
    {"ratio", "ratio",
     [](const ListedRow& row) {
       return range_of(row, &CheckResult::ratio,
                       [](double ratio) { return fmt::format("{:.3f}", ratio); });
     }},
    {"verdict", "verdict", [](const ListedRow& row) { return row.outcome; }},
    {"reason", "reason", [](const ListedRow& row) { return one_line(row.reason); }},
});

}  // namespace

std::vector<ListedRow> list_rows(const Acceptance& acceptance, const Specification& specification) {
  std::vector<ListedRow> rows;
  const auto key_of = [](const CheckResult& one) {
    return std::tuple(one.rule, one.collective, one.size, one.of_fleet());
  };
  for (const Results& curve : group_results(acceptance, key_of)) {
    const CheckResult& first = *curve.front();
    const std::string_view noun = instances_noun(specification, curve);
    if (acceptance.head.refused.empty()) {
      list_curve(curve, noun, rows);
    } else {
      rows.push_back({curve,
                      curve.size() == 1 ? first.instance : fmt::format("{} {}", curve.size(), noun),
                      first.outcome});
    }
  }
  return rows;
}

std::vector<Column<ListedRow>> listed_columns(std::string_view names) {
  return select_columns(kListedColumns, names);
}

}  // namespace busbar::judge
