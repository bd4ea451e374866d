// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <string>
#include <vector>

#include "judge/judge.hpp"
#include "judge/run/journal.hpp"
#include "judge/run/plan.hpp"

namespace busbar::judge {

/// The launches of noisy instances once more, where the specification has reruns left for them.
[[nodiscard]] std::vector<Unit> rerun_units(const Specification& specification,
                                            const Journal& journal, const Judgement& judgement);

/// Suspects of rules that want a confirmation: a node with a partner that is known to be good (or
/// alone, on a set of single nodes), a link once more. One job at a time: a suspect must not be
/// measured beside another.
[[nodiscard]] std::vector<Unit> confirm_units(const Specification& specification,
                                              std::span<const std::string> nodes,
                                              const Judgement& judgement);

}  // namespace busbar::judge
