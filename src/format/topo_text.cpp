// SPDX-License-Identifier: BSD-3-Clause
#include "format/topo_text.hpp"

#include <cmath>
#include <tuple>

#include "format/table.hpp"

namespace busbar {
namespace {

using topo::Bound;

std::string verdict(const Bound& bound) {
  if (bound.devices.size() < 2) return "one device: nothing crosses a link";
  if (!std::isfinite(bound.bound_GBps)) return "nothing is known that limits them";
  if (bound.bound_GBps <= 0) return "no ring closes over the links that are known: no bound";
  const bool assumed = !bound.assumptions.empty();
  const std::string range =
      bound.exact ? fmt::format("{} {}", assumed ? "about" : "at most", rate_text(bound.bound_GBps))
                  : fmt::format("{}between {} and {} (not exact)", assumed ? "about " : "",
                                rate_text(bound.lower_GBps), rate_text(bound.bound_GBps));
  if (bound.ring_GBps > 0) return fmt::format("{} over {}", range, bound.kind);
  return fmt::format("no ring closes over {}; {} over {}{}", gpu_link_text(bound.gpu_link), range,
                     bound.kind, assumed ? "" : " (upper bound)");
}

std::string assumption_lines(const std::vector<std::string>& assumptions) {
  std::string text;
  for (const std::string& assumption : assumptions) {
    text += fmt::format("  assumed    {}\n", assumption);
  }
  return text;
}

/// What the marks of a table's bounds stand for: the assumptions, each once, and links without a
/// ring.
class Footnotes {
 public:
  /// Notes a bound; returns over which links it is, with a star where no ring closes.
  std::string add(const Bound& bound, bool no_ring = false) {
    for (const std::string& text : bound.assumptions) add_new(assumptions_, text);
    if (no_ring) open_links_.insert(gpu_link_text(bound.gpu_link));
    return bound.kind + (no_ring ? " *" : "");
  }
  [[nodiscard]] std::string lines() const {
    std::string text;
    if (!open_links_.empty()) {
      text = fmt::format("* no ring closes over {}: an upper bound with PCIe and shared memory\n",
                         fmt::join(open_links_, " or "));
    }
    if (!assumptions_.empty()) text += "~ about, because of what no source reports:\n";
    return text + assumption_lines(assumptions_);
  }

 private:
  std::vector<std::string> assumptions_{};
  std::set<std::string_view> open_links_{};
};

std::string ring_lines(const Bound& bound) {
  constexpr std::size_t kMost = 12;
  std::string text;
  for (std::size_t i = 0; i < std::min(kMost, bound.rings.size()); ++i) {
    const topo::RatedRing& ring = bound.rings[i];
    text += fmt::format("    {:>10}  {}\n", rate_text(ring.GBps), fmt::join(ring.devices, "→"));
  }
  if (bound.rings.size() > kMost) {
    text += fmt::format("    and {} more\n", bound.rings.size() - kMost);
  }
  return text;
}

/// "450", "~15.75" where it rests on assumptions, "<=300" where it is not exact.
std::string figure(const Bound& bound) {
  if (!std::isfinite(bound.bound_GBps)) return "no limit";
  const char* mark = !bound.assumptions.empty() ? "~" : bound.exact ? "" : "<=";
  return fmt::format("{}{:.4g}", mark, bound.bound_GBps);
}

using topo::Graph;
using topo::LinkKind;
using topo::Node;
using topo::NodeKind;

/// Draws what hangs below each package, every node once.
class PartTree {
 public:
  PartTree(const Graph& graph, topo::ConstantSet constants)
      : graph_(graph), constants_(constants), drawn_(graph.nodes.size()) {}

  std::string draw() {
    for (const NodeKind root : {NodeKind::Package, NodeKind::Processor, NodeKind::HostBridge,
                                NodeKind::PcieSwitch, NodeKind::Gpu, NodeKind::Nic}) {
      for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
        if (graph_.nodes[i].kind != root || drawn_[i]) continue;
        text_ += "  " + words(graph_.nodes[i]) + "\n";
        drawn_[i] = true;
        children(static_cast<int>(i), "  ");
      }
    }
    return text_;
  }

