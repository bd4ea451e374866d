// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "judge/spec/specification.hpp"
#include "judge/verdict.hpp"

namespace busbar::judge {

/// A page that needs nothing besides itself: waterfall, heat maps of pairs, launches, contract.
[[nodiscard]] std::string verdict_html(const Judgement& judgement,
                                       const Specification& specification);

}  // namespace busbar::judge
