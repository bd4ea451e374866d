// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <deque>
#include <set>
#include <vector>

#include <fmt/format.h>

#include "base/text.hpp"
#include "format/markup_text.hpp"
#include "format/topo_text.hpp"

namespace busbar {
namespace {

using topo::Graph;
using topo::Link;
using topo::LinkKind;
using topo::Node;
using topo::NodeKind;
using topo::to_size;

constexpr double kRowHeight = 78;
constexpr double kBoxHeight = 30;
constexpr double kTop = 46;
constexpr double kMargin = 10;

std::string_view link_colour(LinkKind kind) {
  switch (kind) {
    case LinkKind::NvLink:
    case LinkKind::Xgmi: return "#1b7837";
    case LinkKind::Smp: return "#2166ac";
    case LinkKind::Network: return "#c2570c";
    default: return "#6b6b6b";
  }
}

std::string_view fill_of(NodeKind kind) {
  switch (kind) {
    case NodeKind::Package:
    case NodeKind::Processor: return "#d6e6f4";
    case NodeKind::Gpu: return "#d5efd8";
    case NodeKind::Nic: return "#fde3c8";
    case NodeKind::NvSwitch: return "#b5dfbb";
    default: return "#efefef";
  }
}

bool is_leaf(NodeKind kind) { return kind == NodeKind::Gpu || kind == NodeKind::Nic; }

/// Hosts of the graph, and how many of the first are drawn: as many as have 20 devices together,
/// and one always.
struct Hosts {
  int all = 1;
  int drawn = 1;
};

Hosts hosts_of(const Graph& graph) {
  constexpr std::ptrdiff_t kMostDevices = 20;
  Hosts hosts;
  for (const Node& node : graph.nodes) hosts.all = std::max(hosts.all, node.host + 1);
  const auto devices_with_next = [&] {
    return std::ranges::count_if(
        graph.devices, [&](int device) { return node_of(graph, device).host <= hosts.drawn; });
  };
  while (hosts.drawn < hosts.all && devices_with_next() <= kMostDevices) ++hosts.drawn;
  return hosts;
}

/// The one link that is left where a part with two links is left out: the narrower of both.
Link joined(const Graph& graph, const Link& one, const Link& other, topo::ConstantSet constants) {
  const bool first = capacity_GBps(graph, one, constants) <= capacity_GBps(graph, other, constants);
  Link link = first ? one : other;
  link.from = one.to;
  link.to = other.to;
  return link;
}

/// Without bridges and switches that have one part below them: these hang where it would.
Graph without_passages(Graph graph, topo::ConstantSet constants) {
  std::set<int> passages;
  for (int i = 0; i < static_cast<int>(graph.nodes.size()); ++i) {
    const NodeKind kind = node_of(graph, i).kind;
    if (kind != NodeKind::HostBridge && kind != NodeKind::PcieSwitch) continue;
    const auto ways = filtered(graph.links, [&](const Link& link) { return link.from == i; });
    if (ways.size() != 2) continue;
    passages.insert(i);
    std::erase_if(graph.links, [&](const Link& link) { return link.from == i || link.to == i; });
    graph.links.push_back(joined(graph, ways[0], ways[1], constants));
    graph.links.push_back(joined(graph, ways[1], ways[0], constants));
  }
  remove_nodes(graph, passages);
  return graph;
}

/// A name in one line or two, parted near its middle where it is too long for `most` letters.
std::vector<std::string> label_lines(const std::string& name, double most) {
  const std::size_t middle = name.size() / 2;
  std::size_t best = std::string::npos;
  for (std::size_t i = 1; i + 1 < name.size(); ++i) {
    const bool may_part = name[i] == '_' || name[i] == '-' || name[i] == '/' || name[i] == ' ';
    const auto away = [&](std::size_t at) { return at > middle ? at - middle : middle - at; };
    if (may_part && (best == std::string::npos || away(i) < away(best))) best = i;
  }
  if (static_cast<double>(name.size()) <= most || best == std::string::npos) return {name};
  return {name.substr(0, best + 1), name.substr(best + 1)};
}

/// Where a node stands: columns are leaves from left to right, rows count from the processors down.
struct Place {
  bool drawn = false;
  bool is_bar = false;  ///< an NVSwitch: a bar below the leaves that it joins
  double column = 0;    ///< the middle of what hangs below it
  int row = -1;
};

/// "12.5", "100": a coordinate without needless digits.
std::string number(double value) { return fmt::format("{:g}", std::round(value * 10) / 10 + 0.0); }

std::string svg_text(double x, double y, double size, std::string_view anchor,
                     std::string_view text) {
  return fmt::format(
      "<text x=\"{}\" y=\"{}\" font-size=\"{}\" fill=\"#1a1a1a\" text-anchor=\"{}\">{}</text>\n",
      number(x), number(y), number(size), anchor, markup_text(text));
}

/// A machine as a tree of processors, switches and leaves (GPUs, NICs). The network itself is not
/// placed: a NIC's arrow stands for it. Styles are attributes, which every content policy lets
/// through.
class Drawing {
 public:
  Drawing(const Graph& graph, topo::ConstantSet constants)
      : graph_(without_passages(graph, constants)),
        constants_(constants),
        hosts_(hosts_of(graph).drawn) {
    place_nodes();
    take_measures();
  }

