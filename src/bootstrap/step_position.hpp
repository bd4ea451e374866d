// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace busbar {

/// How far a rank is. All ranks take the same steps, and operations in them, in the same order, so
/// that the smaller is behind. Sent between ranks as it is.
struct StepPosition {
  std::uint64_t step = 0;        ///< number of the step
  std::uint64_t point = 0;       ///< in the step: 2n-1 in operation n, 2n after it, 0 before all
  double idle_s = 0;             ///< since the rank made progress
  std::array<char, 128> text{};  ///< what the step is
};

/// "all-reduce 1 MiB in place, timing, in operation 37".
[[nodiscard]] std::string to_string(const StepPosition& position);

/// What a rank answers when it is asked where it is.
struct RankPosition {
  int rank = 0;
  std::string host{};
  std::optional<StepPosition> position{};  ///< nothing: it does not answer
};

/// Names the ranks of a job without progress that hold the others up: those that do not answer,
/// else those that are behind. `ranks` are all that were asked, of so many. Pure.
[[nodiscard]] std::string describe_stall(const std::vector<RankPosition>& ranks, int of);

/// Called from a thread of the bootstrap's own.
struct TcpEvents {
  /// A connection was refused.
  std::function<void(const std::string& line)> notice{};
  /// A rank has ended before the others; this process ends after it. Empty: a launcher's business.
  std::function<void(const std::string& what)> lost{};
  /// Where this rank is.
  std::function<StepPosition()> position = [] { return StepPosition{}; };
  /// At rank 0: another rank has made no progress for too long.
  std::function<void()> stalled = [] {};
  std::chrono::milliseconds patience{2000};  ///< with a rank that is asked where it is
};

}  // namespace busbar
