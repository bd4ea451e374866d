// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <initializer_list>
#include <numeric>
#include <random>

#include "topo/bounds/packing.hpp"

namespace busbar::topo {

/// A hop that takes each of these resources once.
inline Hop taking(std::initializer_list<int> resources) {
  std::vector<Use> uses;
  for (const int resource : resources) uses.push_back({.resource = resource});
  return uses;
}

/// All (n-1)! directed rings of n devices, each beginning with 0.
inline std::vector<std::vector<int>> all_rings(int n) {
  std::vector<int> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), 0);
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
    for (const Use& use : *hop) times[static_cast<std::size_t>(use.resource)] += use.times;
  }
  return times;
}

/// max sum x, A x <= capacity, x >= 0 by the textbook's tableau with Bland's rule: slow, and of
/// another make than what it checks.
inline double tableau_optimum(const std::vector<std::vector<double>>& columns,
                              const std::vector<double>& capacity) {
  const std::size_t rows = capacity.size();
  const std::size_t width = columns.size() + rows + 1;
  std::vector<std::vector<double>> table(rows + 1, std::vector<double>(width, 0));
  std::vector<std::size_t> basis(rows);
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t c = 0; c < columns.size(); ++c) table[r][c] = columns[c][r];
    table[r][columns.size() + r] = 1;
    table[r][width - 1] = capacity[r];
    basis[r] = columns.size() + r;
  }
  for (std::size_t c = 0; c < columns.size(); ++c) table[rows][c] = 1;
  for (;;) {
    std::size_t enter = 0;
    while (enter + 1 < width && table[rows][enter] <= 1e-11) ++enter;
    if (enter + 1 == width) return -table[rows][width - 1];
    std::size_t leave = rows;
    for (std::size_t r = 0; r < rows; ++r) {
      if (table[r][enter] <= 1e-11) continue;
      if (leave == rows) leave = r;
      const double mine = table[r][width - 1] / table[r][enter];
      const double best = table[leave][width - 1] / table[leave][enter];
      if (mine < best - 1e-12 || (mine < best + 1e-12 && basis[r] < basis[leave])) leave = r;
    }
    basis[leave] = enter;
    const double pivot = table[leave][enter];
    for (double& cell : table[leave]) cell /= pivot;
    for (std::size_t r = 0; r <= rows; ++r) {
      const double factor = table[r][enter];
      if (r == leave || factor == 0) continue;
      for (std::size_t c = 0; c < width; ++c) table[r][c] -= factor * table[leave][c];
    }
  }
}

/// The packing by a list of all rings.
inline double brute_force(const RingProblem& problem) {
  std::vector<std::vector<double>> columns;
  for (const auto& order : all_rings(problem.n)) {
    if (auto times = takings(problem, order); !times.empty()) columns.push_back(std::move(times));
  }
  return tableau_optimum(columns, problem.capacity);
}

/// Links between most pairs, each a resource of its own; `shared` buses that hops take besides,
/// some more than once.
inline RingProblem random_problem(int n, int shared, double density, unsigned seed) {
  std::mt19937 engine(seed);
  std::uniform_real_distribution<double> part(0, 1);
  std::uniform_int_distribution<int> small(1, 6);
  RingProblem problem{.n = n};
  problem.hops.resize(static_cast<std::size_t>(n * n));
  for (int k = 0; k < shared; ++k) problem.capacity.push_back(5 * small(engine));
  for (int from = 0; from < n; ++from) {
    for (int to = 0; to < n; ++to) {
      if (from == to || part(engine) > density) continue;
      auto& uses = problem.hops[static_cast<std::size_t>(from * n + to)].emplace();
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
