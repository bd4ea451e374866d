// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <map>
#include <set>

#include <fmt/format.h>

#include "base/text.hpp"
#include "study/plot_curves.hpp"

namespace busbar {
namespace {

/// What may tell curves apart, in the order of their names; the last two only where nothing else
/// does.
std::array<std::string, 6> parts_of(const CurveKey& key) {
  return {key.label,
          key.collective,
          key.op.empty() || key.op == "none" ? key.type : fmt::format("{} {}", key.type, key.op),
          key.in_place ? "in place" : "out of place",
          counted(static_cast<std::size_t>(std::max(key.nodes, 0)), "node"),
          key.device_set};
}
constexpr std::size_t kMainParts = 4;

std::string joined(const std::vector<std::string>& words) {
  std::vector<std::string> given;
  std::copy_if(words.begin(), words.end(), std::back_inserter(given),
               [](const std::string& word) { return !word.empty(); });
  return join(given, ", ");
}

/// A curve without what the figure's panels are for.
CurveKey without_ranks(CurveKey key) {
  key.ranks = 0;
  key.nodes = 0;
  key.device_set.clear();
  return key;
}

std::string without_simulated(const CurveKey& key) {
  return joined({key.label, key.collective, key.type, key.op, key.in_place ? "in" : "out"});
}

/// The values of each part over all curves.
using PartValues = std::array<std::set<std::string>, 6>;

PartValues values_of(std::span<const CurveKey> keys) {
  PartValues values;
  for (const CurveKey& key : keys) {
    const auto parts = parts_of(key);
    for (std::size_t i = 0; i < parts.size(); ++i) values.at(i).insert(parts.at(i));
  }
  return values;
}

/// What all curves share, and whether they are simulated.
std::string common_words(std::span<const CurveKey> keys, const PartValues& values) {
  std::vector<std::string> common;
  for (std::size_t i = 0; i < kMainParts; ++i) {
    if (values.at(i).size() == 1) common.push_back(*values.at(i).begin());
  }
  const auto simulated = [](const CurveKey& key) { return key.simulated; };
  if (std::any_of(keys.begin(), keys.end(), simulated)) {
    const bool all = std::all_of(keys.begin(), keys.end(), simulated);
    common.emplace_back(all ? "simulated" : "dashed: simulated");
  }
  return joined(common);
}

}  // namespace

CurveNames curve_names(std::span<const CurveKey> keys) {
  const PartValues values = values_of(keys);
  CurveNames names{.titles = {}, .common = common_words(keys, values)};
  std::map<std::pair<int, std::string>, int> seen;  // per number of ranks
  for (const CurveKey& key : keys) ++seen[{key.ranks, without_simulated(key)}];
  for (const CurveKey& key : keys) {
    const auto parts = parts_of(key);
    const bool twin = seen[{key.ranks, without_simulated(key)}] > 1;
    std::vector<std::string> words;
    for (std::size_t i = 0; i < (twin ? parts.size() : kMainParts); ++i) {
      if (values.at(i).size() > 1) words.push_back(parts.at(i));
    }
    if (words.empty()) words.push_back(key.label);
    names.titles.push_back(joined(words) + (key.simulated ? " (simulated)" : ""));
  }
  return names;
}

std::vector<PlotStyle> curve_styles(std::span<const CurveKey> keys) {
  std::set<std::string> systems;
  std::map<std::string, std::set<CurveKey>> variants;
  for (const CurveKey& key : keys) {
    systems.insert(key.label);
    CurveKey variant = without_ranks(key);
    variant.simulated = false;  // the same colour and shape, dashed
    variants[key.label].insert(variant);
  }
  const std::vector<std::string> names(systems.begin(), systems.end());
  const PlotStyles styles(names);
  std::map<std::pair<int, CurveKey>, int> twins;
  std::vector<PlotStyle> result;
  for (const CurveKey& key : keys) {
    CurveKey variant = without_ranks(key);
    variant.simulated = false;
    const auto& known = variants.at(key.label);
    int at = static_cast<int>(std::distance(known.begin(), known.find(variant)));
    // Curves that differ by devices or nodes alone stand in one panel.
    at += static_cast<int>(known.size()) * twins[{key.ranks, without_ranks(key)}]++;
    const bool free = systems.size() == 1 && !is_paper_system(key.label);
    result.push_back(free ? free_style(at, key.simulated)
                          : styles.of(key.label, at, key.simulated));
  }
  return result;
}

}  // namespace busbar
