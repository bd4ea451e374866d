// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "harness/runner.hpp"

namespace busbar {

/// Goes over the rounds of a launch, and has the communicators of one at a time, from connecting to
/// giving them back. Each group connects by itself: parts of one communicator of all ranks
/// (ncclCommSplit) would need that one first, with its connections and memory, for as long as the
/// launch lasts.
class RoundRunner {
 public:
  /// Both outlive it.
  RoundRunner(const Job& job, Outputs& outputs)
      : job_(job), table_(job.options, job.collective, job.plan), outputs_(outputs) {}

  /// Connects the first round that has something to measure; the first of all where none has.
  /// Collective.
  void connect_first();
  /// Goes over all rounds as often as was asked for, and connects those that have something to
  /// measure. Collective.
  void run();

  /// @name Of the round that is connected
  /// @{
  [[nodiscard]] const Run& connected() const { return *run_; }
  /// What the library took for a first operation.
  [[nodiscard]] Bytes library_growth() const { return library_growth_; }
  /// @}
  /// -M: the most of all rounds and ranks. Collective.
  [[nodiscard]] std::string memory_use_text();

 private:
  /// The order of the rounds in a pass.
  [[nodiscard]] std::vector<std::size_t> order(std::uint64_t pass) const;
  [[nodiscard]] bool is_done(std::size_t round, std::uint64_t pass) const;
  /// Connects the groups of a round where it is not the one that is connected, which is given back.
  void connect(std::size_t round);
  void disconnect();
  void begin_step(std::size_t round, const std::string& what);
  /// Measures what the rows of the round are planned and judged by. Collective.
  void complete(Run& run);
  void note_memory_use();

  const Job& job_;
  RowTable table_;
  Outputs& outputs_;
  DeviceMemoryUse memory_use_{};
  std::optional<std::size_t> round_{};
  // The last is given back first.
  std::unique_ptr<Bootstrap> part_{};
  std::unique_ptr<Communicator> communicator_{};
  std::optional<Run> run_{};
  std::optional<Runner> runner_{};
  Bytes library_growth_ = 0;
};

}  // namespace busbar
