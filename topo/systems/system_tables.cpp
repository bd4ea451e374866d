// SPDX-License-Identifier: BSD-3-Clause
#include "topo/systems/system_tables.hpp"

#include "topo/probes/smi_matrix.hpp"
#include "topo/systems/joined_hosts.hpp"
#include "topo/systems/system_file.hpp"

namespace busbar::topo {
namespace {

/// The rows of a matrix; `is_cell` says which texts may be off the diagonal.
std::vector<Words> read_rows(const TomlFields& file, std::string_view key, std::size_t devices,
                             const std::function<bool(const std::string&)>& is_cell) {
  const std::vector<const toml::node*> elements = file.list(key);
  const Words lines = file.words(key);
  if (lines.size() != devices) {
    throw file.fault(key, "{} has {} for {}", key, counted(lines.size(), "row"),
                     counted(devices, "device"));
  }
  std::vector<Words> rows;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const auto fail = [&](const std::string& what) {
      return fault_at(file.origin(), elements[i]->source(), what);
    };
    rows.push_back(split_words(lines[i]));
    if (rows[i].size() != devices) {
      throw fail(fmt::format("this row of {} has {} for {}", key, counted(rows[i].size(), "word"),
                             counted(devices, "device")));
    }
    for (std::size_t j = 0; j < devices; ++j) {
      if (rows[i][j] == "X" ? i != j : !is_cell(rows[i][j])) {
        throw fail(fmt::format("{} has \"{}\" in column {} of this row", key, rows[i][j], j + 1));
      }
    }
  }
  return rows;
}

bool is_label(const std::string& word) {
  constexpr std::array<std::string_view, 8> kLabels{"N/A", "PSB",  "PIX", "PXB",
                                                    "PHB", "NODE", "SYS", "NET"};
  return gpu_link_count(word) > 0 || std::ranges::find(kLabels, word) != kLabels.end();
}

constexpr std::array<std::string_view, 3> kP2pCells{"U", "OK", "NS"};
constexpr std::array<std::string_view, 3> kP2pWords{"unknown", "works", "off"};

/// A matrix of one word: within a host what it says, between hosts nothing.
std::vector<std::vector<P2p>> uniform_p2p(const Graph& graph, P2p within) {
  const auto host = [&](std::size_t i) { return node_of(graph, graph.devices[i]).host; };
  return square_matrix(device_count(graph), [&](std::size_t i, std::size_t j) {
    if (host(i) != host(j)) return P2p::Unknown;
    return i == j ? P2p::Works : within;
  });
}

std::string as_toml(const std::vector<Words>& rows) {
  std::string text = "[\n";
  for (const Words& row : rows) text += fmt::format("  \"{}\",\n", join(row, " "));
  return text + "]";
}

constexpr int kMostFlows = 1 << 16;

/// A figure of a table; 0 where it is missing. Shares are at most 1.
template <typename Owner>
struct FigureKey {
  std::string_view key;
  double Owner::*member;
  bool is_share = false;
};

constexpr auto figures_of(const StepTimes& /*owner*/) {
  using Step = FigureKey<StepTimes>;
  return std::array{Step{"share", &StepTimes::share, true},
                    Step{"launch_us", &StepTimes::launch_us},
                    Step{"nvlink_us", &StepTimes::nvlink_us},
                    Step{"pcie_us", &StepTimes::pcie_us},
                    Step{"smp_us", &StepTimes::smp_us},
                    Step{"network_us", &StepTimes::network_us},
                    Step{"network_share", &StepTimes::network_share, true}};
}
constexpr auto figures_of(const Protocol& /*owner*/) {
  using Whole = FigureKey<Protocol>;
  return std::array{Whole{"efficiency", &Protocol::efficiency, true},
                    Whole{"in_switch_efficiency", &Protocol::in_switch_efficiency, true},
                    Whole{"issue_us", &Protocol::issue_us},
                    Whole{"direct_issue_us", &Protocol::direct_issue_us},
                    Whole{"channel_GBps", &Protocol::channel_GBps},
                    Whole{"network_latency_us", &Protocol::network_latency_us}};
}
constexpr auto figures_of(const Medium& /*owner*/) {
  using One = FigureKey<Medium>;
  return std::array{
      One{"nominal_GBps", &Medium::nominal_GBps}, One{"nccl_GBps", &Medium::nccl_GBps},
      One{"reported_GBps", &Medium::reported_GBps}, One{"flow_GBps", &Medium::flow_GBps},
      One{"efficiency", &Medium::efficiency, true}};
}

/// Reads the figures of a table that may have other keys, too: before and behind them in a list.
template <typename Owner>
void read_figures(const TomlFields& fields, Owner& owner, std::vector<std::string> keys,
                  const std::vector<std::string>& more = {}) {
  for (const auto& figure : figures_of(owner)) keys.emplace_back(figure.key);
  append(keys, more);
  fields.allow_only(keys);
  for (const auto& figure : figures_of(owner)) {
    const double value = fields.positive(figure.key, 0);
    if (figure.is_share && value > 1) {
      throw fields.fault(figure.key, "{} is a share: above 0, at most 1", figure.key);
    }
    owner.*figure.member = value;
  }
}

template <typename Owner>
std::string figure_lines(const Owner& owner) {
  std::string text;
  for (const auto& figure : figures_of(owner)) {
    const double value = owner.*figure.member;
    if (value > 0) text += fmt::format("{} = {}\n", figure.key, value);
  }
  return text;
}

std::vector<Algorithm> read_algorithms(const TomlFields& fields) {
  return mapped(fields.words("algorithms"), [&](const std::string& word) {
    if (const auto algorithm = find_value<Algorithm>(word)) return *algorithm;
    const auto known = mapped<std::string>(kAlgorithms, name<Algorithm>);
    throw fields.fault("algorithms", unknown_word("algorithm", word, known));
  });
}

/// What the key "p2p" says of this graph, as TOML; empty where nothing is known.
std::string p2p_value(const Graph& graph) {
  if (graph.p2p.empty()) return {};
  for (const P2p within : {P2p::Works, P2p::Off}) {
    if (graph.p2p == uniform_p2p(graph, within)) {
      return fmt::format("\"{}\"", kP2pWords.at(static_cast<std::size_t>(within)));
    }
  }
  return as_toml(square_matrix(graph.p2p.size(), [&](std::size_t i, std::size_t j) {
    const P2p cell = graph.p2p[i][j];
    if (i == j && cell == P2p::Works) return std::string("X");
    return std::string(kP2pCells.at(static_cast<std::size_t>(cell)));
  }));
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
  if (node.most_hosts > 0) parts.push_back(fmt::format("most_hosts = {}", node.most_hosts));
  return fmt::format("  {{ {} }},\n", join(parts, ", "));
}

bool is_way_back(const Link& link, const Link& back) {
  return link.from == back.to && link.to == back.from && link.medium == back.medium &&
         link.count == back.count;
}

std::string links(const Graph& graph) {
  const std::vector<std::string> keys = medium_keys(graph);
  const auto node = [&](int index) { return quoted(node_of(graph, index).name); };
  std::string text;
  for (std::size_t i = 0; i < graph.links.size(); ++i) {
    const Link& link = graph.links[i];
    const bool is_cable = i + 1 < graph.links.size() && is_way_back(link, graph.links[i + 1]);
    text += fmt::format("  {{ between = [{}, {}], medium = {}{}{} }},\n", node(link.from),
                        node(link.to), quoted(keys.at(to_size(link.medium))),
                        link.count == 1 ? "" : fmt::format(", count = {}", link.count),
                        is_cable ? "" : ", one_way = true");
    if (is_cable) ++i;
  }
  return text;
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
  return fmt::format("labels = {}\n", as_toml(graph.labels));
}

}  // namespace