 private:
  [[nodiscard]] static std::string words(const Node& node) {
    std::string text = node.name;
    for (const std::string& more : {node.model, node.bus_id}) {
      if (!more.empty() && more != node.name) text += "  " + more;
    }
    if (node.numa >= 0) text += fmt::format("  NUMA {}", node.numa);
    return text;
  }

  [[nodiscard]] bool hangs_below(const topo::Link& link) const {
    const LinkKind kind = medium_of(graph_, link).kind;
    const NodeKind to = node_of(graph_, link.to).kind;
    return (kind == LinkKind::Pcie || kind == LinkKind::Memory) && to != NodeKind::Package &&
           !drawn_[static_cast<std::size_t>(link.to)];
  }

  void children(int parent, const std::string& indent) {
    std::vector<const topo::Link*> links;
    for (const topo::Link& link : graph_.links) {
      if (link.from == parent && hangs_below(link)) links.push_back(&link);
    }
    for (std::size_t i = 0; i < links.size(); ++i) {
      const bool last = i + 1 == links.size();
      const Node& node = node_of(graph_, links[i]->to);
      drawn_[static_cast<std::size_t>(links[i]->to)] = true;
      text_ += fmt::format("{}{} {}{}\n", indent, last ? "└─" : "├─", words(node), edge(*links[i]));
      children(links[i]->to, indent + (last ? "   " : "│  "));
    }
  }

  [[nodiscard]] std::string edge(const topo::Link& link) const {
    const topo::Medium& medium = medium_of(graph_, link);
    if (medium.kind != LinkKind::Pcie) return "";
    return fmt::format("  [{}, {}]", medium.name,
                       rate_text(capacity_GBps(graph_, link, constants_)));
  }

  const Graph& graph_;
  topo::ConstantSet constants_;
  std::vector<bool> drawn_;
  std::string text_{};
};

/// Links of GPUs, links between packages and to the network: each cable once.
std::string other_links(const Graph& graph, topo::ConstantSet constants) {
  const auto is_hub = [&](int node) {
    const NodeKind kind = node_of(graph, node).kind;
    return kind == NodeKind::NvSwitch || kind == NodeKind::Network;
  };
  std::string text;
  for (const topo::Link& link : graph.links) {
    const LinkKind kind = medium_of(graph, link).kind;
    const bool upwards = is_hub(link.to) || (link.from < link.to && !is_hub(link.from));
    if (kind == LinkKind::Pcie || kind == LinkKind::Memory || !upwards) continue;
    const std::string count = link.count > 1 ? fmt::format("{:g}x ", link.count) : "";
    text += fmt::format(
        "  {:<28} {}{}, {} each way\n",
        fmt::format("{} ↔ {}", node_of(graph, link.from).name, node_of(graph, link.to).name), count,
        medium_of(graph, link).name, rate_text(capacity_GBps(graph, link, constants)));
  }
  return text;
}

std::string matrix(const Graph& graph) {
  std::size_t width = 4;
  for (std::size_t i = 0; i < graph.labels.size(); ++i) {
    width = std::max(width, device(graph, static_cast<int>(i)).name.size());
    for (const std::string& label : graph.labels[i]) width = std::max(width, label.size());
  }
  std::string text = fmt::format("  {:<{}}", "", width);
  for (std::size_t i = 0; i < graph.labels.size(); ++i) {
    text += fmt::format(" {:>{}}", device(graph, static_cast<int>(i)).name, width);
  }
  text += "\n";
  for (std::size_t i = 0; i < graph.labels.size(); ++i) {
    text += fmt::format("  {:<{}}", device(graph, static_cast<int>(i)).name, width);
    for (const std::string& label : graph.labels[i]) text += fmt::format(" {:>{}}", label, width);
    text += "\n";
  }
  return text;
}

}  // namespace

std::string devices_text(std::span<const int> devices) {
  constexpr std::size_t kMost = 8;
  if (devices.size() > kMost && std::ranges::is_sorted(devices)) {
    return format_ranges({devices.begin(), devices.end()});
  }
  return fmt::format("{}", fmt::join(devices, ","));
}

