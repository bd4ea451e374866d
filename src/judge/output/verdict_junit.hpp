// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "judge/spec/specification.hpp"
#include "judge/verdict.hpp"

namespace busbar::judge {

/// JUnit XML under the rules of Jenkins' xunit plugin: a suite per device set, a case per rule,
/// instance, collective and size. That schema has no properties of a case, so a suite has them.
[[nodiscard]] std::string verdict_junit(const Judgement& judgement,
                                        const Specification& specification);

}  // namespace busbar::judge
