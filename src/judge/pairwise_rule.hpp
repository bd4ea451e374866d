// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <span>

#include "judge/fleet/screen.hpp"
#include "judge/rule_check.hpp"

namespace busbar::judge {

/// What a rule that is not of a fleet measures a row by.
using ReferenceOf = std::function<Reference(const SampleKey& key, const Sample& sample)>;

struct PairwiseResult {
  PointResult point{};
  Screening to_repeat{};  ///< who of the set is to be measured again
};

/// Judges one collective and size of a pairwise set, whose keys are of all nodes in their order. A
/// node's value in a launch is the upper median of its pairs, since a bad partner can only lower a
/// pair. By bounds: bad paths of the fabric first, then nodes by their row effects, then links. By
/// the fleet: what screen() suspects is a verdict only where confirm_suspects() finds it again.
[[nodiscard]] PairwiseResult judge_pairwise(std::span<const SampleKey> keys,
                                            const JudgeInput& input,
                                            const ReferenceOf& reference_of);

}  // namespace busbar::judge
