// SPDX-License-Identifier: BSD-3-Clause
#include "judge/spec/ceiling.hpp"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "judge/spec/ceiling_graph.hpp"
#include "model/collective.hpp"

namespace busbar::judge {
namespace {

/// n ranks on k nodes, g = n / k on each.
struct Counts {
  double n = 0;
  double k = 0;
  double g = 0;
};

/// How a collective crosses the network: what times one GPU's share of it is the ceiling.
struct Crossing {
  double times = 0;
  std::string words{};
};

/// Each rank, or the root, exchanges (n-g)/n of the size with other nodes through the card of its
/// own GPU, and bus bandwidth counts (n-1)/n of it.
Crossing through_own_card(const Counts& c) {
  return {.times = (c.n - 1) / (c.n - c.g), .words = fmt::format("{}/{}", c.n - 1, c.n - c.g)};
}

/// A node sends and receives the whole size once, through the cards of all its GPUs.
Crossing once_through_all_cards(const Counts& c) {
  return {.times = c.g, .words = fmt::format("{}", c.g)};
}

/// Reduce-scatter inside, exchange of 1/g by each card between k nodes, gather inside: a card
/// moves (k-1)/k of its 1/g, and bus bandwidth counts (n-1)/n of the whole:
/// (n-1)/n : (k-1)/(k g) = (n-1)/(k-1). An all-reduce does both twice.
Crossing hierarchical(const Counts& c) {
  return {.times = (c.n - 1) / (c.k - 1), .words = fmt::format("{}/{}", c.n - 1, c.k - 1)};
}

/// An all-reduce whose network adds (SHARP): each card sends its 1/g and receives it once, where
/// bus bandwidth counts 2(n-1)/n: 2(n-1)/n : 1/g = 2(n-1)/k.
Crossing reduced_in_network(const Counts& c) {
  return {.times = 2 * (c.n - 1) / c.k, .words = fmt::format("{}/{}", 2 * (c.n - 1), c.k)};
}

bool is_reduced_in_network(const CeilingRule& rule, Movement movement) {
  return rule.in_network_reduction && movement == Movement::AllReduce;
}

Crossing crossing_of(const CeilingRule& rule, Movement movement, const Counts& c) {
  if (is_reduced_in_network(rule, movement)) return reduced_in_network(c);
  switch (movement) {
    case Movement::AllReduce:
    case Movement::Parts:
      return rule.model == CeilingModel::Ring ? once_through_all_cards(c) : hierarchical(c);
    case Movement::Chain: return once_through_all_cards(c);
    case Movement::AllToAll:
    case Movement::Gather:
    case Movement::Scatter: return through_own_card(c);
    case Movement::SendReceive: break;
  }
  return {.times = 1, .words = "1"};  // the ranks at a node's border send all to the next node
}

/// Within a node: every algorithm sends what bus bandwidth counts through each GPU's port. Where
/// the switch adds, a GPU of an all-reduce sends the size once and receives it once, so that on the
/// wire algorithm bandwidth is what B_up limits: bus bandwidth reaches B_up x 2(n-1)/n, which is
/// more from three ranks on. A reduce-scatter gains nothing: its factor is below 1.
double scale_up_ceiling(const CeilingRule& rule, Movement movement, double n) {
  const bool adds = is_reduced_in_network(rule, movement);
  return *rule.scale_up * (adds ? std::max(1.0, 2 * (n - 1) / n) : 1.0);
}

std::string_view model_words(const CeilingRule& rule, Movement movement) {
  if (is_reduced_in_network(rule, movement)) return ", in-network reduction";
  if (movement != Movement::AllReduce && movement != Movement::Parts) return "";
  return rule.model == CeilingModel::Ring ? ", ring" : ", hierarchical";
}

std::optional<CeilingFigure> scale_ceiling(const CeilingRule& rule, Movement movement,
                                           const Counts& c) {
  const Crossing crossing =
      crossing_of(rule, movement, {.n = c.n, .k = std::max(c.k, 2.0), .g = c.g});
  const bool inside = c.g > 1;
  const bool outside = c.k > 1;
  // Half of the truth would be no ceiling.
  if ((inside && !rule.scale_up) || (outside && !rule.scale_out)) return std::nullopt;
  CeilingFigure figure{.GBps = std::numeric_limits<double>::infinity()};
  std::string up;
  std::string out;
  if (inside) {
    figure.GBps = scale_up_ceiling(rule, movement, c.n);
    up = fmt::format("{:.4g} scale-up", figure.GBps);
  }
  if (outside) {
    figure.GBps = std::min(figure.GBps, *rule.scale_out * crossing.times);
    out = fmt::format("{:.4g} x {} scale-out", *rule.scale_out, crossing.words);
  }
  if (inside && outside) {
    figure.text = fmt::format("min({}, {}){}", up, out, model_words(rule, movement));
  } else {
    figure.text = inside ? up : out + std::string(model_words(rule, movement));
  }
  return figure;
}

}  // namespace

std::optional<CeilingFigure> ceiling_of(const CeilingRule& rule, const std::string& collective,
                                        const SetShape& shape) {
  if (shape.ranks < 2 || shape.nodes < 1 || shape.ranks < shape.nodes) return std::nullopt;
  // Nodes with different numbers of ranks: no formula holds.
  if (shape.ranks % shape.nodes != 0) return std::nullopt;
  const Collective* known = find_collective(collective);
  if (known == nullptr) return std::nullopt;
  if (!rule.system.empty()) return graph_ceiling(rule, *known, shape);
  const double ranks = shape.ranks;
  const double nodes = shape.nodes;
  return scale_ceiling(rule, known->movement, {.n = ranks, .k = nodes, .g = ranks / nodes});
}

std::optional<CeilingFigure> CeilingTable::of(const std::string& collective,
                                              const SetShape& shape) {
  const Key key{collective, shape.ranks, shape.nodes, shape.gpus};
  if (const auto found = known_.find(key); found != known_.end()) return found->second;
  auto figure = ceiling_of(rule_, collective, shape);
  known_.emplace(key, figure);
  return figure;
}

}  // namespace busbar::judge
