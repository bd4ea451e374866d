// SPDX-License-Identifier: BSD-3-Clause
#include "judge/spec/ceiling_graph.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <set>
#include <vector>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/text.hpp"
#include "topo/bounds/bound.hpp"
#include "topo/choice/choose.hpp"
#include "topo/predict/cluster.hpp"
#include "topo/systems/system_file.hpp"

namespace busbar::judge {
namespace {

constexpr double kUnlimited = std::numeric_limits<double>::infinity();

std::size_t hosts_in(const topo::Graph& graph) {
  std::set<int> hosts;
  for (const topo::Node& node : graph.nodes) {
    if (node.host >= 0) hosts.insert(node.host);
  }
  return hosts.size();
}

bool has_network(const topo::Graph& graph) {
  return std::any_of(graph.nodes.begin(), graph.nodes.end(),
                     [](const topo::Node& node) { return node.kind == topo::NodeKind::Network; });
}

/// Numbers on a host, of which `ranks` are taken.
std::vector<int> devices_on_host(const CeilingRule& rule, const topo::Graph& host, int ranks,
                                 const std::string& gpus) {
  const std::size_t there = host.devices.size() / std::max<std::size_t>(1, hosts_in(host));
  const auto selection =
      gpus.empty() ? topo::Selection{} : topo::parse_selection("[[device_set]] gpus", gpus);
  std::vector<int> devices(static_cast<std::size_t>(ranks));
  std::iota(devices.begin(), devices.end(), 0);
  if (selection.policy == topo::Policy::List) devices = selection.devices;
  const int last = devices.empty() ? 0 : *std::max_element(devices.begin(), devices.end());
  if (static_cast<std::size_t>(last) >= there) {
    throw usage_error(
        fmt::format("[ceiling] system = \"{}\" has {} on a node, and a device set wants number "
                    "{}; mend its gpus or ranks_per_node",
                    rule.system, counted(there, "device"), last));
  }
  const bool searched = selection.policy == topo::Policy::Best ||
                        selection.policy == topo::Policy::Worst ||
                        selection.policy == topo::Policy::Median;
  return searched ? topo::select_devices(host, ranks, selection, {}, 0).bound.devices : devices;
}

/// Ranks of one processor exchange through its memory, which is not in the graph.
bool ranks_share_processors(const topo::Graph& graph, const SetShape& shape) {
  const bool processors =
      !graph.devices.empty() && topo::device(graph, 0).kind == topo::NodeKind::Processor;
  const std::size_t there = graph.devices.size() / std::max<std::size_t>(1, hosts_in(graph));
  return processors && static_cast<std::size_t>(shape.ranks / shape.nodes) > there;
}

/// What one node and the network allow.
struct GraphFigures {
  topo::Bound inside{};  ///< of one node's devices
  topo::Bound across{};  ///< of two nodes' devices; of one where the set is on one
};

std::optional<GraphFigures> figures_of(const CeilingRule& rule, const SetShape& shape) {
  topo::EqualHosts machine = topo::load_machine(rule.system);
  const bool one_host = hosts_in(machine.host) <= 1;
  if (shape.nodes > 1 && one_host && machine.hosts < shape.nodes) {
    if (!has_network(machine.host)) return std::nullopt;
    machine.hosts = shape.nodes;
  }
  if (ranks_share_processors(machine.host, shape)) return std::nullopt;
  const std::vector<int> on_host =
      devices_on_host(rule, machine.host, shape.ranks / shape.nodes, shape.gpus);
  const topo::Cluster cluster(machine);
  if (shape.nodes > cluster.hosts()) return std::nullopt;
  std::vector<int> devices = cluster.indices({.host = 0, .devices = on_host});
  GraphFigures figures{.inside = topo::bound_of(cluster.graph(), devices)};
  if (shape.nodes == 1) return figures;
  // Of equal hosts two stand for all: a ring enters and leaves each alike.
  const auto second = cluster.indices({.host = 1, .devices = on_host}, cluster.equal_hosts());
  devices.insert(devices.end(), second.begin(), second.end());
  figures.across = topo::bound_of(cluster.graph(), devices);
  return figures;
}

double inside_ceiling(const CeilingRule& rule, const Collective& collective,
                      const topo::Bound& bound) {
  if (bound.devices.size() < 2) return kUnlimited;
  const bool adds = rule.in_network_reduction && collective.movement == Movement::AllReduce;
  return adds ? topo::collective_GBps(bound, collective.name).value_or(bound.bound_GBps)
              : bound.bound_GBps;
}

/// One NVLink domain: the port of each, or where the switch adds what topo/bounds computes for
/// NVLS, for all n ranks and not only for those of two nodes.
double domain_ceiling(const CeilingRule& rule, const Collective& collective,
                      const topo::Bound& bound, double n) {
  const bool adds = rule.in_network_reduction && collective.movement == Movement::AllReduce &&
                    bound.in_switch_GBps.has_value();
  return bound.bound_GBps * (adds ? std::max(1.0, 2 * (n - 1) / (n + 1)) : 1.0);
}

/// What the cut between two nodes allows; the cut is what a node sends out, whatever its cards. The
/// formulas are those of ceiling.cpp with the cut for g times a card.
double across_ceiling(const CeilingRule& rule, const Collective& collective,
                      const topo::Bound& bound, double n, double k) {
  const double g = n / k;
  const Movement movement = collective.movement;
  if (movement == Movement::AllReduce && rule.in_network_reduction) {
    return bound.cut_GBps * 2 * (n - 1) / n;
  }
  const bool all = movement == Movement::AllReduce || movement == Movement::Parts;
  if (all && rule.model == CeilingModel::Hierarchical) {
    return bound.cut_GBps * (n - 1) / (n - g);
  }
  if (all) return bound.bound_GBps;
  // All-to-all: each of g ranks exchanges (n-g)/n of the size with other nodes.
  if (movement == Movement::AllToAll) return bound.cut_GBps / g * (n - 1) / (n - g);
  // Which card a rank or a root has to itself is unknown: all of a node's are the ceiling.
  const bool at_root = movement == Movement::Gather || movement == Movement::Scatter;
  return at_root ? bound.cut_GBps * (n - 1) / (n - g) : bound.cut_GBps;
}

/// One domain of switches, a pair, or a network card for each rank: whatever the order, each rank's
/// data pass its own port. Else the collectives that are no rings would need paths of their own.
bool ports_limit(const topo::Bound& bound, int ranks) {
  return ranks == 2 || bound.kind == "nvswitch" || bound.kind == "none";
}

bool is_ring_type(Movement movement) {
  return is_ringed(movement) || movement == Movement::SendReceive;
}

}  // namespace

std::optional<CeilingFigure> graph_ceiling(const CeilingRule& rule, const Collective& collective,
                                           const SetShape& shape) {
  const auto figures = figures_of(rule, shape);
  if (!figures) return std::nullopt;
  const auto& [inside, across] = *figures;
  if (!is_ring_type(collective.movement) && !ports_limit(inside, shape.ranks)) return std::nullopt;
  CeilingFigure figure{.GBps = inside_ceiling(rule, collective, inside)};
  const topo::Bound* limiting = &inside;
  if (shape.nodes > 1 && across.kind == "nvswitch") {
    // One NVLink domain over nodes: the border of a node is no narrower than its ports.
    figure.GBps = domain_ceiling(rule, collective, across, shape.ranks);
    limiting = &across;
  } else if (shape.nodes > 1) {
    const double out = across_ceiling(rule, collective, across, shape.ranks, shape.nodes);
    if (out < figure.GBps) {
      figure.GBps = out;
      limiting = &across;
    }
  }
  if (figure.GBps <= 0 || figure.GBps == kUnlimited) return std::nullopt;
  figure.text =
      fmt::format("{:.4g} of {} over {}, limited by {}", figure.GBps, rule.system, limiting->kind,
                  limiting->limit.empty() ? "its links" : limiting->limit);
  return figure;
}

}  // namespace busbar::judge
