// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace busbar::study {

/// A line of a log without what launchers, CI and collectors of logs put before it.
struct LogLine {
  std::size_t number = 0;  ///< from 1
  std::string text{};
  bool whole = true;  ///< false for a last line without an end: the log was cut off there
};

/// The lines of a log of UTF-8, or of UTF-16 in either order of bytes. Colours are taken off, and
/// prefixes: those of launchers and CI that are known (`[1,0]<stdout>:`, `0:`, times), and any
/// other that stands before two or more lines that the tools are known to print ("node17: "). Lines
/// that several nodes print at the same time are put together by node.
[[nodiscard]] std::vector<LogLine> log_lines(std::string_view text);

/// "line 7 looks like a row behind a prefix 'x |'", of the first line where a row of nccl-tests
/// stands behind other words; empty where there is none.
[[nodiscard]] std::string hidden_row(const std::vector<LogLine>& lines);

}  // namespace busbar::study