std::vector<std::string> names_of_range(const TomlFields& fields, std::string_view key,
                                        const std::string& text) {
  constexpr int kMost = 256;
  constexpr std::string_view kDigits = "0123456789";
  const std::size_t dash = text.find_last_not_of(kDigits);
  if (dash == std::string::npos || text[dash] != '-' || dash + 1 == text.size()) return {text};
  const std::string prefix = text.substr(0, text.substr(0, dash).find_last_not_of(kDigits) + 1);
  if (prefix.empty() || prefix.size() == dash) return {text};
  const auto first = to_number<int>(text.substr(prefix.size(), dash - prefix.size()));
  const auto last = to_number<int>(text.substr(dash + 1));
  const bool counts_up = first && last && *first < *last && *last - *first < kMost;
  // Leading zeros would be lost.
  if (!counts_up || text != fmt::format("{}{}-{}", prefix, *first, *last)) {
    throw fields.fault(
        key, "{} is not a range; it must count upwards and have at most {} nodes, as {}0-7",
        quoted(text), kMost, prefix);
  }
  std::vector<std::string> names;
  for (int number = *first; number <= *last; ++number) {
    names.push_back(fmt::format("{}{}", prefix, number));
  }
  return names;
}

std::vector<std::string> names_of_ranges(const TomlFields& fields, std::string_view key) {
  std::vector<std::string> names;
  for (const std::string& text : fields.words(key)) {
    append(names, names_of_range(fields, key, text));
  }
  return names;
}

