// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdio>
#include <optional>
#include <string>

#include "report/writer.hpp"

namespace busbar {

/// nccl-tests' table to the letter: 13 words a row, both footers, one line per device. What else
/// there is to say stands on '#' lines without the words that its readers look for.
class ConsoleTable final : public Writer {
 public:
  struct Halves {
    bool out_of_place = true;
    bool in_place = true;
  };

  /// `stream` is stdout but for tests; `halves` are the placements that will be written.
  ConsoleTable(std::FILE* stream, Halves halves);

  void begin(const RunContext& context) override;
  void write(const Record& record, std::span<const double> samples_us) override;
  void end(const RunSummary& summary) override;

 private:
  void print(const std::string& line);
  void print_pair(const Record& either);
  void count(const Record& record);

  std::FILE* stream_;
  Halves halves_;
  bool timestamps_ = false;
  std::string nccl_name_;
  std::optional<Record> out_of_place_;
  std::optional<Record> in_place_;
  std::size_t over_budget_ = 0;
  std::size_t measured_ = 0;
};

/// A time in us as nccl-tests prints it: as many decimals, two at most, as fit in seven characters.
[[nodiscard]] std::string console_time(double time_us);

}  // namespace busbar
