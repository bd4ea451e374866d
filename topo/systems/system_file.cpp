// SPDX-License-Identifier: BSD-3-Clause
#include "topo/systems/system_file.hpp"

#include <list>

#include "base/embedded_text.hpp"
#include "topo/systems/joined_hosts.hpp"
#include "topo/systems/system_tables.hpp"

namespace busbar::topo {
namespace {

constexpr std::string_view kFolder = "topo/systems";

constexpr int kMostHosts = 256;
/// One graph stands for all equal hosts.
constexpr int kMostEqualHosts = 1 << 16;
constexpr std::size_t kMostDevices = 256;
constexpr int kMostNuma = 1 << 20;

/// A file, or one that it is based on.
struct Layer {
  toml::table table{};
  std::string path{};

  [[nodiscard]] TomlFields fields() const { return {table, path, "a system file"}; }
};

struct SystemText {
  std::string path{};
  std::string text{};
};

/// Name and aliases of a file, the name first. Throws Error (Usage).
std::vector<std::string> names_of(const TomlFields& file) {
  std::vector<std::string> names = file.words("aliases");
  names.insert(names.begin(), file.required_text("name"));
  return names;
}

bool is_system_path(const std::string& text) {
  return text.find('/') != std::string::npos || (text.ends_with(".toml") && text != ".toml");
}

SystemText find_system(const std::string& wanted, std::string_view subject) {
  if (is_system_path(wanted)) {
    if (auto text = read_file(wanted)) return {.path = wanted, .text = *text};
    throw usage_error(
        "{}: this file cannot be read; a name without '/' is one of the built-in systems", subject);
  }
  // A file is named as its system, so only an alias needs the others' texts.
  const std::string path = fmt::format("{}/{}.toml", kFolder, lower(wanted));
  if (const auto text = embedded_text(path); !text.empty()) return {path, std::string(text)};
  std::vector<std::string> known;
  for (const auto& [file, text] : embedded_texts(kFolder)) {
    const Layer layer{.table = parse_toml(text, file), .path = std::string(file)};
    const std::vector<std::string> of_this = names_of(layer.fields());
    if (contains(mapped(of_this, lower), lower(wanted))) return {layer.path, std::string(text)};
    append(known, of_this);
  }
  const std::string near = nearest_word(lower(wanted), known);
  throw usage_error(
      "{}: there is no such system; {}; a file's name ends in .toml", subject,
      near.empty() ? "busbar topo --help lists them" : fmt::format("did you mean {}?", near));
}

SystemText base_of(const TomlFields& file) {
  std::string wanted = file.required_text("based_on");
  if (is_system_path(wanted)) wanted = beside(file.origin(), wanted);
  try {
    return find_system(wanted, fmt::format("based_on \"{}\"", wanted));
  } catch (const Error& error) {
    throw file.fault("based_on", error.what());
  }
}

/// The file as the last, before it what it is based on.
std::list<Layer> layers_of(std::string_view text, std::string_view origin) {
  constexpr std::size_t kDeepest = 8;
  std::list<Layer> layers;
  SystemText source{.path = std::string(origin), .text = std::string(text)};
  for (;;) {
    layers.push_front({.table = parse_toml(source.text, source.path), .path = source.path});
    const TomlFields file = layers.front().fields();
    if (!file.has("based_on")) return layers;
    if (layers.size() == kDeepest) {
      throw file.fault("based_on", "based_on is {} files deep; is it based on itself?", kDeepest);
    }
    source = base_of(file);
  }
}

/// Media of a base that no link uses any more.
void leave_out_unused_media(Graph& graph) {
  std::vector<int> numbers(graph.media.size(), -1);
  for (const Link& link : graph.links) numbers[to_size(link.medium)] = 0;
  std::vector<Medium> left;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (numbers[i] < 0) continue;
    numbers[i] = static_cast<int>(left.size());
    left.push_back(std::move(graph.media[i]));
  }
  graph.media = std::move(left);
  for (Link& link : graph.links) link.medium = numbers[to_size(link.medium)];
}

/// Reads a system file into the graph of one host; the places in it are by name.
class SystemReader {
 public:
  SystemReader(std::string_view text, std::string_view origin) : layers_(layers_of(text, origin)) {}

  EqualHosts read() {
    graph_.name = layers_.back().fields().required_text("name");
    graph_.title = with("title").text("title");
    graph_.source = with("source").text("source");
    graph_.warnings = with("warnings").words("warnings");
    graph_.gpu_names = with("gpu_names").words("gpu_names");
    read_assumptions(with("assumptions"));
    hosts_ = with("hosts").integer("hosts", 1, kMostEqualHosts, 1);
    for (const Layer& layer : layers_) read_layer(layer.fields());
    if (layers_.size() > 1) leave_out_unused_media(graph_);
    read_devices(with("devices"));
    graph_.p2p = read_p2p(with("p2p"), graph_);
    graph_.protocol = read_protocol(with("protocol"));
    return {.host = graph_, .hosts = hosts_};
  }

