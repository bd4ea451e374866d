// SPDX-License-Identifier: BSD-3-Clause
// A million rows of a CSV: read and summarized into medians as busbar compare does, which is one
// for every size and placement. Exit 1 where that lasts two seconds.
#include <array>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>

#include "base/units.hpp"
#include "report/csv_text.hpp"
#include "study/compare/launch_rows.hpp"

namespace busbar {
namespace {

constexpr std::size_t kRows = 1'000'000;
constexpr double kMostSeconds = 2;
constexpr std::array<std::string_view, 15> kColumns{"type",
                                                    "op",
                                                    "root",
                                                    "ranks",
                                                    "group",
                                                    "sender",
                                                    "receiver",
                                                    "size_bytes",
                                                    "in_place",
                                                    "status",
                                                    "time_median_us",
                                                    "time_ci_low_us",
                                                    "time_ci_high_us",
                                                    "busbw_GBps",
                                                    "device_set"};

/// Rows as a run of --cycles writes them: 31 sizes, both placements, every measured column filled.
void write_rows(const std::string& path) {
  std::ofstream file(path);
  file << "# busbar: 0.1.0\n" << csv_header();
  Record record{.collective = "allreduce",
                .backend = "mpi",
                .ranks = 16,
                .nodes = 1,
                .type = "float",
                .op = "sum",
                .flags = "oversubscribed",
                .cadence = "streaming",
                .samples = 380,
                .operations = 380,
                .stop_reason = "time-budget",
                .time_ci_low_us = 7298.184,
                .time_ci_high_us = 9594.972,
                .time_mean_us = 8785.255,
                .time_min_us = 5454.015,
                .time_p90_us = 10878.23,
                .time_p99_us = 18454.54,
                .time_max_us = 43075.11,
                .start_skew_us = 1991.451,
                .wrong = 0,
                .autocorrelation_time = 1.224571,
                .batch = 1,
                .warmup_operations = 20,
                .minor_faults_per_op = 0.125,
                .involuntary_switches_per_op = 3.5,
                .aggregation = "max",
                .progress = "yield",
                .cache = "warm",
                .finished_at = "2026-11-21 08:34:36",
                .host_time_us = 8501.331};
  constexpr std::size_t kSizes = 31;
  for (std::size_t i = 0; i < kRows; ++i) {
    record.in_place = i % 2 == 1;
    record.size = Bytes{1} << (i / 2 % kSizes);
    record.count = record.size / 4;
    record.time_median_us = 8431.062 + static_cast<double>(i % 97);
    record.algbw_GBps = 0.1243706 + static_cast<double>(i % 89) / 1000;
    record.busbw_GBps = *record.algbw_GBps * 1.875;
    record.cycle = i / (2 * kSizes);
    file << csv_row(record);
  }
}

int run() {
  const auto folder = std::filesystem::temp_directory_path();
  const std::string path = (folder / "busbar-bench-rows.csv").string();
  write_rows(path);
  const Clock::time_point start = Clock::now();
  const std::vector<Dataset> datasets{load_dataset(path, kColumns)};
  const Clock::time_point read = Clock::now();
  const std::size_t medians = study::launch_rows(datasets).size();
  const Clock::time_point end = Clock::now();
  const double total = Seconds(end - start).count();
  fmt::print(
      "csv_rows: {} rows, {} MB, read in {:.2f} s, {} medians in {:.2f} s: {:.2f} s of {} s\n",
      datasets.front().records.size(), std::filesystem::file_size(path) / 1'000'000,
      Seconds(read - start).count(), medians, Seconds(end - read).count(), total, kMostSeconds);
  std::filesystem::remove(path);
  return 0;
}

}  // namespace
}  // namespace busbar

int main() { return busbar::run(); }
