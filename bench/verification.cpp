// SPDX-License-Identifier: BSD-3-Clause
// Speed of the check against a memory copy of the same bytes, both in each iteration, so that the
// ratio is of one machine in one state. `share` is the check's bytes per second over the copy's.
#include <cstring>

#include <benchmark/benchmark.h>

#include "base/units.hpp"
#include "model/host_memory.hpp"

namespace busbar {
namespace {

void check_against_copy(benchmark::State& state, DataType type) {
  const auto bytes = static_cast<Bytes>(state.range(0));
  const std::uint64_t count = bytes / info(type).size;
  const Tile tile(Pattern(type, ReduceOp::Sum, 16, 1), -1);
  const Buffer data = allocate_host(bytes);
  const Buffer copy = allocate_host(bytes);
  fill_host(data.data(), count, tile, 0);
  double copy_s = 0;
  double check_s = 0;
  for ([[maybe_unused]] const auto _ : state) {
    const Clock::time_point start = Clock::now();
    std::memcpy(copy.data(), data.data(), bytes);
    benchmark::ClobberMemory();
    const Clock::time_point middle = Clock::now();
    if (compare_host(data.data(), count, tile, 0).wrong != 0) state.SkipWithError("wrong data");
    const Clock::time_point end = Clock::now();
    copy_s += Seconds(middle - start).count();
    check_s += Seconds(end - middle).count();
    state.SetIterationTime(Seconds(end - middle).count());
  }
  const double total = static_cast<double>(bytes) * static_cast<double>(state.iterations()) / 1e9;
  state.counters["check_GBps"] = total / check_s;
  state.counters["copy_GBps"] = total / copy_s;
  state.counters["share"] = copy_s / check_s;
}

BENCHMARK_CAPTURE(check_against_copy, int8, DataType::Int8)
    ->Arg(1 << 20)
    ->Arg(64 << 20)
    ->UseManualTime();
BENCHMARK_CAPTURE(check_against_copy, float, DataType::Float)
    ->Arg(1 << 20)
    ->Arg(64 << 20)
    ->UseManualTime();
BENCHMARK_CAPTURE(check_against_copy, double, DataType::Double)
    ->Arg(1 << 20)
    ->Arg(64 << 20)
    ->UseManualTime();

}  // namespace
}  // namespace busbar

BENCHMARK_MAIN();
