// SPDX-License-Identifier: BSD-3-Clause
// What perftest's ib_write_bw, ib_send_lat and their like write by --out_json, which keeps the last
// size of a sweep, and print. Rank 0 is the client, which writes, sends or reads.
//
// Bandwidths are in MiB/s, which older versions print as MB/sec, or by --report_gbits in Gb/s. The
// JSON does not say which: messages per second times their size do.

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "study/import/json_values.hpp"
#include "study/import/log_reader.hpp"

namespace busbar::study {
namespace {

constexpr double kMebibytes = 1048576e-9;  // GB/s in MiB/s
constexpr double kGigabits = 0.125;        // GB/s in Gb/s

/// A table for a test by its name: "RDMA_Write_BW_Test", or "RDMA_Write BW Test" where it is
/// printed.
LogTable perftest_table(std::string_view test, std::size_t line, const std::string& path) {
  for (const std::string_view other : {"Bidirectional", "Multicast", "Atomic", "forwarding"}) {
    if (test.find(other) == std::string_view::npos) continue;
    throw usage_error("{}:{}: {}: only tests of one direction between two hosts are imported", path,
                      line, one_line(test));
  }
  const bool latency = test.find("Latency") != std::string_view::npos;
  return {.line = line,
          .collective = "sendrecv",
          .tool = "perftest",
          .backend = "verbs",
          .titles = {std::string(test)},
          .cadence = latency ? "isolated" : "streaming",
          .aggregation = "rank0",
          .medians = latency,
          .ranks = 2,
          .ended = true};
}

void add_transfer(LogTable& table, std::size_t line, std::uint64_t size, std::uint64_t operations,
                  const LogHalf& half) {
  const bool reads = table.titles.front().find("Read") != std::string::npos;
  table.rows.push_back({.line = line,
                        .size = size,
                        .count = size,
                        .type = "int8",
                        .nodes = 2,
                        .sender = reads ? 1 : 0,
                        .receiver = reads ? 0 : 1,
                        .operations = operations,
                        .halves = {half}});
}

LogHalf half_of_rate(const Printed& rate, double unit) {
  const Printed GBps{.value = rate.value * unit, .half_unit = rate.half_unit * unit};
  return {.algbw_GBps = GBps, .busbw_GBps = GBps};
}

/// Which unit makes the bandwidth what millions of messages per second are, or 0.
double bandwidth_unit(double bandwidth, const Printed& messages, std::uint64_t size) {
  constexpr double kSlack = 0.01;
  const double each = static_cast<double>(size) * 1e-3;  // GB/s in millions per second
  for (const double unit : {kMebibytes, kGigabits}) {
    const double difference = std::abs(bandwidth * unit - messages.value * each);
    if (difference <= messages.half_unit * each + kSlack * bandwidth * unit) return unit;
  }
  return 0;
}

std::optional<double> perftest_value(const Json& results, const char* key) {
  const auto printed = json_number(results, key, 0);
  return printed ? std::optional(printed->value) : std::nullopt;
}

LogHalf half_of_json(const Json& results, bool latency, std::uint64_t size,
                     const std::string& path) {
  if (latency) {
    const auto typical = json_number(results, "t_typical", 0.005);
    if (!typical) throw usage_error("{}: no t_typical: --output=latency and -D leave it out", path);
    return {.time_us = typical,
            .min_us = perftest_value(results, "t_min"),
            .max_us = perftest_value(results, "t_max"),
            .p99_us = perftest_value(results, "percentile_99")};
  }
  const auto bandwidth = json_number(results, "BW_average", 0.005);
  const auto messages = json_number(results, "MsgRate", 0.5e-6);
  const double unit = bandwidth && messages ? bandwidth_unit(bandwidth->value, *messages, size) : 0;
  if (unit > 0) return half_of_rate(*bandwidth, unit);
  throw usage_error("{}: BW_average is neither MiB/s nor Gb/s by MsgRate and MsgSize", path);
}

LogTable perftest_table(const Json& json, const std::string& path) {
  LogTable table = perftest_table(json.at("test_info").at("test").get<std::string>(), 1, path);
  const Json& results = json.at("results");
  const auto size = json_count(results, "MsgSize");
  if (!size) throw usage_error("{}: no MsgSize: --output leaves it out", path);
  add_transfer(table, 1, *size, json_count(results, "n_iterations").value_or(0),
               half_of_json(results, table.medians, *size, path));
  return table;
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

bool read_transfer(LogTable& table, const LogLine& line, PerftestColumns columns) {
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
  add_transfer(table, line.number, *size, *operations,
               latency ? LogHalf{.time_us = all[4],
                                 .min_us = all[2].value,
                                 .max_us = all[3].value,
                                 .p99_us = all[7].value}
                       : half_of_rate(all[3], unit));
  return true;
}

}  // namespace

LogFile read_perftest_json(std::string_view text, const std::string& path,
                           const LogReading& /*reading*/) {
  LogTable table = read_json(text, path, "perftest",
                             [&](const Json& json) { return perftest_table(json, path); });
  return {.path = path, .tables = {std::move(table)}};
}

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
      log.tables.push_back(perftest_table(
          columns == PerftestColumns::Latency ? test + " Latency" : test, line.number, path));
    } else if (text.empty() || text.starts_with("---")) {
      continue;
    } else if (columns != PerftestColumns::None &&
               to_number<std::uint64_t>(split_words(text).front()) &&
               !read_transfer(log.tables.back(), line, columns)) {
      bad_line(log, line, "not a row of perftest's table", reading);
    }
  }
  return log;
}

}  // namespace busbar::study
