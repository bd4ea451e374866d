// SPDX-License-Identifier: BSD-3-Clause
#include "judge/fleet/fabric_file.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <vector>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/hostlist.hpp"
#include "base/text.hpp"
#include "machine/machine_fact.hpp"
#include "model/matching.hpp"

namespace busbar::judge {
namespace {

/// Of levels from the narrowest.
constexpr std::array<std::string_view, 4> kLevelNames{"leaf", "pod", "group", "core"};

/// Hosts with their units from the narrowest.
using Placed = std::map<std::string, NodePath>;

/// Units of hosts that have fewer levels are repeated at the top.
std::string csv_of(const Placed& placed, std::string_view file) {
  std::size_t depth = 0;
  for (const auto& [host, units] : placed) depth = std::max(depth, units.size());
  if (depth == 0) throw usage_error("{}: it places no host in a fabric", file);
  depth = std::min(depth, kLevelNames.size());
  std::vector<std::string> hosts;
  std::vector<NodePath> paths;
  for (const auto& [host, own] : placed) {
    hosts.push_back(host);
    paths.push_back(own);
    paths.back().resize(depth, own.back());
    std::ranges::reverse(paths.back());
  }
  return levels_csv(hosts, paths);
}

/// A switch of Slurm's topology, or a block.
struct Switch {
  std::string name{};
  std::vector<std::string> hosts{};  ///< of all leaves below
  std::vector<std::string> below{};  ///< none: it is a leaf
};

/// All of a line, each from its name on; `names` counts those in them.
std::vector<Switch> parse_switches(const std::string& place, std::string_view line,
                                   std::size_t& names) {
  constexpr std::size_t kMost = 4'000'000;  // a host is in a switch of each level
  std::vector<std::map<std::string, std::string>> entries;
  for (const std::string& word : split_words(line.substr(0, line.find('#')))) {
    const std::size_t equals = word.find('=');
    if (equals == std::string::npos) continue;
    const std::string key = lower(word.substr(0, equals));
    const bool begins = key == "switchname" || key == "blockname";
    if (begins) entries.emplace_back();
    if (!entries.empty()) entries.back().emplace(begins ? "name" : key, word.substr(equals + 1));
  }
  return mapped(entries, [&](std::map<std::string, std::string> entry) {
    const std::string below = entry["switches"];
    Switch parsed{.name = entry["name"], .hosts = expand_hostlist(place, entry["nodes"])};
    if (below != "(null)") parsed.below = expand_hostlist(place, below);
    names += parsed.hosts.size() + parsed.below.size();
    if (names > kMost) throw usage_error("{}: more than 4 million names", place);
    return parsed;
  });
}

/// What switches have below them, and no leaf has.
void note_unplaced(const std::vector<Switch>& switches, const Placed& placed, std::string_view file,
                   std::vector<std::string>& notes) {
  std::set<std::string> noted;
  for (const Switch& each : switches) {
    const auto lost = filtered(each.hosts, [&](const std::string& host) {
      return !placed.contains(host) && noted.insert(host).second;
    });
    if (lost.empty()) continue;
    notes.push_back(fmt::format("{}: unplaced: {} of {} nodes of {} have no leaf in this file: {}",
                                file, lost.size(), each.hosts.size(), each.name, hostlist(lost)));
  }
}

std::string slurm_csv(std::string_view text, std::string_view file,
                      std::vector<std::string>& notes) {
  std::vector<Switch> switches;
  std::map<std::string, std::string> above;
  int number = 0;
  std::size_t names = 0;
  std::string whole;  // with the lines before that end in a backslash
  for (const std::string& line : split(std::string(text) + '\n', '\n')) {
    ++number;
    whole += trim(line);
    if (whole.ends_with('\\')) {
      whole.back() = ' ';
      continue;
    }
    append(switches, parse_switches(fmt::format("{}:{}", file, number), whole, names));
    whole.clear();
  }
  for (const Switch& each : switches) {
    for (const std::string& lower_switch : each.below) above.emplace(lower_switch, each.name);
  }
  Placed placed;
  for (const Switch& each : switches) {
    if (!each.below.empty()) continue;
    NodePath units{each.name};
    while (units.size() < kLevelNames.size() && above.contains(units.back())) {
      units.push_back(above.at(units.back()));
    }
    for (const std::string& host : each.hosts) placed.emplace(host, units);
  }
  note_unplaced(switches, placed, file, notes);
  return csv_of(placed, file);
}

/// The text between the first two quotes at or after a place.
std::string between_quotes(const std::string& line, std::size_t from = 0) {
  const std::size_t open = line.find('"', from);
  if (open == std::string::npos) return {};
  const std::size_t close = line.find('"', open + 1);
  return close == std::string::npos ? "" : line.substr(open + 1, close - open - 1);
}

/// The host that a switch's port leads to, of "node001 mlx5_0" or "node001 HCA-1"; empty for other
/// switches, and for their own adapters. Of no node are adapters that have their maker's
/// description or an installer's host name, and those of a fabric manager: they are counted.
std::string host_of_port(const std::string& line, std::map<std::string, std::size_t>& unplaced) {
  const std::size_t comment = line.find('#');
  const bool is_own = line.find("Aggregation Node") != std::string::npos;
  if (comment == std::string::npos || is_own || !between_quotes(line).starts_with("H-")) return {};
  const std::string adapter = between_quotes(line, comment);
  std::string host = adapter.substr(0, adapter.find(' '));
  const std::string word = lower(host);
  const bool has_name = adapter.find("Mellanox Technologies") == std::string::npos;
  const bool is_other =
      word == "localhost" || word == "ubuntu" || word.find("ufm") != std::string::npos;
  if (has_name && !is_other) return host;
  ++unplaced[has_name ? "of " + host : "without a host's name"];
  return {};
}

/// Descriptions follow the first #.
std::string infiniband_csv(std::string_view text, std::string_view file,
                           std::vector<std::string>& notes) {
  std::map<std::string, std::set<std::string>> leaves_of;  // by host
  std::map<std::string, std::size_t> unplaced;             // by the reason
  std::string leaf;
  for (const std::string& line : split(text, '\n')) {
    if (line.starts_with("Switch")) {
      leaf = between_quotes(line, std::min(line.find('#'), line.size()));
      if (leaf.empty()) leaf = between_quotes(line);
    } else if (line.starts_with('[')) {
      if (!leaf.empty()) leaves_of[host_of_port(line, unplaced)].insert(leaf);
    } else if (!trim(line).empty()) {
      leaf.clear();  // a channel adapter's own part, or another head
    }
  }
  leaves_of.erase("");
  if (!unplaced.empty()) {
    notes.push_back(
        fmt::format("{}: unplaced: {}", file, join_each(unplaced, ", ", [](const auto& each) {
                      return counted(each.second, "adapter") + " " + each.first;
                    })));
  }
  Placed placed;
  for (const auto& [host, leaves] : leaves_of) {
    std::string unit = join_all(leaves, "+");
    std::ranges::replace(unit, ',', ';');
    placed[host] = {std::move(unit)};
  }
  return csv_of(placed, file);
}

/// Of facts of hosts: those of one NVLink clique of one domain are of one unit.
std::string nvlink_csv(std::string_view text, std::string_view file) {
  constexpr std::size_t kCells = 5;  // at,host,fact,instance,value
  std::map<std::string, std::string> cliques;
  std::map<std::string, std::string> domains;
  for (const std::string& line : split(text, '\n')) {
    const std::vector<std::string> cells = split(line, ',');
    if (cells.size() < kCells || cells[4].empty()) continue;
    if (cells[2] == machine::kFabricClique) cliques[cells[1]] = cells[4];
    if (cells[2] == machine::kFabricDomain) domains[cells[1]] = cells[4];
  }
  Placed placed;
  for (const auto& [host, domain] : domains) {
    const bool is_one = domain.find_first_not_of("0-") != std::string::npos;
    if (is_one) placed[host] = {fmt::format("{}.{}", domain, cliques[host])};
  }
  return csv_of(placed, file);
}

}  // namespace

std::string levels_csv(const std::vector<std::string>& hosts, const std::vector<NodePath>& paths) {
  std::string csv = "host";
  for (std::size_t level = paths.front().size(); level > 0; --level) {
    csv += fmt::format(",{}", kLevelNames.at(std::min(level, kLevelNames.size()) - 1));
  }
  csv += '\n';
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    csv += fmt::format("{},{}\n", hosts[i], join(paths[i], ","));
  }
  return csv;
}

std::string fabric_csv(std::string_view text, std::string_view file,
                       std::vector<std::string>& notes) {
  for (const std::string& line : split(text, '\n')) {
    const std::string word = lower(line.substr(0, line.find('=')));
    if (word == "switchname" || word == "blockname") return slurm_csv(text, file, notes);
    if (line.starts_with("Switch\t") || line.starts_with("Switch ")) {
      return infiniband_csv(text, file, notes);
    }
    if (line.starts_with("host,")) return std::string(text);
    if (line.starts_with("at,host,fact,")) return nvlink_csv(text, file);
  }
  throw usage_error(
      "{}: neither a CSV with a header such as host,pod,leaf, nor the output of scontrol show "
      "topology or ibnetdiscover, nor facts.csv",
      file);
}

}  // namespace busbar::judge
