// SPDX-License-Identifier: BSD-3-Clause
#include "harness/memory_plan.hpp"

#include <limits>

#include "model/pattern.hpp"

namespace busbar {

MemoryPool plan_memory(Bootstrap& world, const Options& options, const RankMap& rank_map,
                       const Communicator& communicator, int ranks_on_device) {
  constexpr double kHostShare = 0.85;
  // Nothing else grows on a device during a run; what the library takes is planned for.
  constexpr double kDeviceShare = 0.95;
  MemoryPool pool{.ranks = rank_map.most_ranks_per_host,
                  .free = rank_map.least_memory * static_cast<Bytes>(rank_map.most_ranks_per_host),
                  .share = kHostShare};
  // A rank that is in no group of a round has no device memory of its own.
  constexpr double kNone = std::numeric_limits<double>::infinity();
  const auto free = communicator.free_device_memory();
  double least = free ? static_cast<double>(*free) / ranks_on_device : kNone;  // of a rank
  world.combine({&least, 1}, Combine::Min);
  const int most_ranks = world.largest(free ? ranks_on_device : 1);
  if (least < kNone) {
    pool = {.place = "GPU", .ranks = most_ranks, .share = kDeviceShare};
    pool.free = static_cast<Bytes>(least) * static_cast<Bytes>(most_ranks);
  }
  if (options.memory_limit) {
    pool.free = *options.memory_limit;
    pool.share = 1;
    pool.by_option = true;
  }
  return pool;
}

Bytes slot_stride(Bytes bytes) {
  constexpr Bytes kPage = 4 * kKiB;
  return std::max<Bytes>(1, (bytes + kPage - 1) / kPage) * kPage;
}

namespace {

/// Plans one size: what does not fit is given up, out of place first.
class Planner {
 public:
  Planner(const MemoryRequest& request, const Communicator& communicator, Bytes wanted)
      : request_(request),
        communicator_(communicator),
        element_(info(request.type).size),
        plan_{.wanted = wanted,
              .footprint = request.collective->footprint({.wanted = wanted,
                                                          .element = element_,
                                                          .ranks = request.ranks,
                                                          .distribution = request.distribution}),
              .out_of_place = request.out_of_place,
              .in_place = request.in_place} {}

  [[nodiscard]] SizePlan run() {
    const auto obstacle = find_obstacle(false);
    plan_.in_place_reason = find_obstacle(true).value_or("");
    if (obstacle && !plan_.in_place_reason.empty()) return skipped(*obstacle);
    if (plan_.footprint.count == 0) {
      return skipped(
          fmt::format("{} is less than one element for each rank", format_bytes(plan_.wanted)));
    }
    plan_.in_place = plan_.in_place && plan_.in_place_reason.empty();
    if (obstacle) {
      plan_.out_of_place = false;
      plan_.reason = *obstacle;
    }
    rotate();
    const std::uint64_t largest = communicator_.largest_count(call());
    if (plan_.footprint.count > largest && !request_.collective->elementwise) {
      return skipped(fmt::format(
          "{} elements in one call, the library takes {}; use a wider type with -d, or less",
          plan_.footprint.count, largest));
    }
    if (plan_.footprint.count > largest) plan_.segment = std::min(largest, kGiB / element_);
    if (plan_.out_of_place || plan_.in_place) fit();
    return std::move(plan_);
  }

 private:
  /// Why this operation cannot be measured in this placement, whatever its size.
  [[nodiscard]] std::optional<std::string> find_obstacle(bool in_place) const {
    if (!request_.obstacle.empty()) return request_.obstacle;
    if (auto unsupported = communicator_.unsupported(call(in_place))) return unsupported;
    return Pattern::impossible(request_.type, request_.op, request_.ranks);
  }

  [[nodiscard]] SizePlan skipped(std::string reason) {
    plan_.out_of_place = plan_.in_place = false;
    plan_.reason = std::move(reason);
    return std::move(plan_);
  }

  void rotate() {
    constexpr std::uint64_t kMostSlots = 1024;  // each is filled and checked by itself
    const Bytes through = request_.rotate_through;
    const Bytes one = std::max({Bytes{1}, plan_.footprint.send, plan_.footprint.recv});
    plan_.slots = std::clamp<std::uint64_t>((through + one - 1) / one, 1, kMostSlots);
    plan_.leaves_cache = through > 0 && one * plan_.slots >= through;
  }

  [[nodiscard]] Call call(bool in_place = false) const {
    return {.collective = request_.collective,
            .count = plan_.footprint.count,
            .type = request_.type,
            .op = request_.op,
            .traffic = plan_.footprint.traffic.get(),
            .in_place = in_place,
            .segment = plan_.segment};
  }

  /// What one rank needs, for calls of the plan's segment.
  [[nodiscard]] Bytes need(bool in_place) const {
    const auto [small, large] = std::minmax(plan_.footprint.send, plan_.footprint.recv);
    const Bytes buffers = slot_stride(large) + (in_place ? 0 : slot_stride(small));
    const Bytes library = std::max({communicator_.temporary_bytes(call()),
                                    plan_.in_place ? communicator_.temporary_bytes(call(true)) : 0,
                                    request_.library_growth});
    return buffers * plan_.slots + library + kMemorySlack;
  }

  [[nodiscard]] bool fits(Bytes need) const { return need <= request_.available_per_rank; }

  /// "needs 17.1 GiB for 16 ranks of a host, 16.9 GiB may be used"
  [[nodiscard]] std::string shortage(Bytes need) const {
    const auto ranks = static_cast<Bytes>(request_.ranks_per_place);
    return fmt::format("needs {} for {} of a {}, {} may be used", format_bytes(need * ranks),
                       counted(ranks, "rank"), request_.place,
                       format_bytes(request_.available_per_rank * ranks));
  }

  void fit() {
    if (plan_.out_of_place && !fits(need(false))) {
      plan_.out_of_place = false;
      plan_.reason = shortage(need(false));
    }
    plan_.need = need(!plan_.out_of_place);
    if (!plan_.in_place || fits(need(true))) return;
    const std::uint64_t segment = kSegment / element_;
    if (request_.collective->elementwise && segment < plan_.footprint.count) {
      plan_.segment = segment;
      plan_.need = need(true);
      if (fits(plan_.need)) return;
    }
    plan_.in_place = false;
    plan_.reason = shortage(plan_.need);
  }

  const MemoryRequest& request_;
  const Communicator& communicator_;
  Bytes element_;
  SizePlan plan_;
};

}  // namespace

SizePlan plan_size(const MemoryRequest& request, const Communicator& communicator, Bytes wanted) {
  return Planner(request, communicator, wanted).run();
}

}  // namespace busbar
