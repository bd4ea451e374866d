// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>

#include "judge/fleet/screen.hpp"
#include "judge/judge.hpp"
#include "judge/sample.hpp"
#include "judge/verdict.hpp"

namespace busbar::judge {

/// What a value is compared with.
struct Reference {
  double value = 0;     ///< GB/s or us
  std::string kind{};   ///< "absolute", "ceiling: ...", "baseline FOLDER", "fleet median"
  std::string error{};  ///< why there is none
};

/// A check result, and what later steps need to know of it.
struct CheckedRow : CheckResult {
  Sample sample{};
  bool decided = false;  ///< no bound is to be asked any more

  [[nodiscard]] bool wrong_data() const { return decided_by == DecidedBy::WrongData; }
  /// Its rate says nothing, and nothing excuses it.
  [[nodiscard]] bool is_broken() const {
    return wrong_data() || decided_by == DecidedBy::FailedLaunches;
  }
  /// A failure on the slow side, or wrong data: not "too good".
  [[nodiscard]] bool is_low() const {
    return outcome == Outcome::Fail && decided_by != DecidedBy::TooGood;
  }
};

/// A bound that a ratio misses: the outcome, and on which side.
struct Miss {
  Outcome outcome = Outcome::Pass;
  bool above = false;
  double bound = 0;
};

[[nodiscard]] Miss miss_of(const Bounds& bounds, double ratio);

/// "81.2 %", without needless digits.
[[nodiscard]] std::string percent_text(double share);

/// A row without a measurement: an ERROR.
[[nodiscard]] CheckedRow blank_row(const Rule& rule, const Instance& instance,
                                   const std::string& collective, Bytes size);

/// Why the launches scatter too much, or empty.
[[nodiscard]] std::string noise_text(const CheckedRow& row, const Rule& rule,
                                     const Specification& specification);

/// The worst reason for which the rows are never a pass, if there is one.
[[nodiscard]] std::optional<Flaw> flaw_of(const Sample& sample, const Specification& specification);

/// Rows of which more than half of the launches hung or crashed, `fewest` at least, and those of a
/// node that did not answer after one that did, become FAILs. Where no other instance was measured
/// without such a launch, the software may be at fault, and nothing changes.
void judge_failed_launches(std::span<CheckedRow> rows, std::size_t fewest);

/// What launches of a pairwise set that hang or crash say of one of its nodes.
struct NodeLaunches {
  std::size_t good = 0;
  std::size_t without = 0;                ///< good ones of other nodes
  std::size_t crashed = 0;                ///< and no other node was named
  bool named = false;                     ///< by a launch that hung or crashed
  std::string silent{};                   ///< how it does not answer
  std::string quoted{};                   ///< the first launch that hung or crashed with it
  std::vector<LaunchFailure> failures{};  ///< where there are good ones, of no other node

  void count(const Observation& launch, const std::string& name);
  /// A FAIL where launches hang or crash with it while those without it go well: of the node that a
  /// launch names, of one that then does not answer, or one with which most do, `fewest` at least.
  /// An ERROR where else it does not answer.
  void judge(CheckedRow& row, int fewest) const;
};
/// Of each node, for one set and collective.
[[nodiscard]] std::vector<NodeLaunches> node_launches(const SampleKey& key,
                                                      const JudgeInput& input);

/// No bound is to be asked any more.
void decide(CheckedRow& row, Outcome outcome, std::string reason,
            DecidedBy decided_by = DecidedBy::Other);

/// The steps before bounds: wrong data, no data, too few launches, noise, not applicable.
void take_sample(CheckedRow& row, const Rule& rule, const JudgeInput& input);
/// The same, of a row with its sample.
[[nodiscard]] CheckedRow judge_sample(const SampleKey& key, const JudgeInput& input);

/// Fills reference, ratio, outcome and reason by the bounds. A row that is decided keeps its
/// outcome; where only launches are missing, its reason adds what the bounds say of those that
/// there are.
void apply_reference(CheckedRow& row, const Reference& reference);

/// Adds to a reason: "first; second".
void add_reason(CheckResult& result, const std::string& more);

/// The steps after bounds: what never passes, failed launches, noise by `warn`, two groups.
void qualify(CheckedRow& row, const Rule& rule, const Specification& specification);

/// "3 of 3 pairs low (lowest launch ..., cv ...)", `more` behind "pairs". The row's own value
/// decides: where that is good, it becomes INCONCLUSIVE.
void add_low_pairs(CheckedRow& row, std::size_t low, std::size_t pairs, const std::string& more);

/// "12 % below the fleet".
[[nodiscard]] std::string low_text(double log_effect);

/// By what screening found of a node, and what measuring again did; null: nothing.
void judge_suspect(CheckedRow& row, const NodeFinding* suspect, const NodeFinding* again,
                   bool is_cleared);

}  // namespace busbar::judge
