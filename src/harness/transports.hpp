// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "model/bootstrap.hpp"
#include "model/communicator.hpp"

namespace busbar {

/// How the library connects all ranks: --nccl-choice.
struct TransportSummary {
  bool known = false;                ///< its log reports it
  bool switchable = false;           ///< choices can be observed too
  bool nvls = false;                 ///< on every rank
  bool gpudirect = false;            ///< on some rank
  std::set<std::string> links{};     ///< kinds of connections
  std::set<std::string> channels{};  ///< usually the same on all ranks
};

/// Of all ranks; nothing where it was not asked for. Collective.
[[nodiscard]] std::optional<TransportSummary> gather_transports(Bootstrap& everyone,
                                                                const Communicator& communicator);

/// Lines of the outputs' heads.
void add_facts(const TransportSummary& transports,
               std::vector<std::pair<std::string, std::string>>& facts);
/// The same in one line for people.
[[nodiscard]] std::string note_of(const TransportSummary& transports);

}  // namespace busbar
