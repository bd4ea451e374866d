// SPDX-License-Identifier: BSD-3-Clause
#include "topo/choice/rater.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "topo/bounds/packing.hpp"
#include "topo/bounds/quick_upper.hpp"
#include "topo/choice/likeness.hpp"

namespace busbar::topo {
namespace {

RingProblem whole(const PathTable& table) {
  std::vector<std::size_t> places(table.size());
  std::iota(places.begin(), places.end(), std::size_t{0});
  return problem_of(table, places).rings;
}

/// The upper end where the packing is not exact, as bound_of has it.
double packed_GBps(const RingPacking& packing) {
  return packing.exact ? packing.value : packing.upper;
}

std::size_t place_of(const std::vector<int>& pool, int device) {
  return static_cast<std::size_t>(std::lower_bound(pool.begin(), pool.end(), device) -
                                  pool.begin());
}

/// Maps every value to the greatest that a chain of near values joins it with.
std::map<double, double> heads_of(std::vector<double> values) {
  std::sort(values.begin(), values.end(), std::greater<>());
  std::map<double, double> heads;
  double head = values.empty() ? 0 : values.front();
  double last = head;
  for (const double value : values) {
    if (!same_figure(value, last)) head = value;
    last = value;
    heads.emplace(value, head);
  }
  return heads;
}

}  // namespace

bool same_figure(double one, double other) {
  if (one == other) return true;  // also two infinities
  return std::abs(one - other) <= kSameFigure * std::max(std::abs(one), std::abs(other));
}

bool same_figures(const Figures& one, const Figures& other) {
  return same_figure(one.ring_GBps, other.ring_GBps) &&
         same_figure(one.bound_GBps, other.bound_GBps);
}

void join_classes(std::span<Figures> figures) {
  std::vector<double> values;
  for (const Figures& one : figures) {
    values.push_back(one.ring_GBps);
    values.push_back(one.bound_GBps);
  }
  const auto heads = heads_of(std::move(values));
  for (Figures& one : figures) {
    one = {.ring_GBps = heads.at(one.ring_GBps), .bound_GBps = heads.at(one.bound_GBps)};
  }
}

RingRater::RingRater(const Graph& graph, std::span<const int> pool, Level level,
                     const BoundOptions& options)
    : pool_(pool.begin(), pool.end()),
      table_(graph, pool, level, options),
      problem_(whole(table_)) {}

RingProblem RingRater::problem_of_set(std::span<const int> set) const {
  std::vector<std::size_t> places;
  places.reserve(set.size());
  for (const int device : set) places.push_back(place_of(pool_, device));
  return problem_of(table_, places).rings;
}

double RingRater::rate_GBps(std::span<const int> set) const {
  return set.size() < 2 ? 0 : packed_GBps(pack_rings(problem_of_set(set)));
}

std::optional<double> RingRater::rate_from_GBps(std::span<const int> set, double least) const {
  if (set.size() < 2) return 0;
  const double rate = packed_GBps(pack_rings(problem_of_set(set), {.cutoff = least}));
  return rate < least ? std::nullopt : std::optional(rate);
}

double RingRater::upper_GBps(std::span<const int> set) const {
  return set.size() < 2 ? 0 : quick_upper(problem_of_set(set));
}

Groups RingRater::groups(std::span<const DeviceSet> sets) const {
  std::vector<DeviceSet> inner;
  inner.reserve(sets.size());
  for (const DeviceSet& set : sets) {
    DeviceSet& places = inner.emplace_back();
    for (const int device : set) places.push_back(static_cast<int>(place_of(pool_, device)));
  }
  return group_alike(problem_, inner);
}

Rater::Rater(const Graph& graph, std::span<const int> pool, const BoundOptions& options)
    : first_(graph, pool, first_level(graph), options) {
  if (first_level(graph) != Level::All) fallback_.emplace(graph, pool, Level::All, options);
}

Figures Rater::rate(std::span<const int> set) const {
  const double ring = first_.rate_GBps(set);
  const bool open = ring <= 0 && fallback_;
  return {.ring_GBps = ring, .bound_GBps = open ? fallback_->rate_GBps(set) : ring};
}

std::vector<Figures> Rater::rate_all(std::span<const DeviceSet> sets, const Groups& groups) const {
  std::vector<Figures> figures(sets.size());
  std::vector<DeviceSet> open;
  std::vector<std::size_t> open_index;
  for (const auto& group : groups) {
    const double ring = first_.rate_GBps(sets[group.front()]);
    for (const std::size_t member : group) {
      figures[member] = {.ring_GBps = ring, .bound_GBps = ring};
      if (ring > 0 || !fallback_) continue;
      open.push_back(sets[member]);
      open_index.push_back(member);
    }
  }
  if (!open.empty()) {
    for (const auto& group : fallback_->groups(open)) {
      const double bound = fallback_->rate_GBps(open[group.front()]);
      for (const std::size_t member : group) figures[open_index[member]].bound_GBps = bound;
    }
  }
  join_classes(figures);
  return figures;
}

}  // namespace busbar::topo
