// SPDX-License-Identifier: BSD-3-Clause
#include "topo/choice/scores.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <utility>

#include "topo/bounds/packing.hpp"
#include "topo/bounds/ring_problem.hpp"
#include "topo/choice/isomorphism.hpp"

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
    if (!same_score(value, last)) head = value;
    last = value;
    heads.emplace(value, head);
  }
  return heads;
}

}  // namespace

bool same_score(double one, double other) {
  if (one == other) return true;  // also two infinities
  return std::abs(one - other) <= kSameScore * std::max(std::abs(one), std::abs(other));
}

void join_classes(std::span<Scores> scores) {
  std::vector<double> values;
  for (const Scores& one : scores) {
    values.push_back(one.ring_GBps);
    values.push_back(one.bound_GBps);
  }
  const auto heads = heads_of(std::move(values));
  for (Scores& one : scores) {
    one = {.ring_GBps = heads.at(one.ring_GBps), .bound_GBps = heads.at(one.bound_GBps)};
  }
}

RingRater::RingRater(const Graph& graph, std::span<const int> pool, Level level,
                     const BoundOptions& options)
    : pool_(pool.begin(), pool.end()),
      table_(graph, pool, level, options),
      problem_(whole(table_)) {}

std::size_t RingRater::index_in_pool(int device) const {
  return static_cast<std::size_t>(std::lower_bound(pool_.begin(), pool_.end(), device) -
                                  pool_.begin());
}

RingProblem RingRater::problem_of_set(std::span<const int> set) const {
  std::vector<std::size_t> places;
  places.reserve(set.size());
  for (const int device : set) places.push_back(index_in_pool(device));
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

std::vector<std::vector<std::size_t>> RingRater::groups(std::span<const DeviceSet> sets) const {
  std::vector<DeviceSet> inner;
  inner.reserve(sets.size());
  for (const DeviceSet& set : sets) {
    DeviceSet& places = inner.emplace_back();
    for (const int device : set) places.push_back(static_cast<int>(index_in_pool(device)));
  }
  return group_isomorphic(problem_, inner);
}

Rater::Rater(const Graph& graph, std::span<const int> pool, const BoundOptions& options)
    : first(graph, pool, first_level(graph), options) {
  if (first_level(graph) != Level::All) fallback.emplace(graph, pool, Level::All, options);
}

ScoreCache::ScoreCache(const Rater& rater, std::vector<DeviceSet> sets)
    : rater_(rater), sets_(std::move(sets)), first_(column_of(rater.first)) {}

ScoreCache::Column ScoreCache::column_of(const RingRater& rater) const {
  Column column{.rater = &rater};
  column.problem_of.resize(sets_.size());
  for (auto& group : rater.groups(sets_)) {
    for (const std::size_t set : group) column.problem_of[set] = column.problems.size();
    const double upper = rater.upper_GBps(sets_[group.front()]);
    column.problems.push_back({.sets = std::move(group), .upper = upper});
  }
  return column;
}

ScoreCache::Column& ScoreCache::fallback() {
  if (!fallback_) fallback_ = column_of(*rater_.fallback);
  return *fallback_;
}

double ScoreCache::value(const Column& column, std::size_t set) {
  const Problem& problem = column.problems[column.problem_of[set]];
  return problem.exact.value_or(problem.upper);
}

Scores ScoreCache::upper(std::size_t set) const {
  const double ring = value(first_, set);
  if (ring > 0 || !rater_.fallback) return {.ring_GBps = ring, .bound_GBps = ring};
  // Before any fallback is needed nothing is known of them: anything may be.
  return {.bound_GBps =
              fallback_ ? value(*fallback_, set) : std::numeric_limits<double>::infinity()};
}

bool ScoreCache::solve(Column& column, std::size_t set) {
  std::optional<double>& exact = column.problems[column.problem_of[set]].exact;
  if (exact) return false;
  exact = column.rater->rate_GBps(sets_[set]);
  return true;
}

bool ScoreCache::solve(std::size_t set) {
  const bool news = solve(first_, set);
  if (value(first_, set) > 0 || !rater_.fallback) return news;
  return solve(fallback(), set) || news;
}

std::vector<Scores> ScoreCache::solve_all() {
  std::vector<Scores> scores;
  for (std::size_t set = 0; set < sets_.size(); ++set) {
    solve(set);
    scores.push_back(upper(set));
  }
  join_classes(scores);
  return scores;
}

/// Problems fall by their upper ends: once one cannot reach the leader, none of the rest can.
ScoreCache::Best ScoreCache::best(const Order& before) {
  const Best ring = best_of(first_, before);
  if (ring.scores.ring_GBps > 0 || !rater_.fallback) return ring;
  const Best open = best_of(fallback(), before);
  return {.set = open.set, .scores = {.bound_GBps = open.scores.bound_GBps}};
}

ScoreCache::Best ScoreCache::best_of(const Column& column, const Order& before) const {
  std::vector<std::pair<double, std::size_t>>
      contenders;  // the upper end and the first of its sets
  for (const Problem& problem : column.problems) {
    contenders.emplace_back(problem.upper,
                            *std::min_element(problem.sets.begin(), problem.sets.end(), before));
  }
  std::sort(contenders.begin(), contenders.end(), [&](const auto& one, const auto& other) {
    return one.first != other.first ? one.first > other.first : before(one.second, other.second);
  });
  std::size_t leader = contenders.front().second;
  double most = -1;
  for (const auto& [upper, set] : contenders) {
    const auto beats = [&, set = set](double score) {
      return same_score(score, most) ? before(set, leader) : score > most;
    };
    if (!beats(upper)) {
      if (!same_score(upper, most)) break;
      continue;
    }
    const auto score = column.rater->rate_from_GBps(sets_[set], most * (1 - kSameScore));
    if (!score || !beats(*score)) continue;
    most = *score;
    leader = set;
  }
  return {.set = leader, .scores = {.ring_GBps = most, .bound_GBps = most}};
}

}  // namespace busbar::topo
