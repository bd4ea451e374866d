// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/units.hpp"
#include "harness/group_plan.hpp"
#include "model/collective.hpp"

namespace busbar {

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

}  // namespace busbar
