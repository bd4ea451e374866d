// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "judge/spec/specification.hpp"
#include "judge/verdict.hpp"

namespace busbar::judge {

/// One JSON document, two blanks of indentation and a line end; docs/acceptance.md describes it.
[[nodiscard]] std::string verdict_json(const Judgement& judgement,
                                       const Specification& specification);

}  // namespace busbar::judge
