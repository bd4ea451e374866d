// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "study/import/log.hpp"

namespace busbar::study {

/// The columns where the words are nccl-tests' line of column names, in any of its versions.
[[nodiscard]] std::optional<Words> columns_of(std::span<const std::string> words);

/// The columns of a row without names above it, where its shape is one of nccl-tests' own: 11
/// words, 12 with a reduction or a root, 13 with both.
[[nodiscard]] std::optional<Words> columns_by_shape(std::span<const std::string> words);

/// Reads a row. Throws a usage error without a place where a word is not what its column says.
[[nodiscard]] LogRow read_row(const Words& columns, std::span<const std::string> words);

/// Our name of an element type in any version's spelling; other words stay.
[[nodiscard]] View our_type(View word);
/// True for the name of an element type, in any version's spelling.
[[nodiscard]] bool is_type_name(View word);
/// Its size in bytes; 0 where it is none.
[[nodiscard]] Bytes size_of_type(View word);

/// The part of a line of NCCL's own log that stands before host, process and device: a part of a
/// row, since nccl-tests prints rows in parts. A number may touch the host's name ("-1node1:7:7 [0]
/// NCCL INFO"); the names that begin lines, which `hosts` gathers, decide where it ends. `mark`:
/// nccl_mark of the line.
[[nodiscard]] std::string part_before(View line, std::size_t mark, std::set<std::string>& hosts);

/// A row that lines of NCCL's log cut into parts. Whether blanks were at a seam is lost: only the
/// number and the kinds of words decide, and one way alone may fit.
struct TornRow {
  LogLine line{};  ///< of its first part
  Words ways{};    ///< to join its parts; none: no row is open

  /// Adds a part that another line of NCCL's follows.
  void extend(View part);
  /// The row, closed by its last part; nothing where this is none.
  [[nodiscard]] std::optional<LogLine> close(View part, const Words& columns);
};

}  // namespace busbar::study
