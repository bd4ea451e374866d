// SPDX-License-Identifier: BSD-3-Clause
#include "judge/verdict.hpp"

#include <algorithm>

#include "base/error.hpp"

namespace busbar::judge {

Word Judgement::overall() const {
  const auto worst = std::max_element(
      verdicts.begin(), verdicts.end(),
      [](const RuleVerdict& left, const RuleVerdict& right) { return left.word < right.word; });
  return worst == verdicts.end() ? Word::Error : worst->word;
}

std::size_t Judgement::count(Word word) const {
  return static_cast<std::size_t>(
      std::count_if(verdicts.begin(), verdicts.end(),
                    [&](const RuleVerdict& verdict) { return verdict.word == word; }));
}

int exit_code_of(const Judgement& judgement, bool strict) {
  switch (judgement.overall()) {
    case Word::Skip: return exit_code(Status::Skipped);
    case Word::Pass:
    case Word::Known: return exit_code(Status::Ok);
    case Word::Warn: return exit_code(strict ? Status::Wrong : Status::Ok);
    case Word::Inconclusive: return exit_code(Status::Unavailable);
    case Word::Fail: return exit_code(Status::Wrong);
    case Word::Error: break;
  }
  return exit_code(Status::Runtime);
}

}  // namespace busbar::judge
