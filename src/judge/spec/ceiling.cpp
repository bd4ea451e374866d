// SPDX-License-Identifier: BSD-3-Clause
#include "judge/spec/ceiling.hpp"

#include <algorithm>
#include <limits>
#include <set>
#include <vector>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/text.hpp"
#include "model/collective.hpp"
#include "topo/bounds/bound.hpp"
#include "topo/choice/choose.hpp"
#include "topo/predict/cluster.hpp"
#include "topo/systems/joined_hosts.hpp"
#include "topo/systems/system_file.hpp"

namespace busbar::judge {
namespace {

constexpr double kUnlimited = std::numeric_limits<double>::infinity();

bool is_reduced_in_network(const CeilingRule& rule, Movement movement) {
  return rule.in_network_reduction && movement == Movement::AllReduce;
}

std::size_t hosts_in(const topo::Graph& graph) {
  std::set<int> hosts;
  for (const topo::Node& node : graph.nodes) {
    if (node.host >= 0) hosts.insert(node.host);
  }
  return hosts.size();
}

/// A system has a device, and every device a host.
std::size_t devices_per_host(const topo::Graph& graph) {
  return graph.devices.size() / hosts_in(graph);
}

/// Numbers on a host, of which `ranks` are taken.
std::vector<int> devices_on_host(const CeilingRule& rule, const topo::Graph& host, int ranks,
                                 const std::string& gpus) {
  const std::size_t there = devices_per_host(host);
  const auto selection =
      gpus.empty() ? topo::Selection{} : topo::parse_selection("[[device_set]] gpus", gpus);
  std::vector<int> devices = first_numbers(static_cast<std::size_t>(ranks));
  if (selection.policy == topo::Policy::List) devices = selection.devices;
  const int last = *std::ranges::max_element(devices);
  if (static_cast<std::size_t>(last) >= there) {
    throw usage_error(
        "[ceiling] system = \"{}\" has {} on a node, and a device set uses number {}; change its "
        "gpus or ranks_per_node",
        rule.system, counted(there, "device"), last);
  }
  const bool searched =
      selection.policy == topo::Policy::Best || selection.policy == topo::Policy::Worst;
  return searched ? topo::select_devices(host, ranks, selection, {}, 0).bound.devices : devices;
}

/// Ranks of one processor exchange through its memory, which is not in the graph.
bool ranks_share_processors(const topo::Graph& graph, const SetShape& shape) {
  const bool processors = topo::device(graph, 0).kind == topo::NodeKind::Processor;
  return processors &&
         static_cast<std::size_t>(shape.ranks / shape.nodes) > devices_per_host(graph);
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
    if (!any_has(machine.host.nodes, topo::NodeKind::Network, &topo::Node::kind)) return {};
    if (shape.nodes > topo::most_hosts(machine.host)) return std::nullopt;
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
  append(devices, second);
  figures.across = topo::bound_of(cluster.graph(), devices);
  return figures;
}

double inside_ceiling(const CeilingRule& rule, const Collective& collective,
                      const topo::Bound& bound) {
  if (bound.devices.size() < 2) return kUnlimited;
  const bool adds = is_reduced_in_network(rule, collective.movement);
  return adds ? topo::collective_GBps(bound, collective.name).value_or(bound.bound_GBps)
              : bound.bound_GBps;
}

/// One NVLink domain: the port of each, or where the switch adds what topo/bounds computes for
/// NVLS, for all n ranks and not only for those of two nodes.
double domain_ceiling(const CeilingRule& rule, const Collective& collective,
                      const topo::Bound& bound, double n) {
  const bool adds = is_reduced_in_network(rule, collective.movement) && bound.in_switch_GBps;
  return bound.bound_GBps * (adds ? std::max(1.0, 2 * (n - 1) / (n + 1)) : 1.0);
}

/// What the cut between two nodes allows; the cut is what a node sends out, whatever its cards.
double across_ceiling(const CeilingRule& rule, const Collective& collective,
                      const topo::Bound& bound, double n, double k) {
  const double g = n / k;
  const double most = bound.cut_GBps * (n - 1) / (n - g);
  const Movement movement = collective.movement;
  // An all-reduce whose network adds (SHARP): a node sends the size once, and receives it once,
  // where bus bandwidth counts 2(n-1)/n.
  if (is_reduced_in_network(rule, movement)) return bound.cut_GBps * 2 * (n - 1) / n;
  // Reduce-scatter inside, exchange between k nodes, gather inside: a node sends (k-1)/k of the
  // size, and bus bandwidth counts (n-1)/n: (n-1)/(n-g). An all-reduce does both twice.
  if (movement == Movement::AllReduce || movement == Movement::Parts) {
    return rule.model == CeilingModel::Hierarchical ? most : bound.bound_GBps;
  }
  // All-to-all: each of g ranks exchanges (n-g)/n of the size with other nodes; the bound is of two
  // nodes.
  if (movement == Movement::AllToAll) {
    if (!bound.alltoall_GBps) return most / g;
    return *bound.alltoall_GBps * g / (2 * g - 1) * (n - 1) / (n - g);
  }
  // Which card a rank or a root has to itself is unknown: all of a node's are the ceiling.
  const bool at_root = movement == Movement::Gather || movement == Movement::Scatter;
  return at_root ? most : bound.cut_GBps;
}

/// A ring, or one domain of switches, a pair, or a network card for each rank: whatever the order,
/// each rank's data pass its own port.
bool ports_limit(const Collective& collective, const topo::Bound& bound, int ranks) {
  return is_ringed(collective.movement) || collective.movement == Movement::SendReceive ||
         ranks == 2 || bound.kind == "nvswitch" || bound.kind == "none";
}

/// Not where nodes have different numbers of ranks.
bool has_formula(const SetShape& shape) {
  return shape.ranks >= 2 && shape.nodes >= 1 && shape.ranks >= shape.nodes &&
         shape.ranks % shape.nodes == 0;
}

std::optional<CeilingFigure> ceiling_of(const CeilingRule& rule, const Collective& collective,
                                        const SetShape& shape) {
  if (!has_formula(shape) || !collective.equal_parts || rule.system.empty()) return std::nullopt;
  const auto figures = figures_of(rule, shape);
  if (!figures) return std::nullopt;
  const auto& [inside, across] = *figures;
  const bool inside_limits = ports_limit(collective, inside, shape.ranks);
  // Between nodes the network limits an all-to-all, whatever joins the GPUs of each.
  const bool crosses = shape.nodes > 1 && collective.movement == Movement::AllToAll;
  if (!inside_limits && !crosses) return std::nullopt;
  CeilingFigure figure{.GBps =
                           inside_limits ? inside_ceiling(rule, collective, inside) : kUnlimited};
  const topo::Bound* limiting = &inside;
  if (shape.nodes > 1 && across.kind == "nvswitch") {
    // One NVLink domain over nodes: the border of a node is not narrower than its ports.
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

}  // namespace

Ceilings ceilings_of(const CeilingRule& rule) {
  using Key = std::tuple<std::string, int, int, std::string>;
  std::map<Key, std::optional<CeilingFigure>> known;
  return [&rule, known](const std::string& collective, const SetShape& shape) mutable {
    const auto [found, is_new] =
        known.try_emplace({collective, shape.ranks, shape.nodes, shape.gpus});
    if (is_new) found->second = ceiling_of(rule, *find_collective(collective), shape);
    return found->second;
  };
}

}  // namespace busbar::judge
