// SPDX-License-Identifier: BSD-3-Clause
#include "topo/systems/system_file.hpp"

#include <algorithm>
#include <array>
#include <map>

#include <fmt/format.h>

#include "base/embedded_text.hpp"
#include "base/error.hpp"
#include "base/text.hpp"
#include "base/toml_fields.hpp"
#include "topo/systems/joined_hosts.hpp"
#include "topo/systems/system_tables.hpp"

namespace busbar::topo {
namespace {

constexpr int kMostHosts = 256;
/// Of hosts that are equal, one graph stands for all.
constexpr int kMostEqualHosts = 1 << 16;
constexpr std::size_t kMostDevices = 256;
constexpr int kMostNuma = 1 << 20;

template <typename Kind>
std::vector<std::string> names_up_to(Kind last) {
  std::vector<std::string> names;
  for (int i = 0; i <= static_cast<int>(last); ++i) names.emplace_back(name(static_cast<Kind>(i)));
  return names;
}

/// The kind of a node or a medium, which must be there.
template <typename Kind>
Kind read_kind(const TomlFields& fields, Kind last) {
  static_cast<void>(fields.required("kind"));
  return static_cast<Kind>(*fields.one_of("kind", names_up_to(last)));
}

/// The devices of a file that names none: all GPUs, else all processors.
std::vector<int> usual_devices(const Graph& graph) {
  std::vector<int> gpus = nodes_of_kind(graph, NodeKind::Gpu);
  return gpus.empty() ? nodes_of_kind(graph, NodeKind::Processor) : gpus;
}

/// Reads a system file into the graph of one host; the places in it are by name.
class SystemReader {
 public:
  SystemReader(const toml::table& table, std::string_view origin)
      : top_(table, origin, "a system file") {}

  EqualHosts read() {
    top_.allow_only({"name", "aliases", "gpu_names", "title", "source", "hosts", "p2p", "labels",
                     "devices", "warnings", "assumptions", "medium", "node", "link", "protocol"});
    graph_.name = top_.required_text("name");
    graph_.title = top_.text("title");
    graph_.source = top_.text("source");
    graph_.warnings = top_.words("warnings");
    for (const toml::node* one : top_.list("assumptions")) {
      const TomlFields fields(*one, top_.origin(), "[[assumptions]]");
      fields.allow_only({"kind", "text"});
      assume(graph_, read_kind(fields, LinkKind::Network), fields.required_text("text"));
    }
    static_cast<void>(top_.words("aliases"));
    static_cast<void>(top_.words("gpu_names"));
    hosts_ = top_.integer("hosts", 1, kMostEqualHosts, 1);
    read_media();
    for (const toml::node* node : top_.list("node")) read_node({*node, top_.origin(), "[[node]]"});
    for (const toml::node* link : top_.list("link")) read_link({*link, top_.origin(), "[[link]]"});
    read_devices();
    graph_.p2p = read_p2p(top_, graph_);
    graph_.protocol = read_protocol(top_);
    return {.host = graph_, .hosts = hosts_};
  }

  /// All hosts as one graph. Throws where they are too many to name every pair of devices.
  [[nodiscard]] Graph all_hosts() const {
    if (graph_.devices.size() * static_cast<std::size_t>(hosts_) > kMostDevices) {
      throw top_.fault("hosts", fmt::format("more than {} devices; a simulation takes more "
                                            "(--backend sim --system)",
                                            kMostDevices));
    }
    Graph graph = hosts_ > 1 ? copy_hosts(graph_, hosts_) : graph_;
    graph.labels = read_labels(top_, graph);
    if (graph.labels.empty()) label_devices(graph);
    return graph;
  }

 private:
  void read_media() {
    if (!top_.has("medium")) return;
    const TomlFields media(top_.required("medium"), top_.origin(), "[medium]");
    // A TOML table has no order of its own; the file's is kept, so that what was saved reads back.
    for (const auto& [key, value] : media.entries()) {
      const TomlFields fields(*value, top_.origin(), fmt::format("[medium.{}]", key));
      fields.allow_only({"name", "kind", "nominal_GBps", "nccl_GBps", "reported_GBps", "flow_GBps",
                         "efficiency", "source"});
      const Medium medium{.name = fields.required_text("name"),
                          .kind = read_kind(fields, LinkKind::Network),
                          .nominal_GBps = fields.positive("nominal_GBps", 0),
                          .nccl_GBps = fields.positive("nccl_GBps", 0),
                          .reported_GBps = fields.positive("reported_GBps", 0),
                          .flow_GBps = fields.positive("flow_GBps", 0),
                          .efficiency = read_share(fields, "efficiency"),
                          .source = fields.text("source")};
      const std::size_t before = graph_.media.size();
      media_[key] = add_medium(graph_, medium);
      if (graph_.media.size() == before) {
        throw fields.fault("name", fmt::format("there is a medium \"{}\" already", medium.name));
      }
    }
  }

