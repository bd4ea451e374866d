// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "study/sweep/sweep.hpp"

namespace busbar::study {

/// A collective in the rules of Open MPI.
struct RuleCollective {
  std::string_view name;      ///< of rows
  std::string_view function;  ///< of MPI, in names of variables
  int number = 0;
};

/// Whose rules winners become: the CSV of NCCL's example tuner plugin, or rules of one collective
/// of Open MPI's component "tuned".
struct RuleTarget {
  const RuleCollective* open_mpi = nullptr;

  [[nodiscard]] bool is_nccl() const { return open_mpi == nullptr; }
};

/// By what is varied. Throws Error (Usage) where rules cannot have it, or a value.
[[nodiscard]] RuleTarget rule_target(std::span<const Vary> settings);

/// Without combinations that rules cannot have: NCCL's name algorithm and protocol, or neither.
void keep_writable(const RuleTarget& target, std::vector<SweepVariant>& variants);

/// Sizes at which a variant is chosen.
struct SizeRule {
  std::string collective{};
  int ranks = 0;
  Bytes low = 0;
  Bytes high = 0;  ///< the last
  std::size_t variant = 0;
};

/// Winners as ranges that begin and end at measured sizes, or between two with different choices at
/// their geometric mean. A winner of one row that is slower in another of its size, or one of
/// several, is none.
[[nodiscard]] std::vector<SizeRule> size_rules(std::span<const SweepRow> rows);

/// The file; empty where no rule is the target's.
[[nodiscard]] std::string rules_text(const RuleTarget& target, std::span<const SizeRule> rules,
                                     std::span<const SweepVariant> variants);

/// Variables that make the library read a file.
[[nodiscard]] Variables rules_environment(const RuleTarget& target, const std::string& path);

}  // namespace busbar::study
