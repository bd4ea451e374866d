// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <string>
#include <vector>

#include "judge/spec/specification.hpp"

namespace busbar::judge {

/// What is wrong with a specification that can be read.
struct LintFinding {
  enum class Severity {
    Refused,  ///< it cannot say what it means to: exit 2
    Warning   ///< it can, but may not be what was meant
  };
  Severity severity = Severity::Warning;
  TextPlace place{};
  std::string rule{};  ///< id; empty for what is not of one rule
  std::string text{};  ///< one line
};

/// In the order of the file; `today` is "2026-11-21"; `nodes` of a run, 0: not known.
[[nodiscard]] std::vector<LintFinding> lint(const Specification& specification,
                                            const std::string& today, std::size_t nodes = 0);

[[nodiscard]] bool is_refused(std::span<const LintFinding> findings);

/// A line each: "FILE:line:column: refused: rule ID: text".
[[nodiscard]] std::string lint_text(const std::string& file, std::span<const LintFinding> findings);

}  // namespace busbar::judge
