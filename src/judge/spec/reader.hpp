// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "judge/spec/field_reader.hpp"
#include "judge/spec/specification.hpp"

namespace busbar::judge {

/// Reads the text of a specification (docs/acceptance-specification.md). `origin` is the file's
/// name in messages, and relative paths begin at its folder. `profile` is one of its profiles;
/// empty: `standard` where the file has it, else the whole file. `rules` are the ids of the only
/// rules that stay, whichever the profile has; empty: all of the profile's. Throws Error (Usage)
/// with file:line:column for what it does not understand or what contradicts itself: the first of
/// these, and how many there are; `all_faults` gets each as a line.
[[nodiscard]] Specification parse_specification(std::string_view text, const std::string& origin,
                                                const std::string& profile,
                                                const std::vector<std::string>& rules = {},
                                                std::vector<std::string>* all_faults = nullptr);

/// The same by each profile that it has: quick, standard, full.
[[nodiscard]] std::vector<Specification> parse_profiles(std::string_view text,
                                                        const std::string& origin);

/// The specification with only what a profile has, and with the profile's numbers; with `rules`
/// only these instead of the profile's. Checks every profile of the file, whichever is chosen, if
/// the rest of the file has no faults.
[[nodiscard]] Specification with_profile(const TomlFields& file, const Specification& specification,
                                         const std::string& profile,
                                         const std::vector<std::string>& rules, Faults& faults);

/// Throws for contradictions in [run], of which a profile may change numbers.
void check_run(const TomlFields& table, const RunContract& run);

}  // namespace busbar::judge
