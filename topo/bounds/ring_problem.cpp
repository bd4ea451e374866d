// SPDX-License-Identifier: BSD-3-Clause
#include "topo/bounds/ring_problem.hpp"

#include <algorithm>
#include <cmath>

namespace busbar::topo {
namespace {

/// Hops at one device that begin (or end) with the same resource: together they have the bandwidth
/// that one does, and each what its own path does.
struct Bundle {
  int resource = -1;
  double together = 0;
  double apart = 0;
};

double alone(const RingProblem& problem, const Use& use) {
  return problem.capacity[static_cast<std::size_t>(use.resource)] / use.times;
}

const Use& narrowest(const RingProblem& problem, const std::vector<Use>& uses) {
  return *std::ranges::min_element(
      uses, [&](const Use& a, const Use& b) { return alone(problem, a) < alone(problem, b); });
}

void add(std::vector<Bundle>& bundles, int resource, double edge, double apart) {
  auto bundle = std::ranges::find(bundles, resource, &Bundle::resource);
  if (bundle == bundles.end()) {
    bundles.push_back({.resource = resource});
    bundle = bundles.end() - 1;
  }
  // The hop that takes the resource least often bounds them all.
  bundle->together = std::max(bundle->together, edge);
  bundle->apart += apart;
}

double through(const RingProblem& problem, int device, bool leaving, std::vector<Bundle>& bundles) {
  bundles.clear();
  for (int other = 0; other < problem.n; ++other) {
    const Hop& hop = leaving ? problem.hop(device, other) : problem.hop(other, device);
    if (!hop || other == device) continue;
    if (hop->empty()) return kInfinity;
    const Use& edge = leaving ? hop->front() : hop->back();
    add(bundles, edge.resource, alone(problem, edge), alone(problem, narrowest(problem, *hop)));
  }
  double sum = 0;
  for (const Bundle& bundle : bundles) sum += std::min(bundle.together, bundle.apart);
  return sum;
}

DeviceUpper with_resources(const RingProblem& problem, int device, bool leaving) {
  std::vector<Bundle> bundles;
  DeviceUpper upper{.value = through(problem, device, leaving, bundles)};
  if (!std::isfinite(upper.value)) return upper;
  for (int other = 0; other < problem.n; ++other) {
    const Hop& hop = leaving ? problem.hop(device, other) : problem.hop(other, device);
    if (!hop || other == device) continue;
    const int edge = (leaving ? hop->front() : hop->back()).resource;
    const auto bundle = std::ranges::find(bundles, edge, &Bundle::resource);
    const bool together = bundle->together <= bundle->apart;
    upper.resources.push_back(together ? edge : narrowest(problem, *hop).resource);
  }
  return upper;
}

}  // namespace

DeviceUpper leaving_upper(const RingProblem& problem, int device) {
  return with_resources(problem, device, true);
}

DeviceUpper reaching_upper(const RingProblem& problem, int device) {
  return with_resources(problem, device, false);
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