  std::string draw() {
    height_ = bars_ > 0 ? bar_top(bars_) : below_ + 6;
    for (auto link = graph_.links.begin(); link != graph_.links.end(); ++link) {
      // Of a cable's two links the first; a link without a partner stands for itself.
      const bool first = std::none_of(graph_.links.begin(), link, [&](const Link& other) {
        return other.from == link->to && other.to == link->from && other.medium == link->medium;
      });
      if (first) draw_link(*link);
    }
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
      if (places_[i].drawn) draw_node(graph_.nodes[i], places_[i]);
    }
    return svg_element(number(width_), number(height_),
                       fmt::format("The parts of {} and their links", graph_.name),
                       fmt::format("<desc>{}. {}</desc>\n{}", markup_text(graph_.title),
                                   markup_text(svg_graph_caption(graph_)), parts_));
  }

  [[nodiscard]] double width() const { return width_; }
  [[nodiscard]] double height() const { return height_; }

 private:
  void take_measures() {
    pitch_ = std::clamp(900.0 / std::max(leaves_, 1), 52.0, 120.0);
    width_ = std::max(pitch_ * leaves_, 300.0) + 2 * kMargin;
    below_ = top_of(leaf_row_) + kBoxHeight;
    const bool networked = std::ranges::any_of(graph_.links, [&](const Link& link) {
      return medium_of(graph_, link).kind == LinkKind::Network;
    });
    if (networked) below_ += 26;
  }

  void place_nodes() {
    places_.resize(graph_.nodes.size());
    children_.resize(graph_.nodes.size());
    // All processors first, or one would be the child of another's bridge.
    for (const NodeKind kind : {NodeKind::Package, NodeKind::Processor, NodeKind::HostBridge,
                                NodeKind::PcieSwitch, NodeKind::Gpu, NodeKind::Nic}) {
      grow_from(kind);
    }
    for (const int root : roots_) set_columns(root);
    for (const Place& place : places_) leaf_row_ = std::max(leaf_row_, place.row);
    for (std::size_t i = 0; i < places_.size(); ++i) {
      const Node& node = graph_.nodes[i];
      if (is_leaf(node.kind)) places_[i].row = leaf_row_;
      if (node.kind == NodeKind::NvSwitch && node.host < hosts_) {
        places_[i] = {.drawn = true, .is_bar = true, .row = bars_++};
      }
    }
  }

  /// What nothing has reached before stands at the top; what it reaches, breadth first, below it.
  void grow_from(NodeKind kind) {
    std::deque<int> waiting;
    for (int i = 0; i < static_cast<int>(places_.size()); ++i) {
      const Node& node = node_of(graph_, i);
      if (node.kind != kind || node.host >= hosts_ || place(i).row >= 0) continue;
      place(i).row = 0;
      roots_.push_back(i);
      waiting.push_back(i);
    }
    for (; !waiting.empty(); waiting.pop_front()) {
      const int from = waiting.front();
      for (const Link& link : graph_.links) {
        if (link.from != from || !is_branch(link)) continue;
        place(link.to).row = place(from).row + 1;
        children_[to_size(from)].push_back(link.to);
        waiting.push_back(link.to);
      }
    }
  }

  /// Whether the link leads down to what has no place yet.
  [[nodiscard]] bool is_branch(const Link& link) const {
    const LinkKind kind = medium_of(graph_, link).kind;
    const NodeKind from = node_of(graph_, link.from).kind;
    const Node& to = node_of(graph_, link.to);
    if (places_[to_size(link.to)].row >= 0 || to.host >= hosts_ || is_leaf(from)) return false;
    if (kind == LinkKind::Smp || kind == LinkKind::Network) return false;
    return to.kind != NodeKind::NvSwitch && to.kind != NodeKind::Network &&
           !(from == NodeKind::Package && to.kind == NodeKind::Package);
  }

  [[nodiscard]] int first_leaf(int node) const {
    const std::vector<int>& below = children_[to_size(node)];
    int first = below.empty() ? node : first_leaf(below.front());
    for (const int child : below) first = std::min(first, first_leaf(child));
    return first;
  }

