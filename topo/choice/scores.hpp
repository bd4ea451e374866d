// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "topo/bounds/bound.hpp"
#include "topo/bounds/paths.hpp"
#include "topo/choice/sets.hpp"

namespace busbar::topo {

/// What sets are ordered by first, in GB/s: as in Bound.
struct Scores {
  double ring_GBps = 0;
  double bound_GBps = 0;

  friend auto operator<=>(const Scores&, const Scores&) = default;
};

/// Scores that differ by less than this part of the greater are one class.
inline constexpr double kSameScore = 1e-6;

[[nodiscard]] bool same_score(double one, double other);
/// Replaces each score by the greatest of its class, so that equal classes are equal numbers.
void join_classes(std::span<Scores> scores);

/// Indices of sets whose problems are isomorphic: solving one of them is enough.
using IsomorphicSets = std::vector<std::size_t>;

/// Packs rings in many sets of a graph's devices, with one table of their paths.
class RingRater {
 public:
  RingRater(const Graph& graph, Level level, const BoundOptions& options);

  /// The problem of all devices.
  [[nodiscard]] const RingProblem& problem() const { return problem_; }
  [[nodiscard]] std::vector<IsomorphicSets> groups(std::span<const DeviceSet> sets) const;

  /// GB/s of the best packing, or the least proven upper end of it; 0 for fewer than two devices.
  /// Nothing, and mostly sooner, where it is below `least`.
  [[nodiscard]] std::optional<double> rate_GBps(std::span<const int> set, double least = 0) const;
  /// At least rate_GBps, in microseconds.
  [[nodiscard]] double upper_GBps(std::span<const int> set) const;

 private:
  PathTable table_;
  RingProblem problem_;
};

/// The best set, and what it is rated.
struct BestSet {
  std::size_t set = 0;
  Scores scores{};
};

/// Rates sets as bound_of does: over NVLink, or where no ring closes there, over all links.
class Rater {
 public:
  Rater(const Graph& graph, const BoundOptions& options);

  /// The problems that the rates come from.
  [[nodiscard]] std::vector<const RingProblem*> problems() const;
  /// By the first level's problems.
  [[nodiscard]] std::vector<IsomorphicSets> groups(std::span<const DeviceSet> sets) const {
    return first_.groups(sets);
  }
  /// Scores of all sets, each group's computed once, with classes joined.
  [[nodiscard]] std::vector<Scores> rate(std::span<const DeviceSet> sets,
                                         std::span<const IsomorphicSets> groups) const;

  using Order = std::function<bool(std::size_t, std::size_t)>;
  /// The set with the best scores, of equal ones the first by `before`, without rating all.
  [[nodiscard]] BestSet best(std::span<const DeviceSet> sets,
                             std::span<const IsomorphicSets> groups, const Order& before) const;

 private:
  RingRater first_;
  std::optional<RingRater> fallback_{};  ///< nothing where the first has all links already
};

}  // namespace busbar::topo
