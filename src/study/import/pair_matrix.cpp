// SPDX-License-Identifier: BSD-3-Clause
#include "study/import/pair_matrix.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/text.hpp"
#include "study/import/nccl_row.hpp"

namespace busbar::study {
namespace {

std::vector<std::string> names_of(const std::vector<PairMatrix>& matrices) {
  std::vector<std::string> names;
  for (const PairMatrix& matrix : matrices) names.push_back(matrix.name);
  return names;
}

const PairMatrix& wanted_matrix(const PairLog& pairs, const std::string& wanted) {
  const std::string& path = pairs.log.path;
  std::vector<const PairMatrix*> found;
  for (const PairMatrix& matrix : pairs.matrices) {
    if (matrix.name == wanted) return matrix;
    if (matrix.name.find(wanted) != std::string::npos) found.push_back(&matrix);
  }
  if (found.size() == 1) return *found.front();
  throw usage_error(fmt::format("--matrix {}: {} matrices of {} have this in their name: {}",
                                wanted, found.size(), path, join(names_of(pairs.matrices), ", ")));
}

const PairMatrix& choose(const PairLog& pairs, const std::string& wanted) {
  if (pairs.matrices.empty()) {
    throw usage_error(
        fmt::format("{}: no matrix of one-way copies between GPUs{}{}", pairs.log.path,
                    pairs.others.empty() ? "" : "; not imported: ", join(pairs.others, ", ")));
  }
  if (!wanted.empty()) return wanted_matrix(pairs, wanted);
  const auto preferred = std::find_if(pairs.matrices.begin(), pairs.matrices.end(),
                                      [](const PairMatrix& matrix) { return matrix.preferred; });
  return preferred == pairs.matrices.end() ? pairs.matrices.front() : *preferred;
}

std::vector<std::string> left_out(const PairLog& pairs, const PairMatrix& chosen) {
  std::vector<std::string> names;
  for (const PairMatrix& matrix : pairs.matrices) {
    if (&matrix != &chosen) names.push_back(matrix.name);
  }
  names.insert(names.end(), pairs.others.begin(), pairs.others.end());
  return names;
}

/// The user's size, or the tool's usual one.
Bytes size_of_copy(PairLog& pairs, const LogReading& reading) {
  if (reading.size) return *reading.size;
  if (!pairs.usual_size) {
    throw usage_error(fmt::format(
        "{}: the log says neither the size of a copy nor the version of {}; give --size SIZE",
        pairs.log.path, pairs.table.tool));
  }
  pairs.table.flags += " size-assumed";
  pairs.log.warnings.push_back(fmt::format(
      "{}: the log does not say the size of a copy: assumed {} bytes, {}; the rates do not depend "
      "on it, the times do: --size SIZE",
      pairs.log.path, *pairs.usual_size, pairs.usual_because));
  return *pairs.usual_size;
}

std::optional<int> nodes_of(const LogTable& table, std::size_t a, std::size_t b) {
  const std::size_t known = table.devices.size();
  if (a >= known || b >= known) return std::nullopt;
  return table.devices[a].host == table.devices[b].host ? 1 : 2;
}

LogRow row_of(const PairLog& pairs, const PairMatrix& matrix, std::size_t row, std::size_t column,
              Bytes size) {
  const Printed rate = *matrix.rows[row][column];
  const std::size_t sender = matrix.row_sends ? row : column;
  const std::size_t receiver = matrix.row_sends ? column : row;
  return {.line = matrix.line,
          .size = size,
          .count = size / size_of_type(pairs.type),
          .type = pairs.type,
          .nodes = nodes_of(pairs.table, row, column),
          .sender = static_cast<int>(sender),
          .receiver = static_cast<int>(receiver),
          .halves = {{.algbw_GBps = rate, .busbw_GBps = rate}}};
}

}  // namespace

bool read_matrix_row(LogFile& log, PairMatrix& matrix, const LogLine& line,
                     const LogReading& reading) {
  const std::vector<std::string> words = words_of(line.text);
  if (words.empty() || whole_number(words.front()) != matrix.rows.size()) return false;
  std::vector<std::optional<Printed>> cells;
  for (std::size_t i = 1; i < words.size(); ++i) {
    const auto rate = printed_number(words[i]);
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

LogFile log_of_pairs(PairLog pairs, const LogReading& reading) {
  const PairMatrix& matrix = choose(pairs, reading.matrix);
  LogTable& table = pairs.table;
  table.line = matrix.line;
  table.collective = "sendrecv";
  table.backend = "cuda";
  table.cadence = "streaming";
  table.ranks = 2;
  table.ended = true;
  table.matrix = matrix.name;
  table.flags = "one-way-copy";
  const Bytes size = size_of_copy(pairs, reading);
  for (std::size_t row = 0; row < matrix.rows.size(); ++row) {
    for (std::size_t column = 0; column < matrix.columns; ++column) {
      const std::optional<Printed>& rate = matrix.rows[row][column];
      // The diagonal is a GPU's own memory; 0 is what old versions print where nothing was copied.
      constexpr double kNothing = 1e-6;
      if (row == column || !rate || rate->value < kNothing) continue;
      table.rows.push_back(row_of(pairs, matrix, row, column, size));
    }
  }
  if (matrix.rows.size() < matrix.columns) {
    pairs.log.warnings.push_back(
        fmt::format("{}:{}: the matrix has {} of {} rows: the log may be cut off; what is there is "
                    "imported",
                    pairs.log.path, matrix.line, matrix.rows.size(), matrix.columns));
  }
  const std::vector<std::string> others = left_out(pairs, matrix);
  if (!others.empty()) {
    pairs.log.warnings.push_back(fmt::format("{}: imported is {}; left out: {} (--matrix NAME)",
                                             pairs.log.path, matrix.name, join(others, ", ")));
  }
  pairs.log.tables.push_back(std::move(table));
  return std::move(pairs.log);
}

}  // namespace busbar::study