  void set_columns(int node) {
    place(node).drawn = true;
    std::vector<int>& below = children_[to_size(node)];
    if (below.empty()) {
      place(node).column = leaves_++;
      return;
    }
    std::ranges::sort(below,
                      [&](int one, int other) { return first_leaf(one) < first_leaf(other); });
    for (const int child : below) set_columns(child);
    place(node).column = (place(below.front()).column + place(below.back()).column) / 2;
  }

  [[nodiscard]] Place& place(int node) { return places_[to_size(node)]; }
  [[nodiscard]] double x_of(const Place& at) const { return kMargin + pitch_ * (at.column + 0.5); }
  [[nodiscard]] static double top_of(int row) { return kTop + kRowHeight * row; }
  [[nodiscard]] double bar_top(int row) const { return below_ + 50 + 40.0 * row; }

  void add(std::string_view element, const std::string& attributes, std::string_view tooltip) {
    parts_ += fmt::format("<{0} {1}><title>{2}</title></{0}>\n", element, attributes,
                          markup_text(tooltip));
  }

  /// The wider, the higher its bandwidth.
  void draw_link(const Link& link) {
    const double rate_GBps = capacity_GBps(graph_, link, constants_);
    const LinkKind kind = medium_of(graph_, link).kind;
    const double wide = std::isfinite(rate_GBps) ? std::clamp(0.7 + rate_GBps / 24, 0.9, 8.0) : 0.9;
    const std::string stroke = fmt::format(
        R"(fill="none" stroke="{}" stroke-width="{}"{})", link_colour(kind), number(wide),
        kind == LinkKind::Smp       ? R"( stroke-dasharray="9 3")"
        : kind == LinkKind::Network ? R"( stroke-dasharray="3 3")"
                                    : "");
    const std::string tooltip = fmt::format(
        "{}{} between {} and {}: {} each way",
        link.count > 1 ? fmt::format("{:g}x ", link.count) : "", medium_of(graph_, link).name,
        node_of(graph_, link.from).name, node_of(graph_, link.to).name, rate_text(rate_GBps));
    if (kind == LinkKind::Network) {
      draw_arrow(place(link.from), stroke, tooltip);
      draw_arrow(place(link.to), stroke, tooltip);
    } else if (place(link.from).drawn && place(link.to).drawn) {
      add("path", fmt::format(R"(d="{}" {})", path_of(place(link.from), place(link.to)), stroke),
          tooltip);
    }
  }

  /// A NIC's way out: an arrow down.
  void draw_arrow(const Place& at, const std::string& stroke, const std::string& tooltip) {
    if (!at.drawn || at.is_bar) return;
    const double x = x_of(at);
    const double from = top_of(at.row) + kBoxHeight;
    add("path",
        fmt::format(R"(d="M{} {}V{}" {})", number(x), number(from), number(from + 22), stroke),
        tooltip);
    add("path",
        fmt::format(R"(d="M{} {}L{} {}L{} {}" fill="none" stroke="{}" stroke-width="1.5")",
                    number(x - 5), number(from + 14), number(x), number(from + 22), number(x + 5),
                    number(from + 14), link_colour(LinkKind::Network)),
        tooltip);
  }

  /// Down to a bar or to the next row, below two leaves, or above two other parts of one row.
  std::string path_of(const Place& one, const Place& other) {
    if (one.is_bar && other.is_bar) return {};
    const Place& upper = other.is_bar || (!one.is_bar && one.row < other.row) ? one : other;
    const Place& lower = &upper == &one ? other : one;
    const double from = top_of(upper.row) + kBoxHeight;
    if (lower.is_bar) {
      return fmt::format("M{} {}V{}", number(x_of(upper)), number(from),
                         number(bar_top(lower.row)));
    }
    if (upper.row != lower.row) {  // beside the parts of the rows between
      return fmt::format("M{} {}L{} {}V{}", number(x_of(upper)), number(from), number(x_of(lower)),
                         number(top_of(upper.row + 1)), number(top_of(lower.row)));
    }
    double start = top_of(one.row);
    double bow = start - 40;
    if (one.row == leaf_row_) {
      const double depth = 26 + 0.2 * std::abs(x_of(one) - x_of(other));
      start = from;
      bow = below_ + depth * 4 / 3;
      height_ = std::max(height_, below_ + depth + 10);
    }
    return fmt::format("M{0} {1}C{0} {2} {3} {2} {3} {1}", number(x_of(one)), number(start),
                       number(bow), number(x_of(other)));
  }

