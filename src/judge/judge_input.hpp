// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <string>
#include <vector>

#include "judge/baseline.hpp"
#include "judge/observation.hpp"
#include "judge/spec/specification.hpp"

namespace busbar::judge {

/// What judging needs.
struct JudgeInput {
  const Specification& specification;
  std::span<const Observation> observations;
  const Baseline* baseline = nullptr;  ///< none where no rule compares with one
  std::string today{};                 ///< "2026-11-21": ages, known issues
  std::vector<std::string> nodes{};    ///< all that must be accounted for
  bool partial = false;                ///< what files lack was not measured: SKIP, no ERROR
  Facts assumed{};                     ///< facts of the fingerprint that files do not report
};

}  // namespace busbar::judge
