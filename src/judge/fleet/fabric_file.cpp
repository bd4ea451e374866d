// SPDX-License-Identifier: BSD-3-Clause
#include "judge/fleet/fabric_file.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/hostlist.hpp"
#include "base/text.hpp"
#include "model/matching.hpp"

namespace busbar::judge {
namespace {

/// Of levels from the narrowest.
constexpr std::array<std::string_view, 4> kLevelNames{"leaf", "pod", "group", "core"};

/// Hosts with their units from the narrowest.
using Placed = std::map<std::string, NodePath>;

/// Units of hosts that have fewer levels are repeated at the top.
std::string csv_of(Placed placed, std::string_view file) {
  std::size_t depth = 0;
  for (const auto& [host, units] : placed) depth = std::max(depth, units.size());
  if (depth == 0) throw usage_error("{}: it places no host in a fabric", file);
  depth = std::min(depth, kLevelNames.size());
  std::string csv = "host";
  for (std::size_t level = depth; level > 0; --level)
    csv += fmt::format(",{}", kLevelNames.at(level - 1));
  csv += '\n';
  for (auto& [host, units] : placed) {
    units.resize(depth, units.back());
    std::ranges::reverse(units);
    csv += fmt::format("{},{}\n", host, join(units, ","));
  }
  return csv;
}

/// The value of a word "KEY=..." of a line, whatever its case.
std::optional<std::string> value_of_key(const std::vector<std::string>& words,
                                        std::string_view key) {
  for (const std::string& word : words) {
    const std::size_t equals = word.find('=');
    if (equals != std::string::npos && lower(word.substr(0, equals)) == key) {
      return word.substr(equals + 1);
    }
  }
  return {};
}

std::string slurm_csv(std::string_view text, std::string_view file) {
  struct Switch {
    std::vector<std::string> hosts{};
    std::vector<std::string> below{};
  };
  std::map<std::string, Switch> switches;
  int number = 0;
  for (const std::string& line : split(text, '\n')) {
    ++number;
    if (line.starts_with('#')) continue;
    const std::string place = fmt::format("{}:{}", file, number);
    const std::vector<std::string> words = split_words(line);
    auto name = value_of_key(words, "switchname");
    if (!name) name = value_of_key(words, "blockname");
    if (!name) continue;
    const auto hosts = value_of_key(words, "nodes");
    const auto below = value_of_key(words, "switches");
    // Slurm also lists the hosts of all leaves below.
    const bool is_leaf = !below || below->empty() || *below == "(null)";
    Switch& each = switches[*name];
    if (is_leaf && hosts) each.hosts = expand_hostlist(place, *hosts);
    if (!is_leaf) each.below = expand_hostlist(place, *below);
  }
  std::map<std::string, std::string> above;
  for (const auto& [name, each] : switches) {
    for (const std::string& lower_switch : each.below) above.emplace(lower_switch, name);
  }
  Placed placed;
  for (const auto& [name, each] : switches) {
    NodePath units{name};
    while (units.size() < kLevelNames.size() && above.contains(units.back())) {
      units.push_back(above.at(units.back()));
    }
    for (const std::string& host : each.hosts) placed.emplace(host, units);
  }
  return csv_of(std::move(placed), file);
}

/// The text between the first two quotes at or after a place.
std::string quoted(const std::string& line, std::size_t from = 0) {
  const std::size_t open = line.find('"', from);
  if (open == std::string::npos) return {};
  const std::size_t close = line.find('"', open + 1);
  return close == std::string::npos ? "" : line.substr(open + 1, close - open - 1);
}

/// A switch's description is what follows the first #, and so is that of what a port leads to.
std::string infiniband_csv(std::string_view text, std::string_view file) {
  std::map<std::string, std::set<std::string>> leaves_of;  // by host
  std::string leaf;
  for (const std::string& line : split(text, '\n')) {
    const std::size_t comment = line.find('#');
    if (line.starts_with("Switch")) {
      leaf = quoted(line, comment == std::string::npos ? 0 : comment);
      if (leaf.empty()) leaf = quoted(line);
    } else if (!line.starts_with('[')) {
      if (!trim(line).empty()) leaf.clear();  // a channel adapter's own part, or another head
    } else if (!leaf.empty() && quoted(line).starts_with("H-") && comment != std::string::npos) {
      // "node001 mlx5_0", "node001 HCA-1"; switches have adapters of their own for SHARP.
      const std::vector<std::string> words = split_words(quoted(line, comment));
      const bool is_switch = line.find("Aggregation Node") != std::string::npos;
      if (!words.empty() && !is_switch) leaves_of[words.front()].insert(leaf);
    }
  }
  Placed placed;
  for (const auto& [host, leaves] : leaves_of) {
    std::string unit = join_all(leaves, "+");
    std::ranges::replace(unit, ',', ';');
    placed[host] = {std::move(unit)};
  }
  return csv_of(std::move(placed), file);
}

}  // namespace

std::string fabric_csv(std::string_view text, std::string_view file) {
  for (const std::string& line : split(text, '\n')) {
    const std::string word = lower(line.substr(0, line.find('=')));
    if (word == "switchname" || word == "blockname") return slurm_csv(text, file);
    if (line.starts_with("Switch\t") || line.starts_with("Switch ")) {
      return infiniband_csv(text, file);
    }
    if (line.starts_with("host,")) return std::string(text);
  }
  throw usage_error(
      "{}: neither a CSV with a header such as host,pod,leaf, nor the output of scontrol show "
      "topology or ibnetdiscover",
      file);
}

}  // namespace busbar::judge
