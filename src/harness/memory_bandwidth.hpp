// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "base/units.hpp"
#include "harness/rank_map.hpp"
#include "model/bootstrap.hpp"
#include "model/communicator.hpp"

namespace busbar {

/// What collectives do to host memory, as the bound on them is measured with: by the harness and by
/// bench/host_limits.
enum class MemoryKernel {
  CopyWhole,   ///< one memcpy: the C library may write past the caches
  CopyBlocks,  ///< memcpy of kCopyBlock at a time: what was read and written stays in the caches
  Add          ///< to[i] += from[i] in floats
};

inline constexpr Bytes kCopyBlock = 64 * kKiB;
/// A source that begins so much after a multiple of its distance from the target: loads and stores
/// of equal low address bits hinder each other.
inline constexpr Bytes kSourceSkew = 2 * kKiB;

/// Runs it over all of `to` and as many bytes of `from`, which do not overlap. Both begin at
/// multiples of 64 and are whole floats long.
void run_kernel(MemoryKernel kernel, std::span<std::byte> to, std::span<const std::byte> from);

/// What each rank does per second, at best, while all ranks of its host do the same, with `set`
/// bytes of all of them going through the caches.
struct MemoryRates {
  Bytes set = 0;
  double copy_GBps = 0;    ///< bytes written, which as many are read for
  double reduce_GBps = 0;  ///< bytes of the float sum that another vector is added to
};

/// Measured rates of a host, by rising set; each is for sets from its own up to the next.
struct HostBandwidth {
  std::vector<MemoryRates> rates;

  /// Those of the largest measured set that is not larger: memory slows down as sets grow, so no
  /// larger set can be faster. There must be some.
  [[nodiscard]] const MemoryRates& of(Bytes set) const;
};

/// Sets to measure with that many ranks on a host: in the caches next to a processor, in the last
/// level cache, and beyond it. No rank's part is larger than `most_per_rank`.
[[nodiscard]] std::vector<Bytes> sets_to_measure(Bytes last_level_cache, int ranks,
                                                 Bytes most_per_rank);

/// How long ranks that need these seconds of processor time take together, at best: as long as the
/// slowest, or as all of them on the `processors` that they have.
[[nodiscard]] Seconds time_of_all(const std::vector<double>& processor_s, double processors);

/// Measures copying and reducing of all ranks at once, of one host, in about 0.2 s; what it takes
/// from `communicator` (of host memory), so much of each rank at most, is given back. Collective.
[[nodiscard]] HostBandwidth measure_host_bandwidth(Bootstrap& world, Communicator& communicator,
                                                   const RankMap& host, Bytes most_per_rank);

}  // namespace busbar
