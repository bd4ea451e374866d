// SPDX-License-Identifier: BSD-3-Clause
#include "judge/verdict.hpp"

#include <algorithm>

#include "base/error.hpp"

namespace busbar::judge {

Outcome Acceptance::overall() const {
  const auto worst = std::ranges::max_element(verdicts, {}, &CheckResult::outcome);
  if (worst == verdicts.end()) return Outcome::Error;
  const bool nothing = head.partial && worst->outcome == Outcome::Skip;
  return nothing ? Outcome::Inconclusive : worst->outcome;
}

std::size_t Acceptance::count(Outcome outcome) const {
  return static_cast<std::size_t>(std::ranges::count(verdicts, outcome, &CheckResult::outcome));
}

int exit_code_of(const Acceptance& acceptance, bool strict) {
  switch (acceptance.overall()) {
    case Outcome::Skip: return exit_code(Status::Skipped);
    case Outcome::Pass:
    case Outcome::Known: return exit_code(Status::Ok);
    case Outcome::Warn: return exit_code(strict ? Status::Wrong : Status::Ok);
    case Outcome::Inconclusive: return exit_code(Status::Unavailable);
    case Outcome::Fail: return exit_code(Status::Wrong);
    case Outcome::Error: break;
  }
  return exit_code(Status::Runtime);
}

}  // namespace busbar::judge
