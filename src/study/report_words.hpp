// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <string>
#include <vector>

namespace busbar {

/// "dgx-2", "dgx-2 and ac922", "a, b and c".
[[nodiscard]] std::string and_words(std::span<const std::string> words);

/// "all-reduce" for "allreduce"; other names as they are, with a hyphen where two words are one.
[[nodiscard]] std::string collective_words(const std::string& collective);

/// "10.2", "150", "0.98": three digits.
[[nodiscard]] std::string figure_words(double value);

/// "80 %": of 1.
[[nodiscard]] std::string percent_words(double share);

/// "2", "2 to 16", "2, 4 and 8": numbers of GPUs or ranks, rising.
[[nodiscard]] std::string count_words(std::span<const int> counts);

}  // namespace busbar
