// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "study/import/log.hpp"
#include "study/import/log_reader.hpp"

namespace busbar::study {

/// Rates of copies from one GPU to another, one pair at a time, as a tool prints them.
struct PairMatrix {
  std::size_t line = 0;    ///< of its title
  std::string name{};      ///< for --matrix
  bool row_sends = true;   ///< a row's GPU is where the copies come from; else a column's
  bool preferred = false;  ///< taken where the user names none
  std::size_t columns = 0;
  std::vector<std::vector<std::optional<Printed>>> rows{};  ///< in GB/s
};

/// What a log of matrices has besides them.
struct PairLog {
  LogFile log{};
  LogTable table{};  ///< tool, devices, type of the elements
  std::string type{};
  std::vector<PairMatrix> matrices{};
  std::vector<std::string> others{};  ///< names of matrices that are not of one-way copies
  std::optional<Bytes> usual_size{};  ///< of a copy, where the log does not have it
  std::string usual_because{};        ///< "its own since version 0.7"
};

/// A row of a matrix: its number, and a rate or N/A for each column. Nothing where the words are
/// none; refuses or skips a row of another length.
[[nodiscard]] bool read_matrix_row(LogFile& log, PairMatrix& matrix, const LogLine& line,
                                   const LogReading& reading);

/// One matrix as rows of send-receive pairs: the user's, or the tool's preferred one. Throws Error
/// (Usage) naming --matrix or --size where it is unknown which matrix or of what size.
[[nodiscard]] LogFile log_of_pairs(PairLog pairs, const LogReading& reading);

}  // namespace busbar::study
