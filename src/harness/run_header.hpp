// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "format/writer.hpp"
#include "harness/connected.hpp"
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
  std::set<std::string> networks{};  ///< and these
  double init_s = 0;                 ///< of the library's start on the slowest rank
  std::string init{};                ///< "0.55 on rank 3 (kernels 0.31, alloc 0.10)"
};

/// The transports of all ranks; nothing if not requested. Collective.
[[nodiscard]] std::optional<TransportSummary> gather_transports(Bootstrap& world,
                                                                const Communicator& communicator);

/// Lines of the outputs' heads.
void add_facts(const TransportSummary& transports, HeaderFacts& facts);
/// The same in one line for people.
[[nodiscard]] std::string note_of(const TransportSummary& transports);

/// What the heads of measured and simulated runs begin with; both add their own.
[[nodiscard]] RunContext begin_header(const Options& options, const Collective& collective,
                                      std::string configuration,
                                      std::vector<std::string> arguments);
/// `plans` are of the first type and operation. Collective.
[[nodiscard]] RunContext make_run_header(const Job& job, const ConnectedRound& round,
                                         const std::vector<SizePlan>& plans,
                                         const std::string& configuration,
                                         const Invocation& invocation);

/// The value of the CSV's "configuration" fact: equal for runs whose rows belong together.
[[nodiscard]] std::string configuration(const Job& job,
                                        const std::vector<std::string>& environment);

}  // namespace busbar
