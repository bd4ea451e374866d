// SPDX-License-Identifier: BSD-3-Clause
#include "topo/choice/scores.hpp"

#include <cmath>

#include "topo/bounds/packing.hpp"
#include "topo/choice/isomorphism.hpp"

namespace busbar::topo {
namespace {

std::vector<double> rates_of(const RingRater& rater, std::span<const DeviceSet> sets,
                             std::span<const IsomorphicSets> groups) {
  std::vector<double> rates(sets.size());
  for (const IsomorphicSets& group : groups) {
    const double rate = rater.rate_GBps(sets[group.front()]).value();  // of at least 0
    for (const std::size_t set : group) rates[set] = rate;
  }
  return rates;
}

/// Branch and bound. Groups fall by their upper ends: once one cannot reach the leader, none of the
/// rest can.
std::pair<std::size_t, double> best_of(const RingRater& rater, std::span<const DeviceSet> sets,
                                       std::span<const IsomorphicSets> groups,
                                       const Rater::Order& before) {
  std::vector<std::pair<double, std::size_t>> contenders;  // upper end and first set of a group
  for (const IsomorphicSets& group : groups) {
    contenders.emplace_back(rater.upper_GBps(sets[group.front()]),
                            *std::ranges::min_element(group, before));
  }
  std::ranges::sort(contenders, [&](const auto& one, const auto& other) {
    return one.first != other.first ? one.first > other.first : before(one.second, other.second);
  });
  std::size_t leader = contenders.front().second;
  double most = -1;
  for (const auto& [upper, set] : contenders) {
    const auto beats = [&, set = set](double rate) {
      return same_score(rate, most) ? before(set, leader) : rate > most;
    };
    if (upper < most && !same_score(upper, most)) break;
    if (!beats(upper)) continue;
    const auto rate = rater.rate_GBps(sets[set], most * (1 - kSameScore));
    if (!rate || !beats(*rate)) continue;
    most = *rate;
    leader = set;
  }
  return {leader, most};
}

}  // namespace

bool same_score(double one, double other) {
  if (one == other) return true;  // also two infinities
  return std::abs(one - other) < kSameScore * std::max(std::abs(one), std::abs(other));
}

void join_classes(std::span<Scores> scores) {
  std::map<double, double, std::greater<>> heads;  // of the chain of near values that each is in
  for (const Scores& one : scores) {
    heads[one.ring_GBps] = one.ring_GBps;
    heads[one.bound_GBps] = one.bound_GBps;
  }
  double last = heads.empty() ? 0 : heads.begin()->first;
  double head = last;
  for (auto& [value, own_head] : heads) {
    if (!same_score(value, last)) head = value;
    own_head = head;
    last = value;
  }
  for (Scores& one : scores) {
    one = {.ring_GBps = heads.at(one.ring_GBps), .bound_GBps = heads.at(one.bound_GBps)};
  }
}

RingRater::RingRater(const Graph& graph, Level level, const BoundOptions& options)
    : table_(graph, first_numbers(device_count(graph)), level, options),
      problem_(problem_of(table_, first_numbers(device_count(graph))).rings) {}

std::vector<IsomorphicSets> RingRater::groups(std::span<const DeviceSet> sets) const {
  return group_isomorphic(problem_, sets);
}

std::optional<double> RingRater::rate_GBps(std::span<const int> set, double least) const {
  if (set.size() < 2) return 0;
  const RingPacking packing = pack_rings(problem_of(table_, set).rings, {.cutoff = least});
  const double rate = packing.exact ? packing.value : packing.upper;  // as bound_of has it
  return rate < least ? std::nullopt : std::optional(rate);
}

double RingRater::upper_GBps(std::span<const int> set) const {
  return quick_upper(problem_of(table_, set).rings);
}

Rater::Rater(const Graph& graph, const BoundOptions& options)
    : first_(graph, first_level(graph), options) {
  if (first_level(graph) != Level::All) fallback_.emplace(graph, Level::All, options);
}

std::vector<const RingProblem*> Rater::problems() const {
  std::vector<const RingProblem*> problems{&first_.problem()};
  if (fallback_) problems.push_back(&fallback_->problem());
  return problems;
}

std::vector<Scores> Rater::rate(std::span<const DeviceSet> sets,
                                std::span<const IsomorphicSets> groups) const {
  std::vector<Scores> scores;
  std::vector<DeviceSet> open;  // no ring closes
  for (const double rate : rates_of(first_, sets, groups)) {
    if (rate <= 0) open.push_back(sets[scores.size()]);
    scores.push_back({.ring_GBps = rate, .bound_GBps = rate});
  }
  if (fallback_) {
    const std::vector<double> rates = rates_of(*fallback_, open, fallback_->groups(open));
    auto rate = rates.begin();
    for (Scores& one : scores) {
      if (one.ring_GBps <= 0) one.bound_GBps = *rate++;
    }
  }
  join_classes(scores);
  return scores;
}

BestSet Rater::best(std::span<const DeviceSet> sets, std::span<const IsomorphicSets> groups,
                    const Order& before) const {
  const auto [set, rate] = best_of(first_, sets, groups, before);
  if (rate > 0 || !fallback_) return {.set = set, .scores = {rate, rate}};
  const auto [open, bound] = best_of(*fallback_, sets, fallback_->groups(sets), before);
  return {.set = open, .scores = {.bound_GBps = bound}};
}

}  // namespace busbar::topo
