// SPDX-License-Identifier: BSD-3-Clause
#include "topo/bounds/held_karp.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace busbar::topo {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
constexpr int kNarrow = 8;

}  // namespace

HeldKarp::HeldKarp(int n)
    : cities_(n - 1),
      width_(cities_ <= kNarrow ? kNarrow : kMostHeldKarp),
      step_(static_cast<std::size_t>(width_) * static_cast<std::size_t>(width_), kNever),
      table_((std::size_t{1} << static_cast<unsigned>(cities_)) * static_cast<std::size_t>(width_),
             kNever) {}

// The inner loop has a constant length and no branch, so that compilers make vectors of it.
template <int Width>
void HeldKarp::leave(std::size_t set, std::array<double, std::size_t{Width}>& next) const {
  const double* row = table_.data() + set * Width;
  for (std::size_t last = 0; last < static_cast<std::size_t>(cities_); ++last) {
    if ((set >> last & 1U) == 0) continue;
    const double* steps = step_.data() + last * Width;
    const double so_far = row[last];
    for (std::size_t to = 0; to < Width; ++to) {
      const double cost = so_far + steps[to];
      next[to] = cost < next[to] ? cost : next[to];
    }
  }
}

// Each set is complete before its supersets are reached, because those are greater numbers.
template <int Width>
void HeldKarp::fill() {
  const std::size_t sets = std::size_t{1} << static_cast<unsigned>(cities_);
  for (std::size_t set = 1; set < sets; ++set) {
    std::array<double, std::size_t{Width}> next{};
    next.fill(kNever);
    leave<Width>(set, next);
    for (std::size_t to = 0; to < static_cast<std::size_t>(cities_); ++to) {
      if ((set >> to & 1U) == 0) table_[(set | std::size_t{1} << to) * Width + to] = next[to];
    }
  }
}

std::vector<int> HeldKarp::trace(int last) const {
  std::vector<int> order;
  order.reserve(static_cast<std::size_t>(cities_) + 1);
  std::size_t set = (std::size_t{1} << static_cast<unsigned>(cities_)) - 1;
  for (int city = last; city >= 0;) {
    order.push_back(city + 1);
    set ^= std::size_t{1} << static_cast<unsigned>(city);
    int before = -1;
    double least = kNever;
    for (int k = 0; k < cities_; ++k) {
      if ((set >> static_cast<unsigned>(k) & 1U) == 0) continue;
      const auto step = static_cast<std::size_t>(k) * static_cast<std::size_t>(width_) +
                        static_cast<std::size_t>(city);
      if (const double cost = best(set, k) + step_[step]; cost < least) {
        least = cost;
        before = k;
      }
    }
    city = before;
  }
  order.push_back(0);
  std::reverse(order.begin(), order.end());
  return order;
}

const std::vector<PricedRing>& HeldKarp::cheapest(std::span<const double> cost) {
  const auto n = static_cast<std::size_t>(cities_) + 1;
  for (std::size_t from = 1; from < n; ++from) {
    for (std::size_t to = 1; to < n; ++to) {
      double& step = step_[(from - 1) * static_cast<std::size_t>(width_) + to - 1];
      step = cost[from * n + to];
      if (from == to) step = kNever;
    }
    best(std::size_t{1} << (from - 1), static_cast<int>(from) - 1) = cost[from];
  }
  if (width_ == kNarrow) {
    fill<kNarrow>();
  } else {
    fill<kMostHeldKarp>();
  }
  rings_.clear();
  const std::size_t all = (std::size_t{1} << static_cast<unsigned>(cities_)) - 1;
  for (int last = 0; last < cities_; ++last) {
    const double total = best(all, last) + cost[(static_cast<std::size_t>(last) + 1) * n];
    if (std::isfinite(total)) rings_.push_back({.order = trace(last), .cost = total});
  }
  std::stable_sort(rings_.begin(), rings_.end(),
                   [](const PricedRing& a, const PricedRing& b) { return a.cost < b.cost; });
  return rings_;
}

}  // namespace busbar::topo
