// SPDX-License-Identifier: BSD-3-Clause
#include "topo/choice/lazy_figures.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace busbar::topo {

LazyFigures::LazyFigures(const Rater& rater, std::vector<DeviceSet> sets)
    : rater_(rater), sets_(std::move(sets)), first_(column_of(rater.first())) {
  const bool closed =
      std::any_of(first_.upper.begin(), first_.upper.end(), [](double upper) { return upper > 0; });
  if (!closed && rater_.fallback()) fallback_ = column_of(*rater_.fallback());
}

LazyFigures::Column LazyFigures::column_of(const RingRater& rater) const {
  Column column{.rater = &rater, .groups = rater.groups(sets_)};
  column.group_of.resize(sets_.size());
  for (std::size_t group = 0; group < column.groups.size(); ++group) {
    const auto& members = column.groups[group];
    for (const std::size_t member : members) column.group_of[member] = group;
    column.upper.push_back(rater.upper_GBps(sets_[members.front()]));
  }
  column.exact.resize(column.groups.size());
  return column;
}

double LazyFigures::value(const Column& column, std::size_t set) {
  const std::size_t group = column.group_of[set];
  return column.exact[group].value_or(column.upper[group]);
}

Figures LazyFigures::now(std::size_t set) const {
  const double ring = value(first_, set);
  if (ring > 0 || !rater_.fallback()) return {.ring_GBps = ring, .bound_GBps = ring};
  // Before any fallback is needed nothing is known of them: anything may be.
  return {.bound_GBps =
              fallback_ ? value(*fallback_, set) : std::numeric_limits<double>::infinity()};
}

bool LazyFigures::solve(std::size_t set) {
  const bool news = solve(first_, set);
  if (value(first_, set) > 0 || !rater_.fallback()) return news;
  if (!fallback_) fallback_ = column_of(*rater_.fallback());
  return solve(*fallback_, set) || news;
}

bool LazyFigures::solve(Column& column, std::size_t set) {
  std::optional<double>& exact = column.exact[column.group_of[set]];
  if (exact) return false;
  exact = head_of(column.rater->rate_GBps(sets_[set]));
  return true;
}

double LazyFigures::head_of(double figure) {
  const auto known = std::find_if(heads_.begin(), heads_.end(),
                                  [&](double other) { return same_figure(figure, other); });
  if (known != heads_.end()) return *known;
  heads_.push_back(figure);
  return figure;
}

}  // namespace busbar::topo
