// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "study/import/log_reader.hpp"

namespace busbar::study {

/// Rates of copies from one GPU to another, or between the host and each GPU, one at a time, as a
/// tool prints them.
struct CopyMatrix {
  /// When a matrix is taken, of those of its collective, where the user names none.
  enum class Default { Never, IfAlone, First };

  std::size_t line = 0;  ///< of its title
  std::string name{};    ///< for --matrix; "_iter_0" at its end numbers repetitions
  std::string_view collective = "sendrecv";  ///< hosttodevice and devicetohost have one row
  bool row_sends = true;  ///< of pairs: a row's GPU is where the copies come from; else a column's
  Default taken = Default::IfAlone;
  std::size_t columns = 0;
  std::vector<std::vector<std::optional<Printed>>> rows{};  ///< in GB/s

  [[nodiscard]] bool is_of_pairs() const { return collective == "sendrecv"; }
};

/// What a log of matrices has besides them.
struct CopyLog {
  LogFile log{};
  LogTable table{.tool = "nvbandwidth"};  ///< tool, devices
  std::string type = "int8";              ///< of the elements
  std::vector<CopyMatrix> matrices{};
  std::vector<std::string> others{};  ///< names of matrices that are not of one-way copies
  std::optional<Bytes> usual_size{};  ///< of a copy, by the log or else the tool's own
  std::string usual_because{};        ///< "its own since version 0.7"; empty if the log says it
};

/// A word of a matrix as a rate in GB/s; nothing where it is none, or more than any memory has.
[[nodiscard]] std::optional<Printed> copy_rate(std::string_view word);

/// A row of a matrix: its number, and a rate or N/A for each column. False where the words are
/// none; refuses or skips a row of another length.
[[nodiscard]] bool read_matrix_row(LogFile& log, CopyMatrix& matrix, const LogLine& line,
                                   const std::vector<std::string>& words,
                                   const LogReading& reading);

/// Matrices as rows: the user's, or of each collective the one that is taken by default. Throws
/// Error (Usage) naming --matrix or --size where it is unknown which matrix or of what size.
[[nodiscard]] LogFile log_of_copies(CopyLog copies, const LogReading& reading);

}  // namespace busbar::study
