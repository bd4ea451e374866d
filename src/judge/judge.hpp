// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "judge/judge_input.hpp"
#include "judge/verdict.hpp"

namespace busbar::judge {

/// Results in the order: wrong data FAIL; no data or timeout ERROR; too few launches or noise
/// INCONCLUSIVE; oversubscribed, simulated or fake INCONCLUSIVE; bounds FAIL, WARN, PASS; not
/// applicable SKIP. A rule's instance without observations is an ERROR, never left out; of
/// `partial` files a SKIP, and INCONCLUSIVE where nothing else is left.
[[nodiscard]] Acceptance judge_all(const JudgeInput& given);

}  // namespace busbar::judge
