// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "judge/fleet/screen.hpp"

namespace busbar::judge {

/// Rounds of links have numbers from here on.
inline constexpr std::size_t kFirstLinkRound = 1000;

/// Disjoint pairs that measure at the same time.
struct NumberedRound {
  std::size_t number = 0;
  RoundOfPairs pairs{};
};

/// Who meets whom in a launch, level by level: all pairs of a small fleet, else random partners.
[[nodiscard]] std::vector<RoundOfPairs> fleet_rounds(const std::vector<NodePath>& paths,
                                                     std::size_t partners, std::uint64_t seed);

/// Who of a screened fleet is measured again in a launch. Of a small fleet all pairs; else suspects
/// with changing good partners while other good nodes meet as controls; then candidate links, again
/// and again, beside good pairs. No rounds where nothing is suspected, or nothing good is left.
/// Each launch draws its own partners by `seed`.
[[nodiscard]] std::vector<NumberedRound> confirmation_rounds(const Screening& screening,
                                                             const std::vector<NodePath>& paths,
                                                             std::uint64_t seed,
                                                             std::size_t launch);

/// What was found twice, in data that did not select each other: the verdict.
struct Confirmation {
  std::vector<NodeFinding> nodes{};  ///< low again; blamed where that is beyond chance
  std::vector<UnitFinding> units{};
  std::vector<LinkFinding> links{};
  std::vector<std::size_t> cleared{};  ///< nodes that were suspected, and good again
};

/// Judges suspects by the launches of confirmation_rounds, whose pairs have their rounds. The bound
/// on alarms does not depend on the size of the fleet: only what was suspected is tested.
[[nodiscard]] Confirmation confirm_suspects(const Screening& screening, const FleetRates& again,
                                            const ScreenLimits& limits);

}  // namespace busbar::judge
