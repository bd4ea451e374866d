// SPDX-License-Identifier: BSD-3-Clause
#include "topo/bounds/limiting.hpp"

#include <algorithm>
#include <limits>

#include "topo/bounds/quick_upper.hpp"

namespace busbar::topo {
namespace {

constexpr double kTolerance = 1e-9;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// How often each hop takes one resource; infinite where there is no hop.
class Takings {
 public:
  Takings(const RingProblem& problem, int resource)
      : n_(static_cast<std::size_t>(problem.n)), times_(problem.hops.size(), kInfinity) {
    for (std::size_t k = 0; k < times_.size(); ++k) {
      if (!problem.hops[k]) continue;
      times_[k] = 0;
      for (const Use& use : *problem.hops[k]) {
        if (use.resource == resource) times_[k] += use.times;
      }
    }
  }

  /// Every ring takes the resource at least so often: a hop leaves and a hop reaches each device,
  /// and a ring needs a hop that takes it where the others do not join all devices.
  [[nodiscard]] double least_of_ring() const {
    const double least = std::max(least_sum(true), least_sum(false));
    return least > 0 || joined_without() ? least : smallest();
  }

 private:
  [[nodiscard]] double at(std::size_t from, std::size_t to) const { return times_[from * n_ + to]; }

  [[nodiscard]] double least_sum(bool leaving) const {
    double sum = 0;
    for (std::size_t i = 0; i < n_; ++i) {
      double least = kInfinity;
      for (std::size_t j = 0; j < n_; ++j) least = std::min(least, leaving ? at(i, j) : at(j, i));
      sum += least;
    }
    return sum;
  }

  [[nodiscard]] double smallest() const {
    double least = kInfinity;
    for (const double times : times_) least = times > 0 ? std::min(least, times) : least;
    return least;
  }

  /// Whether hops that do not take it lead from the first device to all and back.
  [[nodiscard]] bool joined_without() const { return reaches_all(true) && reaches_all(false); }

  [[nodiscard]] bool reaches_all(bool leaving) const {
    std::vector<bool> seen(n_, false);
    std::vector<std::size_t> open{0};
    seen[0] = true;
    std::size_t count = 1;
    while (!open.empty()) {
      const std::size_t here = open.back();
      open.pop_back();
      for (std::size_t there = 0; there < n_; ++there) {
        if (seen[there] || (leaving ? at(here, there) : at(there, here)) > 0) continue;
        seen[there] = true;
        open.push_back(there);
        ++count;
      }
    }
    return count == n_;
  }

  std::size_t n_;
  std::vector<double> times_;
};

/// Devices through which no more can pass, out or in, and the resources that say so.
Limiting by_devices(const RingProblem& problem, double most) {
  Limiting result;
  for (int device = 0; device < problem.n; ++device) {
    for (const DeviceUpper& upper :
         {leaving_upper(problem, device), reaching_upper(problem, device)}) {
      if (upper.value > most) continue;
      if (result.devices.empty() || result.devices.back() != device) {
        result.devices.push_back(device);
      }
      result.resources.insert(result.resources.end(), upper.resources.begin(),
                              upper.resources.end());
    }
  }
  std::sort(result.resources.begin(), result.resources.end());
  result.resources.erase(std::unique(result.resources.begin(), result.resources.end()),
                         result.resources.end());
  return result;
}

}  // namespace

Limiting limiting(const RingProblem& problem, const RingPacking& packing) {
  const double most = packing.value * (1 + kTolerance);
  Limiting result;
  for (std::size_t k = 0; k < problem.capacity.size(); ++k) {
    const double least = Takings(problem, static_cast<int>(k)).least_of_ring();
    if (problem.capacity[k] <= most * least) result.resources.push_back(static_cast<int>(k));
  }
  if (!result.resources.empty()) return result;
  result = by_devices(problem, most);
  if (!result.resources.empty() || !packing.exact || packing.dual.empty()) return result;
  constexpr double kPositive = 1e-7;
  const double dearest = *std::max_element(packing.dual.begin(), packing.dual.end());
  for (std::size_t k = 0; k < packing.dual.size(); ++k) {
    if (packing.dual[k] > kPositive * dearest) result.resources.push_back(static_cast<int>(k));
  }
  return result;
}

}  // namespace busbar::topo
