// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "study/compare/comparison.hpp"

namespace busbar::study {

/// A table for people, to be pasted: '#' lines, a line per row, a summary.
[[nodiscard]] std::string comparison_text(const GroupComparison& comparison);

/// One JSON document, two blanks of indentation and a line end; docs/compare-options.md has its
/// members.
[[nodiscard]] std::string comparison_json(const GroupComparison& comparison);

}  // namespace busbar::study
