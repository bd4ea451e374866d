// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/text.hpp"
#include "base/units.hpp"
#include "model/communicator.hpp"
#include "model/flag.hpp"

namespace busbar::study {

/// Variables of the environment that a run was started with.
using Settings = std::map<std::string, std::string>;

/// A line of a log without what launchers, CI and collectors of logs put before it.
struct LogLine {
  std::size_t number = 0;  ///< from 1
  std::string text{};
  bool whole = true;  ///< false for a last line without an end: the log was cut off there
};

/// The lines of a log of UTF-8, or of UTF-16 in either order of bytes. Colours are taken off, and
/// prefixes: those of launchers and CI that are known (`[1,0]<stdout>:`, `0:`, times), and any
/// other that stands before two or more lines that the tools are known to print ("node17: "). Lines
/// that several nodes print at the same time are put together by node.
[[nodiscard]] std::vector<LogLine> log_lines(View text);

/// "line 7 looks like a row behind a prefix 'x |'", of the first line where a row of nccl-tests
/// stands behind other words; empty where there is none.
[[nodiscard]] std::string hidden_row(const std::vector<LogLine>& lines);

/// A number as a log prints it: the value, and half a unit of its last digit.
struct Printed {
  double value = 0;
  double half_unit = 0;
};

/// The out-of-place or the in-place half of a row, or all of a row where there are no halves.
struct LogHalf {
  bool in_place = false;
  std::optional<Printed> time_us{};
  std::optional<Printed> algbw_GBps{};
  std::optional<Printed> busbw_GBps{};
  std::optional<Printed> cpu_time_us{};  ///< -C: `time_us` is empty then
  std::optional<double> wrong{};         ///< differing elements
  std::optional<double> error{};         ///< before 2022: the largest relative difference
  std::optional<double> min_us{};        ///< -I: over iterations
  std::optional<double> max_us{};
  std::optional<double> p99_us{};
};

/// A row of a log, in the log's own terms.
struct LogRow {
  std::size_t line = 0;  ///< of the log, from 1
  Bytes size = 0;        ///< nccl-tests' size
  std::uint64_t count = 0;
  std::string type{};
  std::string op{};
  std::optional<int> root{};
  std::optional<int> nodes{};   ///< only where --columns names such a column, and of pairs
  std::optional<int> sender{};  ///< of a pair: what it sends goes to the receiver alone
  std::optional<int> receiver{};
  std::optional<std::uint64_t> operations{};
  std::string finished_at{};
  LibraryChoice choice{};  ///< by NCCL's own lines
  std::vector<LogHalf> halves{};
};

/// A line "Rank 0 Group 0 Pid 1 on host device 0 [..] NAME".
struct LogDevice {
  int rank = 0;
  int group = 0;
  std::string host{};
  std::string name{};
};

/// One test of a log: what stands above its rows, and they.
struct LogTable {
  std::size_t line = 0;      ///< of its first row
  std::string collective{};  ///< as the log has it; empty where it has none
  Words columns{};           ///< the names above its rows; empty where there are none
  std::string tool{};        ///< "nccl-tests", "nccl-tests 2.17.8", "OSU 7.3", "IMB 2021.3"
  std::string backend{};     ///< nccl, rccl or mpi
  std::string library{};     ///< "NCCL 2.29.2"
  std::string command{};
  Settings settings{};        ///< of its command, and by NCCL's own lines
  std::string matrix{};       ///< which of a log's matrices of pairs it is
  std::vector<Flag> flags{};  ///< of all its rows
  std::string cadence = "streaming";
  std::string aggregation{};  ///< how ranks become one time: mean, max, min, rank0
  bool medians = false;       ///< its times are medians of operations, not means
  std::optional<int> ranks{};
  std::optional<int> gpus_per_process{};
  std::vector<LogDevice> devices{};
  bool all_hosts = false;  ///< every host has a device in the list, if not every rank
  std::optional<std::uint64_t> operations{};
  std::optional<std::uint64_t> warmup{};
  std::optional<double> mean_busbw_GBps{};  ///< the footer's
  bool ended = false;                       ///< of nccl-tests: there was a footer
  std::vector<LogRow> rows{};
};

/// Ranks by what stands above the rows; of a list of devices that is not whole, those it shows.
[[nodiscard]] std::optional<int> stated_ranks(const LogTable& table);
/// The same, but nothing where the list is not whole.
[[nodiscard]] std::optional<int> listed_ranks(const LogTable& table);

/// A log, read: its tables, and what the user should know.
struct LogFile {
  std::string path{};
  std::vector<LogTable> tables{};
  Words warnings{};
  std::string gpudirect{};  ///< "yes, 16 of 16 connections", by NCCL's own lines; empty: none
};

/// The whole word as a finite number that is not negative, with its precision.
[[nodiscard]] std::optional<Printed> printed_number(View word);
/// The whole word as a number of ranks, or -1: roots.
[[nodiscard]] std::optional<int> small_number(View word);

/// The word behind a word, or empty.
[[nodiscard]] std::string word_after(const Words& words, View word);
/// The value after a word: 8 for `after_word("nGpus 8 minBytes", "nGpus")`.
[[nodiscard]] std::optional<std::uint64_t> number_after(const Words& words, View word);

/// True for a test's program: "./build/all_reduce_perf", "all_gather_perf_mpi".
[[nodiscard]] bool names_test(const std::string& word);

/// The words of a line that is the command of a test, "+ NCCL_ALGO=Ring srun ./all_reduce_perf -b
/// 8" or "Command: mpirun ...", from its first assignment or program on; nothing for titles
/// and prose that name a program.
[[nodiscard]] std::optional<Words> command_in(View line);

/// The variables that a command sets: before a program, by -x, -genv or --export.
[[nodiscard]] Settings settings_of_command(const Words& command);

/// "NCCL_ALGO set by environment to Ring" of NCCL's own log, or nothing.
[[nodiscard]] std::optional<Settings> settings_of_library(View message);

/// A command's number of processes (-n, -np, --ntasks), where it is one of mpirun, mpiexec or srun.
[[nodiscard]] std::optional<int> processes_of_command(const Words& words);

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
