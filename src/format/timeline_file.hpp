// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "format/csv_reader.hpp"
#include "format/output_file.hpp"
#include "format/writer.hpp"
#include "stats/timeline.hpp"

namespace busbar {

/// A line of --timeline: the operations of an interval of a long row.
struct TimelineInterval {
  double at_s = 0;     ///< its end, from the begin of timing
  double seconds = 0;  ///< its length
  std::uint64_t operations = 0;
  double median_us = 0;
  double p99_us = 0;
  double max_us = 0;
  std::optional<double> busbw_GBps{};  ///< of the median, as a row's
  double operations_per_s = 0;         ///< of the time of the operations
  Bytes checked_bytes = 0;             ///< of the last operation's results, on all ranks
  std::uint64_t wrong = 0;             ///< elements
  /// The same rate of each part of 0.1 s that ended in it, counting time in which none could begin.
  std::vector<double> part_rates{};

  [[nodiscard]] stats::TimelinePoint point() const {
    return {.at_s = at_s, .median_us = median_us, .p99_us = p99_us};
  }
};

/// What a line of a timeline begins with on standard output, where the CSV of rows goes too.
inline constexpr std::string_view kTimelinePrefix = "# timeline: ";

/// The CSV of --timeline: the usual head, a line per interval, at the end what was found. On
/// standard output the lines are comments.
class TimelineWriter final : public Writer {
 public:
  explicit TimelineWriter(const std::string& path);

  void begin(const RunContext& context) override;
  /// On disk when it returns.
  void append(const TimelineInterval& interval);
  void write(const Row& row) override;
  void end(const RunSummary& summary) override;

 private:
  void add(std::string_view lines);

  OutputFile file_;
};

/// A timeline, read back; its events: stats::find_events(timeline).
struct TimelineFile {
  Facts facts{};
  stats::Timeline timeline{};
  double seconds = 0;       ///< when its last interval ended
  Bytes checked_bytes = 0;  ///< of all intervals
  std::uint64_t wrong = 0;
};

/// Throws a usage error, with file and line, where it is no timeline.
[[nodiscard]] TimelineFile read_timeline(const std::string& path);

}  // namespace busbar
