// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/units.hpp"
#include "harness/group_plan.hpp"
#include "model/collective.hpp"

namespace busbar {

/// Visits without --visits.
inline constexpr std::uint64_t kMixVisits = 12;
/// Fewer have no interval.
inline constexpr std::uint64_t kFewestMixVisits = 6;

/// Of a group in a window, so that there is a median.
inline constexpr double kFewestMixOperations = 5;

/// Ranks that repeat one operation beside the other groups of a mix.
struct MixGroup {
  std::string name{};  ///< without blanks
  /// Disjoint sets of ranks, ascending, each with a communicator of its own; operations of one set
  /// do not wait for another's.
  std::vector<std::vector<int>> sets{};
  const Collective* collective = nullptr;
  Bytes size = 0;
  int root = 0;         ///< within each set
  double gap_us = 0;    ///< from the end of an operation to the start of the next
  double start_us = 0;  ///< of the first, after the window's begin

  /// The set that a rank is in; null: it is in none.
  [[nodiscard]] const std::vector<int>* set_of(int rank) const;
  /// Of all sets.
  [[nodiscard]] std::vector<int> ranks() const;
};

/// The groups of a TOML file; a rank may be in several. Throws a usage error with the place.
[[nodiscard]] std::vector<MixGroup> parse_mix(std::string_view text, std::string_view file,
                                              int ranks);

/// True for tp+dp, incast:K and aggressor, whatever K is; any other text is a file's name.
[[nodiscard]] bool is_mix_preset(std::string_view text);

/// The groups of a preset, whose operations are of this size. Throws a usage error where there are
/// not enough ranks. Pure.
[[nodiscard]] std::vector<MixGroup> preset_mix(std::string_view preset,
                                               const std::vector<HostRanks>& hosts, int ranks,
                                               Bytes size);

/// What a preset leaves out on so few ranks; empty where it is whole.
[[nodiscard]] std::string mix_note(std::string_view mix, int ranks);

/// The mix of --mix; rank 0 reads a file. Throws a usage error on all ranks. Collective.
[[nodiscard]] std::vector<MixGroup> read_mix(Bootstrap& world, const Options& options);

/// How often the operations of a group come; the same on every rank.
struct GroupPace {
  double start_us = 0;
  double gap_us = 0;
  double time_us = 0;  ///< of one operation, as far as is known
  std::uint64_t operations = 0;

  /// As many operations as fit in a window; at least a few.
  [[nodiscard]] std::uint64_t that_fit(double window_us) const;
};

/// An operation of a group of the mix.
struct Issue {
  std::size_t group = 0;
  std::uint64_t operation = 0;

  [[nodiscard]] bool operator==(const Issue&) const = default;
};

/// All operations of a window by the time at which they are due. Every rank issues those of its own
/// groups in this one order: no two ranks ever issue operations of two communicators in opposite
/// orders, which NCCL and blocking calls would wait on for ever.
[[nodiscard]] std::vector<Issue> order_of_issue(std::span<const GroupPace> paces);

/// Start and time of each operation of a group.
struct GroupTimes {
  std::vector<double> start_us{};
  std::vector<double> time_us{};
};

/// Of each group the times of those operations that ran while all groups were at work: when the
/// first is done, the others have the links to themselves.
[[nodiscard]] std::vector<std::vector<double>> shared_times(std::span<const GroupTimes> groups);

/// By which factor something takes longer together than alone.
struct MixSlowdown {
  double factor = 1;  ///< median of the visits' ratios
  double low = 1;     ///< of its exact 95 % interval, as if visits were independent
  double high = 1;
};

/// From one value of each visit; both have as many, kFewestMixVisits at least.
[[nodiscard]] MixSlowdown slowdown_of(std::span<const double> alone,
                                      std::span<const double> together);

}  // namespace busbar
