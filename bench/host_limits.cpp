// SPDX-License-Identifier: BSD-3-Clause
// What host memory can do: copying and reducing with the kernels by which the harness measures the
// bound, over bytes per thread and threads. `each` is GB/s of one thread, `all` of all together.
//   host_limits              64 KiB to 64 MiB, on 1, half and all of the processors
//   host_limits THREADS      the same on so many threads
// and Google Benchmark's options, as in --benchmark_filter=add.
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <set>
#include <string_view>
#include <thread>

#include <benchmark/benchmark.h>

#include "base/error.hpp"
#include "harness/memory_bandwidth.hpp"
#include "model/host_memory.hpp"

namespace busbar {
namespace {

/// Every thread has buffers of its own, as a rank has.
void host_memory(benchmark::State& state, MemoryKernel kernel) {
  const auto bytes = static_cast<Bytes>(state.range(0));
  const Buffer buffer = allocate_host(2 * bytes + kSourceSkew);
  std::memset(buffer.data(), 0, buffer.size());
  const std::span<std::byte> to{buffer.data(), bytes};
  const std::span<const std::byte> from{buffer.data() + bytes + kSourceSkew, bytes};
  for ([[maybe_unused]] const auto _ : state) {
    run_kernel(kernel, to, from);
    benchmark::ClobberMemory();
  }
  const double moved =  // GB
      static_cast<double>(bytes) * static_cast<double>(state.iterations()) / 1e9;
  using Counter = benchmark::Counter;
  state.counters["each"] = Counter(moved, Counter::kAvgThreadsRate);
  state.counters["all"] = Counter(moved, Counter::kIsRate);
}

void copy_whole(benchmark::State& state) { host_memory(state, MemoryKernel::CopyWhole); }
void copy_blocks(benchmark::State& state) { host_memory(state, MemoryKernel::CopyBlocks); }
void add(benchmark::State& state) { host_memory(state, MemoryKernel::Add); }

/// Sizes are the same for all; threads are known in main.
const std::array kFamilies{benchmark::RegisterBenchmark("copy_whole", copy_whole),
                           benchmark::RegisterBenchmark("copy_blocks", copy_blocks),
                           benchmark::RegisterBenchmark("add", add)};

void complete(benchmark::internal::Benchmark* family, const std::set<int>& threads) {
  constexpr std::int64_t kSmallest = 64 * kKiB;
  constexpr std::int64_t kLargest = 64 * kMiB;
  family->RangeMultiplier(4)->Range(kSmallest, kLargest)->ArgName("bytes")->UseRealTime();
  for (const int count : threads) family->Threads(count);
}

void run(int argc, char** argv) {
  if (std::find(argv, argv + argc, std::string_view("--help")) != argv + argc) {
    std::puts(
        "host_limits [THREADS]: what host memory can do, GB/s of each thread and of all.\n"
        "Without THREADS: 1, half and all of the processors. Options of Google Benchmark:\n");
  }
  benchmark::Initialize(&argc, argv);
  const int all = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  std::set<int> threads{1, std::max(1, all / 2), all};
  if (argc > 1) {
    constexpr int kMostThreads = 4096;
    threads = {static_cast<int>(parse_integer("THREADS", argv[1], 1, kMostThreads))};
  }
  if (argc > 2) throw usage_error("host_limits: give one number of threads, and options as --NAME");
  for (auto* family : kFamilies) complete(family, threads);
  benchmark::RunSpecifiedBenchmarks();
}

}  // namespace
}  // namespace busbar

int main(int argc, char** argv) {
  try {
    busbar::run(argc, argv);
  } catch (const busbar::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return busbar::exit_code(error.status());
  }
  return 0;
}
