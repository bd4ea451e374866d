// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "topo/bounds/bound.hpp"
#include "topo/bounds/paths.hpp"
#include "topo/choice/sets.hpp"

namespace busbar::topo {

/// What sets are ordered by first, in GB/s: as in Bound.
struct Figures {
  double ring_GBps = 0;
  double bound_GBps = 0;

  friend auto operator<=>(const Figures&, const Figures&) = default;
};

/// Figures that differ by less than this part of the greater are one class.
inline constexpr double kSameFigure = 1e-6;

[[nodiscard]] bool same_figure(double one, double other);
[[nodiscard]] bool same_figures(const Figures& one, const Figures& other);
/// Replaces each figure by the greatest of its class, so that equal classes are equal numbers.
void join_classes(std::span<Figures> figures);

/// Indices of sets that are alike.
using Groups = std::vector<std::vector<std::size_t>>;

/// Rates many sets of a few devices with one table of paths; agrees with bound_of.
class Rater {
 public:
  /// Sets are of these devices (indices, ascending).
  Rater(const Graph& graph, std::span<const int> pool, const BoundOptions& options);

  /// What the ring bound packs, with the pool's places as devices.
  [[nodiscard]] const RingProblem& rings() const { return rings_; }
  /// The packing where no ring closes there; nothing where rings() has all paths already.
  [[nodiscard]] const std::optional<RingProblem>& fallback() const { return fallback_; }

  [[nodiscard]] Figures rate(std::span<const int> set) const;
  /// At least what rate() gives, in microseconds.
  [[nodiscard]] Figures upper(std::span<const int> set) const;
  /// As rate() where the ring bound is `least` or more, else nothing: mostly sooner.
  [[nodiscard]] std::optional<Figures> rate_from(std::span<const int> set, double least) const;
  /// Indices of the sets in groups with equal rings() problems.
  [[nodiscard]] Groups groups(std::span<const DeviceSet> sets) const;
  /// Figures of all sets, each of their groups solved once; classes joined.
  [[nodiscard]] std::vector<Figures> rate_all(std::span<const DeviceSet> sets,
                                              const Groups& groups) const;

 private:
  [[nodiscard]] std::vector<std::size_t> places(std::span<const int> set) const;
  [[nodiscard]] DeviceSet inner(const DeviceSet& set) const;
  [[nodiscard]] double fallback_GBps(std::span<const int> set) const;
  void rate_fallbacks(std::span<const DeviceSet> sets, std::span<const std::size_t> members,
                      std::vector<Figures>& figures) const;

  std::vector<int> pool_;
  PathTable table_;
  std::optional<PathTable> fallback_table_{};
  RingProblem rings_;
  std::optional<RingProblem> fallback_{};
};

}  // namespace busbar::topo
