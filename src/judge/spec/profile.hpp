// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "judge/spec/field_reader.hpp"
#include "judge/spec/specification.hpp"

namespace busbar::judge {

/// The specification with only what a profile has, and with the profile's numbers; with `rules`
/// only these instead of the profile's. Checks every profile of the file, whichever is chosen, if
/// the rest of the file has no faults.
[[nodiscard]] Specification with_profile(const TomlFields& file, const Specification& specification,
                                         const std::string& profile,
                                         const std::vector<std::string>& rules, Faults& faults);

/// Throws for contradictions in [run], of which a profile may change numbers.
void check_run(const TomlFields& table, const RunContract& run);

}  // namespace busbar::judge