  void read_node(const TomlFields& fields) {
    fields.allow_only(
        {"name", "kind", "host", "numa", "bus_id", "model", "uuid", "vendor", "reduces"});
    Node node{.kind = read_kind(fields, NodeKind::Network),
              .name = fields.required_text("name"),
              .numa = fields.integer("numa", -1, kMostNuma, -1),
              .bus_id = read_bus_id(fields),
              .model = fields.text("model"),
              .uuid = fields.text("uuid"),
              .vendor = fields.text("vendor"),
              .reduces = fields.flag("reduces")};
    node.host = read_host(fields, node.kind);
    if (find_node(graph_, node.name) >= 0) {
      throw fields.fault("name", fmt::format("there is a node \"{}\" already", node.name));
    }
    if (hosts_ > 1 && fields.has("uuid")) {
      throw fields.fault("uuid", "a uuid is of one device; hosts copies this one: leave it out");
    }
    add_node(graph_, std::move(node));
  }

  [[nodiscard]] static std::string read_bus_id(const TomlFields& fields) {
    std::string id = normal_bus_id(fields.text("bus_id"));
    if (id.empty() && fields.has("bus_id")) {
      throw fields.fault("bus_id", "bus_id must be a PCI address such as \"0000:06:00.0\"");
    }
    return id;
  }

  [[nodiscard]] int read_host(const TomlFields& fields, NodeKind kind) const {
    const bool is_device = kind == NodeKind::Gpu || kind == NodeKind::Processor;
    const int host = fields.integer("host", is_device ? 0 : -1, kMostHosts - 1,
                                    kind == NodeKind::Network ? -1 : 0);
    if (hosts_ > 1 && host >= 0 && fields.has("host")) {
      throw fields.fault("host", fmt::format("hosts = {} numbers the hosts; only host = -1, for "
                                             "what joins them, may be given",
                                             hosts_));
    }
    return host;
  }

  void read_link(const TomlFields& fields) {
    fields.allow_only({"between", "medium", "count", "one_way"});
    static_cast<void>(fields.required("between"));
    const std::vector<std::string> ends = fields.words("between");
    if (ends.size() != 2) {
      throw fields.fault("between", R"(between must name two nodes: ["GPU0", "GPU1"])");
    }
    const int one = node_named(fields, "between", ends[0]);
    const int other = node_named(fields, "between", ends[1]);
    if (one == other) {
      throw fields.fault("between", fmt::format("a link from \"{}\" to itself", ends[0]));
    }
    const int medium = medium_named(fields);
    const double count = fields.positive("count", 1);
    if (fields.flag("one_way")) {
      graph_.links.push_back({.from = one, .to = other, .medium = medium, .count = count});
    } else {
      add_cable(graph_, one, other, medium, count);
    }
  }

  [[nodiscard]] int node_named(const TomlFields& fields, std::string_view key,
                               const std::string& name) const {
    if (const int found = find_node(graph_, name); found >= 0) return found;
    std::vector<std::string> known;
    for (const Node& node : graph_.nodes) known.push_back(node.name);
    throw fields.fault(key, unknown_word("node", name, known));
  }

  [[nodiscard]] int medium_named(const TomlFields& fields) const {
    const std::string key = fields.required_text("medium");
    const auto found = media_.find(key);
    if (found != media_.end()) return found->second;
    std::vector<std::string> keys;
    for (const auto& [known, number] : media_) keys.push_back(known);
    throw fields.fault("medium", unknown_word("medium", key, keys));
  }

  void read_devices() {
    for (const std::string& word : top_.words("devices")) add_device(word);
    if (!top_.has("devices")) graph_.devices = usual_devices(graph_);
    if (graph_.devices.empty()) {
      throw top_.fault("devices", R"(there is no device: a node of kind "gpu" or "processor")");
    }
    if (graph_.devices.size() > kMostDevices) {
      throw top_.fault("devices", fmt::format("more than {} devices", kMostDevices));
    }
  }

  void add_device(const std::string& word) {
    const int number = node_named(top_, "devices", word);
    const NodeKind kind = graph_.nodes[static_cast<std::size_t>(number)].kind;
    if (kind != NodeKind::Gpu && kind != NodeKind::Processor) {
      throw top_.fault("devices", fmt::format("\"{}\" is no gpu and no processor", word));
    }
    if (std::count(graph_.devices.begin(), graph_.devices.end(), number) > 0) {
      throw top_.fault("devices", fmt::format("\"{}\" is there twice", word));
    }
    graph_.devices.push_back(number);
  }

