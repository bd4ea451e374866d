// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <map>
#include <span>
#include <string>

#include "judge/baseline.hpp"
#include "judge/bound_check.hpp"
#include "judge/sample.hpp"
#include "judge/spec/ceiling.hpp"

namespace busbar::judge {

/// What references are taken from.
struct ReferenceInput {
  const Specification& specification;
  std::span<const Observation> observations;
  const Baseline* baseline = nullptr;
  std::string today{};
  const std::map<std::string, std::string>& assumed;
  CeilingTable& ceilings;
};

/// The reference of an absolute, theoretical or baseline rule, or why there is none.
[[nodiscard]] Reference reference_of(const SampleKey& key, const Sample& sample,
                                     const ReferenceInput& input);

}  // namespace busbar::judge
