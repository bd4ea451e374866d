// SPDX-License-Identifier: BSD-3-Clause
#include "topo/bounds/ring_search.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "topo/bounds/packing.hpp"

namespace busbar::topo {
HeldKarp::HeldKarp(int n)
    : cities_(static_cast<std::size_t>(n) - 1),
      step_(kWidth * kWidth, kInfinity),
      table_((std::size_t{1} << cities_) * kWidth, kInfinity) {}

// The inner loop has a constant length and no branch, so that compilers make vectors of it. Each
// set is complete before its supersets are reached, because those are greater numbers.
void HeldKarp::fill() {
  for (std::size_t set = 1; set < std::size_t{1} << cities_; ++set) {
    std::array<double, kWidth> next{};
    next.fill(kInfinity);
    for (std::size_t last = 0; last < cities_; ++last) {
      if ((set >> last & 1U) == 0) continue;
      const double* steps = step_.data() + last * kWidth;
      const double so_far = best(set, last);
      for (std::size_t to = 0; to < kWidth; ++to) {
        const double cost = so_far + steps[to];
        next[to] = std::min(next[to], cost);
      }
    }
    for (std::size_t to = 0; to < cities_; ++to) {
      if ((set >> to & 1U) == 0) best(set | std::size_t{1} << to, to) = next[to];
    }
  }
}

std::vector<int> HeldKarp::trace(std::size_t last) {
  std::vector<int> order;
  std::size_t set = (std::size_t{1} << cities_) - 1;
  for (std::size_t city = last; city < cities_;) {
    order.push_back(static_cast<int>(city) + 1);
    set ^= std::size_t{1} << city;
    std::size_t before = cities_;
    double least = kInfinity;
    for (std::size_t k = 0; k < cities_; ++k) {
      const double cost = best(set, k) + step_[k * kWidth + city];
      if ((set >> k & 1U) == 0 || cost >= least) continue;
      least = cost;
      before = k;
    }
    city = before;
  }
  order.push_back(0);
  std::ranges::reverse(order);
  return order;
}

std::vector<PricedRing> HeldKarp::cheapest(std::span<const double> cost) {
  const std::size_t n = cities_ + 1;
  for (std::size_t from = 1; from < n; ++from) {
    for (std::size_t to = 1; to < n; ++to) {
      if (from != to) step_[(from - 1) * kWidth + to - 1] = cost[from * n + to];
    }
    best(std::size_t{1} << (from - 1), from - 1) = cost[from];
  }
  fill();
  std::vector<PricedRing> rings;
  for (std::size_t last = 0; last < cities_; ++last) {
    const double total = best((std::size_t{1} << cities_) - 1, last) + cost[(last + 1) * n];
    if (std::isfinite(total)) rings.push_back({.order = trace(last), .cost = total});
  }
  std::ranges::stable_sort(rings, {}, &PricedRing::cost);
  return rings;
}

namespace {

constexpr double kGain = 1e-12;  // less than this is noise and would never end
constexpr std::size_t kLongestMove = 3;

class Tour {
 public:
  Tour(const std::vector<double>& cost, std::size_t n) : cost_(cost), order_(n) {}

  void follow_nearest(std::size_t start) {
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    std::swap(order_.front(), order_[start]);
    for (std::size_t k = 1; k < order_.size(); ++k) {
      const auto nearest = std::min_element(order_.begin() + static_cast<std::ptrdiff_t>(k),
                                            order_.end(), [&](std::size_t a, std::size_t b) {
                                              return at(order_[k - 1], a) < at(order_[k - 1], b);
                                            });
      std::iter_swap(order_.begin() + static_cast<std::ptrdiff_t>(k), nearest);
    }
  }

  void improve() {
    while (move_stretches() || reverse_stretches()) {
    }
  }

  [[nodiscard]] PricedRing ring() const {
    PricedRing ring;
    const auto least = std::ranges::min_element(order_) - order_.begin();
    for (std::size_t k = 0; k < order_.size(); ++k) {
      const std::size_t place = (k + static_cast<std::size_t>(least)) % order_.size();
      ring.order.push_back(static_cast<int>(order_[place]));
      ring.cost += at(order_[place], order_[(place + 1) % order_.size()]);
    }
    return ring;
  }

 private:
  [[nodiscard]] double at(std::size_t from, std::size_t to) const {
    return cost_[from * order_.size() + to];
  }

  // The stretch is turned to the front of the ring, so that no index wraps.
  bool move_front(std::size_t length) {
    const std::size_t n = order_.size();
    const std::size_t head = order_.front();
    const std::size_t tail = order_[length - 1];
    const double saved =
        at(order_[n - 1], head) + at(tail, order_[length]) - at(order_[n - 1], order_[length]);
    for (std::size_t k = length; k + 1 < n; ++k) {
      const double paid =
          at(order_[k], head) + at(tail, order_[k + 1]) - at(order_[k], order_[k + 1]);
      if (paid + kGain >= saved) continue;
      std::rotate(order_.begin(), order_.begin() + static_cast<std::ptrdiff_t>(length),
                  order_.begin() + static_cast<std::ptrdiff_t>(k + 1));
      return true;
    }
    return false;
  }

  bool move_stretches() {
    bool moved = false;
    for (std::size_t turn = 0; turn < order_.size(); ++turn) {
      std::rotate(order_.begin(), order_.begin() + 1, order_.end());
      for (std::size_t length = 1; length <= kLongestMove && length + 2 <= order_.size();
           ++length) {
        moved = move_front(length) || moved;
      }
    }
    return moved;
  }

  bool reverse_stretches() {
    const std::size_t n = order_.size();
    for (std::size_t first = 1; first + 1 < n; ++first) {
      double along = 0;
      double back = 0;
      for (std::size_t last = first + 1; last < n; ++last) {
        along += at(order_[last - 1], order_[last]);
        back += at(order_[last], order_[last - 1]);
        const std::size_t next = order_[(last + 1) % n];
        const double before = at(order_[first - 1], order_[first]) + along + at(order_[last], next);
        const double after = at(order_[first - 1], order_[last]) + back + at(order_[first], next);
        if (after + kGain >= before) continue;
        std::reverse(order_.begin() + static_cast<std::ptrdiff_t>(first),
                     order_.begin() + static_cast<std::ptrdiff_t>(last) + 1);
        return true;
      }
    }
    return false;
  }

  const std::vector<double>& cost_;
  std::vector<std::size_t> order_;
};

}  // namespace

std::vector<PricedRing> search_rings(std::span<const double> cost, int n, int starts) {
  // Absent hops cost more than any ring of present ones, so that the search leaves them.
  double absent = 1;
  for (const double one : cost) absent += std::isfinite(one) ? one : 0;
  std::vector<double> finite(cost.begin(), cost.end());
  std::ranges::replace(finite, kInfinity, absent);
  std::vector<PricedRing> rings;
  const int step = std::max(1, n / std::max(1, starts));
  for (int start = 0; start < n; start += step) {
    Tour tour(finite, static_cast<std::size_t>(n));
    tour.follow_nearest(static_cast<std::size_t>(start));
    tour.improve();
    PricedRing ring = tour.ring();
    const bool known = std::ranges::any_of(
        rings, [&](const PricedRing& other) { return other.order == ring.order; });
    if (ring.cost < absent && !known) rings.push_back(std::move(ring));
  }
  std::ranges::stable_sort(rings, {}, &PricedRing::cost);
  return rings;
}

}  // namespace busbar::topo