std::string bound_text(const topo::Graph& graph, const Bound& bound, topo::ConstantSet constants) {
  std::string text =
      fmt::format("{}, devices {}: {}\n", graph.name, devices_text(bound.devices), verdict(bound));
  if (bound.devices.size() < 2) return text;
  text += fmt::format("  limit      {}\n", bound.limit);
  text +=
      fmt::format("  cut        {} cross the narrowest cut, each way\n", rate_text(bound.cut_GBps));
  for (const auto& [GBps, by, what] :
       {std::tuple{bound.in_switch_GBps, "in switch",
                   "for all-reduce where the switch adds (NVLS)"},
        {bound.tree_GBps, "trees", "for all-reduce over the network by trees"},
        {bound.alltoall_GBps, "all-to-all", "by the network of each host"}}) {
    if (GBps) text += fmt::format("  {:<10} {} {}\n", by, rate_text(*GBps), what);
  }
  text += fmt::format("  figures    {}, bus bandwidth per direction\n", name(constants));
  text += assumption_lines(bound.assumptions);
  if (!bound.rings.empty()) text += "  rings\n" + ring_lines(bound);
  return text;
}

std::string choice_text(const topo::Graph& graph, const topo::Choice& choice,
                        topo::ConstantSet constants) {
  return choice.reason + "\n" + bound_text(graph, choice.bound, constants);
}

std::string classes_text(std::span<const ClassesOfSize> sizes) {
  Table table{.columns = {"k", "GB/s", "sets", "over", "for example"}};
  Footnotes notes;
  const auto add = [&](int k, const topo::SetClass& sets, bool split) {
    table.rows.push_back({fmt::format("{}", k), figure(sets.bound), fmt::format("{}", sets.count),
                          notes.add(sets.bound, split), devices_text(sets.example)});
  };
  for (const ClassesOfSize& size : sizes) {
    for (const topo::SetClass& sets : size.classes) {
      if (sets.fallback.empty()) add(size.k, sets, false);
      for (const topo::SetClass& part : sets.fallback) add(size.k, part, true);
    }
  }
  return plain_table(table) + notes.lines();
}

std::string compare_text(std::span<const topo::SetComparison> rows, const std::string& heading) {
  Table table{.columns = {heading, "devices", "GB/s", "ratio", "over", "limit"}};
  Footnotes notes;
  for (const topo::SetComparison& row : rows) {
    const Bound& bound = row.choice.bound;
    table.rows.push_back({row.system, devices_text(bound.devices), figure(bound),
                          std::isfinite(row.ratio) ? fmt::format("{:.2f}", row.ratio) : "-",
                          notes.add(bound, bound.ring_GBps <= 0), bound.limit});
  }
  return plain_table(table) + notes.lines();
}

std::string summary_text(const topo::Graph& graph, std::span<const topo::SetComparison> sets) {
  std::string text = fmt::format("{}: {}\n\n", graph.name, graph.title);
  if (sets.empty()) return text + "one device: nothing crosses a link\n";
  text += compare_text(sets, "set");
  const Bound& all = sets.front().choice.bound;
  if (all.in_switch_GBps) {
    text +=
        fmt::format("all-reduce of all {}: {}{}, added in the switch (NVLS)\n", all.devices.size(),
                    all.assumptions.empty() ? "" : "about ", rate_text(*all.in_switch_GBps));
  }
  return text;
}

std::string rate_text(double GBps) {
  return std::isfinite(GBps) ? fmt::format("{:.4g} GB/s", GBps) : "no limit";
}

std::string show_text(const Graph& graph, topo::ConstantSet constants) {
  constexpr std::size_t kWidestMatrix = 20;
  std::string text = fmt::format("{}: {}\n", graph.name, graph.title);
  if (!graph.source.empty()) text += fmt::format("  from {}\n", graph.source);
  text += "\n" + PartTree(graph, constants).draw();
  const std::string links = other_links(graph, constants);
  if (!links.empty()) text += "\n" + links;
  if (graph.labels.size() > 1 && graph.labels.size() <= kWidestMatrix) text += "\n" + matrix(graph);
  if (!graph.assumptions.empty()) text += "\n";
  for (const topo::Assumption& assumption : graph.assumptions) {
    text += fmt::format("  assumed: {}\n", assumption.text);
  }
  return text;
}

}  // namespace busbar
