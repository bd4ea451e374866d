// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace busbar::topo {

/// A directed ring in order (the last is followed by the first) and what it costs.
struct PricedRing {
  std::vector<int> order{};
  double cost = 0;
};

inline constexpr int kMostHeldKarp = 16;

/// The cheapest directed Hamiltonian cycle by dynamic programming over sets (Held and Karp 1962);
/// its memory is kept from one search to the next.
class HeldKarp {
 public:
  /// 2 <= n <= kMostHeldKarp.
  explicit HeldKarp(int n);

  /// The cheapest ring that returns from each last device, cheapest first and so the cheapest of
  /// all at the front; empty where none closes. `cost` is n x n, infinite for absent hops.
  [[nodiscard]] std::vector<PricedRing> cheapest(std::span<const double> cost);

 private:
  static constexpr std::size_t kWidth = kMostHeldKarp;

  void fill();
  [[nodiscard]] std::vector<int> trace(std::size_t last);
  [[nodiscard]] double& best(std::size_t set, std::size_t last) {
    return table_[set * kWidth + last];
  }

  std::size_t cities_;           ///< all but the one where rings begin
  std::vector<double> step_{};   ///< between cities, kWidth x kWidth
  std::vector<double> table_{};  ///< cheapest way through a set of cities that ends in one
};

/// Cheap directed rings by nearest neighbours from up to `starts` devices, each improved by moving
/// stretches of up to three devices and by reversing stretches until neither helps; cheapest
/// first. `cost` is n x n, infinite for absent hops. May miss rings: never a proof.
[[nodiscard]] std::vector<PricedRing> search_rings(std::span<const double> cost, int n, int starts);

}  // namespace busbar::topo
