// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

namespace busbar {

/// Copies a text into an array that is sent between ranks; what does not fit is cut, and the array,
/// which must be zero before, stays zero-terminated.
template <std::size_t N>
void copy_text(std::string_view text, std::array<char, N>& to) {
  std::copy_n(text.begin(), std::min(text.size(), N - 1), to.begin());
}

}  // namespace busbar
