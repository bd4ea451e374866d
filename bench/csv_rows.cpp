// SPDX-License-Identifier: BSD-3-Clause
// A million rows of a CSV: read and summarized as busbar compare does, into a median for every size
// and placement. Exit 1 where the best of three lasts two seconds: other programs on the machine
// only ever lengthen a run. Beside it, without a limit: reading all columns of all rows into
// memory, as busbar plot and report do.
//   csv_rows [ROWS]
#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <string>

#include <fmt/format.h>

#include "base/units.hpp"
#include "format/csv_writer.hpp"
#include "study/compare/comparison.hpp"

namespace busbar {
namespace {

constexpr std::size_t kSizes = 31;
constexpr double kMostSeconds = 2;

/// Rows as a run of --cycles writes them: 31 sizes, both placements, every measured column filled.
void write_rows(const std::string& path, std::size_t rows) {
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
  for (std::size_t i = 0; i < rows; ++i) {
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

double seconds_since(Clock::time_point start) { return Seconds(Clock::now() - start).count(); }

int run(std::size_t wanted) {
  const auto folder = std::filesystem::temp_directory_path();
  const std::string path = (folder / "busbar-bench-rows.csv").string();
  write_rows(path, wanted);
  std::array<double, 3> summarized{};
  std::size_t medians = 0;
  for (double& seconds : summarized) {
    const Clock::time_point start = Clock::now();
    medians = study::load_launch(path).rows.size();
    seconds = seconds_since(start);
  }
  const Clock::time_point start = Clock::now();
  const std::size_t rows = study::load_dataset(path).records.size();
  const double loaded = seconds_since(start);
  const auto megabytes = std::filesystem::file_size(path) / 1'000'000;
  std::filesystem::remove(path);
  const double best = *std::min_element(summarized.begin(), summarized.end());
  fmt::print("csv_rows: {} rows, {} MB: {} medians in {:.2f} s of {} s (runs: {:.2f})\n", rows,
             megabytes, medians, best, kMostSeconds, fmt::join(summarized, ", "));
  fmt::print("csv_rows: all columns into memory: {:.2f} s\n", loaded);
  return best < kMostSeconds && rows == wanted && medians == 2 * kSizes ? 0 : 1;
}

}  // namespace
}  // namespace busbar

int main(int argc, char** argv) {
  constexpr std::size_t kRows = 1'000'000;
  return busbar::run(argc == 2 ? std::stoull(argv[1]) : kRows);
}
