// SPDX-License-Identifier: BSD-3-Clause

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/text.hpp"
#include "study/import/known_collective.hpp"
#include "study/import/log_reader.hpp"

// What the OSU micro-benchmarks print: osu_allreduce and its like.
// What the Intel MPI Benchmarks print: IMB-MPI1 Allreduce and its like.
namespace busbar::study {
namespace {

/// "Allreduce" of "# OSU MPI-CUDA Allreduce Latency Test v7.3".
void read_title(LogTable& table, std::string_view text) {
  const std::vector<std::string> words = split_words(text);
  const auto latency = std::find(words.begin(), words.end(), "Latency");
  if (latency - words.begin() > 3) table.collective = join({words.begin() + 3, latency}, " ");
  table.tool = words.back().starts_with('v') ? "OSU " + words.back().substr(1) : "OSU";
  table.backend = words.size() > 2 && words[2].starts_with("NCCL") ? "nccl" : "mpi";
}

/// Where no line "# Datatype" says otherwise: reductions are of floats, all else of chars.
std::string usual_type(const LogTable& table) {
  const KnownCollective* known = find_collective(table.collective);
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
    const std::vector<std::string> words = split_words(text);
    if (words.empty()) return;
    if (text.starts_with("# OSU ")) {
      log_.tables.push_back({.command = command_, .cadence = "streaming"});
      titles_.clear();
      read_title(log_.tables.back(), text);
      log_.tables.back().ranks = processes_of_command(split_words(command_));
      type_ = usual_type(log_.tables.back());
    } else if (text.starts_with("# Datatype:") && words.size() > 2) {
      type_ = type_of(words[2]);
    } else if (text.starts_with("# Size") || text.starts_with("Size")) {
      titles_ = titles_of(text.substr(text.find("Size")));
    } else if (text.find("osu_") != std::string_view::npos && titles_.empty()) {
      command_ = text;
    } else if (!titles_.empty() && to_number<std::uint64_t>(words.front())) {
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
    LogRow row{.line = line.number,
               .size = to_number<std::uint64_t>(words.front()).value_or(0),
               .type = type_};
    if (const auto rounds = column("Iterations"))
      row.operations = to_number<std::uint64_t>(words[*rounds]);
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

namespace {

/// What stands once above all benchmarks of a log.
struct ImbHead {
  std::string tool = "IMB";
  std::string type = "int8";
  std::string reduced_type = "float";
  std::string command{};
};

class ImbText {
 public:
  ImbText(const std::string& path, const LogReading& reading)
      : reading_(reading), log_{.path = path} {}

  void read(const LogLine& line) {
    const std::string_view text = line.text;
    const std::vector<std::string> words = split_words(text);
    if (words.empty()) return;
    if (text.starts_with("# Benchmarking ") && words.size() > 2) {
      open_table(words[2]);
    } else if (words.front() == "#bytes") {
      columns_ = words;
    } else if (text.starts_with('#')) {
      read_comment(words);
    } else if (!columns_.empty() && to_number<std::uint64_t>(words.front())) {
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
    const KnownCollective* known = find_collective(table.collective);
    LogRow row{.line = line.number,
               .size = *to_number<std::uint64_t>(words.front()),
               .type = known->reduces ? head_.reduced_type : head_.type};
    if (const std::size_t rounds = column("#repetitions"); rounds < words.size()) {
      row.operations = to_number<std::uint64_t>(words[rounds]);
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
