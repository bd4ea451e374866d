// SPDX-License-Identifier: BSD-3-Clause
// Ratios of the harness against plain MPI, each within one run: see `make bench`.
//   mpirun -np 2  mpi_ratios overhead   our median over a plain loop of the same call on the same
//   buffers mpirun -np 16 mpi_ratios progress   blocking calls over yielding ones mpirun -np 2
//   mpi_ratios stopping   time to a 2 % interval over 500 fixed operations
//   mpirun -np 2  mpi_ratios pages      buffers on small pages, and of malloc, over huge ones
//   ... brief     one round of small sizes, to see that it runs
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <mpi.h>

#include "base/error.hpp"
#include "bench/overhead.hpp"
#include "bootstrap/mpi/mpi_bootstrap.hpp"
#include "harness/chunk.hpp"
#include "harness/memory_plan.hpp"
#include "harness/rank_map.hpp"
#include "harness/row_buffers.hpp"
#include "harness/sampler.hpp"
#include "model/backend.hpp"
#include "stats/autocorrelation.hpp"
#include "stats/summary.hpp"

namespace busbar {
namespace {

void plain_all_reduce(const Call& call) {
  MPI_Allreduce(call.send, call.recv, static_cast<int>(call.count), MPI_FLOAT, MPI_SUM,
                MPI_COMM_WORLD);
}

void overhead(Bootstrap& bootstrap, const Backend& backend, const Effort& effort) {
  const auto communicator = backend.connect(bootstrap, {.progress = Progress::Block});
  report_overhead(bootstrap, *communicator, mpi_library().name, effort, plain_all_reduce);
}

void progress(Bootstrap& bootstrap, const Backend& backend, const Effort& effort) {
  const auto blocking = backend.connect(bootstrap, {.progress = Progress::Block});
  const auto yielding = backend.connect(bootstrap, {.progress = Progress::Yield});
  const Case test(*blocking, kMiB);
  StepTracker tracker;
  ChunkRunner block({bootstrap, bootstrap}, *blocking, test.calls, {}, tracker);
  ChunkRunner yield({bootstrap, bootstrap}, *yielding, test.calls, {}, tracker);
  std::vector<double> block_us;
  std::vector<double> yield_us;
  for (int round = 0; round < effort.rounds(4); ++round) {
    for (const double time : block.run(ChunkShape::of(5, 1)).samples_us) block_us.push_back(time);
    for (const double time : yield.run(ChunkShape::of(40, 1)).samples_us) yield_us.push_back(time);
  }
  print_at_root(
      bootstrap,
      fmt::format("progress   np={} {} {}: blocking {:.0f} us, yielding {:.0f} us, ratio {:.1f}",
                  bootstrap.size(), mpi_library().name, format_bytes(kMiB), stats::median(block_us),
                  stats::median(yield_us), stats::median(block_us) / stats::median(yield_us)));
}

/// What --pages changes, and what a program without our care for pages gets.
void pages(Bootstrap& bootstrap, const Backend& backend, const Effort& effort) {
  const int rounds = effort.rounds(25);
  const auto huge = backend.connect(bootstrap, {.pages = Pages::Huge});
  const auto small = backend.connect(bootstrap, {.pages = Pages::Small});
  for (const Bytes size : {kMiB, 4 * kMiB, 16 * kMiB}) {  // malloc maps what is large
    if (size > effort.largest(16 * kMiB)) continue;
    const Case on_huge(*huge, size);
    const Case on_small(*small, size);
    std::vector<std::byte> send(size);
    std::vector<std::byte> recv(size);
    Call of_malloc = on_small.calls.front();
    std::memcpy(send.data(), of_malloc.send, size);
    of_malloc.send = send.data();
    of_malloc.recv = recv.data();
    std::array<std::vector<double>, 3> times_us;
    for (int round = 0; round < rounds; ++round) {  // in turn: the machine's speed drifts
      std::size_t kind = 0;
      for (const Call& call : {on_huge.calls.front(), on_small.calls.front(), of_malloc}) {
        times_us.at(kind++).push_back(
            plain_loop_us(bootstrap, call, size > kMiB ? 20 : 100, plain_all_reduce));
      }
    }
    // The best round of each: other work on the machine only ever lengthens one.
    const double huge_us = *std::min_element(times_us[0].begin(), times_us[0].end());
    const double small_us = *std::min_element(times_us[1].begin(), times_us[1].end());
    const double malloc_us = *std::min_element(times_us[2].begin(), times_us[2].end());
    print_at_root(bootstrap,
                  fmt::format("pages      np={} {} {:>7}: huge {:.1f} us ({:.0f} % of the send "
                              "buffer), small {:.1f} us, malloc {:.1f} us, ratio {:.3f} and {:.3f}",
                              bootstrap.size(), mpi_library().name, format_bytes(size), huge_us,
                              100 * on_huge.buffers.huge_page_shares().front(), small_us, malloc_us,
                              small_us / huge_us, malloc_us / huge_us));
  }
}

double elapsed_s(Bootstrap& bootstrap, ChunkRunner& chunks, const SamplingPlan& plan,
                 Evidence& taken) {
  bootstrap.barrier();
  const Clock::time_point start = Clock::now();
  take_samples({bootstrap, bootstrap}, chunks, plan, {}, taken);
  double time_s = Seconds(Clock::now() - start).count();
  bootstrap.combine({&time_s, 1}, Combine::Max);
  return time_s;
}

void stopping(Bootstrap& bootstrap, const Backend& backend, const Effort& effort) {
  const auto communicator = backend.connect(bootstrap, {.progress = Progress::Block});
  SamplingPlan until_narrow{.timer_cost_s = communicator->stopwatch().cost().count()};
  until_narrow.limits.time_budget_s = 120;
  SamplingPlan fixed = until_narrow;
  fixed.operations = 500;
  double log_total = 0;
  int sizes = 0;
  for (Bytes size = kMiB; size <= effort.largest(64 * kMiB); size *= 2, ++sizes) {
    const Case test(*communicator, size);
    StepTracker tracker;
    ChunkRunner chunks({bootstrap, bootstrap}, *communicator, test.calls, {}, tracker);
    Evidence narrow;
    Evidence all;
    const double narrow_s = elapsed_s(bootstrap, chunks, until_narrow, narrow);
    const double fixed_s = elapsed_s(bootstrap, chunks, fixed, all);
    log_total += std::log(narrow_s / fixed_s);
    const bool reached = narrow.stop == stats::StopReason::CiWidth;
    print_at_root(
        bootstrap,
        fmt::format("stopping   np={} {:>7}: {} after {} samples (autocorrelation time {:.0f}), "
                    "{:.3f} s; 500 operations {:.3f} s; ratio {:.3f}",
                    bootstrap.size(), format_bytes(size),
                    reached ? "2 % interval" : "no 2 % interval", narrow.times_us.size(),
                    stats::integrated_autocorrelation_time(narrow.times_us), narrow_s, fixed_s,
                    narrow_s / fixed_s));
  }
  print_at_root(bootstrap, fmt::format("stopping   np={} geometric mean of the ratios {:.3f}",
                                       bootstrap.size(), std::exp(log_total / sizes)));
}

int run(std::string_view what, const Effort& effort) {
  const auto bootstrap = start_mpi();
  const BackendChoice backend = choose_backend("mpi");
  const RankMap rank_map = map_ranks(*bootstrap, Bind::Auto);
  bootstrap->set_progress(rank_map.oversubscribed ? Progress::Yield : Progress::Block);
  if (what == "overhead") overhead(*bootstrap, *backend.backend, effort);
  if (what == "progress") progress(*bootstrap, *backend.backend, effort);
  if (what == "pages") pages(*bootstrap, *backend.backend, effort);
  if (what == "stopping") stopping(*bootstrap, *backend.backend, effort);
  return 0;
}

}  // namespace
}  // namespace busbar

int main(int argc, char** argv) {
  const std::vector<std::string_view> words(argv, argv + argc);
  return busbar::run(words.size() > 1 ? words[1] : "",
                     {.brief = words.size() > 2 && words[2] == "brief"});
}
