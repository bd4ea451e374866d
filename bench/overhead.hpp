// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "harness/chunk.hpp"
#include "harness/memory_plan.hpp"
#include "harness/row_buffers.hpp"
#include "harness/sampler.hpp"
#include "model/backend.hpp"
#include "stats/summary.hpp"

namespace busbar {

inline const Collective& all_reduce() { return *find_collective("allreduce"); }

/// Buffers and calls of an out-of-place float all-reduce of one size.
struct Case {
  Case(Communicator& communicator, Bytes size)
      : buffers(communicator,
                SizePlan{.wanted = size,
                         .footprint =
                             all_reduce().footprint({.wanted = size, .element = sizeof(float)})},
                0),
        calls(buffers.calls(
            {.collective = &all_reduce(), .type = DataType::Float, .op = ReduceOp::Sum}, false)) {}

  RowBuffers buffers;
  std::vector<Call> calls;
};

inline void print_at_root(const Bootstrap& bootstrap, const std::string& line) {
  if (bootstrap.rank() != 0) return;
  fmt::print("{}\n", line);
  (void)std::fflush(stdout);
}

/// How much is measured.
struct Effort {
  bool brief = false;

  [[nodiscard]] int rounds(int whole) const { return brief ? 1 : whole; }
  [[nodiscard]] Bytes largest(Bytes whole) const { return brief ? std::min(whole, kMiB) : whole; }
};

/// Issues one operation by the library's own function, and waits for it.
using PlainCall = std::function<void(const Call& call)>;

/// Time of one operation of a loop, computed as ours is: the median over batches of the maximum
/// over ranks, with an untimed barrier after every 20 of them; long operations are timed one by
/// one.
inline double plain_loop_us(Bootstrap& bootstrap, const Call& call, int operations,
                            const PlainCall& plain) {
  constexpr int kShortOperations = 1000;
  const int batch = operations < kShortOperations ? 1 : operations / 20;
  std::vector<double> times_us(static_cast<std::size_t>(operations / batch));
  constexpr std::size_t kChunk = 20;
  for (std::size_t done = 0; done < times_us.size(); ++done) {
    if (done % kChunk == 0) bootstrap.barrier();
    const Clock::time_point start = Clock::now();
    for (int i = 0; i < batch; ++i) plain(call);
    times_us[done] = microseconds(Clock::now() - start) / batch;
  }
  bootstrap.combine(times_us, Combine::Max);
  return stats::median(times_us);
}

/// Prints our median over a plain loop of the same call on the same buffers, for some sizes.
inline void report_overhead(Bootstrap& bootstrap, Communicator& communicator,
                            const std::string& library, const Effort& effort,
                            const PlainCall& plain) {
  constexpr double kMostOverhead = 1.05;  // where an operation lasts longer than our bookkeeping
  constexpr Bytes kOverheadFrom = 64 * kKiB;
  const int rounds = effort.rounds(25);
  const double timer_s = communicator.stopwatch().cost().count();
  for (const Bytes size : {Bytes{8}, 64 * kKiB, kMiB, 64 * kMiB}) {
    if (size > effort.largest(64 * kMiB)) continue;
    const Case test(communicator, size);
    const int operations = size < kKiB ? 2000 : size > 16 * kMiB ? 5 : 100;
    StepTracker tracker;
    ChunkRunner chunks({bootstrap, bootstrap}, communicator, test.calls, {}, tracker);
    const SamplingPlan plan{
        .operations = operations, .warmup_operations = 5, .timer_cost_s = timer_s};
    std::vector<double> ours;
    std::vector<double> loop;
    for (int round = 0; round < rounds; ++round) {  // ABAB: the machine's speed drifts
      Evidence taken;
      take_samples({bootstrap, bootstrap}, chunks, plan, {}, taken);
      ours.push_back(stats::median(taken.times_us));
      loop.push_back(plain_loop_us(bootstrap, test.calls.front(), operations, plain));
    }
    const double ratio = stats::median(ours) / stats::median(loop);
    const bool too_much = size >= kOverheadFrom && ratio > kMostOverhead;
    print_at_root(bootstrap,
                  fmt::format("overhead   np={} {} {:>7}: ours {:.2f} us, plain loop {:.2f} us, "
                              "ratio {:.3f}{}",
                              bootstrap.size(), library, format_bytes(size), stats::median(ours),
                              stats::median(loop), ratio,
                              too_much ? fmt::format(" above {}", kMostOverhead) : ""));
  }
}

}  // namespace busbar
