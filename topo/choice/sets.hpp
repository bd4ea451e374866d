// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "topo/bounds/bound.hpp"
#include "topo/bounds/paths.hpp"

namespace busbar::topo {

/// Ascending indices of devices.
using DeviceSet = std::vector<int>;

/// What a count of sets stops at: "this many or more". C(72, 36) is 4.4e20, above 64 bits.
inline constexpr std::uint64_t kManySets = std::numeric_limits<std::uint64_t>::max();
/// More sets than these are not tried one by one.
inline constexpr std::uint64_t kMostSets = 20'000;

/// C(n, k), or kManySets; 0 where k > n.
[[nodiscard]] std::uint64_t count_sets(std::size_t n, std::size_t k);
/// "1 set", "70 sets", "more than 1.8e19 sets".
[[nodiscard]] std::string counted_sets(std::uint64_t count);

/// All sets of k of the devices 0 to n - 1, in lexicographic order; one empty set for k = 0.
[[nodiscard]] std::vector<DeviceSet> all_sets(std::size_t n, std::size_t k);

/// What decides between sets of equal bounds; lower is better, from the first on.
struct Tie {
  int off_pairs = 0;   ///< 1 where some pair has neither NVLink nor PCIe access to its memory
  int numa_nodes = 0;  ///< of which the set has devices
  int nic_steps = 0;   ///< sum over the devices of the steps to the nearest NIC

  friend auto operator<=>(const Tie&, const Tie&) = default;
};

/// What a graph knows about its devices apart from bandwidth.
class TieBreaker {
 public:
  explicit TieBreaker(const Graph& graph);

  [[nodiscard]] Tie of(std::span<const int> devices) const;

  static constexpr int kNoNic = 1000;

 private:
  std::vector<std::pair<int, int>> numa_{};  ///< host and node; unknown nodes of a host are one
  /// Links to the nearest NIC, 10 more for each processor between and 100 for each link between
  /// processors, so that PIX < PXB < PHB < NODE < SYS; kNoNic where none is reached.
  std::vector<int> nic_steps_{};
  std::vector<std::vector<bool>> off_{};
};

/// What sets are ordered by first, in GB/s: as in Bound.
struct Scores {
  double ring_GBps = 0;
  double bound_GBps = 0;

  friend auto operator<=>(const Scores&, const Scores&) = default;
};

/// Scores that differ by less than this part of the greater are one class.
inline constexpr double kSameScore = 1e-6;

/// The bound of a set of more devices is not exact: quick_upper is all there is.
inline constexpr std::size_t kMostExact = 16;

/// Rates sets as bound_of does: over NVLink, or where no ring closes there, over all links.
class Rater {
 public:
  Rater(const Graph& graph, const BoundOptions& options);

  /// GB/s of any two or more of the devices, where all have equal ports at the same NVSwitches.
  [[nodiscard]] std::optional<double> equal_GBps() const { return equal_; }

  /// Scores of all sets; those of one class are equal numbers. quick_upper stands for the packing
  /// of more than `most_solved` devices.
  [[nodiscard]] std::vector<Scores> rate(std::span<const DeviceSet> sets,
                                         std::size_t most_solved = kMostExact);

 private:
  [[nodiscard]] Scores scores_of(const DeviceSet& set, std::size_t most_solved);

  std::optional<double> equal_{};
  std::vector<PathTable> levels_{};
  std::map<std::vector<double>, double> known_{};  ///< by all that the problem says
};

}  // namespace busbar::topo
