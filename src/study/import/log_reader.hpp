// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <span>
#include <string>

#include "format/writer.hpp"
#include "model/collective.hpp"
#include "model/record.hpp"
#include "study/import/log.hpp"

namespace busbar::study {

/// What the user knows and a log may not have, and how it is read.
struct LogReading {
  bool skip_bad_lines = false;  ///< go on after a line that cannot be read, with a warning
  Words columns{};              ///< of rows that have no names above them
  std::string collective{};
  std::optional<int> ranks{};
  std::optional<int> nodes{};
  std::optional<Bytes> size{};  ///< of a summary's or a matrix' rates
  std::string matrix{};         ///< which matrix of pairs, by a part of its name
};

/// Reads a log of any tool. Throws Error (Usage) with path and line where a line of a table cannot
/// be read, and where there is no table.
[[nodiscard]] LogFile read_log(View text, const std::string& path, const LogReading& reading);

/// Logs as records of ours.
struct ImportedRows {
  std::vector<Record> records{};
  HeaderFacts facts{};  ///< for the CSV's head
  Words warnings{};
};

/// Converts: size by our meaning, bus bandwidth from size, time and ranks, as near to the printed
/// one as its digits allow. Throws Error (Usage) naming the option where a collective or a number
/// of ranks is neither in the log nor given.
[[nodiscard]] ImportedRows records_of(std::span<const LogFile> logs, const LogReading& reading);

/// Why a log of one rank has no bus bandwidth.
inline constexpr View kOneRank =
    "one rank took part, so nothing was communicated (was it started with -g 1?)";

/// What reads the lines of one tool.
using LineReader = LogFile(std::span<const LogLine> lines, const std::string& path,
                           const LogReading& reading);
LineReader read_nccl_text;
LineReader read_mpi_text;
LineReader read_pairs_text;
LineReader read_perftest_text;
[[nodiscard]] LogFile read_nccl_json(View text, const std::string& path);
[[nodiscard]] LogFile read_nvbandwidth_json(View text, const std::string& path,
                                            const LogReading& reading);

/// True for the line above the rows of perftest's table.
[[nodiscard]] bool is_perftest(const LogLine& line);

/// Refuses a line, or notes that it was skipped.
void bad_line(LogFile& log, const LogLine& line, View why, const LogReading& reading);

/// Size over time in GB/s, as exactly as the digits of a log allow.
struct Range {
  double low = 0;
  double high = 0;
};

/// Size over the half's time, or over the time that its algorithm bandwidth implies (-C). Nothing
/// where it has neither, or no byte is moved.
[[nodiscard]] std::optional<Range> rate_range(Bytes size, const LogHalf& half);

/// Whether a printed bandwidth can be a rate of the range times a factor.
[[nodiscard]] bool can_be(const Printed& printed, const Range& rate, double factor);

/// True where a good part of the printed bus bandwidths is not size over time times the factor: all
/// of them, or two and a quarter. One damaged row is none.
[[nodiscard]] bool contradicts(std::span<const LogRow> rows, double factor);

/// Numbers of ranks, of 2 to 65536, that all printed bus bandwidths of the rows allow: the first
/// and the last of them. Both are 0 where no number does, and where no row has a bandwidth.
struct RanksAllowed {
  int least = 0;
  int most = 0;
};
[[nodiscard]] RanksAllowed ranks_allowed(std::span<const LogRow> rows,
                                         const Collective& collective);

/// The collective of a table, and who said it.
struct TableCollective {
  const Collective* collective = nullptr;
  std::string source{};  ///< "--collective", or what its rows show; empty where the log names it
  bool inferred = false;
};

/// The collective that the log names, or the user, or that the rows leave as the only one. Throws
/// Error (Usage) where there is none, where several are left, and where a good part of the rows
/// contradicts the user's. `place` is for the message, `given` and `ranks` are the user's.
[[nodiscard]] TableCollective collective_of(const LogTable& table, const std::string& place,
                                            const std::string& given, std::optional<int> ranks);

}  // namespace busbar::study
