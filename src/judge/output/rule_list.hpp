// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "judge/spec/specification.hpp"

namespace busbar::judge {

/// @name A rule in words
/// @{
/// "fails below 0.96, warns below 0.98": multiples of the reference.
[[nodiscard]] std::string multiples(const Expectation& rule);
/// "8 GiB", "1 MiB to 8 GiB (14)".
[[nodiscard]] std::string sizes_words(const std::vector<Bytes>& sizes);
/// "absolute 478.9 GB/s", "fleet, robust z 6, MAD up to 0.02".
[[nodiscard]] std::string reference_words(const Expectation& rule);
/// @}

/// The rules of a specification: what each expects, and below it where its figures are from.
[[nodiscard]] std::string rule_list(const Specification& specification);

}  // namespace busbar::judge
