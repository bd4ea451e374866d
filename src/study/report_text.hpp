// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <string>

namespace busbar {

/// "dgx-2", "dgx-2 and ac922", "a, b and c".
[[nodiscard]] std::string join_and(std::span<const std::string> words);

/// "all-reduce" for "allreduce"; other names as they are, with a hyphen where two words are one.
[[nodiscard]] std::string collective_name(const std::string& collective);

/// "10.2", "150", "0.98": three digits.
[[nodiscard]] std::string format_figure(double value);

/// "80 %": of 1.
[[nodiscard]] std::string format_percent(double share);

}  // namespace busbar
