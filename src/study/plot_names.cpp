// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <tuple>

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

/// What distinguishes the lines of a system in one panel, whatever they were measured by.
CurveKey line_of(CurveKey key) {
  key.ranks = 0;
  key.nodes = 0;
  key.device_set.clear();
  key.simulated = key.fake = key.imported = false;
  return key;
}

std::string main_parts(const CurveKey& key) {
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
  const auto count = [&](bool CurveKey::*origin) {
    return static_cast<std::size_t>(
        std::count_if(keys.begin(), keys.end(), [&](const CurveKey& key) { return key.*origin; }));
  };
  if (const std::size_t simulated = count(&CurveKey::simulated); simulated > 0) {
    common.emplace_back(simulated == keys.size() ? "simulated" : "dashed: simulated");
  }
  if (count(&CurveKey::imported) == keys.size()) common.emplace_back("imported means");
  if (count(&CurveKey::fake) > 0) common.emplace_back("fake GPUs: no figure is real");
  return joined(common);
}

}  // namespace

CurveNames curve_names(std::span<const CurveKey> keys) {
  const PartValues values = values_of(keys);
  CurveNames names{.titles = {}, .common = common_words(keys, values)};
  std::map<std::pair<int, std::string>, int> seen;  // per number of ranks
  for (const CurveKey& key : keys) ++seen[{key.ranks, main_parts(key)}];
  const bool some_measured =
      std::any_of(keys.begin(), keys.end(), [](const CurveKey& key) { return !key.imported; });
  for (const CurveKey& key : keys) {
    const auto parts = parts_of(key);
    const bool twin = seen[{key.ranks, main_parts(key)}] > 1;
    std::vector<std::string> words;
    for (std::size_t i = 0; i < (twin ? parts.size() : kMainParts); ++i) {
      if (values.at(i).size() > 1) words.push_back(parts.at(i));
    }
    if (words.empty()) words.push_back(key.label);
    names.titles.push_back(joined(words) + std::string(origin_suffix(key)));
    if (key.imported && some_measured) names.titles.back() += " (imported means)";
  }
  return names;
}

std::vector<std::size_t> lines_of_systems(std::span<const CurveKey> keys) {
  std::map<std::string, std::set<CurveKey>> lines;
  for (const CurveKey& key : keys) lines[key.label].insert(line_of(key));
  std::map<std::tuple<int, bool, CurveKey>, std::size_t> twins;
  std::vector<std::size_t> result;
  for (const CurveKey& key : keys) {
    const std::set<CurveKey>& known = lines.at(key.label);
    const CurveKey line = line_of(key);
    const auto at = static_cast<std::size_t>(std::distance(known.begin(), known.find(line)));
    // Curves that differ by devices or nodes alone stand in one panel.
    result.push_back(at + known.size() * twins[{key.ranks, key.simulated, line}]++);
  }
  return result;
}

std::vector<PlotStyle> curve_styles(std::span<const CurveKey> keys) {
  std::vector<std::string> systems;
  for (const CurveKey& key : keys) systems.push_back(key.label);
  const SeriesStyles styles(systems);
  const std::vector<std::size_t> lines = lines_of_systems(keys);
  std::vector<PlotStyle> result;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    result.push_back(plot_style(styles.of(keys[i].label, lines[i]), keys[i].simulated));
  }
  return result;
}

}  // namespace busbar
