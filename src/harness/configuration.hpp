// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "harness/options.hpp"
#include "model/bootstrap.hpp"
#include "model/collective.hpp"

namespace busbar {

/// What a rank was started as.
struct RankCommand {
  std::string mistake{};  ///< why its command line is refused; empty: it is not
  std::string program{};
  std::string version{};
  std::vector<std::string> words{};  ///< of the settings that all ranks must agree on
};

[[nodiscard]] RankCommand rank_command(const Options& options, const Collective& collective);

/// Compares what all ranks were started as. Throws Error (Usage) on every rank where one differs,
/// or where the command lines are refused; only rank 0's has a message. Collective: the first call
/// of ranks that have joined, since all others depend on options.
void require_same_command(Bootstrap& world, const RankCommand& mine);

}  // namespace busbar
