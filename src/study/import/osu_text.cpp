// SPDX-License-Identifier: BSD-3-Clause
// What the OSU micro-benchmarks print: osu_allreduce and its like.
#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/text.hpp"
#include "model/collective.hpp"
#include "study/import/log_reader.hpp"

namespace busbar::study {
namespace {

/// "Allreduce" of "# OSU MPI-CUDA Allreduce Latency Test v7.3".
void read_title(LogTable& table, std::string_view text) {
  const std::vector<std::string> words = words_of(text);
  const auto latency = std::find(words.begin(), words.end(), "Latency");
  if (latency - words.begin() > 3) table.collective = join({words.begin() + 3, latency}, " ");
  table.tool = words.back().starts_with('v') ? "OSU " + words.back().substr(1) : "OSU";
  table.backend = words.size() > 2 && words[2].starts_with("NCCL") ? "nccl" : "mpi";
}

/// Where no line "# Datatype" says otherwise: reductions are of floats, all else of chars.
std::string usual_type(const LogTable& table) {
  const Collective* known = find_collective(table.collective);
  return known != nullptr && known->reduces ? "float" : "int8";
}

std::string type_of(std::string_view mpi_name) {
  if (mpi_name.find("FLOAT") != std::string_view::npos) return "float";
  if (mpi_name.find("DOUBLE") != std::string_view::npos) return "double";
  return mpi_name.find("INT") != std::string_view::npos ? "int32" : "int8";
}

/// Column titles have blanks in them; two or more separate them.
std::vector<std::string> titles_of(std::string_view text) {
  std::vector<std::string> titles{""};
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool gap = text[i] == '\t' || text.substr(i, 2) == "  ";
    if (gap && !titles.back().empty()) titles.emplace_back();
    if (text[i] != '\t' && (text[i] != ' ' || !titles.back().empty()) && !gap) {
      titles.back() += text[i];
    }
  }
  if (titles.back().empty()) titles.pop_back();
  return titles;
}

class OsuText {
 public:
  OsuText(const std::string& path, const LogReading& reading)
      : reading_(reading), log_{.path = path} {}

  void read(const LogLine& line) {
    const std::string_view text = line.text;
    const std::vector<std::string> words = words_of(text);
    if (words.empty()) return;
    if (text.starts_with("# OSU ")) {
      log_.tables.push_back({.command = command_, .cadence = "streaming"});
      titles_.clear();
      read_title(log_.tables.back(), text);
      log_.tables.back().ranks = processes_of_command(words_of(command_));
      type_ = usual_type(log_.tables.back());
    } else if (text.starts_with("# Datatype:") && words.size() > 2) {
      type_ = type_of(words[2]);
    } else if (text.starts_with("# Size") || text.starts_with("Size")) {
      titles_ = titles_of(text.substr(text.find("Size")));
    } else if (text.find("osu_") != std::string_view::npos && titles_.empty()) {
      command_ = text;
    } else if (!titles_.empty() && whole_number(words.front())) {
      read_row_line(line, words);
    }
  }
  LogFile finish() { return std::move(log_); }

 private:
  [[nodiscard]] std::optional<std::size_t> column(std::string_view start) const {
    const auto found = std::find_if(titles_.begin(), titles_.end(), [&](const std::string& title) {
      return title.starts_with(start);
    });
    if (found == titles_.end()) return std::nullopt;
    return static_cast<std::size_t>(found - titles_.begin());
  }

  /// The slowest rank's mean where it is printed, as our own programs aggregate; else the mean.
  void read_row_line(const LogLine& line, const std::vector<std::string>& words) {
    if (log_.tables.empty()) {
      return bad_line(log_, line, "a row without a line '# OSU ...' above it, which names the test",
                      reading_);
    }
    LogTable& table = log_.tables.back();
    const auto max = column("Max Latency");
    const auto mean = column("Avg Latency") ? column("Avg Latency") : column("Latency");
    const auto time = max ? max : mean;
    if (!time) return bad_line(log_, line, "a row without a column of latencies", reading_);
    if (words.size() != titles_.size()) {
      return bad_line(log_, line,
                      fmt::format("{} where the columns' names want {}",
                                  counted(words.size(), "word"), titles_.size()),
                      reading_);
    }
    const auto latency = printed_number(words[*time]);
    if (!latency) {
      return bad_line(log_, line, fmt::format("'{}' is not a number", words[*time]), reading_);
    }
    LogRow row{.line = line.number, .size = whole_number(words.front()).value_or(0), .type = type_};
    if (const auto rounds = column("Iterations")) row.operations = whole_number(words[*rounds]);
    row.halves.push_back({.time_us = latency});
    table.aggregation = max ? "max" : "mean";
    table.ended = true;
    if (table.rows.empty()) table.line = line.number;
    table.rows.push_back(std::move(row));
  }

  const LogReading& reading_;
  LogFile log_;
  std::vector<std::string> titles_{};
  std::string type_{};
  std::string command_{};
};

}  // namespace

LogFile read_osu_text(std::span<const LogLine> lines, const std::string& path,
                      const LogReading& reading) {
  OsuText reader(path, reading);
  for (const LogLine& line : lines) reader.read(line);
  return reader.finish();
}

}  // namespace busbar::study
