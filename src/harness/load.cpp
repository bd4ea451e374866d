// SPDX-License-Identifier: BSD-3-Clause
#include "harness/load.hpp"

namespace busbar {
namespace {

/// Work for the processor alone, which no compiler leaves out.
void spin(std::uint64_t turns) {
  volatile std::uint64_t state = 1;
  for (std::uint64_t turn = 0; turn < turns; ++turn) state = state * 6364136223846793005U + turn;
}

void spin_for(Seconds time) {
  const Clock::time_point start = Clock::now();
  while (Seconds{Clock::now() - start} < time) {
  }
}

/// Turns per second of this rank's processor: the best of several short tries, as others may take
/// it away for a while.
double spinning_rate() {
  constexpr std::uint64_t kTurns = 20000;
  constexpr int kTries = 50;
  double best = 0;
  for (int i = 0; i < kTries; ++i) {
    const Clock::time_point start = Clock::now();
    spin(kTurns);
    best = std::max(best, static_cast<double>(kTurns) / Seconds{Clock::now() - start}.count());
  }
  return best;
}

}  // namespace

RankLoad::RankLoad(const Options& options, Bootstrap& world, Communicator& communicator)
    : communicator_(communicator), loads_(options.load.has_value()) {
  delay(options, world.rank());
  if (!options.load) return;
  if (options.load->spin > Seconds{0}) {
    turns_ =
        static_cast<std::uint64_t>(world.largest(spinning_rate()) * options.load->spin.count());
  }
  copied_ = options.load->copy;
  if (copied_ == 0) return;
  from_ = communicator.allocate(copied_);
  to_ = communicator.allocate(copied_);
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

}  // namespace busbar
