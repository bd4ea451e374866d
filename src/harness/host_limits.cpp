// SPDX-License-Identifier: BSD-3-Clause
#include "harness/host_limits.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <ctime>
#include <iterator>
#include <numeric>
#include <thread>

#include "harness/memory_kernels.hpp"

namespace busbar {
namespace {

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
  Passes(Bootstrap& everyone, double processors)
      : everyone_(everyone),
        processors_(processors),
        notice_(std::min(kNoticePerRank * everyone.size(), kLongestNotice)) {}

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
    std::array<double, 1> now{Seconds(Clock::now().time_since_epoch()).count()};
    everyone_.combine(now, Combine::Max);
    const Seconds agreed = Seconds{now[0]} + notice_;
    sleep_until(agreed);
    const Seconds start = processor_time();
    for (Bytes i = 0; i < repetitions; ++i) run_kernel(kernel, halves.to, halves.from);
    const Seconds took = processor_time() - start;
    sleep_until(agreed + expected);
    return time_of_all(everyone_.gather(took.count()), processors_);
  }

  static void sleep_until(Seconds since_epoch) {
    std::this_thread::sleep_until(
        Clock::time_point(std::chrono::duration_cast<Clock::duration>(since_epoch)));
  }

  Bootstrap& everyone_;
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

const MemoryRates& HostLimits::of(Bytes set) const {
  const auto above =
      std::upper_bound(rates.begin(), rates.end(), set,
                       [](Bytes wanted, const MemoryRates& known) { return wanted < known.set; });
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
  const double most = *std::max_element(processor_s.begin(), processor_s.end());
  const double sum = std::accumulate(processor_s.begin(), processor_s.end(), 0.0);
  return Seconds{std::max({most, sum / processors, kShortest})};
}

HostLimits measure_host_limits(Bootstrap& everyone, Communicator& communicator,
                               const HostMemory& host) {
  const std::vector<Bytes> sets =
      sets_to_measure(host.last_level_cache, everyone.size(), host.most_per_rank);
  HostLimits limits;
  if (sets.empty()) return limits;
  const auto ranks = static_cast<Bytes>(everyone.size());
  const Buffer buffer = communicator.allocate(sets.back() / ranks + kSourceSkew);
  std::memset(buffer.data(), 0, buffer.size());  // sums of zeros never become slow tiny numbers
  Passes passes(everyone, host.processors);
  for (const Bytes set : sets) {
    const Halves halves = halves_of(buffer, set / ranks);
    const Bytes repetitions = set == sets.back() ? 1 : kCachedPasses * sets.back() / set;
    const auto rate = [&](MemoryKernel kernel) {
      return passes.rate_GBps(kernel, halves, repetitions);
    };
    const double whole = rate(MemoryKernel::CopyWhole);
    const double blocks = halves.to.size() > kCopyBlock ? rate(MemoryKernel::CopyBlocks) : whole;
    limits.rates.push_back(
        {.set = set, .copy_GBps = std::max(whole, blocks), .reduce_GBps = rate(MemoryKernel::Add)});
  }
  level(limits.rates);
  return limits;
}

}  // namespace busbar