  /// The file's own, after the files that it is based on.
  [[nodiscard]] const std::list<Layer>& layers() const { return layers_; }

  /// All hosts as one graph. Throws where they are too many to name every pair of devices.
  [[nodiscard]] Graph all_hosts() const {
    if (graph_.devices.size() * static_cast<std::size_t>(hosts_) > kMostDevices) {
      throw with("hosts").fault(
          "hosts", "more than {} devices; a simulation takes more (--backend sim --system)",
          kMostDevices);
    }
    Graph graph = hosts_ > 1 ? copy_hosts(graph_, hosts_) : graph_;
    graph.labels = read_labels(with("labels"), graph);
    if (graph.labels.empty()) label_devices(graph);
    return graph;
  }

 private:
  /// The file, or the one of those that it is based on, from which a key is taken.
  [[nodiscard]] TomlFields with(std::string_view key) const {
    const auto found = std::find_if(layers_.rbegin(), layers_.rend(),
                                    [&](const Layer& layer) { return layer.table.contains(key); });
    return found == layers_.rend() ? layers_.back().fields() : found->fields();
  }

  void read_assumptions(const TomlFields& file) {
    for (const toml::node* one : file.list("assumptions")) {
      const TomlFields fields(*one, file.origin(), "[[assumptions]]");
      fields.allow_only({"kind", "text"});
      assume(graph_, fields.required_value<LinkKind>("kind"), fields.required_text("text"));
    }
  }

  void read_layer(const TomlFields& file) {
    file.allow_only({"name", "aliases", "gpu_names", "based_on", "without", "title", "source",
                     "hosts", "p2p", "labels", "devices", "warnings", "assumptions", "medium",
                     "node", "link", "protocol"});
    static_cast<void>(file.words("aliases"));
    std::set<int> without;
    for (const std::string& name : names_of_ranges(file, "without")) {
      without.insert(node_named(file, "without", name));
    }
    remove_nodes(graph_, without);
    own_nodes_.clear();
    read_media(file);
    for (const toml::node* one : file.list("node")) read_nodes({*one, file.origin(), "[[node]]"});
    for (const toml::node* one : file.list("link")) read_links({*one, file.origin(), "[[link]]"});
  }

  void read_media(const TomlFields& file) {
    if (!file.has("medium")) return;
    const TomlFields media(file.required("medium"), file.origin(), "[medium]");
    // A TOML table has no order of its own; the file's is kept, so that what was saved reads back.
    for (const auto& [key, value] : media.entries()) {
      const TomlFields fields(*value, file.origin(), fmt::format("[medium.{}]", key));
      take_medium(fields, key, read_medium(fields));
    }
  }

  /// Figures and their source belong together: a base's medium is replaced whole.
  void take_medium(const TomlFields& fields, const std::string& key, const Medium& medium) {
    const std::size_t count = graph_.media.size();
    const auto [own, is_new] = media_.try_emplace(key, static_cast<int>(count));
    for (std::size_t i = 0; i < count; ++i) {
      if (to_size(own->second) == i || graph_.media[i].name != medium.name) continue;
      throw fields.fault("name", "there is a medium \"{}\" already", medium.name);
    }
    if (is_new) graph_.media.emplace_back();
    graph_.media[to_size(own->second)] = medium;
  }

  void read_nodes(const TomlFields& fields) {
    fields.allow_only({"name", "kind", "host", "numa", "bus_id", "model", "uuid", "vendor",
                       "reduces", "most_hosts"});
    const std::vector<std::string> names =
        names_of_range(fields, "name", fields.required_text("name"));
    for (const char* key : {"bus_id", "uuid"}) {
      if (names.size() == 1 || !fields.has(key)) continue;
      throw fields.fault(key, "{} is of one node; write the nodes of this range one by one", key);
    }
    if (hosts_ > 1 && fields.has("uuid")) {
      throw fields.fault("uuid", "a uuid is of one device; hosts copies this one: leave it out");
    }
    for (const std::string& name : names) read_node(fields, name);
  }

  /// A new node, or what changes in one of a base.
  void read_node(const TomlFields& fields, const std::string& name) {
    if (!own_nodes_.insert(name).second) {
      throw fields.fault("name", "there is a node \"{}\" already", name);
    }
    const int known = find_node(graph_, name);
    Node node = known >= 0 ? node_of(graph_, known) : Node{.name = name};
    if (known < 0 || fields.has("kind")) node.kind = fields.required_value<NodeKind>("kind");
    if (known < 0 || fields.has("host")) node.host = read_host(fields, node.kind);
    node.numa = fields.integer("numa", -1, kMostNuma, node.numa);
    if (fields.has("bus_id")) {
      node.bus_id = normal_bus_id(fields.text("bus_id"));
      if (node.bus_id.empty()) {
        throw fields.fault("bus_id", "bus_id must be a PCI address such as \"0000:06:00.0\"");
      }
    }
    if (fields.has("model")) node.model = fields.text("model");
    if (fields.has("vendor")) node.vendor = fields.text("vendor");
    if (fields.has("reduces")) node.reduces = fields.flag("reduces");
    if (fields.has("uuid")) node.uuid = fields.text("uuid");
    node.most_hosts = fields.integer("most_hosts", 1, kMostEqualHosts, node.most_hosts);
    (known >= 0 ? graph_.nodes[to_size(known)] : graph_.nodes.emplace_back()) = std::move(node);
  }

