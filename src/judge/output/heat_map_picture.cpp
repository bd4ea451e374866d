// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <map>
#include <tuple>

#include <fmt/format.h>

#include "judge/output/describe.hpp"
#include "judge/output/pictures.hpp"
#include "report/svg_heat_map.hpp"

namespace busbar::judge {
namespace {

using Verdicts = std::vector<const CheckResult*>;
using MapKey = std::tuple<std::string, std::string, std::string, Bytes, Metric, Statistic>;

std::vector<std::string> members_of(const Acceptance& acceptance,
                                    const Specification& specification) {
  if (!specification.system.nodes.empty()) return specification.system.nodes;
  std::vector<std::string> names;
  for (const NodeAccount& account : acceptance.nodes) names.push_back(account.node);
  return names;
}

/// Several rules may judge one pair: the worst word counts.
std::vector<HeatCell> cells_of(const Verdicts& verdicts, const std::vector<std::string>& members) {
  std::map<std::pair<std::size_t, std::size_t>, const CheckResult*> worst;
  const auto place = [&](const std::string& node) {
    return static_cast<std::size_t>(
        std::distance(members.begin(), std::find(members.begin(), members.end(), node)));
  };
  for (const CheckResult* verdict : verdicts) {
    const std::pair<std::size_t, std::size_t> pair{place(verdict->nodes[0]),
                                                   place(verdict->nodes[1])};
    const auto [found, added] = worst.try_emplace(pair, verdict);
    if (found->second->outcome < verdict->outcome) found->second = verdict;
  }
  std::vector<HeatCell> cells;
  for (const auto& [pair, verdict] : worst) {
    cells.push_back(
        {.first = pair.first,
         .second = pair.second,
         .value = finite(verdict->value),
         .failed = verdict->outcome == Outcome::Fail || verdict->outcome == Outcome::Known,
         .verdict = std::string(name(verdict->outcome))});
  }
  return cells;
}

/// From references and bounds, so that pictures of two runs can be laid side by side.
void set_limits(HeatMap& map, const Verdicts& verdicts) {
  constexpr double kAboveReference = 1.1;
  for (const CheckResult* verdict : verdicts) {
    if (!map.reference) map.reference = finite(verdict->reference);
    if (!map.floor) map.floor = edge(*verdict, verdict->bounds.fail_below);
  }
  double most = 0;
  for (const CheckResult* verdict : verdicts) {
    most = std::max(most, finite(verdict->value).value_or(0));
  }
  map.top = map.reference ? *map.reference * kAboveReference : most;
}

std::vector<bool> suspects_of(const Acceptance& acceptance,
                              const std::vector<std::string>& members) {
  std::vector<bool> suspects(members.size(), false);
  for (const Suspect& suspect : acceptance.suspects) {
    if (suspect.nodes.size() != 1) continue;
    const auto found = std::find(members.begin(), members.end(), suspect.nodes.front());
    if (found == members.end()) continue;
    suspects[static_cast<std::size_t>(std::distance(members.begin(), found))] = true;
  }
  return suspects;
}

Figure heat_map_of(const Acceptance& acceptance, const std::vector<std::string>& members,
                   const Verdicts& verdicts) {
  const CheckResult& first = *verdicts.front();
  HeatMap map{.title = fmt::format("Device set {}: {} of {}", first.device_set, first.collective,
                                   size_words(first.size)),
              .unit = std::string(unit(first.metric)),
              .labels = members,
              .cells = cells_of(verdicts, members),
              .suspects = suspects_of(acceptance, members)};
  set_limits(map, verdicts);
  return {.svg = svg_heat_map(map),
          .caption = fmt::format(
              "{}; {} {} in {}. Every pair stands twice, mirrored at the blank diagonal; the scale "
              "begins at 0 and ends 10 % above the reference.",
              map.title, name(first.statistic), name(first.metric), map.unit),
          .wide = true};
}

}  // namespace

std::vector<Figure> heat_maps(const Acceptance& acceptance, const Specification& specification) {
  constexpr std::size_t kFewest = 3;
  std::map<MapKey, Verdicts> maps;
  for (const CheckResult& verdict : acceptance.verdicts) {
    if (verdict.nodes.size() != 2 || instances_noun(specification, verdict.device_set) != "pairs") {
      continue;
    }
    maps[{verdict.device_set, verdict.collective, verdict.type, verdict.size, verdict.metric,
          verdict.statistic}]
        .push_back(&verdict);
  }
  const std::vector<std::string> members = members_of(acceptance, specification);
  std::vector<Figure> figures;
  if (members.size() < kFewest) return figures;
  for (const auto& [key, verdicts] : maps) {
    figures.push_back(heat_map_of(acceptance, members, verdicts));
    if (figures.back().svg.empty()) figures.pop_back();
  }
  return figures;
}

}  // namespace busbar::judge
