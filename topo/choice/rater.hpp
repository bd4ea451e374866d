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

/// Packs rings in many sets of a few devices, with one table of their paths.
class RingRater {
 public:
  /// Sets are of these devices (indices, ascending).
  RingRater(const Graph& graph, std::span<const int> pool, Level level,
            const BoundOptions& options);

  /// The problem of the whole pool, whose places are its devices.
  [[nodiscard]] const RingProblem& problem() const { return problem_; }

  /// GB/s of the best packing, or the least proven upper end of it; 0 for fewer than two devices.
  [[nodiscard]] double rate_GBps(std::span<const int> set) const;
  /// The same where it is `least` or more; else nothing, and mostly sooner.
  [[nodiscard]] std::optional<double> rate_from_GBps(std::span<const int> set, double least) const;
  /// At least rate_GBps, in microseconds.
  [[nodiscard]] double upper_GBps(std::span<const int> set) const;
  /// Sets with equal problems; solving one of a group is enough.
  [[nodiscard]] Groups groups(std::span<const DeviceSet> sets) const;

 private:
  [[nodiscard]] RingProblem problem_of_set(std::span<const int> set) const;

  std::vector<int> pool_;
  PathTable table_;
  RingProblem problem_;
};

/// Rates sets as bound_of does: over NVLink, or where no ring closes there, over all links.
class Rater {
 public:
  Rater(const Graph& graph, std::span<const int> pool, const BoundOptions& options);

  [[nodiscard]] const RingRater& first() const { return first_; }
  /// Nothing where the first has all links already.
  [[nodiscard]] const std::optional<RingRater>& fallback() const { return fallback_; }

  [[nodiscard]] Figures rate(std::span<const int> set) const;
  /// Figures of all sets, given their groups by the first problem; classes joined.
  [[nodiscard]] std::vector<Figures> rate_all(std::span<const DeviceSet> sets,
                                              const Groups& groups) const;

 private:
  RingRater first_;
  std::optional<RingRater> fallback_{};
};

}  // namespace busbar::topo
