// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdio>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "format/row_halves.hpp"
#include "format/writer.hpp"
#include "model/record.hpp"

namespace busbar {

/// Counts who is last to arrive in how many measurements, for a line below a table.
class LateCount {
 public:
  void add(const Record& record);
  /// "last to arrive: rank 3 on h3 in 5 of 6 measurements, late by up to 203 us; ..."; empty where
  /// none was named.
  [[nodiscard]] std::string text() const;

 private:
  struct Late {
    std::size_t measurements = 0;
    double most_us = 0;
  };
  std::map<std::string, Late> late_;  // by rank and host
  std::size_t measured_ = 0;
};

/// nccl-tests' table to the letter: 13 words a row (21 with -I), both footers, one line per device.
/// What else there is to say stands on '#' lines without the words that its readers look for.
class ConsoleTable final : public Writer {
 public:
  /// `stream` is stdout but for tests; `halves` are the placements that will be written.
  ConsoleTable(std::FILE* stream, HalfJoiner::Halves halves);

  void begin(const RunContext& context) override;
  void write(const Row& row) override;
  void end(const RunSummary& summary) override;

 private:
  void print(const std::string& line);
  void print_line(const RowHalves& line);
  [[nodiscard]] std::string remark(const Record& record, std::string_view placement);
  void note(const Record& record);
  [[nodiscard]] std::string title_lines() const;
  [[nodiscard]] std::string half_row(const std::optional<Row>& half) const;
  [[nodiscard]] std::string per_operation(std::span<const double> samples_us) const;

  std::FILE* stream_;
  HalfJoiner halves_;
  RunContext context_;
  Bytes pair_size_ = 0;                          // the largest of a pair
  std::map<std::pair<int, int>, double> rates_;  // GB/s by sender and receiver, of that size
  std::vector<Record> together_;                 // rows that others ran beside
  std::set<std::string> told_;                   // why rows were skipped: each reason once
  std::size_t over_budget_ = 0;
  std::size_t measured_ = 0;
  std::size_t without_choice_ = 0;
  LateCount late_;
};

/// A time in us as nccl-tests prints it: as many decimals, two at most, as fit in seven characters.
[[nodiscard]] std::string console_time(double time_us);

}  // namespace busbar
