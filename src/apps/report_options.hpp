// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <string>
#include <vector>

namespace busbar {

/// What `busbar report` was asked for; values only.
struct ReportOptions {
  std::vector<std::string> files{};    ///< CSVs of ours
  std::vector<std::string> systems{};  ///< names of built-in systems, or system files
  std::string out{};                   ///< a file to write: .html or .md
  bool help = false;
};

/// Reads what follows `busbar report`. Throws a usage error of one line.
[[nodiscard]] ReportOptions parse_report_options(std::span<char* const> arguments);

/// Whether the file is to be Markdown (.md) and not HTML (.html, .htm). Throws a usage error for
/// any other end.
[[nodiscard]] bool is_markdown(const std::string& path);

}  // namespace busbar
