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

/// Packs rings in many sets of a few devices, with one table of their paths.
class RingRater {
 public:
  /// Sets are of these devices (indices, ascending).
  RingRater(const Graph& graph, std::span<const int> pool, Level level,
            const BoundOptions& options);

  /// The problem of the whole pool; device i of it is the pool's i-th.
  [[nodiscard]] const RingProblem& problem() const { return problem_; }

  /// GB/s of the best packing, or the least proven upper end of it; 0 for fewer than two devices.
  [[nodiscard]] double rate_GBps(std::span<const int> set) const;
  /// The same where it is `least` or more; else nothing, and mostly sooner.
  [[nodiscard]] std::optional<double> rate_from_GBps(std::span<const int> set, double least) const;
  /// At least rate_GBps, in microseconds.
  [[nodiscard]] double upper_GBps(std::span<const int> set) const;
  /// Indices of sets with isomorphic problems; solving one of a group is enough.
  [[nodiscard]] std::vector<std::vector<std::size_t>> groups(std::span<const DeviceSet> sets) const;

 private:
  [[nodiscard]] std::size_t index_in_pool(int device) const;
  [[nodiscard]] RingProblem problem_of_set(std::span<const int> set) const;

  std::vector<int> pool_;
  PathTable table_;
  RingProblem problem_;
};

/// Rates sets as bound_of does: over NVLink, or where no ring closes there, over all links.
struct Rater {
  Rater(const Graph& graph, std::span<const int> pool, const BoundOptions& options);

  RingRater first;
  std::optional<RingRater> fallback{};  ///< nothing where the first has all links already
};

/// Scores of sets, each computed once for all sets with isomorphic problems, and only when needed.
class ScoreCache {
 public:
  /// The rater must outlive it.
  ScoreCache(const Rater& rater, std::vector<DeviceSet> sets);

  [[nodiscard]] const std::vector<DeviceSet>& sets() const { return sets_; }
  /// How many problems differ.
  [[nodiscard]] std::size_t problems() const { return first_.problems.size(); }

  /// Exact scores of all sets, with classes joined.
  [[nodiscard]] std::vector<Scores> solve_all();
  /// Exact, or never less than exact.
  [[nodiscard]] Scores upper(std::size_t set) const;
  /// Makes upper() exact; false where it was.
  bool solve(std::size_t set);

  using Order = std::function<bool(std::size_t, std::size_t)>;
  struct Best {
    std::size_t set = 0;
    Scores scores{};
  };
  /// The set with the best scores, of equal ones the first by `before`: branch and bound.
  [[nodiscard]] Best best(const Order& before);

 private:
  /// Sets with one problem.
  struct Problem {
    std::vector<std::size_t> sets{};
    double upper = 0;
    std::optional<double> exact{};
  };
  /// One level's problems.
  struct Column {
    const RingRater* rater = nullptr;
    std::vector<Problem> problems{};
    std::vector<std::size_t> problem_of{};  ///< of each set
  };

  [[nodiscard]] Column column_of(const RingRater& rater) const;
  [[nodiscard]] static double value(const Column& column, std::size_t set);
  [[nodiscard]] Best best_of(const Column& column, const Order& before) const;
  Column& fallback();
  bool solve(Column& column, std::size_t set);

  const Rater& rater_;
  std::vector<DeviceSet> sets_;
  Column first_;
  std::optional<Column> fallback_{};  ///< once a set was found that needs it
};

}  // namespace busbar::topo
