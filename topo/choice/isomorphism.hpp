// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "topo/bounds/ring_problem.hpp"

namespace busbar::topo {

/// The part of a ring problem that some of its devices see, ready to be compared with another.
class InducedSubgraph {
 public:
  InducedSubgraph(const RingProblem& problem, std::span<const int> set);

  /// Equal for isomorphic subgraphs; hardly ever equal for others.
  [[nodiscard]] std::uint64_t signature() const { return signature_; }

  /// True only if some permutation of the devices makes both the same linear program: hops, shares
  /// and capacities are compared one by one, never by the signature alone. Gives up (false) on
  /// subgraphs so regular that no permutation is found in a few thousand steps.
  [[nodiscard]] bool isomorphic_to(const InducedSubgraph& other) const;

  /// Whether swapping two devices leaves the subgraph as it was.
  [[nodiscard]] bool unchanged_by_swap(int one, int other) const;

 private:
  /// A hop's use of a resource, by the devices' positions in the set.
  struct HopUse {
    int from = 0;
    int to = 0;
    double times = 1;

    friend auto operator<=>(const HopUse&, const HopUse&) = default;
  };
  /// A resource and all who share it.
  struct Row {
    std::vector<HopUse> uses{};
    double capacity = 0;

    friend auto operator<=>(const Row&, const Row&) = default;
  };
  using Rows = std::vector<Row>;

  [[nodiscard]] static Rows normalised(Rows rows);
  [[nodiscard]] bool same_under(std::span<const int> image, const InducedSubgraph& other) const;
  [[nodiscard]] bool fits(std::span<const int> image, int candidate,
                          const InducedSubgraph& other) const;
  [[nodiscard]] bool extend(std::vector<int>& image, const InducedSubgraph& other,
                            int& steps) const;
  void set_colours();
  [[nodiscard]] std::uint64_t colour(int from, int to) const {
    return hop_colours_[static_cast<std::size_t>(from) * static_cast<std::size_t>(devices_) +
                        static_cast<std::size_t>(to)];
  }

  int devices_ = 0;
  Rows rows_{};  ///< sorted by their uses, no two with the same; the first has all hops
  std::vector<std::uint64_t> hop_colours_{};
  std::vector<std::uint64_t> colours_{};
  std::uint64_t signature_ = 0;
};

/// Indices of the sets in groups of isomorphic problems; groups by their first member, rising.
[[nodiscard]] std::vector<std::vector<std::size_t>> group_isomorphic(
    const RingProblem& problem, std::span<const std::vector<int>> sets);

}  // namespace busbar::topo
