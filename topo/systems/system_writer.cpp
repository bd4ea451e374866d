// SPDX-License-Identifier: BSD-3-Clause
#include <array>
#include <vector>

#include <fmt/format.h>

#include "base/text.hpp"
#include "topo/systems/joined_hosts.hpp"
#include "topo/systems/system_file.hpp"
#include "topo/systems/system_tables.hpp"

namespace busbar::topo {
namespace {

/// "nvlink", and "nvlink2" for the second medium of its kind: the names by which links refer to
/// media.
std::vector<std::string> medium_keys(const Graph& graph) {
  std::vector<std::string> keys;
  std::array<int, static_cast<std::size_t>(LinkKind::Network) + 1> seen{};
  for (const Medium& medium : graph.media) {
    const int count = ++seen.at(static_cast<std::size_t>(medium.kind));
    keys.push_back(count == 1 ? std::string(name(medium.kind))
                              : fmt::format("{}{}", name(medium.kind), count));
  }
  return keys;
}

std::string node_line(const Node& node) {
  std::vector<std::string> parts{fmt::format("name = {}", quoted(node.name)),
                                 fmt::format("kind = \"{}\"", name(node.kind))};
  const auto add = [&](std::string_view key, const std::string& value) {
    if (!value.empty()) parts.push_back(fmt::format("{} = {}", key, quoted(value)));
  };
  const int usual_host = node.kind == NodeKind::Network ? -1 : 0;
  if (node.host != usual_host) parts.push_back(fmt::format("host = {}", node.host));
  if (node.numa >= 0) parts.push_back(fmt::format("numa = {}", node.numa));
  add("bus_id", node.bus_id);
  add("model", node.model);
  add("uuid", node.uuid);
  add("vendor", node.vendor);
  if (node.reduces) parts.emplace_back("reduces = true");
  if (node.most_hosts > 0) parts.push_back(fmt::format("most_hosts = {}", node.most_hosts));
  return fmt::format("  {{ {} }},\n", join(parts, ", "));
}

bool is_way_back(const Link& link, const Link& back) {
  return link.from == back.to && link.to == back.from && link.medium == back.medium &&
         link.count == back.count;
}

std::string link_line(const Graph& graph, const Link& link, const std::string& medium,
                      bool one_way) {
  const auto node = [&](int index) { return quoted(node_of(graph, index).name); };
  const std::string count = link.count == 1 ? "" : fmt::format(", count = {}", link.count);
  return fmt::format("  {{ between = [{}, {}], medium = {}{}{} }},\n", node(link.from),
                     node(link.to), quoted(medium), count, one_way ? ", one_way = true" : "");
}

std::string links(const Graph& graph) {
  const std::vector<std::string> keys = medium_keys(graph);
  std::string text;
  for (std::size_t i = 0; i < graph.links.size(); ++i) {
    const Link& link = graph.links[i];
    const bool is_cable = i + 1 < graph.links.size() && is_way_back(link, graph.links[i + 1]);
    text += link_line(graph, link, keys.at(to_size(link.medium)), !is_cable);
    if (is_cable) ++i;
  }
  return text;
}

std::string medium_table(const Medium& medium, const std::string& key) {
  std::string text = fmt::format("\n[medium.{}]\nname = {}\nkind = \"{}\"\n", key,
                                 quoted(medium.name), name(medium.kind));
  const auto add = [&](std::string_view figure, double value) {
    if (value > 0) text += fmt::format("{} = {}\n", figure, value);
  };
  add("nominal_GBps", medium.nominal_GBps);
  add("nccl_GBps", medium.nccl_GBps);
  add("reported_GBps", medium.reported_GBps);
  add("flow_GBps", medium.flow_GBps);
  add("efficiency", medium.efficiency);
  return text + fmt::format("source = {}\n", quoted(medium.source));
}

std::string devices_line(const Graph& graph) {
  if (graph.devices == default_devices(graph)) return {};
  return fmt::format("devices = [{}]\n", join_each(graph.devices, ", ", [&](int node) {
                       return quoted(node_of(graph, node).name);
                     }));
}

std::string assumption_lines(const Graph& graph) {
  if (graph.assumptions.empty()) return {};
  std::string text = "\nassumptions = [\n";
  for (const Assumption& assumption : graph.assumptions) {
    text += fmt::format("  {{ kind = \"{}\", text = {} }},\n", name(assumption.kind),
                        quoted(assumption.text));
  }
  return text + "]\n";
}

/// Nothing where the links give the labels.
std::string labels_line(const Graph& graph) {
  Graph labelled = graph;
  label_devices(labelled);
  if (graph.labels.empty() || labelled.labels == graph.labels) return {};
  return fmt::format("labels = {}\n", labels_value(graph));
}

}  // namespace

std::string write_system(const Graph& graph, int hosts) {
  check_hosts(graph, hosts);
  const std::vector<std::string> keys = medium_keys(graph);
  std::string text = fmt::format("name = {}\n", quoted(graph.name));
  if (!graph.title.empty()) text += fmt::format("title = {}\n", quoted(graph.title));
  if (!graph.source.empty()) text += fmt::format("source = {}\n", quoted(graph.source));
  if (hosts > 1) text += fmt::format("hosts = {}\n", hosts);
  const std::string p2p = p2p_value(graph);
  if (!p2p.empty()) text += fmt::format("p2p = {}\n", p2p);
  text += devices_line(graph);
  if (hosts == 1) text += labels_line(graph);
  if (!graph.warnings.empty()) {
    text += fmt::format("warnings = [{}]\n", join_each(graph.warnings, ", ", quoted));
  }
  text += assumption_lines(graph) + "\nnode = [\n";
  for (Node node : graph.nodes) {
    if (hosts > 1) node.uuid.clear();  // is of one device
    text += node_line(node);
  }
  text += fmt::format("]\n\nlink = [\n{}]\n", links(graph));
  for (std::size_t i = 0; i < graph.media.size(); ++i) {
    text += medium_table(graph.media[i], keys[i]);
  }
  return text + protocol_table(graph.protocol);
}

}  // namespace busbar::topo
