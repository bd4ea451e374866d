// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "judge/spec/specification.hpp"
#include "judge/verdict.hpp"

namespace busbar::judge {

struct TextOptions {
  bool strict = false;       ///< the exit code of the last line is that of --strict
  bool all_sources = false;  ///< of every rule, not only of those with a value that is not PASS
};

/// For a terminal and a bug report: a line per rule, instance and size (long lists of PASS are one
/// line), where the figures of rules are from, suspects with evidence, every node by name, and the
/// overall verdict last.
[[nodiscard]] std::string verdict_text(const Judgement& judgement,
                                       const Specification& specification,
                                       const TextOptions& options = {});

}  // namespace busbar::judge
