// SPDX-License-Identifier: BSD-3-Clause
#include "topo/bounds/paths.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <utility>

#include "base/text.hpp"
#include "topo/bounds/path_finder.hpp"

namespace busbar::topo {

std::string words(Way ways) {
  constexpr std::array<std::pair<Way, std::string_view>, 6> kWords{
      {{Way::NvLink, "nvlink"},
       {Way::NvSwitch, "nvswitch"},
       {Way::Smp, "smp"},
       {Way::Pcie, "pcie"},
       {Way::SharedMemory, "shared memory"},
       {Way::Network, "network"}}};
  std::vector<std::string> parts;
  for (const auto& [way, word] : kWords) {
    if (has(ways, way)) parts.emplace_back(word);
  }
  return parts.empty() ? "none" : join(parts, "+");
}

PathTable::PathTable(const Graph& graph, std::span<const int> devices, Level level,
                     const BoundOptions& options)
    : devices_(devices.begin(), devices.end()), paths_(devices.size() * devices.size()) {
  capacity_.reserve(graph.links.size());
  for (const Link& link : graph.links) {
    capacity_.push_back(topo::capacity_GBps(graph, link, options.constants, options.flows));
  }
  PathFinder finder(graph, capacity_, options.constants);
  for (std::size_t i = 0; i < devices_.size(); ++i) {
    for (std::size_t j = 0; j < devices_.size(); ++j) {
      if (i != j) paths_[i * devices_.size() + j] = finder.find(devices_[i], devices_[j], level);
    }
  }
}

Level first_level(const Graph& graph) {
  const bool nvlink = std::any_of(graph.links.begin(), graph.links.end(), [&](const Link& link) {
    return graph.media.at(static_cast<std::size_t>(link.medium)).kind == LinkKind::NvLink;
  });
  return nvlink ? Level::NvLink : Level::All;
}

LinkProblem problem_of(const PathTable& table, std::span<const std::size_t> places) {
  LinkProblem problem;
  problem.rings.n = static_cast<int>(places.size());
  problem.rings.hops.resize(places.size() * places.size());
  std::vector<int> numbers(table.links(), -1);
  const auto resource_of = [&](int link) {
    int& number = numbers[static_cast<std::size_t>(link)];
    if (number < 0) {
      number = static_cast<int>(problem.links.size());
      problem.links.push_back(link);
      problem.rings.capacity.push_back(table.capacity_GBps(link));
    }
    return number;
  };
  for (std::size_t k = 0; k < problem.rings.hops.size(); ++k) {
    const std::size_t from = k / places.size();
    const std::size_t to = k % places.size();
    if (from == to || !table.between(places[from], places[to])) continue;
    std::vector<Use> uses;
    for (const Use& use : table.between(places[from], places[to])->uses) {
      if (!std::isfinite(table.capacity_GBps(use.resource))) continue;
      uses.push_back({.resource = resource_of(use.resource), .times = use.times});
    }
    problem.rings.hops[k] = std::move(uses);
  }
  return problem;
}

}  // namespace busbar::topo
