// SPDX-License-Identifier: BSD-3-Clause
#include "harness/memory_pool.hpp"

#include <array>

namespace busbar {
namespace {

constexpr double kHostShare = 0.85;
/// Nothing else grows on a device during a run; what the library takes is planned for.
constexpr double kDeviceShare = 0.95;

}  // namespace

MemoryPool find_memory(Bootstrap& everyone, const Options& options, const Placements& placements,
                       const Communicator& communicator, int device_sharers) {
  MemoryPool pool{
      .ranks = placements.most_ranks_per_host,
      .free = placements.least_memory * static_cast<Bytes>(placements.most_ranks_per_host),
      .share = kHostShare};
  if (const auto free = communicator.free_device_memory()) {
    // The least per rank, and the most sharers: both as negatives of a maximum.
    const auto sharers = static_cast<double>(device_sharers);
    std::array<double, 2> least{static_cast<double>(*free) / sharers, -sharers};
    everyone.combine(least, Combine::Min);
    pool = {.place = "GPU", .ranks = static_cast<int>(-least[1]), .share = kDeviceShare};
    pool.free = static_cast<Bytes>(least[0]) * static_cast<Bytes>(pool.ranks);
  }
  if (options.memory_limit) {
    pool.free = *options.memory_limit;
    pool.share = 1;
    pool.by_option = true;
  }
  return pool;
}

}  // namespace busbar
