// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <fstream>
#include <string>
#include <string_view>
#include <vector>

namespace busbar {

/// Opens a file to read: a regular one, or what is open already, by /dev/stdin or a shell's <(...).
/// Any other device or pipe may have no end, or never begin: it is not opened, with errno.
[[nodiscard]] std::ifstream open_input(const std::string& path);

/// What a pattern of glob(7), with braces, finds below a folder, whatever letters that has.
[[nodiscard]] std::vector<std::string> paths_below(const std::string& root,
                                                   std::string_view pattern);

}  // namespace busbar
