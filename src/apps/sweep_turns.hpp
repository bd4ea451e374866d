// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "base/child_process.hpp"
#include "base/interrupt_watch.hpp"
#include "base/text.hpp"
#include "format/progress_line.hpp"
#include "study/sweep/sweep.hpp"

namespace busbar {

/// What the launches of a turn differ in.
struct TurnLaunch {
  std::string text{};  ///< the variant's
  Variables variables{};
  Words options{};  ///< of the program
};

/// The command of a launch: its variables reach what starts the ranks and, whatever that passes on,
/// every rank; the CSV is on stdout.
[[nodiscard]] Words sweep_command(const Words& command, const TurnLaunch& launch);

/// Launches in turns, each once in a turn, in an order that is drawn anew.
class SweepTurns {
 public:
  SweepTurns(Words command, std::string folder, Seconds timeout, std::uint64_t seed)
      : command_(std::move(command)),
        folder_(std::move(folder)),
        timeout_(timeout),
        random_(seed) {}

  /// Called after each whole turn with the number of a launch and the path of its CSV.
  using Take = std::function<void(std::size_t launch, const std::string& path)>;
  /// Makes so many turns. One that failed twice and never went well is made no more. False where it
  /// was interrupted: the turn that ran then is lost.
  [[nodiscard]] bool run(std::span<const TurnLaunch> launches, std::size_t turns, const Take& take,
                         const std::function<void()>& after_turn);

  [[nodiscard]] std::size_t complete() const { return complete_; }
  /// Of the last run.
  [[nodiscard]] const std::vector<study::FailedLaunch>& failures() const { return failures_; }

 private:
  struct Counts {
    std::size_t good = 0;
    std::size_t bad = 0;
  };
  enum class End { Good, Bad, Stopped };

  /// Of a turn's launches; none where the first does not run, with which all are compared.
  [[nodiscard]] std::vector<std::size_t> next_order();
  [[nodiscard]] End launch(const TurnLaunch& launch, const std::string& path, Counts& counts);

  Words command_;
  std::string folder_;
  Seconds timeout_;
  std::mt19937_64 random_;
  InterruptWatch watch_{};
  ProgressLine progress_{};
  std::vector<Counts> counts_{};
  std::size_t complete_ = 0;
  std::size_t made_ = 0;
  std::vector<study::FailedLaunch> failures_{};
};

}  // namespace busbar
