// SPDX-License-Identifier: BSD-3-Clause
// What the Intel MPI Benchmarks print: IMB-MPI1 Allreduce and its like.
#include <algorithm>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/text.hpp"
#include "model/collective.hpp"
#include "study/import/log_reader.hpp"

namespace busbar::study {
namespace {

/// What stands once above all benchmarks of a log.
struct ImbHead {
  std::string tool = "IMB";
  std::string type = "int8";
  std::string reduced_type = "float";
  std::string command{};
};

std::string type_of(std::string_view mpi_name) {
  if (mpi_name == "MPI_FLOAT") return "float";
  if (mpi_name == "MPI_DOUBLE") return "double";
  return mpi_name == "MPI_INT" ? "int32" : "int8";
}

class ImbText {
 public:
  ImbText(const std::string& path, const LogReading& reading)
      : reading_(reading), log_{.path = path} {}

  void read(const LogLine& line) {
    const std::string_view text = line.text;
    const std::vector<std::string> words = words_of(text);
    if (words.empty()) return;
    if (text.starts_with("# Benchmarking ") && words.size() > 2) {
      open_table(words[2]);
    } else if (words.front() == "#bytes") {
      columns_ = words;
    } else if (text.starts_with('#')) {
      read_comment(words);
    } else if (!columns_.empty() && whole_number(words.front())) {
      read_row_line(line, words);
    }
  }
  LogFile finish() { return std::move(log_); }

 private:
  void open_table(const std::string& collective) {
    // Benchmarks that are no collective of ours (PingPong, Barrier) are passed over.
    const bool known = find_collective(collective) != nullptr;
    reads_ = known;
    columns_.clear();
    if (!known) return;
    log_.tables.push_back({.collective = collective,
                           .tool = head_.tool,
                           .backend = "mpi",
                           .command = head_.command,
                           .cadence = "streaming",
                           .ended = true});
  }
  void read_comment(const std::vector<std::string>& words) {
    const auto after = [&](std::string_view word) {
      const auto found = std::find(words.begin(), words.end(), word);
      return found == words.end() || found + 1 == words.end() ? std::string{} : *(found + 1);
    };
    if (!after("Benchmarks").empty()) {
      std::string version = after("Benchmarks");
      if (version.ends_with(',')) version.pop_back();
      head_.tool = "IMB " + version;
    } else if (after("MPI_Datatype") == ":" && words.size() > 3) {
      head_.type = type_of(words.back());
    } else if (after("MPI_Datatype") == "for") {
      head_.reduced_type = type_of(words.back());
    } else if (words.size() > 3 && words[1] == "#processes" && !log_.tables.empty() && reads_) {
      log_.tables.back().ranks = small_number(words[3]);
    } else if (words.size() > 1 && words[1].find("IMB-") != std::string::npos) {
      head_.command = join({words.begin() + 1, words.end()}, " ");
    }
  }
  /// t_max, the slowest rank's mean, as our own programs aggregate.
  void read_row_line(const LogLine& line, const std::vector<std::string>& words) {
    if (!reads_ || log_.tables.empty()) return;
    LogTable& table = log_.tables.back();
    const auto column = [&](std::string_view name) {
      const auto found = std::find(columns_.begin(), columns_.end(), name);
      return static_cast<std::size_t>(found - columns_.begin());
    };
    const std::size_t at = column("t_max[usec]");
    if (at == columns_.size() || words.size() != columns_.size()) {
      return bad_line(log_, line, "a row that does not fit the columns' names above it", reading_);
    }
    const auto time = printed_number(words[at]);
    if (!time) {
      return bad_line(log_, line, fmt::format("'{}' is not a number", words[at]), reading_);
    }
    const Collective* known = find_collective(table.collective);
    LogRow row{.line = line.number,
               .size = *whole_number(words.front()),
               .type = known->reduces ? head_.reduced_type : head_.type};
    if (const std::size_t rounds = column("#repetitions"); rounds < words.size()) {
      row.operations = whole_number(words[rounds]);
    }
    row.halves.push_back({.time_us = time});
    table.aggregation = "max";
    if (table.rows.empty()) table.line = line.number;
    table.rows.push_back(std::move(row));
  }

  const LogReading& reading_;
  LogFile log_;
  ImbHead head_{};
  std::vector<std::string> columns_{};
  bool reads_ = false;
};

}  // namespace

LogFile read_imb_text(std::span<const LogLine> lines, const std::string& path,
                      const LogReading& reading) {
  ImbText reader(path, reading);
  for (const LogLine& line : lines) reader.read(line);
  return reader.finish();
}

}  // namespace busbar::study
