// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "study/sweep/sweep.hpp"

namespace busbar::study {

enum class RuleFormat {
  Nccl,    ///< the CSV of NCCL's example tuner plugin
  Mpich,   ///< its tree of collective selection, JSON
  OpenMpi  ///< rules of its component "tuned"
};

/// A collective in the rules of the MPI libraries.
struct RuleCollective {
  std::string_view name;      ///< of rows
  std::string_view function;  ///< of MPI, in names of variables
  std::string_view size;      ///< MPICH's name for what nccl-tests calls size
  int number = 0;             ///< Open MPI's
};

/// Whose rules winners become.
struct RuleTarget {
  RuleFormat format = RuleFormat::Nccl;
  const RuleCollective* collective = nullptr;  ///< null: all of NCCL
  bool nonblocking = false;                    ///< MPICH's rules of MPI_Iallreduce and the like
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

/// The tree that MPICH uses without a file, out of the library's own bytes. Throws Error (Usage)
/// where it is not there, or lacks an algorithm of `settings`.
[[nodiscard]] std::string built_in_tree(std::string_view library, const RuleTarget& target,
                                        std::span<const Vary> settings);

/// The file; `tree` only of MPICH. Empty where no rule is the target's.
[[nodiscard]] std::string rules_text(const RuleTarget& target, std::span<const SizeRule> rules,
                                     std::span<const SweepVariant> variants,
                                     const std::string& tree);

/// Variables that make the library read a file.
[[nodiscard]] Variables rules_environment(const RuleTarget& target, const std::string& path);

}  // namespace busbar::study
