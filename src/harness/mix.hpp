// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <list>
#include <memory>
#include <optional>
#include <string>

#include "harness/connected.hpp"
#include "harness/journal.hpp"
#include "harness/together.hpp"

namespace busbar {

/// The groups of --mix as this rank is in them: communicators, buffers and calls. Kept until it
/// goes, also after a failure: giving device memory back may block.
class Mix {
 public:
  /// Throws on all ranks where one cannot take part. `round` is of all ranks. Collective.
  Mix(const Job& job, const ConnectedRound& round);

  /// One turn of all groups: each alone, then all together; the evidence of each on every rank. The
  /// results of the first are checked. Collective.
  [[nodiscard]] std::vector<Evidence> measure(std::uint64_t visit);

 private:
  /// What was made last goes first.
  struct Member {
    const MixGroup& group;
    int nodes = 1;                                 ///< the same on every rank
    double connect_s = 0;                          ///< the same
    std::unique_ptr<Bootstrap> members{};          ///< of this rank's set
    std::shared_ptr<Communicator> communicator{};  ///< null: this rank is not in the group
    std::optional<RowBuffers> buffers{};
    std::optional<Verifier> verifier{};
    Call call{};
  };

  [[nodiscard]] Party connect(Member& member, const MemoryPool& memory);
  /// This rank's buffers and call; why there are none, or empty.
  [[nodiscard]] std::string prepare(Member& member, const MemoryPool& memory);
  void check_results(std::vector<Evidence>& evidence);

  const Job& job_;
  std::list<Member> members_{};
  std::optional<Together> together_{};
};

/// Measures all rows of a mix, visit by visit, where an earlier run has not. Collective.
void run_mix(const Job& job, std::span<const PlannedRow> rows, Mix& mix, Journal& journal);

}  // namespace busbar
