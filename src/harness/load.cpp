// SPDX-License-Identifier: BSD-3-Clause
#include "harness/load.hpp"

#include "model/agreement.hpp"

namespace busbar {
namespace {

void spin_for(Seconds time) {
  const Clock::time_point start = Clock::now();
  while (Seconds{Clock::now() - start} < time) {
  }
}

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

}  // namespace busbar
