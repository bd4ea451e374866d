// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "base/units.hpp"
#include "model/bootstrap.hpp"
#include "model/communicator.hpp"

namespace busbar {

/// What each rank does per second, at best, while all ranks of its host do the same, with `set`
/// bytes of all of them going through the caches.
struct MemoryRates {
  Bytes set = 0;
  double copy_GBps = 0;    ///< bytes written, which as many are read for
  double reduce_GBps = 0;  ///< bytes of the float sum that another vector is added to
};

/// Measured rates of a host, by rising set; each is for sets from its own up to the next.
struct HostLimits {
  std::vector<MemoryRates> rates;

  /// Those of the largest measured set that is not larger: memory slows down as sets grow, so no
  /// larger set can be faster. There must be some.
  [[nodiscard]] const MemoryRates& of(Bytes set) const;
};

/// Sets to measure with so many ranks on a host: in the caches next to a processor, in the last
/// level cache, and beyond it. No rank's part is larger than `most_per_rank`.
[[nodiscard]] std::vector<Bytes> sets_to_measure(Bytes last_level_cache, int ranks,
                                                 Bytes most_per_rank);

/// How long ranks of so many seconds of processor time each take together, at best: as long as the
/// slowest, or as all of them on the `processors` that they have.
[[nodiscard]] Seconds time_of_all(const std::vector<double>& processor_s, double processors);

/// The host to measure.
struct HostMemory {
  Bytes last_level_cache = 0;  ///< 0: unknown
  double processors = 1;       ///< that its ranks have together
  Bytes most_per_rank = 0;     ///< what a rank may take to measure with
};

/// Measures copying and reducing of all ranks at once, of one host, in about 0.2 s; what it takes
/// from `communicator` (of host memory) is given back. Collective.
[[nodiscard]] HostLimits measure_host_limits(Bootstrap& everyone, Communicator& communicator,
                                             const HostMemory& host);

}  // namespace busbar
