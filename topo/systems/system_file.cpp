// SPDX-License-Identifier: BSD-3-Clause
#include "topo/systems/system_file.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "base/text.hpp"
#include "base/toml_fields.hpp"
#include "topo/systems/device_matrix.hpp"
#include "topo/systems/host_copies.hpp"
#include "topo/systems/protocol_table.hpp"

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

/// Reads a system file into the graph of one host; the places in it are by name.
class SystemReader {
 public:
  SystemReader(const toml::table& table, std::string_view origin)
      : top_(table, origin, "a system file") {}

  EqualHosts read() {
    top_.allow_only({"name", "aliases", "title", "source", "hosts", "p2p", "labels", "devices",
                     "warnings", "assumptions", "medium", "node", "link", "protocol"});
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
    return finished();
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
      Medium medium{.name = fields.required_text("name"),
                    .kind = read_kind(fields, LinkKind::Network),
                    .nominal_GBps = fields.positive("nominal_GBps", 0),
                    .nccl_GBps = fields.positive("nccl_GBps", 0),
                    .reported_GBps = fields.positive("reported_GBps", 0),
                    .flow_GBps = fields.positive("flow_GBps", 0),
                    .efficiency = read_share(fields, "efficiency"),
                    .source = fields.text("source")};
      const std::string medium_name = medium.name;
      const std::size_t before = graph_.media.size();
      media_[key] = add_medium(graph_, std::move(medium));
      if (graph_.media.size() == before) {
        throw fields.fault("name", fmt::format("there is a medium \"{}\" already", medium_name));
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
    if (nodes_.contains(node.name)) {
      throw fields.fault("name", fmt::format("there is a node \"{}\" already", node.name));
    }
    if (hosts_ > 1 && fields.has("uuid")) {
      throw fields.fault("uuid", "a uuid is of one device; hosts copies this one: leave it out");
    }
    const std::string node_name = node.name;
    nodes_[node_name] = add_node(graph_, std::move(node));
    node_names_.push_back(node_name);
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
    const int one = node_named(fields, ends[0]);
    const int other = node_named(fields, ends[1]);
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

  [[nodiscard]] int node_named(const TomlFields& fields, const std::string& node) const {
    const auto found = nodes_.find(node);
    if (found != nodes_.end()) return found->second;
    throw fields.fault(fields.has("between") ? "between" : "devices",
                       unknown_word("node", node, node_names_));
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
    if (top_.has("devices")) {
      for (const std::string& word : top_.words("devices")) add_device(word);
    } else {
      add_all(NodeKind::Gpu);
      if (graph_.devices.empty()) add_all(NodeKind::Processor);
    }
    if (graph_.devices.empty()) {
      throw top_.fault("devices", R"(there is no device: a node of kind "gpu" or "processor")");
    }
    if (graph_.devices.size() > kMostDevices) {
      throw top_.fault("devices", fmt::format("more than {} devices", kMostDevices));
    }
  }

  void add_device(const std::string& word) {
    const int number = node_named(top_, word);
    const NodeKind kind = graph_.nodes[static_cast<std::size_t>(number)].kind;
    if (kind != NodeKind::Gpu && kind != NodeKind::Processor) {
      throw top_.fault("devices", fmt::format("\"{}\" is no gpu and no processor", word));
    }
    if (std::count(graph_.devices.begin(), graph_.devices.end(), number) > 0) {
      throw top_.fault("devices", fmt::format("\"{}\" is there twice", word));
    }
    graph_.devices.push_back(number);
  }

  void add_all(NodeKind kind) {
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
      if (graph_.nodes[i].kind == kind) graph_.devices.push_back(static_cast<int>(i));
    }
  }

  [[nodiscard]] Graph finished() const {
    Graph graph = hosts_ > 1 ? copy_hosts(graph_, hosts_) : graph_;
    graph.labels = read_labels(top_, graph);
    if (graph.labels.empty()) label_devices(graph);
    return graph;
  }

  TomlFields top_;
  Graph graph_{};
  int hosts_ = 1;
  std::map<std::string, int> media_{};
  std::map<std::string, int> nodes_{};
  std::vector<std::string> node_names_{};
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

}  // namespace busbar::topo