  void draw_node(const Node& node, const Place& at) {
    const std::string numa = node.numa >= 0 ? fmt::format(", NUMA node {}", node.numa) : "";
    constexpr double kLetter = 0.55;  // of the size, on average
    const double room = at.is_bar ? width_ - 2 * kMargin : pitch_ - 6;
    const double usual = pitch_ < 60 ? 11 : 12.5;
    const std::vector<std::string> lines = label_lines(node.name, (room - 6) / (usual * kLetter));
    std::size_t longest = 0;
    for (const std::string& line : lines) longest = std::max(longest, line.size());
    const auto letters = static_cast<double>(longest) * kLetter;
    const double size = std::min({usual, (room - 4) / letters, lines.size() > 1 ? 11.0 : usual});
    const double wide =
        at.is_bar ? room : std::clamp(letters * size + 14, 40.0, std::max(room, 40.0));
    const double x = at.is_bar ? width_ / 2 : x_of(at);
    const double y = at.is_bar ? bar_top(at.row) : top_of(at.row);
    add("rect",
        fmt::format(R"(x="{}" y="{}" width="{}" height="{}" rx="{}" fill="{}" stroke="#444")",
                    number(x - wide / 2), number(y), number(wide), number(kBoxHeight),
                    node.kind == NodeKind::Gpu ? 0 : 6, fill_of(node.kind)),
        fmt::format("{}{}{}{}", node.name, node.model.empty() ? "" : ": ", node.model, numa));
    double below = lines.size() > 1 ? 13 : 19.5;
    for (const std::string& line : lines) {
      parts_ += svg_text(x, y + below, size, "middle", line);
      below += 12;
    }
  }

  Graph graph_;
  topo::ConstantSet constants_;
  int hosts_;                    ///< that are drawn
  std::vector<Place> places_{};  ///< one per node
  std::vector<std::vector<int>> children_{};
  std::vector<int> roots_{};
  int leaves_ = 0;    ///< columns
  int leaf_row_ = 1;  ///< GPUs, NICs and what has nothing below it stand here
  int bars_ = 0;      ///< rows of bars below the leaves
  double pitch_ = 0;  ///< of columns
  double width_ = 0;
  double height_ = 0;
  double below_ = 0;  ///< the y below all leaves and their arrows
  std::string parts_{};
};

/// "18x NVLink 5: 900 GB/s" of each link whose rate is known, once.
std::vector<std::string> link_rates(const Graph& graph, topo::ConstantSet constants) {
  std::vector<std::string> rates;
  for (const Link& link : graph.links) {
    const double rate_GBps = capacity_GBps(graph, link, constants);
    if (!std::isfinite(rate_GBps)) continue;
    add_new(rates, fmt::format("{}{}: {}", link.count > 1 ? fmt::format("{:g}x ", link.count) : "",
                               medium_of(graph, link).name, rate_text(rate_GBps)));
  }
  return rates;
}

}  // namespace

std::string svg_graph(const Graph& graph, topo::ConstantSet constants) {
  return Drawing(graph, constants).draw();
}

std::string svg_picture(const Graph& graph, topo::ConstantSet constants) {
  constexpr double kHead = 26;
  constexpr double kLine = 15;
  Drawing drawing(graph, constants);
  std::string inner = drawing.draw();
  inner.replace(0, 4, fmt::format(R"(<svg y="{}")", number(kHead)));
  const std::string title = graph.title.empty() ? graph.name : graph.name + ": " + graph.title;
  std::string text = svg_text(kMargin, kHead - 6, 15, "start", title);
  const auto most = static_cast<std::size_t>(drawing.width() / 6) + 1;
  double y = kHead + drawing.height() + kLine;
  for (const std::string& paragraph :
       {"Each way: " + join(link_rates(graph, constants), "; "), svg_graph_caption(graph)}) {
    for (const std::string& line : split(wrapped(paragraph, most, 0), '\n')) {
      text += svg_text(kMargin, y, 11, "start", line);
      y += kLine;
    }
  }
  std::string page =
      svg_element(number(drawing.width()), number(y), title,
                  "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n" + text + inner + "\n");
  return page.replace(0, 4, R"(<svg xmlns="http://www.w3.org/2000/svg")") + "\n";
}

std::string svg_graph_caption(const Graph& graph) {
  const Hosts hosts = hosts_of(graph);
  std::string text = fmt::format(
      "The wider a line, the higher its bandwidth. Solid green: {}; solid grey: PCIe; long dashes, "
      "blue: between processors; short dashes with an arrow, orange: to the network. Bridges and "
      "switches with one part below them are left out.",
      gpu_link_text(gpu_link_kind(graph)));
  if (hosts.drawn < hosts.all) {
    text += fmt::format(" Drawn: {} of {}.", hosts.drawn, counted(hosts.all, "host"));
  }
  return text;
}

}  // namespace busbar
