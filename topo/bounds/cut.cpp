// SPDX-License-Identifier: BSD-3-Clause
#include "topo/bounds/cut.hpp"

#include <cmath>
#include <cstdint>
#include <limits>
#include <map>

#include <lemon/preflow.h>
#include <lemon/smart_graph.h>

namespace busbar::topo {
namespace {

using Network = lemon::SmartDigraph;
using Capacities = Network::ArcMap<std::int64_t>;

/// Flows are reckoned in bytes per second: with whole numbers every comparison
/// is exact, where doubles would need a tolerance.
constexpr double kScale = 1e9;

class CutSearch {
 public:
  explicit CutSearch(std::span<const FlowLink> links) : links_(links), capacities_(network_) {
    std::int64_t sum = 1;
    for (const FlowLink& link : links) {
      if (std::isfinite(link.capacity)) sum += whole(link.capacity);
    }
    for (const FlowLink& link : links) {
      const Network::Arc arc = network_.addArc(node(link.from), node(link.to));
      capacities_[arc] = std::isfinite(link.capacity) ? whole(link.capacity) : sum;
    }
    unlimited_ = sum;
    least_ = sum;
  }

  void part(int source, int target) {
    lemon::Preflow<Network, Capacities> flow(network_, capacities_, node(source), node(target));
    flow.runMinCut();
    if (flow.flowValue() >= least_) return;
    least_ = flow.flowValue();
    cut_.links.clear();
    for (std::size_t k = 0; k < links_.size(); ++k) {
      if (flow.minCut(node(links_[k].from)) && !flow.minCut(node(links_[k].to))) {
        cut_.links.push_back(static_cast<int>(k));
      }
    }
  }

  [[nodiscard]] Cut best() {
    if (least_ >= unlimited_) cut_.value = std::numeric_limits<double>::infinity();
    for (const int link : cut_.links) cut_.value += links_[static_cast<std::size_t>(link)].capacity;
    return cut_;
  }

 private:
  static std::int64_t whole(double capacity) { return std::llround(capacity * kScale); }

  Network::Node node(int number) {
    const auto known = nodes_.find(number);
    if (known != nodes_.end()) return known->second;
    return nodes_.emplace(number, network_.addNode()).first->second;
  }

  std::span<const FlowLink> links_;
  Network network_{};
  Capacities capacities_;
  std::map<int, Network::Node> nodes_{};
  std::int64_t unlimited_ = 0;
  std::int64_t least_ = 0;
  Cut cut_{};
};

}  // namespace

Cut minimum_cut(std::span<const FlowLink> links, std::span<const int> terminals) {
  CutSearch search(links);
  for (const int other : terminals.subspan(1)) {
    search.part(terminals.front(), other);
    search.part(other, terminals.front());
  }
  return search.best();
}

}  // namespace busbar::topo
