// SPDX-License-Identifier: BSD-3-Clause
#include "topo/bounds/quick_upper.hpp"

#include <algorithm>
#include <limits>

namespace busbar::topo {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Hops at one device that begin (or end) with the same resource: together they carry what that
/// one does, and each what its own path does.
struct Bundle {
  int resource = -1;
  double together = kInfinity;
  double apart = 0;
};

double narrowest(const RingProblem& problem, const std::vector<Use>& uses) {
  double least = kInfinity;
  for (const Use& use : uses) {
    least = std::min(least, problem.capacity[static_cast<std::size_t>(use.resource)] / use.times);
  }
  return least;
}

void add(std::vector<Bundle>& bundles, const Use& edge, double capacity, double alone) {
  auto bundle = std::find_if(bundles.begin(), bundles.end(),
                             [&](const Bundle& b) { return b.resource == edge.resource; });
  if (bundle == bundles.end()) {
    bundles.push_back({.resource = edge.resource});
    bundle = bundles.end() - 1;
    bundle->together = 0;
  }
  // The hop that takes the resource least often bounds them all.
  bundle->together = std::max(bundle->together, capacity / edge.times);
  bundle->apart += alone;
}

double through(const RingProblem& problem, int device, bool leaving, std::vector<Bundle>& bundles) {
  bundles.clear();
  for (int other = 0; other < problem.n; ++other) {
    const Hop& hop = leaving ? problem.hop(device, other) : problem.hop(other, device);
    if (!hop || other == device) continue;
    if (hop->empty()) return kInfinity;
    const Use& edge = leaving ? hop->front() : hop->back();
    add(bundles, edge, problem.capacity[static_cast<std::size_t>(edge.resource)],
        narrowest(problem, *hop));
  }
  double sum = 0;
  for (const Bundle& bundle : bundles) sum += std::min(bundle.together, bundle.apart);
  return sum;
}

}  // namespace

double leaving_upper(const RingProblem& problem, int device) {
  std::vector<Bundle> bundles;
  return through(problem, device, true, bundles);
}

double reaching_upper(const RingProblem& problem, int device) {
  std::vector<Bundle> bundles;
  return through(problem, device, false, bundles);
}

double quick_upper(const RingProblem& problem) {
  double least = problem.n < 2 ? 0 : kInfinity;
  std::vector<Bundle> bundles;
  for (int device = 0; device < problem.n && least > 0; ++device) {
    least = std::min(least, through(problem, device, true, bundles));
    least = std::min(least, through(problem, device, false, bundles));
  }
  return least;
}

}  // namespace busbar::topo
