// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "format/timeline_file.hpp"
#include "harness/chunk.hpp"
#include "harness/verifier.hpp"
#include "stats/stop_rule.hpp"
#include "stats/time_histogram.hpp"
#include "stats/timeline.hpp"

namespace busbar {

struct Evidence;

/// Called with each interval when it has ended.
using IntervalReport = std::function<void(const TimelineInterval&)>;

/// What the leader of a row decides before each chunk of a soak.
struct SoakStep {
  std::uint64_t samples = 0;  ///< of the next chunk
  bool ends_interval = false;
  bool checks = false;  ///< at the interval's end
  stats::StopReason stop = stats::StopReason::None;
};

/// --duration: a row whose operations go on until its time is over, in intervals, with memory that
/// does not grow with them. SIGINT or SIGTERM ends it in order at the next chunk, and the one
/// that reaches this rank late, when another has ended the row, does nothing; the fifth ends the
/// process.
class Soak {
 public:
  struct Settings {
    Seconds duration{0};
    Seconds interval{1};
    Bytes checked_bytes = 0;  ///< by a check, on all ranks
    /// Checks the results of the last operation. Collective; empty: nothing is checked.
    std::function<DataCheck()> check{};
    IntervalReport report{};  ///< may be empty
    Clock::time_point (*clock)() = Clock::now;
  };

  explicit Soak(Settings settings);

  /// The clock starts.
  void begin();
  /// What is next, where a sample lasts about so long. Only on the rank that decides.
  [[nodiscard]] SoakStep decide(double sample_s) const;
  void add(const ChunkResult& chunk);
  /// Collective.
  void end_interval(bool check);

  /// What the row is made of: of what chunks have one of, the median. What happened is found on the
  /// rank that writes the row.
  void finish(Evidence& evidence) const;

 private:
  [[nodiscard]] double now_s() const { return Seconds(settings_.clock() - start_).count(); }
  double lost_s(double between_s);

  Settings settings_;
  Clock::time_point start_{};
  TimelineInterval interval_{};  // that goes on; parts_ of it are over
  stats::TimeHistogram in_interval_;
  double part_operations_ = 0;  // of the part that goes on
  double part_time_s_ = 0;
  std::size_t parts_ = 0;   // of the run that are over
  double chunk_end_s_ = 0;  // of the last one, and what followed on this rank alone
  /// The least time between operations, without and with a check.
  std::array<double, 2> usual_s_{std::numeric_limits<double>::infinity(),
                                 std::numeric_limits<double>::infinity()};
  bool has_checked_ = false;  // since the last chunk
  double next_end_s_ = 0;
  double check_s_ = 0;  // that the last check took
  double checked_at_s_ = 0;
  Bytes checked_ = 0;
  DataCheck verdict_{};
  stats::Timeline timeline_;
  stats::TimeHistogram times_;
  stats::TimeHistogram skews_;
  stats::TimeHistogram issuing_;
  stats::TimeHistogram host_times_;
  stats::TimeHistogram loads_;
};

}  // namespace busbar
