// SPDX-License-Identifier: BSD-3-Clause
#include "harness/memory_plan.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "base/text.hpp"
#include "model/pattern.hpp"

namespace busbar {
namespace {

constexpr double kHostShare = 0.85;
/// Nothing else grows on a device during a run; what the library takes is planned for.
constexpr double kDeviceShare = 0.95;

}  // namespace

MemoryPool plan_memory(Bootstrap& world, const Options& options, const RankMap& rank_map,
                       const Communicator& communicator, int ranks_on_device) {
  MemoryPool pool{.ranks = rank_map.most_ranks_per_host,
                  .free = rank_map.least_memory * static_cast<Bytes>(rank_map.most_ranks_per_host),
                  .share = kHostShare};
  if (const auto free = communicator.free_device_memory()) {
    // The least per rank, and the most ranks on one: both as negatives of a maximum.
    const auto ranks = static_cast<double>(ranks_on_device);
    std::array<double, 2> least{static_cast<double>(*free) / ranks, -ranks};
    world.combine(least, Combine::Min);
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

namespace {

constexpr std::uint64_t kMostSlots = 1024;  // each is filled and checked by itself
constexpr Bytes kPage = 4 * kKiB;

/// A collective's needs on one rank, as calls of a given segment.
class Needs {
 public:
  Needs(const MemoryRequest& request, const Communicator& communicator, const SizePlan& plan)
      : request_(request), communicator_(communicator), plan_(plan) {}

  [[nodiscard]] Bytes out_of_place() const {
    return (slot_stride(plan_.footprint.send) + slot_stride(plan_.footprint.recv)) * plan_.slots +
           library();
  }
  [[nodiscard]] Bytes in_place() const {
    return slot_stride(std::max(plan_.footprint.send, plan_.footprint.recv)) * plan_.slots +
           library();
  }
  [[nodiscard]] bool fits(Bytes need) const { return need <= request_.available_per_rank; }
  /// "needs 17.1 GiB on a host, 19.9 GiB is available"
  [[nodiscard]] std::string words(Bytes need) const {
    const auto ranks = static_cast<Bytes>(request_.ranks_per_place);
    return fmt::format("needs {} for {} of a {}, {} may be used", format_bytes(need * ranks),
                       counted(ranks, "rank"), request_.place,
                       format_bytes(request_.available_per_rank * ranks));
  }

 private:
  [[nodiscard]] Bytes library() const {
    const Call call{.collective = request_.collective,
                    .count = plan_.footprint.count,
                    .type = request_.type,
                    .op = request_.op,
                    .segment = plan_.segment};
    return std::max(communicator_.temporary_bytes(call), request_.library_growth) + kMemorySlack;
  }

  const MemoryRequest& request_;
  const Communicator& communicator_;
  const SizePlan& plan_;
};

/// Elements per call where the library cannot take all at once, 0 where it can. Where only
/// segments would help and the collective has none, the plan is to skip.
std::uint64_t forced_segment(const MemoryRequest& request, const Communicator& communicator,
                             SizePlan& plan) {
  const Call call{.collective = request.collective,
                  .count = plan.footprint.count,
                  .type = request.type,
                  .op = request.op};
  const std::uint64_t largest = communicator.largest_count(call);
  if (plan.footprint.count <= largest) return 0;
  if (request.collective->elementwise) return std::min(largest, kGiB / info(request.type).size);
  plan.out_of_place = plan.in_place = false;
  plan.reason = fmt::format(
      "{} elements in one call, the library takes {}; use a wider type with -d, or less",
      plan.footprint.count, largest);
  return 0;
}

std::uint64_t slots_for(const MemoryRequest& request, const Footprint& footprint) {
  const Bytes one = std::max<Bytes>(1, std::max(footprint.send, footprint.recv));
  return std::clamp<std::uint64_t>((request.rotate_through + one - 1) / one, 1, kMostSlots);
}

void shrink(const MemoryRequest& request, const Communicator& communicator, SizePlan& plan) {
  const Needs needs(request, communicator, plan);
  if (plan.out_of_place && !needs.fits(needs.out_of_place())) {
    plan.out_of_place = false;
    plan.reason = needs.words(needs.out_of_place());
  }
  plan.need = plan.out_of_place ? needs.out_of_place() : needs.in_place();
  if (!plan.in_place || needs.fits(needs.in_place())) return;
  const std::uint64_t segment = kSegment / info(request.type).size;
  if (request.collective->elementwise && segment < plan.footprint.count) {
    plan.segment = segment;
    plan.need = needs.in_place();
    if (needs.fits(plan.need)) return;
  }
  plan.in_place = false;
  plan.reason = needs.words(plan.need);
}

SizePlan without_any(SizePlan plan, std::string reason) {
  plan.out_of_place = plan.in_place = false;
  plan.reason = std::move(reason);
  return plan;
}

/// Why this operation cannot be measured in this placement, whatever its size.
std::optional<std::string> find_obstacle(const MemoryRequest& request,
                                         const Communicator& communicator, bool in_place) {
  auto unsupported = communicator.unsupported({.collective = request.collective,
                                               .type = request.type,
                                               .op = request.op,
                                               .in_place = in_place});
  if (unsupported) return unsupported;
  return Pattern::impossible(request.type, request.op, request.ranks);
}

}  // namespace

Bytes slot_stride(Bytes bytes) { return std::max<Bytes>(1, (bytes + kPage - 1) / kPage) * kPage; }

SizePlan plan_size(const MemoryRequest& request, const Communicator& communicator, Bytes wanted) {
  SizePlan plan{
      .wanted = wanted,
      .footprint = request.collective->footprint(wanted, info(request.type).size, request.ranks),
      .out_of_place = request.out_of_place,
      .in_place = request.in_place};
  const auto obstacle = find_obstacle(request, communicator, false);
  if (obstacle) return without_any(plan, *obstacle);
  if (plan.footprint.count == 0) {
    return without_any(
        plan, fmt::format("{} is less than one element for each rank", format_bytes(wanted)));
  }
  plan.in_place_reason = find_obstacle(request, communicator, true).value_or("");
  plan.in_place = plan.in_place && plan.in_place_reason.empty();
  plan.slots = slots_for(request, plan.footprint);
  plan.leaves_cache =
      request.rotate_through > 0 &&
      std::max(plan.footprint.send, plan.footprint.recv) * plan.slots >= request.rotate_through;
  plan.segment = forced_segment(request, communicator, plan);
  if (plan.out_of_place || plan.in_place) shrink(request, communicator, plan);
  return plan;
}

}  // namespace busbar
