// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <random>

#include "topo/bounds/packing.hpp"
#include "topo/graph/graph.hpp"

namespace busbar::topo {

/// A hop that takes each of these resources once.
inline Hop taking(std::initializer_list<int> resources) {
  std::vector<Use> uses;
  for (const int resource : resources) uses.push_back({.resource = resource});
  return uses;
}

/// All hops of n devices, each by a resource of its own; further resources are there for others.
inline RingProblem complete(int n, const std::vector<double>& capacity) {
  RingProblem problem{.n = n, .capacity = capacity};
  for (int k = 0, hop = 0; k < n * n; ++k) {
    problem.hops.push_back(k % (n + 1) == 0 ? Hop{} : taking({hop++}));
  }
  return problem;
}
inline RingProblem complete(int n, double capacity) {
  return complete(n, std::vector<double>(to_size(n * (n - 1)), capacity));
}

/// All (n-1)! directed rings of n devices, each beginning with 0.
inline std::vector<std::vector<int>> all_rings(int n) {
  std::vector<int> order = first_numbers(to_size(n));
  std::vector<std::vector<int>> rings;
  do {
    rings.push_back(order);
  } while (std::next_permutation(order.begin() + 1, order.end()));
  return rings;
}

/// How often a ring takes each resource; empty where a hop of it is absent.
inline std::vector<double> takings(const RingProblem& problem, const std::vector<int>& order) {
  std::vector<double> times(problem.capacity.size(), 0);
  for (std::size_t k = 0; k < order.size(); ++k) {
    const Hop& hop = problem.hop(order[k], order[(k + 1) % order.size()]);
    if (!hop) return {};
    for (const Use& use : *hop) times[to_size(use.resource)] += use.times;
  }
  return times;
}

/// Links between most pairs, each a resource of its own; `shared` buses that hops take besides,
/// some more than once.
inline RingProblem random_problem(int n, int shared, double density, unsigned seed) {
  std::mt19937 engine(seed);
  std::uniform_real_distribution<double> part(0, 1);
  std::uniform_int_distribution<int> small(1, 6);
  RingProblem problem{.n = n};
  problem.hops.resize(to_size(n * n));
  for (int k = 0; k < shared; ++k) problem.capacity.push_back(5 * small(engine));
  for (int from = 0; from < n; ++from) {
    for (int to = 0; to < n; ++to) {
      if (from == to || part(engine) > density) continue;
      auto& uses = problem.hops[to_size(from * n + to)].emplace();
      uses.push_back({.resource = static_cast<int>(problem.capacity.size())});
      problem.capacity.push_back(5 * small(engine) + part(engine));
      for (int k = 0; k < shared; ++k) {
        if (part(engine) < 0.3)
          uses.push_back({.resource = k, .times = small(engine) > 4 ? 1.2 : 1});
      }
    }
  }
  return problem;
}

}  // namespace busbar::topo
