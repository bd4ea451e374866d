// SPDX-License-Identifier: BSD-3-Clause
#include "study/import/copy_matrix.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/text.hpp"
#include "study/import/nccl_text.hpp"

namespace busbar::study {
namespace {

using Matrices = std::vector<const CopyMatrix*>;

/// The name without the number of a repetition.
std::string_view base_name(const CopyMatrix* matrix) {
  return std::string_view(matrix->name).substr(0, matrix->name.find("_iter_"));
}

/// All repetitions of a matrix.
Matrices repetitions_of(const CopyLog& copies, const CopyMatrix* matrix) {
  Matrices found;
  for (const CopyMatrix& one : copies.matrices) {
    if (base_name(&one) == base_name(matrix)) found.push_back(&one);
  }
  return found;
}

Matrices wanted_matrices(const CopyLog& copies, const std::string& wanted) {
  Matrices found;
  for (const CopyMatrix& matrix : copies.matrices) {
    if (matrix.name == wanted) return {&matrix};
    if (matrix.name.find(wanted) != std::string::npos) found.push_back(&matrix);
  }
  if (set_of(found, base_name).size() == 1) return found;
  const auto exact = std::ranges::find(found, wanted, base_name);
  if (exact != found.end()) return repetitions_of(copies, *exact);
  throw usage_error("--matrix {}: {} matrices of {} have this in their name: {}", wanted,
                    found.size(), copies.log.path,
                    join_each(copies.matrices, ", ", &CopyMatrix::name));
}

Matrices choose(const CopyLog& copies, const std::string& wanted) {
  if (copies.matrices.empty()) {
    throw usage_error("{}: no matrix of one-way copies between GPUs or with the host{}{}",
                      copies.log.path,
                      copies.others.empty() ? "" : "; not imported: ", join(copies.others, ", "));
  }
  if (!wanted.empty()) return wanted_matrices(copies, wanted);
  Matrices first;  // of each collective
  for (const CopyMatrix& matrix : copies.matrices) {
    if (matrix.taken == CopyMatrix::Default::Never) continue;
    const auto same = [&](const CopyMatrix* one) { return one->collective == matrix.collective; };
    const CopyMatrix*& known = find_or_add(first, same, &matrix);
    if (matrix.taken > known->taken) known = &matrix;
  }
  Matrices chosen;
  for (const CopyMatrix* matrix : first) append(chosen, repetitions_of(copies, matrix));
  if (!chosen.empty()) return chosen;
  throw usage_error("{}: which matrix is meant? --matrix NAME takes one of {}", copies.log.path,
                    join_each(copies.matrices, ", ", &CopyMatrix::name));
}

/// The user's size, or the log's or tool's.
Bytes size_of_copy(CopyLog& copies, const LogReading& reading) {
  if (reading.size) return *reading.size;
  if (!copies.usual_size) {
    throw usage_error(
        "{}: the log says neither the size of a copy nor the version of {}; give --size SIZE",
        copies.log.path, copies.table.tool);
  }
  if (copies.usual_because.empty()) return *copies.usual_size;
  copies.table.flags.push_back(Flag::SizeAssumed);
  copies.log.warnings.push_back(
      fmt::format("{}: the log does not say the size of a copy: assumed {} bytes, {}; the rates do "
                  "not depend on it, the times do: --size SIZE",
                  copies.log.path, *copies.usual_size, copies.usual_because));
  return *copies.usual_size;
}

std::optional<int> nodes_of(const LogTable& table, std::size_t a, std::size_t b) {
  const std::size_t known = table.devices.size();
  if (a >= known || b >= known) return std::nullopt;
  return table.devices[a].host == table.devices[b].host ? 1 : 2;
}

LogRow row_of(const CopyLog& copies, const CopyMatrix& matrix, std::size_t row, std::size_t column,
              Bytes size) {
  const Printed rate = *matrix.rows[row][column];
  LogRow result{.line = matrix.line,
                .size = size,
                .count = size / size_of_type(copies.type),
                .type = copies.type,
                .nodes = 1,
                .halves = {{.algbw_GBps = rate, .busbw_GBps = rate}}};
  if (matrix.is_of_pairs()) {
    result.nodes = nodes_of(copies.table, row, column);
    result.sender = static_cast<int>(matrix.row_sends ? row : column);
    result.receiver = static_cast<int>(matrix.row_sends ? column : row);
  } else {
    (matrix.collective == "hosttodevice" ? result.receiver : result.sender) =
        static_cast<int>(column);
  }
  return result;
}

LogTable table_of(CopyLog& copies, const CopyMatrix& matrix, Bytes size) {
  const bool pairs = matrix.is_of_pairs();
  LogTable table = copies.table;
  table.line = matrix.line;
  table.collective = matrix.collective;
  table.backend = "cuda";
  table.cadence = "streaming";
  table.ranks = pairs ? 2 : static_cast<int>(matrix.columns);
  table.ended = true;
  table.matrix = matrix.name;
  table.repeats = base_name(&matrix) != matrix.name;
  const std::size_t rows = pairs ? matrix.columns : 1;
  if (matrix.rows.size() < rows) {
    copies.log.warnings.push_back(fmt::format(
        "{}:{}: the matrix has {} of {} rows: the log may be cut off; what is there is imported",
        copies.log.path, matrix.line, matrix.rows.size(), rows));
  }
  for (std::size_t row = 0; row < std::min(rows, matrix.rows.size()); ++row) {
    for (std::size_t column = 0; column < matrix.columns; ++column) {
      const std::optional<Printed>& rate = matrix.rows[row][column];
      // The diagonal is a GPU's own memory; 0 is what old versions print where nothing was copied.
      constexpr double kNothing = 1e-6;
      if ((pairs && row == column) || !rate || rate->value < kNothing) continue;
      table.rows.push_back(row_of(copies, matrix, row, column, size));
    }
  }
  return table;
}

}  // namespace

std::optional<Printed> copy_rate(std::string_view word) {
  constexpr double kMost = 1e6;
  const auto rate = printed_number(word);
  return rate && rate->value <= kMost ? rate : std::nullopt;
}

bool read_matrix_row(LogFile& log, CopyMatrix& matrix, const LogLine& line,
                     const std::vector<std::string>& words, const LogReading& reading) {
  if (words.empty() || to_number<std::uint64_t>(words.front()) != matrix.rows.size()) return false;
  std::vector<std::optional<Printed>> cells;
  for (std::size_t i = 1; i < words.size(); ++i) {
    const auto rate = copy_rate(words[i]);
    const bool readable = rate || words[i] == "N/A";
    if (readable) cells.push_back(rate);
  }
  if (cells.size() != matrix.columns || words.size() != matrix.columns + 1) {
    bad_line(log, line, fmt::format("not a rate for each of {} GPUs", matrix.columns), reading);
    cells.assign(matrix.columns, std::nullopt);
  }
  matrix.rows.push_back(std::move(cells));
  return true;
}

LogFile log_of_copies(CopyLog copies, const LogReading& reading) {
  // A test that was waived has no matrix.
  std::erase_if(copies.matrices, [](const CopyMatrix& matrix) { return matrix.rows.empty(); });
  const Matrices chosen = choose(copies, reading.matrix);
  copies.table.flags = {Flag::OneWayCopy};
  const Bytes size = size_of_copy(copies, reading);
  std::vector<std::string> names;
  for (const CopyMatrix* matrix : chosen) {
    names.push_back(matrix->name);
    copies.log.tables.push_back(table_of(copies, *matrix, size));
  }
  std::vector<std::string> others;
  for (const CopyMatrix& matrix : copies.matrices) {
    if (!contains(names, matrix.name)) others.push_back(matrix.name);
  }
  append(others, copies.others);
  if (!others.empty()) {
    copies.log.warnings.push_back(fmt::format("{}: imported is {}; left out: {} (--matrix NAME)",
                                              copies.log.path, join(names, ", "),
                                              join(others, ", ")));
  }
  return std::move(copies.log);
}

}  // namespace busbar::study
