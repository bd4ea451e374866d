// SPDX-License-Identifier: BSD-3-Clause
// What perftest's ib_write_bw, ib_send_lat and their like print. Rank 0 is the client, which
// writes, sends or reads. Bandwidths are in MiB/s, which older versions print as MB/sec, or by
// --report_gbits in Gb/s.

#include "base/error.hpp"
#include "base/text.hpp"
#include "study/import/log_reader.hpp"

namespace busbar::study {
namespace {

constexpr double kMebibytes = 1048576e-9;  // GB/s in MiB/s
constexpr double kGigabits = 0.125;        // GB/s in Gb/s

/// A table for a test by its name: "RDMA_Write BW Test".
LogTable perftest_table(std::string_view test, bool latency, std::size_t line,
                        const std::string& path) {
  for (const std::string_view other : {"Bidirectional", "Multicast", "Atomic", "forwarding"}) {
    if (test.find(other) == std::string_view::npos) continue;
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
          .ranks = 2,
          .ended = true};
}

LogHalf half_of_rate(const Printed& rate, double unit) {
  const Printed GBps{.value = rate.value * unit, .half_unit = rate.half_unit * unit};
  return {.algbw_GBps = GBps, .busbw_GBps = GBps};
}

/// The columns of a table that stand above its rows, or nothing.
enum class PerftestColumns { None, Mebibytes, Gigabits, Latency };

PerftestColumns perftest_columns(std::string_view text) {
  const auto has = [&](std::string_view words) { return text.find(words) != std::string::npos; };
  if (!has("#bytes") || has("#sl")) return PerftestColumns::None;
  if (has("t_typical[usec]")) return PerftestColumns::Latency;
  if (has("BW average[Gb/sec]")) return PerftestColumns::Gigabits;
  return has("BW average[M") ? PerftestColumns::Mebibytes : PerftestColumns::None;
}

/// A row's numbers; nothing where a word is none. Columns behind those that are known may follow.
std::optional<std::vector<Printed>> numbers_of(const std::vector<std::string>& words,
                                               std::size_t least) {
  std::vector<Printed> numbers;
  for (const std::string& word : words) {
    const auto number = printed_number(word);
    if (!number) return std::nullopt;
    numbers.push_back(*number);
  }
  return numbers.size() < least ? std::nullopt : std::optional(numbers);
}

bool read_transfer(LogTable& table, const LogLine& line, PerftestColumns columns, bool reads) {
  const std::vector<std::string> words = split_words(line.text);
  const auto size = words.empty() ? std::nullopt : to_number<std::uint64_t>(words[0]);
  const auto operations = words.size() < 2 ? std::nullopt : to_number<std::uint64_t>(words[1]);
  constexpr std::size_t kLatencies = 8;
  constexpr std::size_t kRates = 5;
  const bool latency = columns == PerftestColumns::Latency;
  const auto numbers = numbers_of(words, latency ? kLatencies : kRates);
  if (!size || !operations || !numbers) return false;
  const auto& all = *numbers;
  const double unit = columns == PerftestColumns::Gigabits ? kGigabits : kMebibytes;
  table.rows.push_back({.line = line.number,
                        .size = *size,
                        .count = *size,
                        .type = "int8",
                        .nodes = 2,
                        .sender = reads ? 1 : 0,
                        .receiver = reads ? 0 : 1,
                        .operations = *operations,
                        .halves = {latency ? LogHalf{.time_us = all[4],
                                                     .min_us = all[2].value,
                                                     .max_us = all[3].value,
                                                     .p99_us = all[7].value}
                                           : half_of_rate(all[3], unit)}});
  return true;
}

}  // namespace

bool is_perftest(const LogLine& line) {
  return perftest_columns(line.text) != PerftestColumns::None;
}

LogFile read_perftest_text(std::span<const LogLine> lines, const std::string& path,
                           const LogReading& reading) {
  LogFile log{.path = path};
  std::string test;
  PerftestColumns columns = PerftestColumns::None;
  for (const LogLine& line : lines) {
    const std::string_view text = trim(line.text);
    if (text.ends_with(" Test")) test = text;
    if (const PerftestColumns above = perftest_columns(text); above != PerftestColumns::None) {
      columns = above;
      log.tables.push_back(
          perftest_table(test, columns == PerftestColumns::Latency, line.number, path));
    } else if (text.empty() || text.starts_with("---")) {
      continue;
    } else if (columns != PerftestColumns::None &&
               to_number<std::uint64_t>(split_words(text).front()) &&
               !read_transfer(log.tables.back(), line, columns,
                              test.find("Read") != std::string::npos)) {
      bad_line(log, line, "not a row of perftest's table", reading);
    }
  }
  return log;
}

}  // namespace busbar::study
