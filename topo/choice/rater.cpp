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

Rater::Rater(const Graph& graph, std::span<const int> pool, const BoundOptions& options)
    : pool_(pool.begin(), pool.end()),
      table_(graph, pool, first_level(graph), options),
      rings_(whole(table_)) {
  if (first_level(graph) == Level::All) return;
  fallback_table_.emplace(graph, pool, Level::All, options);
  fallback_ = whole(*fallback_table_);
}

std::vector<std::size_t> Rater::places(std::span<const int> set) const {
  std::vector<std::size_t> places;
  places.reserve(set.size());
  for (const int device : set) {
    const auto place = std::lower_bound(pool_.begin(), pool_.end(), device);
    places.push_back(static_cast<std::size_t>(place - pool_.begin()));
  }
  return places;
}

double Rater::fallback_GBps(std::span<const int> set) const {
  if (!fallback_table_ || set.size() < 2) return 0;
  return packed_GBps(pack_rings(problem_of(*fallback_table_, places(set)).rings));
}

Figures Rater::rate(std::span<const int> set) const {
  if (set.size() < 2) return {};
  const double ring = packed_GBps(pack_rings(problem_of(table_, places(set)).rings));
  return {.ring_GBps = ring, .bound_GBps = ring > 0 ? ring : fallback_GBps(set)};
}

Figures Rater::upper(std::span<const int> set) const {
  if (set.size() < 2) return {};
  const double ring = quick_upper(problem_of(table_, places(set)).rings);
  if (ring > 0 || !fallback_table_) return {.ring_GBps = ring, .bound_GBps = ring};
  return {.bound_GBps = quick_upper(problem_of(*fallback_table_, places(set)).rings)};
}

std::optional<Figures> Rater::rate_from(std::span<const int> set, double least) const {
  if (set.size() < 2 || least <= 0) return rate(set);
  const RingPacking packing = pack_rings(problem_of(table_, places(set)).rings, {.cutoff = least});
  const double ring = packed_GBps(packing);
  if (ring < least) return {};
  return Figures{.ring_GBps = ring, .bound_GBps = ring};
}

DeviceSet Rater::inner(const DeviceSet& set) const {
  DeviceSet inner;
  for (const std::size_t place : places(set)) inner.push_back(static_cast<int>(place));
  return inner;
}

Groups Rater::groups(std::span<const DeviceSet> sets) const {
  std::vector<DeviceSet> inner_sets;
  inner_sets.reserve(sets.size());
  for (const DeviceSet& set : sets) inner_sets.push_back(inner(set));
  return group_alike(rings_, inner_sets);
}

void Rater::rate_fallbacks(std::span<const DeviceSet> sets, std::span<const std::size_t> members,
                           std::vector<Figures>& figures) const {
  if (members.empty()) return;
  std::vector<DeviceSet> inner_sets;
  for (const std::size_t member : members) inner_sets.push_back(inner(sets[member]));
  for (const auto& group : group_alike(*fallback_, inner_sets)) {
    const double bound = fallback_GBps(sets[members[group.front()]]);
    for (const std::size_t index : group) figures[members[index]].bound_GBps = bound;
  }
}

std::vector<Figures> Rater::rate_all(std::span<const DeviceSet> sets, const Groups& groups) const {
  std::vector<Figures> figures(sets.size());
  std::vector<std::size_t> open;
  for (const auto& group : groups) {
    const DeviceSet& first = sets[group.front()];
    const double ring =
        first.size() < 2 ? 0 : packed_GBps(pack_rings(problem_of(table_, places(first)).rings));
    for (const std::size_t member : group) {
      figures[member] = {.ring_GBps = ring, .bound_GBps = ring};
    }
    if (ring == 0 && fallback_) open.insert(open.end(), group.begin(), group.end());
  }
  rate_fallbacks(sets, open, figures);
  join_classes(figures);
  return figures;
}

}  // namespace busbar::topo
