// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "study/import/log.hpp"
#include "study/import/nccl_text.hpp"

namespace busbar::study {

struct LogReading {
  bool skip_bad_lines = false;  ///< go on after a line that cannot be read, with a warning
  LogColumns columns{};         ///< of rows that have no names above them, by the user
  std::optional<Bytes> size{};  ///< of a summary's or a matrix' rates, by the user
  std::optional<int> ranks{};   ///< of a summary's rates, by the user
  std::string matrix{};         ///< which matrix of pairs, by a part of its name
};

/// Reads a log of any tool. Throws Error (Usage) with path and line where a line of a table cannot
/// be read, and where there is no table.
[[nodiscard]] LogFile read_log(std::string_view text, const std::string& path,
                               const LogReading& reading);

/// @name Each tool's reader, for read_log
/// @{
[[nodiscard]] LogFile read_nccl_text(std::span<const LogLine> lines, const std::string& path,
                                     const LogReading& reading);
[[nodiscard]] LogFile read_nccl_json(std::string_view text, const std::string& path);
[[nodiscard]] LogFile read_mpi_text(std::span<const LogLine> lines, const std::string& path,
                                    const LogReading& reading);
[[nodiscard]] LogFile read_summary_text(std::span<const LogLine> lines, const std::string& path,
                                        const LogReading& reading);
[[nodiscard]] LogFile read_pairs_text(std::span<const LogLine> lines, const std::string& path,
                                      const LogReading& reading);
[[nodiscard]] LogFile read_nvbandwidth_json(std::string_view text, const std::string& path,
                                            const LogReading& reading);
[[nodiscard]] LogFile read_perftest_text(std::span<const LogLine> lines, const std::string& path,
                                         const LogReading& reading);
/// @}

/// True for the line above the rows of perftest's table.
[[nodiscard]] bool is_perftest(const LogLine& line);

/// True for lines under the names OP,GPU,Bandwidth or OP,Packet,Bandwidth: rates without times, and
/// without sizes or ranks.
[[nodiscard]] bool is_summary(std::span<const LogLine> lines);

/// Refuses a line, or notes that it was skipped.
void bad_line(LogFile& log, const LogLine& line, std::string_view why, const LogReading& reading);

}  // namespace busbar::study
