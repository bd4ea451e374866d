// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <toml++/toml.h>

#include "judge/spec/specification.hpp"

namespace busbar::judge {

inline constexpr std::string_view kSpecificationDocument = "docs/acceptance-specification.md";

/// The text of a specification and the path that messages name.
struct SpecificationSource {
  std::string path{};
  std::string text{};
};

/// A file, or else the ready-made specification of that name. Throws Error (Usage).
[[nodiscard]] SpecificationSource find_specification(const std::string& name);

/// Whether there is a ready-made specification of this name.
[[nodiscard]] bool is_ready_made(const std::string& name);

/// A specification's table with what it takes from the one that it is based on; every value knows
/// its file. `depth`: how many are based on this one. Throws Error (Usage).
[[nodiscard]] toml::table complete_table(std::string_view text, const std::string& origin,
                                         int depth = 0);

/// The specification as one text that is based on no other.
[[nodiscard]] std::string complete_text(const SpecificationSource& source);

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

}  // namespace busbar::judge