std::vector<std::pair<std::string, std::string>> pairs_of_ranges(const TomlFields& fields,
                                                                 std::string_view key,
                                                                 const std::string& one,
                                                                 const std::string& other) {
  const std::vector<std::string> ones = names_of_range(fields, key, one);
  const std::vector<std::string> others = names_of_range(fields, key, other);
  std::vector<std::pair<std::string, std::string>> pairs;
  if (one == other && ones.size() > 1) {
    for (std::size_t i = 0; i < ones.size(); ++i) {
      for (std::size_t j = i + 1; j < ones.size(); ++j) pairs.emplace_back(ones[i], ones[j]);
    }
    return pairs;
  }
  const auto [less, more] = std::minmax({ones.size(), others.size()});
  if (more % less != 0) {
    throw fields.fault(key, "between joins {} to {}; write ranges of which one divides the other",
                       counted(ones.size(), "node"), others.size());
  }
  for (std::size_t i = 0; i < more; ++i) {
    pairs.emplace_back(ones[i * ones.size() / more], others[i * others.size() / more]);
  }
  return pairs;
}

std::vector<int> default_devices(const Graph& graph) {
  std::vector<int> gpus = nodes_of_kind(graph, NodeKind::Gpu);
  return gpus.empty() ? nodes_of_kind(graph, NodeKind::Processor) : gpus;
}

std::vector<std::vector<P2p>> read_p2p(const TomlFields& file, const Graph& graph) {
  const toml::node* value = file.find("p2p");
  if (value == nullptr) return {};
  if (!value->is_array()) {
    const auto word = file.one_of("p2p", {kP2pWords.begin(), kP2pWords.end()});
    return *word == 0 ? std::vector<std::vector<P2p>>{}
                      : uniform_p2p(graph, static_cast<P2p>(*word));
  }
  const auto is_cell = [](const std::string& word) {
    return std::ranges::find(kP2pCells, word) != kP2pCells.end();
  };
  const std::vector<Words> rows = read_rows(file, "p2p", device_count(graph), is_cell);
  return square_matrix(rows.size(),
                       [&](std::size_t i, std::size_t j) { return works(rows[i][j]); });
}

std::vector<Words> read_labels(const TomlFields& file, const Graph& graph) {
  if (!file.has("labels")) return {};
  return read_rows(file, "labels", device_count(graph), is_label);
}

Medium read_medium(const TomlFields& fields) {
  Medium medium;
  read_figures(fields, medium, {"name", "kind"}, {"source"});
  medium.name = fields.required_text("name");
  medium.kind = fields.required_value<LinkKind>("kind");
  medium.source = fields.text("source");
  return medium;
}

Protocol read_protocol(const TomlFields& file) {
  if (!file.has("protocol")) return {};
  const TomlFields fields(file.required("protocol"), file.origin(), "[protocol]");
  std::vector<std::string> keys{"flows", "algorithms", "library", "source"};
  for (const Sending sending : kSendings) keys.emplace_back(name(sending));
  Protocol protocol;
  read_figures(fields, protocol, std::move(keys));
  protocol.flows = fields.integer("flows", 1, kMostFlows, 0);
  protocol.algorithms = read_algorithms(fields);
  protocol.source = fields.required_text("source");
  protocol.library = fields.value<Library>("library");
  for (const Sending sending : kSendings) {
    if (!fields.has(name(sending))) continue;
    const TomlFields steps(fields.required(name(sending)), file.origin(),
                           fmt::format("[protocol.{}]", name(sending)));
    read_figures(steps, protocol.steps.at(static_cast<std::size_t>(sending)), {});
  }
  return protocol;
}

std::string protocol_table(const Protocol& protocol) {
  if (protocol == Protocol{}) return {};
  std::string text = "\n[protocol]\n" + figure_lines(protocol);
  if (protocol.library) text += fmt::format("library = {}\n", quoted(name(*protocol.library)));
  if (protocol.flows > 0) text += fmt::format("flows = {}\n", protocol.flows);
  if (!protocol.algorithms.empty()) {
    text += fmt::format("algorithms = [{}]\n",
                        join_each(protocol.algorithms, ", ",
                                  [](Algorithm algorithm) { return quoted(name(algorithm)); }));
  }
  text += fmt::format("source = {}\n", quoted(protocol.source));
  for (const Sending sending : kSendings) {
    const StepTimes& times = protocol.steps.at(static_cast<std::size_t>(sending));
    if (times == StepTimes{}) continue;
    text += fmt::format("\n[protocol.{}]\n{}", name(sending), figure_lines(times));
  }
  return text;
}

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
    const Medium& medium = graph.media[i];
    text += fmt::format("\n[medium.{}]\nname = {}\nkind = \"{}\"\n{}source = {}\n", keys[i],
                        quoted(medium.name), name(medium.kind), figure_lines(medium),
                        quoted(medium.source));
  }
  return text + protocol_table(graph.protocol);
}

}  // namespace busbar::topo