  [[nodiscard]] int read_host(const TomlFields& fields, NodeKind kind) const {
    const bool is_device = kind == NodeKind::Gpu || kind == NodeKind::Processor;
    const int host = fields.integer("host", is_device ? 0 : -1, kMostHosts - 1,
                                    kind == NodeKind::Network ? -1 : 0);
    if (hosts_ > 1 && host >= 0 && fields.has("host")) {
      throw fields.fault(
          "host", "hosts = {} numbers the hosts; only host = -1, for what joins them, may be given",
          hosts_);
    }
    return host;
  }

  void read_links(const TomlFields& fields) {
    fields.allow_only({"between", "medium", "count", "one_way"});
    static_cast<void>(fields.required("between"));
    const std::vector<std::string> ends = fields.words("between");
    if (ends.size() != 2) {
      throw fields.fault("between", R"(between must name two nodes: ["GPU0", "GPU1"])");
    }
    const auto pairs = pairs_of_ranges(fields, "between", ends[0], ends[1]);
    for (const auto& [one, other] : pairs) read_link(fields, one, other);
  }

  void read_link(const TomlFields& fields, const std::string& from, const std::string& to) {
    const int one = node_named(fields, "between", from);
    const int other = node_named(fields, "between", to);
    if (one == other) {
      throw fields.fault("between", "a link from \"{}\" to itself", from);
    }
    const int medium = fields.value("medium", media_);
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
    throw fields.fault(key, unknown_word("node", name, mapped(graph_.nodes, &Node::name)));
  }

  void read_devices(const TomlFields& file) {
    for (const std::string& name : names_of_ranges(file, "devices")) add_device(file, name);
    if (!file.has("devices")) graph_.devices = default_devices(graph_);
    if (graph_.devices.empty()) {
      throw file.fault("devices", R"(there is no device: a node of kind "gpu" or "processor")");
    }
    if (graph_.devices.size() > kMostDevices) {
      throw file.fault("devices", "more than {} devices", kMostDevices);
    }
  }

  void add_device(const TomlFields& file, const std::string& name) {
    const int number = node_named(file, "devices", name);
    const NodeKind kind = node_of(graph_, number).kind;
    if (kind != NodeKind::Gpu && kind != NodeKind::Processor) {
      throw file.fault("devices", "\"{}\" is neither a gpu nor a processor", name);
    }
    if (std::ranges::count(graph_.devices, number) > 0) {
      throw file.fault("devices", "\"{}\" appears twice", name);
    }
    graph_.devices.push_back(number);
  }

  std::list<Layer> layers_;
  Graph graph_{};
  int hosts_ = 1;
  std::map<std::string, int> media_{};
  std::set<std::string> own_nodes_{};  ///< of the layer that is read
};

SystemText text_of_system(const std::string& name_or_path) {
  return find_system(name_or_path, fmt::format("--system {}", name_or_path));
}

}  // namespace

Graph parse_system(std::string_view text, std::string_view origin) {
  SystemReader reader(text, origin);
  static_cast<void>(reader.read());
  return reader.all_hosts();
}

EqualHosts parse_machine(std::string_view text, std::string_view origin) {
  return SystemReader(text, origin).read();
}

Graph load_system(const std::string& name_or_path) {
  const SystemText found = text_of_system(name_or_path);
  return parse_system(found.text, found.path);
}

EqualHosts load_machine(const std::string& name_or_path) {
  const SystemText found = text_of_system(name_or_path);
  return parse_machine(found.text, found.path);
}

bool BuiltInSystem::is_called(std::string_view wanted) const {
  return std::ranges::any_of(names,
                             [&](const std::string& name) { return lower(name) == lower(wanted); });
}

std::vector<BuiltInSystem> built_in_systems() {
  std::vector<BuiltInSystem> systems;
  for (const auto& [path, text] : embedded_texts(kFolder)) {
    SystemReader reader(text, path);
    systems.push_back({.machine = reader.read(),
                       .names = names_of(reader.layers().back().fields()),
                       .based_on = reader.layers().size() - 1});
  }
  // Files are in the order of their paths, where "-" comes before ".".
  std::ranges::sort(systems, {}, &BuiltInSystem::name);
  return systems;
}

}  // namespace busbar::topo
