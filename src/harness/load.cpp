// SPDX-License-Identifier: BSD-3-Clause
#include "harness/load.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include "model/agreement.hpp"
#include "stats/summary.hpp"

namespace busbar {
namespace {

void spin_for(Seconds time) {
  const Clock::time_point start = Clock::now();
  while (Seconds{Clock::now() - start} < time) {
  }
}

constexpr int kTurns = 5;
constexpr int kFewestTurns = 3;
constexpr int kBlocks = 3;           // of a turn
constexpr double kLongestBlock = 1;  // s, of a block
constexpr double kShortestBlock = 1e-3;

class BesideMeasurement {
 public:
  BesideMeasurement(const RoundGroup& round_group, ChunkRunner& chunks, SideLoad* load,
                    std::uint64_t batch, double budget_s)
      : round_group_(round_group),
        chunks_(chunks),
        load_(load),
        batch_(batch),
        block_s_(std::clamp(budget_s / (kTurns * kBlocks), kShortestBlock, kLongestBlock)) {}

  /// Forwards, then backwards: what drifts evenly cancels.
  [[nodiscard]] BesideTurn take(bool backwards) {
    BesideTurn turn;
    if (!backwards) turn.alone_us = run_operations();
    if (backwards) turn.load_alone = run_load();
    start();
    turn.loaded_us = run_operations();
    turn.load_beside = stop();
    if (!backwards) turn.load_alone = run_load();
    if (backwards) turn.alone_us = run_operations();
    std::array<double, 2> rates{turn.load_alone, turn.load_beside};
    round_group_.members.combine(rates, Combine::Sum);
    turn.load_alone = rates[0];
    turn.load_beside = rates[1];
    return turn;
  }

 private:
  void start() {
    round_group_.world.barrier();
    if (load_ != nullptr) load_->start();
  }
  [[nodiscard]] double stop() { return load_ != nullptr ? load_->stop() : 0; }

  [[nodiscard]] double run_load() {
    start();
    std::this_thread::sleep_for(Seconds{block_s_});
    return stop();
  }

  /// Mean time of an operation of a block. Chunks grow, as their time beside a load is not known
  /// before. It is the same on all ranks.
  [[nodiscard]] double run_operations() {
    constexpr std::uint64_t kMostGrowth = 4;
    constexpr std::uint64_t kMostBatches = 4096;
    std::vector<double> times_us;
    std::uint64_t batches = 1;
    for (double spent_s = 0; spent_s < block_s_;) {
      const ChunkResult chunk = chunks_.run(ChunkShape::of(batches * batch_, batch_));
      append(times_us, chunk.samples_us);
      spent_s += chunk.elapsed_s;
      const double fit = (block_s_ - spent_s) / chunk.elapsed_s * static_cast<double>(batches);
      const std::uint64_t most = std::min(kMostGrowth * batches, kMostBatches);
      batches = static_cast<std::uint64_t>(std::clamp(fit, 1.0, static_cast<double>(most)));
    }
    return std::accumulate(times_us.begin(), times_us.end(), 0.0) /
           static_cast<double>(std::max<std::size_t>(1, times_us.size()));
  }

  const RoundGroup& round_group_;
  ChunkRunner& chunks_;
  SideLoad* load_;
  std::uint64_t batch_;
  double block_s_;
};

}  // namespace

RankLoad::RankLoad(const Options& options, Bootstrap& world, Communicator& communicator)
    : communicator_(communicator), loads_(options.loads_before()) {
  delay(options, world.rank());
  if (!options.load) return;
  const bool beside = options.load->beside;
  if (!beside && options.load->spin > Seconds{0}) {
    turns_ =
        static_cast<std::uint64_t>(world.largest(spinning_rate()) * options.load->spin.count());
  }
  agree_on(world, [&] {
    if (beside) {
      if (auto work = communicator.side_work(*options.load)) beside_.emplace(std::move(work));
    } else if (options.load->copy > 0) {
      copied_ = options.load->copy;
      from_ = communicator.allocate(copied_);
      to_ = communicator.allocate(copied_);
    }
  });
}

void RankLoad::delay(const Options& options, int rank) {
  delays_ = options.inject_delay.has_value();
  delay_ = delays_ && options.inject_delay->rank == rank ? options.inject_delay->time : Seconds{0};
}

void RankLoad::run() {
  if (copied_ > 0) communicator_.copy(to_.data(), from_.data(), copied_);
  if (turns_ > 0) spin(turns_);
  if (delay_ > Seconds{0}) spin_for(delay_);
}

BesideEffect effect_of(std::span<const BesideTurn> turns) {
  constexpr double kHalted = std::numeric_limits<double>::infinity();
  std::vector<double> times;
  std::vector<double> operations;
  std::vector<double> loads;
  for (const BesideTurn& turn : turns) {
    times.push_back(turn.loaded_us);
    operations.push_back(turn.loaded_us / turn.alone_us);
    loads.push_back(turn.load_beside > 0 ? turn.load_alone / turn.load_beside : kHalted);
  }
  BesideEffect effect{.loaded_us = stats::median(times),
                      .operation_slowdown = stats::median(operations)};
  const double slowdown = stats::median(loads);
  if (slowdown < kHalted) effect.load_slowdown = slowdown;
  return effect;
}

BesideEffect measure_beside(const RoundGroup& round_group, ChunkRunner& chunks, SideLoad* load,
                            std::uint64_t batch, double budget_s) {
  chunks.begin_phase("timing beside the load");
  BesideMeasurement measurement(round_group, chunks, load, batch, budget_s);
  std::vector<BesideTurn> turns;
  const Clock::time_point begin = Clock::now();
  for (int turn = 0; turn < kTurns; ++turn) {
    const double spent_s = round_group.world.largest(Seconds{Clock::now() - begin}.count());
    if (turn >= kFewestTurns && spent_s > budget_s) break;
    turns.push_back(measurement.take(turn % 2 == 1));
  }
  return effect_of(turns);
}

}  // namespace busbar