  TomlFields top_;
  Graph graph_{};
  int hosts_ = 1;
  std::map<std::string, int> media_{};
};

}  // namespace

Graph parse_system(std::string_view text, std::string_view origin) {
  const toml::table table = parse_toml(text, origin);
  SystemReader reader(table, origin);
  static_cast<void>(reader.read());
  return reader.all_hosts();
}

EqualHosts parse_machine(std::string_view text, std::string_view origin) {
  const toml::table table = parse_toml(text, origin);
  return SystemReader(table, origin).read();
}

namespace {

constexpr std::string_view kFolder = "topo/systems";

/// What a file says of itself beside its graph.
BuiltInSystem summary_of(const EmbeddedText& system) {
  const toml::table table = parse_toml(system.text, system.path);
  const TomlFields fields(table, system.path, "a system file");
  return {.name = fields.required_text("name"),
          .aliases = fields.words("aliases"),
          .title = fields.text("title"),
          .source = fields.text("source"),
          .gpu_names = fields.words("gpu_names")};
}

bool is_path(const std::string& text) {
  return text.find('/') != std::string::npos || (text.ends_with(".toml") && text != ".toml");
}

struct Found {
  std::string text;
  std::string origin;
};

Found find_system(const std::string& wanted) {
  if (is_path(wanted)) {
    if (auto text = read_file(wanted)) return {*text, wanted};
    throw usage_error(fmt::format(
        "--system {}: this file cannot be read; a name without '/' is one of the built-in systems",
        wanted));
  }
  std::vector<std::string> known;
  std::vector<std::string> names;
  for (const EmbeddedText& system : embedded_texts(kFolder)) {
    BuiltInSystem summary = summary_of(system);
    names.push_back(summary.name);
    summary.aliases.push_back(std::move(summary.name));
    for (const std::string& name : summary.aliases) {
      if (lower(name) != lower(wanted)) continue;
      return {std::string(system.text), std::string(system.path)};
    }
    known.insert(known.end(), summary.aliases.begin(), summary.aliases.end());
  }
  std::sort(names.begin(), names.end());
  const std::string near = nearest_word(lower(wanted), known);
  throw usage_error(fmt::format(
      "--system {}: there is no such system{}; built in: {}; a file's name ends in .toml", wanted,
      near.empty() ? "" : fmt::format(" (did you mean {}?)", near), join(names, ", ")));
}

}  // namespace

Graph load_system(const std::string& name_or_path) {
  const Found found = find_system(name_or_path);
  return parse_system(found.text, found.origin);
}

EqualHosts load_machine(const std::string& name_or_path) {
  const Found found = find_system(name_or_path);
  return parse_machine(found.text, found.origin);
}

std::vector<BuiltInSystem> built_in_systems() {
  std::vector<BuiltInSystem> systems;
  for (const EmbeddedText& system : embedded_texts(kFolder)) {
    BuiltInSystem summary = summary_of(system);
    summary.machine = parse_machine(system.text, system.path);
    systems.push_back(std::move(summary));
  }
  // Files are in the order of their paths, where "-" comes before ".".
  std::sort(systems.begin(), systems.end(),
            [](const BuiltInSystem& a, const BuiltInSystem& b) { return a.name < b.name; });
  return systems;
}

namespace {

std::string toml_list(const std::vector<std::string>& texts) {
  return fmt::format("[{}]", join_each(texts, ", ", quoted));
}

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
  return fmt::format("  {{ {} }},\n", join(parts, ", "));
}

bool is_way_back(const Link& link, const Link& back) {
  return link.from == back.to && link.to == back.from && link.medium == back.medium &&
         link.count == back.count;
}

std::string link_line(const Graph& graph, const Link& link, const std::string& medium,
                      bool one_way) {
  const auto node = [&](int index) {
    return quoted(graph.nodes.at(static_cast<std::size_t>(index)).name);
  };
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
    text += link_line(graph, link, keys.at(static_cast<std::size_t>(link.medium)), !is_cable);
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
  if (graph.devices == usual_devices(graph)) return {};
  return fmt::format("devices = [{}]\n", join_each(graph.devices, ", ", [&](int node) {
                       return quoted(graph.nodes.at(static_cast<std::size_t>(node)).name);
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
  const std::vector<std::string> keys = medium_keys(graph);
  std::string text = fmt::format("name = {}\n", quoted(graph.name));
  if (!graph.title.empty()) text += fmt::format("title = {}\n", quoted(graph.title));
  if (!graph.source.empty()) text += fmt::format("source = {}\n", quoted(graph.source));
  if (hosts > 1) text += fmt::format("hosts = {}\n", hosts);
  const std::string p2p = p2p_value(graph);
  if (!p2p.empty()) text += fmt::format("p2p = {}\n", p2p);
  text += devices_line(graph);
  if (hosts == 1) text += labels_line(graph);
  if (!graph.warnings.empty()) text += fmt::format("warnings = {}\n", toml_list(graph.warnings));
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
