// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/toml_fields.hpp"

namespace busbar::topo {

/// "GPU0-7" stands for GPU0 to GPU7; any other text for itself. Throws the fault of `key` for a
/// range that does not count upwards, or of more than 256.
[[nodiscard]] std::vector<std::string> names_of_range(const TomlFields& fields,
                                                      std::string_view key,
                                                      const std::string& text);

/// The names of all these, in order.
[[nodiscard]] std::vector<std::string> names_of_ranges(const TomlFields& fields,
                                                       std::string_view key);

/// The pairs of names that a link between two ranges joins: as many with as many one to one, a
/// longer range with a shorter in blocks (two GPUs a switch), a range with itself every pair once.
/// Throws the fault of `key` where neither length divides the other.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> pairs_of_ranges(
    const TomlFields& fields, std::string_view key, const std::string& one,
    const std::string& other);

}  // namespace busbar::topo
