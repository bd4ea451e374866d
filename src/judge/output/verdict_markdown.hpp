// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "judge/spec/specification.hpp"
#include "judge/verdict.hpp"

namespace busbar::judge {

/// For a job summary on GitHub: the overall word first, what is not PASS, suspects, nodes,
/// contract.
[[nodiscard]] std::string verdict_markdown(const Judgement& judgement,
                                           const Specification& specification);

}  // namespace busbar::judge
