// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "harness/evidence.hpp"
#include "harness/job.hpp"
#include "model/communicator.hpp"
#include "model/side_load.hpp"

namespace busbar {

/// Of a party in a window, so that there is a median.
inline constexpr double kFewestOperations = 5;

/// How often the operations of a party come; the same on every rank.
struct Pace {
  double start_us = 0;
  double gap_us = 0;
  double time_us = 0;  ///< of one operation, as far as is known
  std::uint64_t operations = 0;

  /// As many operations as fit in a window; at least a few.
  [[nodiscard]] std::uint64_t that_fit(double window_us) const;
};

/// An operation of a party.
struct Issue {
  std::size_t party = 0;
  std::uint64_t operation = 0;

  [[nodiscard]] bool operator==(const Issue&) const = default;
};

/// All operations of a window by the time at which they are due. Every rank issues those of its own
/// parties in this one order: no two ranks ever issue operations of two communicators in opposite
/// orders, which NCCL and blocking calls would wait on for ever.
[[nodiscard]] std::vector<Issue> order_of_issue(std::span<const Pace> paces);

/// Start and time of each operation of a party.
struct PartyTimes {
  std::vector<double> start_us{};
  std::vector<double> time_us{};
};

/// Of each party the times of those operations that ran while all were at work: when the first is
/// done, the others have the links to themselves.
[[nodiscard]] std::vector<std::vector<double>> shared_times(std::span<const PartyTimes> parties);

/// By which factor something takes longer together than alone.
struct SlowdownFactor {
  double factor = 1;  ///< median of the turns' ratios
  /// Its exact 95 % interval, as if turns were independent; of six turns or more.
  std::optional<std::pair<double, double>> interval{};
};

/// From one time of each turn; both have as many, one at least. A time that is infinite is of work
/// that came to a halt; no factor where that is so of half of them.
[[nodiscard]] std::optional<SlowdownFactor> slowdown_of(std::span<const double> alone,
                                                        std::span<const double> together);

/// Ranks that repeat one operation, by themselves or beside the other parties, as this rank is one
/// of them.
struct Party {
  std::string name{};
  double start_us = 0;                   ///< of the first operation, after the window's begin
  double gap_us = 0;                     ///< from the end of an operation to the start of the next
  Communicator* communicator = nullptr;  ///< null: this rank is not in it
  Call call{};
  std::uint64_t batch = 1;  ///< operations that are issued at once
  std::size_t sets = 1;     ///< groups of ranks that do the same, each by itself
  std::size_t set = 0;      ///< this rank's
};

/// Measures parties in turns: each alone, then all together, then the other way round, so that what
/// drifts evenly cancels. Beside them each rank may have work of its own (--load beside), which is
/// a party, too. Collective over the job.
class Together {
 public:
  /// Times are those of the slowest of `sharing`. `load` is null on ranks that have none.
  Together(const Job& job, Bootstrap& sharing, std::vector<Party> parties, bool with_load = false,
           SideLoad* load = nullptr);

  /// Runs every party alone, then all together, so that their times are known.
  void warm_up();
  /// A turn, in windows of this length, into the evidence of each party.
  void take_turn(double window_us, bool backwards, std::span<Evidence> evidence);

 private:
  enum State : std::size_t { Alone, AllTogether };

  /// A party within a window.
  struct Work {
    Pace pace{};
    PartyTimes times{};  ///< of this rank, then of all
    bool running = false;
    std::uint64_t operation = 0;      ///< the last that began
    Clock::time_point began{};        ///< it
    Clock::time_point due{};          ///< the next
    std::array<double, 2> last_us{};  ///< median of the last window in each state
  };

  /// Times of the parties at work while all of them were.
  std::vector<std::vector<double>> run_window(std::span<const std::size_t> at_work, State state,
                                              double window_us);
  std::vector<std::vector<double>> run_alone(double window_us, Turn& turn);
  void start_load();
  /// Passes per second of all ranks since then.
  [[nodiscard]] double stop_load();
  void issue();
  /// Notes the times of what is complete. Returns whether anything ran.
  bool end_complete(Clock::time_point begin);

  const Job& job_;
  Bootstrap& sharing_;
  std::vector<Party> parties_;
  std::vector<Work> work_;
  bool with_load_;
  SideLoad* load_;
};

}  // namespace busbar
