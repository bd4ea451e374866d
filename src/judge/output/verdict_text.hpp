// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "judge/spec/specification.hpp"
#include "judge/verdict.hpp"

namespace busbar::judge {

/// For a terminal and a bug report: a line per rule, instance and size (long lists of PASS are one
/// line), suspects with evidence, every node by name, and the overall verdict last.
[[nodiscard]] std::string verdict_text(const Judgement& judgement,
                                       const Specification& specification);
/// With `strict` the exit code of the last line is that of --strict.
[[nodiscard]] std::string verdict_text(const Judgement& judgement,
                                       const Specification& specification, bool strict);

}  // namespace busbar::judge
