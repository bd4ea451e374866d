// SPDX-License-Identifier: BSD-3-Clause
#include "harness/memory_bandwidth.hpp"

#include <algorithm>
#include <cstring>
#include <ctime>
#include <iterator>
#include <numeric>
#include <thread>

namespace busbar {
namespace {

void copy_blocks(std::byte* to, const std::byte* from, std::size_t bytes) {
  for (std::size_t at = 0; at < bytes; at += kCopyBlock) {
    std::memcpy(to + at, from + at, std::min<std::size_t>(kCopyBlock, bytes - at));
  }
}

/// In runs of fixed length, which compilers turn into vector instructions at -O2 too.
void add(float* __restrict to, const float* __restrict from, std::size_t count) {
  constexpr std::size_t kRun = 64;
  std::size_t at = 0;
  for (; at + kRun <= count; at += kRun) {
    for (std::size_t i = 0; i < kRun; ++i) to[at + i] += from[at + i];
  }
  for (; at < count; ++at) to[at] += from[at];
}

constexpr Bytes kNearSet = 128 * kKiB;  // of a rank; fits the second level of every server
constexpr Bytes kLargestPart = 64 * kMiB;
constexpr Bytes kGranule = 4 * kKiB;

constexpr int kPasses = 5;  // of which the first warms up
/// Sets in the caches are gone through again until a pass has moved so much more than a pass
/// through the largest set, which is gone through once: ranks that share a processor would find
/// their own part of it cached again.
constexpr Bytes kCachedPasses = 2;

/// Two halves of a rank's part.
struct Halves {
  std::span<std::byte> to;
  std::span<const std::byte> from;
};

Halves halves_of(const Buffer& buffer, Bytes part) {
  const Bytes half = part / 2;
  return {.to = {buffer.data(), half}, .from = {buffer.data() + half + kSourceSkew, half}};
}

/// What this thread has had of a processor: what others took of it does not count.
Seconds processor_time() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec);
}

/// Ranks that wait in a barrier take processor time from those that work where there are more ranks
/// than processors. So all sleep until an agreed time, which is the same for the ranks of a host,
/// and sleep again when they are done.
class Passes {
 public:
  Passes(Bootstrap& world, double processors)
      : world_(world),
        processors_(processors),
        notice_(std::min(kNoticePerRank * world.size(), kLongestNotice)) {}

  /// GB/s of each rank, best of the passes: a bound is what the machine can do undisturbed.
  [[nodiscard]] double rate_GBps(MemoryKernel kernel, const Halves& halves, Bytes repetitions) {
    Seconds best = pass(kernel, halves, repetitions, Seconds{0});
    for (int i = 1; i < kPasses; ++i) {
      best = std::min(best, pass(kernel, halves, repetitions, best));
    }
    return gigabytes_per_second(halves.to.size() * repetitions, best);
  }

 private:
  static constexpr Seconds kNoticePerRank{50e-6};
  static constexpr Seconds kLongestNotice{1e-3};

  /// How long all ranks take, on all ranks.
  Seconds pass(MemoryKernel kernel, const Halves& halves, Bytes repetitions, Seconds expected) {
    const double now = world_.largest(Seconds(Clock::now().time_since_epoch()).count());
    const Seconds agreed = Seconds{now} + notice_;
    sleep_until(agreed);
    const Seconds start = processor_time();
    for (Bytes i = 0; i < repetitions; ++i) run_kernel(kernel, halves.to, halves.from);
    const Seconds took = processor_time() - start;
    sleep_until(agreed + expected);
    return time_of_all(world_.gather(took.count()), processors_);
  }

  static void sleep_until(Seconds since_epoch) {
    std::this_thread::sleep_until(
        Clock::time_point(std::chrono::duration_cast<Clock::duration>(since_epoch)));
  }

  Bootstrap& world_;
  double processors_;
  Seconds notice_;
};

/// What can be done with a large set can be done with a smaller one: where a disturbance made it
/// look otherwise, the larger set's rate is the better measurement.
void level(std::vector<MemoryRates>& rates) {
  for (std::size_t i = rates.size(); i-- > 1;) {
    MemoryRates& smaller = rates[i - 1];
    smaller.copy_GBps = std::max(smaller.copy_GBps, rates[i].copy_GBps);
    smaller.reduce_GBps = std::max(smaller.reduce_GBps, rates[i].reduce_GBps);
  }
}

}  // namespace

void run_kernel(MemoryKernel kernel, std::span<std::byte> to, std::span<const std::byte> from) {
  switch (kernel) {
    case MemoryKernel::CopyWhole: std::memcpy(to.data(), from.data(), to.size()); return;
    case MemoryKernel::CopyBlocks: return copy_blocks(to.data(), from.data(), to.size());
    case MemoryKernel::Add:
      return add(reinterpret_cast<float*>(to.data()), reinterpret_cast<const float*>(from.data()),
                 to.size() / sizeof(float));
  }
}

const MemoryRates& HostBandwidth::of(Bytes set) const {
  const auto above = std::ranges::upper_bound(rates, set, {}, &MemoryRates::set);
  return above == rates.begin() ? rates.front() : *std::prev(above);
}

std::vector<Bytes> sets_to_measure(Bytes last_level_cache, int ranks, Bytes most_per_rank) {
  const auto count = static_cast<Bytes>(ranks);
  const Bytes beyond = last_level_cache > 0 ? last_level_cache * 2 / count : kLargestPart;
  const std::array parts{kNearSet, last_level_cache / 4 / count, beyond};
  std::vector<Bytes> sets;
  for (Bytes part : parts) {
    part = std::min({part, most_per_rank, kLargestPart}) / kGranule * kGranule;
    if (part > 0 && (sets.empty() || part * count > sets.back())) sets.push_back(part * count);
  }
  return sets;
}

Seconds time_of_all(const std::vector<double>& processor_s, double processors) {
  constexpr double kShortest = 1e-9;  // a clock that did not move
  const double most = *std::ranges::max_element(processor_s);
  const double sum = std::accumulate(processor_s.begin(), processor_s.end(), 0.0);
  return Seconds{std::max({most, sum / processors, kShortest})};
}

HostBandwidth measure_host_bandwidth(Bootstrap& world, Communicator& communicator,
                                     const RankMap& host, Bytes most_per_rank) {
  const std::vector<Bytes> sets = sets_to_measure(host.largest_cache, world.size(), most_per_rank);
  HostBandwidth bandwidth;
  if (sets.empty()) return bandwidth;
  const auto ranks = static_cast<Bytes>(world.size());
  const Buffer buffer = communicator.allocate(sets.back() / ranks + kSourceSkew);
  std::memset(buffer.data(), 0, buffer.size());  // sums of zeros never become slow tiny numbers
  Passes passes(world, host.processors);
  for (const Bytes set : sets) {
    const Halves halves = halves_of(buffer, set / ranks);
    const Bytes repetitions = set == sets.back() ? 1 : kCachedPasses * sets.back() / set;
    const auto rate = [&](MemoryKernel kernel) {
      return passes.rate_GBps(kernel, halves, repetitions);
    };
    const double whole = rate(MemoryKernel::CopyWhole);
    const double blocks = halves.to.size() > kCopyBlock ? rate(MemoryKernel::CopyBlocks) : whole;
    bandwidth.rates.push_back(
        {.set = set, .copy_GBps = std::max(whole, blocks), .reduce_GBps = rate(MemoryKernel::Add)});
  }
  level(bandwidth.rates);
  return bandwidth;
}

}  // namespace busbar
