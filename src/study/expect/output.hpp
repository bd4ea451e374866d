// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "format/json.hpp"
#include "format/table.hpp"
#include "study/expect/expect.hpp"

namespace busbar::study {

/// "0.41 of the median that others measured at this size: too low, below 2 of 2 operators' floors".
[[nodiscard]] std::string verdict_text(const Answer& expected, double measured_GBps);
/// Bound, prediction, figures of others and, where there is one, the measured one.
[[nodiscard]] Table figures_table(const ExpectRequest& request, const Answer& expected);
/// All of an answer, for a terminal.
[[nodiscard]] std::string expect_text(const ExpectRequest& request, const Answer& expected);
[[nodiscard]] Json expect_json(const ExpectRequest& request, const Answer& expected);

}  // namespace busbar::study
