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

}  // namespace busbar
