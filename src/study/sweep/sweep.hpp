// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/child_process.hpp"
#include "model/variant.hpp"
#include "study/compare/comparison.hpp"

namespace busbar::study {

/// A combination of values: what is compared.
struct SweepVariant {
  Variables values{};  ///< one per setting
  std::string text{};  ///< "NCCL_ALGO=Ring NCCL_PROTO=LL"

  /// What it sets, with what Open MPI needs in order to heed it.
  [[nodiscard]] Variables environment() const;
};

/// All combinations; the first has the first value of each.
[[nodiscard]] std::vector<SweepVariant> variants_of(std::span<const Vary> settings);

/// Whether a *_perf program can change the setting between operations of one launch: its own
/// settings, whose names begin with a small letter, and MPICH's control variables.
[[nodiscard]] bool is_varied_in_launch(std::string_view name);

/// Whether it is of MPI's blocking collectives alone.
[[nodiscard]] bool is_of_blocking(std::string_view name);

/// What was measured of a variant.
struct VariantRuns {
  std::string text{};
  std::vector<Launch> launches{};  ///< an empty one where the launch lacks the variant
  std::set<RowKey> wrong{};        ///< rows that were wrong or failed in some launch
  std::size_t failed = 0;          ///< launches that failed
  bool nonblocking = false;        ///< some row is of MPI's nonblocking collectives

  /// Adds a launch by its CSV; only rows of this variant where `in_launch`. Throws Error (Usage).
  void add(const std::string& path, bool in_launch);
};

/// A variant against the first one in a row.
struct SweepRow {
  ComparedRow row{};      ///< before: the first variant; its verdict is by p after Holm
  std::size_t variant{};  ///< its number
  double p = 1;           ///< after Holm over all variants and rows
  bool winner = false;
};

/// All variants against the first, by row. The winner of a row, if any, is the fastest of those
/// that are faster than the first one, have right data in all launches, and no failed launch.
[[nodiscard]] std::vector<SweepRow> judge_variants(std::span<const VariantRuns> runs,
                                                   double threshold, Pairing pairing);

/// The fewest launches with which one of so many tests can have a verdict.
[[nodiscard]] std::size_t fewest_launches(std::size_t tests, Pairing pairing);

/// A launch that gave no rows.
struct FailedLaunch {
  std::string variant{};
  std::size_t turn = 0;  ///< from 1
  std::string reason{};
};

/// Launches in turns, and what they say.
struct SweepResult {
  std::vector<std::string> variants{};
  Pairing pairing = Pairing::None;
  std::size_t turns = 0;  ///< that are complete
  std::vector<FailedLaunch> failures{};
  std::vector<SweepRow> rows{};

  [[nodiscard]] std::vector<Verdict> verdicts() const {
    return mapped(rows, [](const SweepRow& row) { return row.row.verdict; });
  }
};

struct SweepReport {
  std::string command{};
  std::uint64_t seed = 0;
  double threshold = 0;  ///< a fraction
  SweepResult result{};
  std::string written{};  ///< the file of --write; empty: none
  SweepResult held_out{};
  std::vector<std::string> warnings{};
};

/// @name Winners as a file of rules: the CSV of NCCL's example tuner plugin, or the rules of one
/// collective of Open MPI's component "tuned"
/// @{
/// A collective in the rules of Open MPI.
struct RuleCollective {
  std::string_view name;      ///< of rows
  std::string_view function;  ///< of MPI, in names of variables
  int number = 0;
};

/// Whose rules they become.
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
/// @}

/// A table for people: '#' lines and a line for each row and variant.
[[nodiscard]] std::string sweep_text(const SweepReport& report);
/// docs/schemas/sweep.schema.json has its members.
[[nodiscard]] std::string sweep_json(const SweepReport& report);

}  // namespace busbar::study
