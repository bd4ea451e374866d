// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "judge/spec/specification.hpp"
#include "judge/verdict.hpp"

namespace busbar::judge {

/// verdicts.csv: '#' lines, column names, a line per rule, instance, collective and size; RFC 4180.
/// A cell without a value is empty.
[[nodiscard]] std::string verdict_csv(const Judgement& judgement,
                                      const Specification& specification);

}  // namespace busbar::judge
