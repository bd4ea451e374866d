// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include "format/json.hpp"
#include "format/topo_text.hpp"

namespace busbar {
namespace {

using topo::Bound;
using topo::Graph;

Json to_json(const Graph& graph, const Bound& bound) {
  Json json{{"system", graph.name},
            {"devices", bound.devices},
            {"ring_GBps", rounded(bound.ring_GBps)},
            {"cut_GBps", rounded(bound.cut_GBps)},
            {"kind", bound.kind},
            {"exact", bound.exact},
            {"limit", bound.limit},
            {"bound_GBps", rounded(bound.bound_GBps)},
            {"lower_GBps", rounded(bound.lower_GBps)}};
  json["assumptions"] = bound.assumptions;
  json["warnings"] = graph.warnings;
  if (bound.in_switch_GBps) json["in_switch_GBps"] = rounded(*bound.in_switch_GBps);
  if (bound.tree_GBps) json["tree_GBps"] = rounded(*bound.tree_GBps);
  if (bound.alltoall_GBps) json["alltoall_GBps"] = rounded(*bound.alltoall_GBps);
  json["rings"] = json_array(bound.rings, [](const topo::RatedRing& ring) {
    return Json{{"devices", ring.devices}, {"GBps", rounded(ring.GBps)}};
  });
  return json;
}

Json to_json(const Graph& graph, const topo::Choice& choice) {
  Json json = to_json(graph, choice.bound);
  json["policy"] = name(choice.policy);
  json["reason"] = choice.reason;
  return json;
}

Json to_json(const topo::SetClass& sets) {
  Json json{{"ring_GBps", rounded(sets.ring_GBps)},
            {"count", sets.count},
            {"example", sets.example},
            {"bound_GBps", rounded(sets.bound.bound_GBps)},
            {"kind", sets.bound.kind},
            {"assumptions", sets.bound.assumptions}};
  if (sets.fallback.empty()) return json;
  json["fallback"] = json_array(sets.fallback, [](const auto& part) { return to_json(part); });
  return json;
}

Json numa_of(const topo::Node& node) { return node.numa >= 0 ? Json(node.numa) : Json(nullptr); }

Json devices_json(const Graph& graph) {
  Json devices = Json::array();
  for (std::size_t i = 0; i < graph.devices.size(); ++i) {
    const topo::Node& node = device(graph, static_cast<int>(i));
    devices.push_back({{"index", i},
                       {"name", node.model.empty() ? node.name : node.model},
                       {"bus_id", node.bus_id},
                       {"numa", numa_of(node)},
                       {"uuid", node.uuid},
                       {"host", node.host},
                       {"kind", name(node.kind)}});
  }
  return devices;
}

Json edges_json(const Graph& graph) {
  return json_array(graph.links, [&](const topo::Link& link) {
    const topo::Medium& medium = medium_of(graph, link);
    const auto capacity = [&](topo::ConstantSet constants) {
      return json_or_null(capacity_GBps(graph, link, constants));
    };
    return Json{{"from", node_of(graph, link.from).name},
                {"to", node_of(graph, link.to).name},
                {"kind", name(medium.kind)},
                {"medium", medium.name},
                {"count", link.count},
                {"nominal_GBps", capacity(topo::ConstantSet::Nominal)},
                {"reported_GBps", capacity(topo::ConstantSet::Reported)},
                {"nccl_GBps", capacity(topo::ConstantSet::Nccl)},
                {"source", medium.source}};
  });
}

}  // namespace

std::string show_json(const Graph& graph) {
  const auto assumption_json = [](const topo::Assumption& assumption) {
    return Json{{"kind", name(assumption.kind)}, {"text", assumption.text}};
  };
  Json nics = Json::array();
  for (const topo::Node& node : graph.nodes) {
    if (node.kind != topo::NodeKind::Nic) continue;
    nics.push_back({{"name", node.name}, {"bus_id", node.bus_id}, {"numa", numa_of(node)}});
  }
  return json_text({{"system", graph.name},
                    {"title", graph.title},
                    {"source", graph.source},
                    {"gpus", devices_json(graph)},
                    {"links", graph.labels},
                    {"nics", nics},
                    {"warnings", graph.warnings},
                    {"assumptions", json_array(graph.assumptions, assumption_json)},
                    {"edges", edges_json(graph)}});
}

std::string bound_json(const Graph& graph, const Bound& bound) {
  return json_text(to_json(graph, bound));
}

std::string choice_json(const Graph& graph, const topo::Choice& choice) {
  return json_text(to_json(graph, choice));
}

std::string classes_json(const Graph& graph, std::span<const ClassesOfSize> sizes) {
  const Json list = json_array(sizes, [&](const ClassesOfSize& size) {
    const Json classes = json_array(size.classes, [](const auto& sets) { return to_json(sets); });
    return Json{{"k", size.k}, {"classes", classes}, {"warnings", graph.warnings}};
  });
  return json_text(list.size() == 1 ? list.front() : list);
}

std::string compare_json(std::span<const Graph> graphs, std::span<const topo::SetComparison> rows) {
  return json_text(json_array(rows, [&](const topo::SetComparison& row) {
    Json json = to_json(*std::ranges::find(graphs, row.system, &Graph::name), row.choice);
    json["ratio"] = rounded(row.ratio);
    return json;
  }));
}

std::string summary_json(const Graph& graph, std::span<const topo::SetComparison> sets) {
  return json_text(json_array(sets, [&](const topo::SetComparison& set) {
    Json json = to_json(graph, set.choice);
    json["set"] = set.system;
    json["ratio"] = rounded(set.ratio);
    return json;
  }));
}

std::string recognition_json(const topo::MachineIdentity& identity,
                             const std::optional<topo::SystemMatch>& match) {
  Json others = Json::array();
  for (const topo::SystemMatch& other : topo::match_systems(identity)) {
    if (match && other.system == match->system) continue;
    others.push_back({{"system", other.system}, {"differences", other.differences}});
  }
  const bool is_one = match && !match->system.empty();
  std::vector<std::string> candidates;
  if (is_one) candidates.push_back(match->system);
  if (match) append(candidates, match->alternatives);
  return json_text({{"system", is_one ? Json(match->system) : Json(nullptr)},
                    {"reason", match ? Json(match->reason) : Json(nullptr)},
                    {"candidates", candidates},
                    {"machine", topo::to_text(identity)},
                    {"gpus", identity.gpus},
                    {"others", others}});
}

}  // namespace busbar
