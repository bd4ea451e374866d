// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "harness/runner.hpp"
#include "model/backend.hpp"

namespace busbar {

/// What all rounds of a launch have in common, and what outlives them.
struct RoundSetup {
  const Options& options;
  const Collective& collective;
  std::string_view backend;
  bool on_devices = false;
  /// Backend::connect.
  std::function<std::unique_ptr<Communicator>(Bootstrap& members)> connect;
  Bootstrap& world;
  const RowTable& table;
  Outputs& outputs;
  const RankMap& rank_map;
  const std::vector<Device>& devices;
  const std::optional<HostTopology>& topology;
  std::span<const Options> variants{};
  Progress progress = Progress::Block;
  Watchdog& watchdog;
};

/// Goes over the rounds of a launch, and has the communicators of one at a time, from connecting to
/// giving them back. Each group connects by itself: parts of one communicator of all ranks
/// (ncclCommSplit) would need that one first, with its connections and memory, for as long as the
/// launch lasts.
class RoundRunner {
 public:
  explicit RoundRunner(RoundSetup setup) : setup_(std::move(setup)) {}

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

  RoundSetup setup_;
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
