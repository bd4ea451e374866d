// SPDX-License-Identifier: BSD-3-Clause
// What perftest's ib_write_bw, ib_send_lat and their like print. Rank 0 is the client, which
// writes, sends or reads. Bandwidths are in MiB/s, which older versions print as MB/sec, or by
// --report_gbits in Gb/s.

#include <algorithm>
#include <array>

#include "base/error.hpp"
#include "base/text.hpp"
#include "study/import/log_reader.hpp"

namespace busbar::study {
namespace {

/// The columns of a table by a title of them that no other has.
struct PerftestColumns {
  View title;
  std::size_t known;  ///< others may follow
  double unit;        ///< of its rates, in GB/s; 0: it has latencies
};
constexpr std::array<PerftestColumns, 3> kTables{
    {{"t_typical[usec]", 8, 0}, {"BW average[Gb/sec]", 5, 0.125}, {"BW average[M", 5, 1048576e-9}}};

/// The columns that a line names, or null.
const PerftestColumns* columns_in(View text) {
  const auto has = [&](View words) { return text.find(words) != View::npos; };
  if (!has("#bytes") || has("#sl")) return nullptr;
  const auto* found = std::ranges::find_if(kTables, has, &PerftestColumns::title);
  return found == kTables.end() ? nullptr : found;
}

/// A table for a test by its name: "RDMA_Write BW Test".
LogTable perftest_table(View test, bool latency, std::size_t line, const std::string& path) {
  for (const View other : {"Bidirectional", "Multicast", "Atomic", "forwarding"}) {
    if (test.find(other) == View::npos) continue;
    throw usage_error("{}:{}: {}: only tests of one direction between two hosts are imported", path,
                      line, one_line(test));
  }
  return {.line = line,
          .collective = "sendrecv",
          .tool = "perftest",
          .backend = "verbs",
          .cadence = latency ? "isolated" : "streaming",
          .aggregation = "rank0",
          .medians = latency,
          .ranks = 2};
}

LogHalf half_of(const std::vector<std::optional<Printed>>& cells, double unit) {
  if (unit == 0) {
    return {.time_us = cells[4],
            .min_us = cells[2]->value,
            .max_us = cells[3]->value,
            .p99_us = cells[7]->value};
  }
  const Printed rate{.value = cells[3]->value * unit, .half_unit = cells[3]->half_unit * unit};
  return {.algbw_GBps = rate, .busbw_GBps = rate};
}

/// False where a word is no number, or one is missing.
bool read_transfer(LogTable& table, const LogLine& line, const Words& words,
                   const PerftestColumns& columns, bool reads) {
  const auto cells = mapped(words, printed_number);
  const bool all_known = std::ranges::all_of(cells, &std::optional<Printed>::has_value);
  if (cells.size() < columns.known || !all_known) return false;
  const auto size = to_number<std::uint64_t>(words[0]);
  const auto operations = to_number<std::uint64_t>(words[1]);
  if (!size || !operations) return false;
  table.rows.push_back({.line = line.number,
                        .size = *size,
                        .count = *size,
                        .type = "int8",
                        .nodes = 2,
                        .sender = reads ? 1 : 0,
                        .receiver = reads ? 0 : 1,
                        .operations = *operations,
                        .halves = {half_of(cells, columns.unit)}});
  return true;
}

}  // namespace

bool is_perftest(const LogLine& line) { return columns_in(line.text) != nullptr; }

LogFile read_perftest_text(std::span<const LogLine> lines, const std::string& path,
                           const LogReading& reading) {
  LogFile log{.path = path};
  std::string test;
  const PerftestColumns* columns = nullptr;
  for (const LogLine& line : lines) {
    const Words words = split_words(line.text);
    if (line.text.ends_with(" Test")) test = line.text;
    if (const auto* above = columns_in(line.text); above != nullptr) {
      columns = above;
      log.tables.push_back(perftest_table(test, columns->unit == 0, line.number, path));
    } else if (columns != nullptr && !words.empty() && to_number<std::uint64_t>(words[0]) &&
               !read_transfer(log.tables.back(), line, words, *columns,
                              test.find("Read") != std::string::npos)) {
      bad_line(log, line, "not a row of perftest's table", reading);
    }
  }
  return log;
}

}  // namespace busbar::study
