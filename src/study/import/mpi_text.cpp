// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/text.hpp"
#include "model/collective.hpp"
#include "study/import/log_reader.hpp"

// What the OSU micro-benchmarks (osu_allreduce and its like) and the Intel MPI Benchmarks (IMB-MPI1
// Allreduce and its like) print: lines of comment, a line of titles, and rows of a size and times.
namespace busbar::study {
namespace {

bool reduces(View name) {
  const Collective* collective = find_collective(name);
  return collective != nullptr && collective->reduces;
}

std::string type_of(View mpi_name) {
  const auto has = [&](View part) { return mpi_name.find(part) != View::npos; };
  return has("FLOAT") ? "float" : has("DOUBLE") ? "double" : has("INT") ? "int32" : "int8";
}

/// OSU's titles have blanks in them; two or more separate them.
Words titles_of(View text) {
  Words titles;
  while (!(text = trim(text)).empty()) {
    const std::size_t end = std::min({text.find('\t'), text.find("  "), text.size()});
    titles.emplace_back(text.substr(0, end));
    text.remove_prefix(end);
  }
  return titles;
}

/// Columns of times, and how they are over ranks: the slowest rank's mean where it is printed, as
/// our own programs aggregate.
using MpiColumn = std::pair<View, View>;
constexpr std::array<MpiColumn, 4> kTimes{
    {{"Max Latency", "max"}, {"t_max[usec]", "max"}, {"Avg Latency", "mean"}, {"Latency", "mean"}}};

class MpiText {
 public:
  MpiText(const std::string& path, const LogReading& reading)
      : reading_(reading), log_{.path = path} {}

  void read(const LogLine& line) {
    const View text = line.text;
    const Words words = split_words(text);
    if (words.empty()) return;
    if (text.starts_with("# OSU ")) {
      open_osu(words);
    } else if (text.starts_with("# Benchmarking ") && words.size() > 2) {
      open_imb(words[2]);
    } else if (text.starts_with("# Datatype:") && words.size() > 2) {
      type_ = type_of(words[2]);
    } else if (words.front() == "#bytes") {
      titles_ = words;
    } else if (text.starts_with("# Size") || text.starts_with("Size")) {
      titles_ = titles_of(text.substr(text.find("Size")));
    } else if (text.find("osu_") != View::npos && titles_.empty()) {
      command_ = text;
    } else if (text.starts_with('#')) {
      read_comment(words);
    } else if (!titles_.empty() && !passes_over_ && to_number<std::uint64_t>(words.front())) {
      read_row_line(line, words);
    }
  }
  LogFile finish() { return std::move(log_); }

 private:
  /// "# OSU MPI-CUDA Allreduce Latency Test v7.3". Where no line "# Datatype" says otherwise,
  /// reductions are of floats, all else of chars.
  void open_osu(const Words& words) {
    LogTable table{.tool = "OSU", .backend = "mpi", .command = command_};
    const auto latency = std::ranges::find(words, "Latency");
    if (latency - words.begin() > 3) table.collective = join({words.begin() + 3, latency}, " ");
    if (words.back().starts_with('v')) table.tool += " " + words.back().substr(1);
    if (words.size() > 2 && words[2].starts_with("NCCL")) table.backend = "nccl";
    table.ranks = processes_of_command(split_words(command_));
    type_ = reduces(table.collective) ? "float" : "int8";
    open(std::move(table));
  }
  /// Benchmarks of something else than our collectives (PingPong, Barrier) are skipped.
  void open_imb(const std::string& collective) {
    passes_over_ = find_collective(collective) == nullptr;
    if (passes_over_) return;
    type_ = reduces(collective) ? imb_reduced_type_ : imb_type_;
    open({.collective = collective, .tool = imb_tool_, .backend = "mpi", .command = command_});
  }
  void open(LogTable table) {
    log_.tables.push_back(std::move(table));
    titles_.clear();
  }

  /// What stands once above all benchmarks of IMB, and the processes of each.
  void read_comment(const Words& words) {
    if (std::string version = word_after(words, "Benchmarks"); !version.empty()) {
      if (version.ends_with(',')) version.pop_back();
      imb_tool_ = "IMB " + version;
    } else if (word_after(words, "MPI_Datatype") == ":" && words.size() > 3) {
      imb_type_ = type_of(words.back());
    } else if (word_after(words, "MPI_Datatype") == "for") {
      imb_reduced_type_ = type_of(words.back());
    } else if (words.size() > 3 && words[1] == "#processes" && !log_.tables.empty() &&
               !passes_over_) {
      log_.tables.back().ranks = small_number(words[3]);
    } else if (words.size() > 1 && words[1].find("IMB-") != std::string::npos) {
      command_ = join({words.begin() + 1, words.end()}, " ");
    }
  }

  /// The word below the first title that begins so, or null.
  [[nodiscard]] const std::string* cell(const Words& words, View title) const {
    const auto found = std::ranges::find_if(
        titles_, [&](const std::string& one) { return one.starts_with(title); });
    return found == titles_.end() ? nullptr
                                  : &words[static_cast<std::size_t>(found - titles_.begin())];
  }

  void read_row_line(const LogLine& line, const Words& words) {
    const auto refuse = [&](View why) { bad_line(log_, line, why, reading_); };
    if (log_.tables.empty()) {
      return refuse("a row without a line '# OSU ...' above it, which names the test");
    }
    if (words.size() != titles_.size()) {
      return refuse(fmt::format("{} where the line of names has {}", counted(words.size(), "word"),
                                titles_.size()));
    }
    const auto* time = std::ranges::find_if(
        kTimes, [&](View title) { return cell(words, title) != nullptr; }, &MpiColumn::first);
    if (time == kTimes.end()) return refuse("a row without a column of latencies");
    const std::string& text = *cell(words, time->first);
    const auto latency = printed_number(text);
    if (!latency) return refuse(fmt::format("'{}' is not a number", text));
    LogTable& table = log_.tables.back();
    LogRow row{.line = line.number,
               .size = to_number<std::uint64_t>(words.front()).value_or(0),
               .type = type_,
               .halves = {{.time_us = latency}}};
    for (const View title : {"Iterations", "#repetitions"}) {
      if (const std::string* rounds = cell(words, title)) {
        row.operations = to_number<std::uint64_t>(*rounds);
      }
    }
    table.aggregation = time->second;
    if (table.rows.empty()) table.line = line.number;
    table.rows.push_back(std::move(row));
  }

  const LogReading& reading_;
  LogFile log_;
  Words titles_{};
  std::string type_{};  ///< of the rows
  std::string command_{};
  std::string imb_tool_ = "IMB";
  std::string imb_type_ = "int8";
  std::string imb_reduced_type_ = "float";
  bool passes_over_ = false;  ///< the rows of this benchmark
};

}  // namespace

LogFile read_mpi_text(std::span<const LogLine> lines, const std::string& path,
                      const LogReading& reading) {
  MpiText reader(path, reading);
  for (const LogLine& line : lines) reader.read(line);
  return reader.finish();
}

}  // namespace busbar::study
