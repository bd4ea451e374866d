// SPDX-License-Identifier: BSD-3-Clause
#include "harness/memory_plan.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.hpp"

namespace busbar {
namespace {

constexpr std::uint64_t kMostSlots = 64;

/// A collective's needs on one rank, as calls of a given segment.
class Needs {
 public:
  Needs(const MemoryRequest& request, const Communicator& communicator, const SizePlan& plan)
      : request_(request), communicator_(communicator), plan_(plan) {}

  [[nodiscard]] Bytes out_of_place() const {
    return (plan_.footprint.send + plan_.footprint.recv) * plan_.slots + library();
  }
  [[nodiscard]] Bytes in_place() const {
    return std::max(plan_.footprint.send, plan_.footprint.recv) * plan_.slots + library();
  }
  [[nodiscard]] bool fits(Bytes need) const { return need <= request_.available_per_rank; }
  /// "needs 17.1 GiB on a host, 19.9 GiB is available"
  [[nodiscard]] std::string words(Bytes need) const {
    const auto ranks = static_cast<Bytes>(request_.ranks_per_host);
    return fmt::format("needs {} for {} of a host, {} may be used", format_bytes(need * ranks),
                       counted(ranks, "rank"), format_bytes(request_.available_per_rank * ranks));
  }

 private:
  [[nodiscard]] Bytes library() const {
    const Call call{.collective = request_.collective,
                    .count = plan_.footprint.count,
                    .type = request_.type,
                    .op = request_.op,
                    .segment = plan_.segment};
    return communicator_.temporary_bytes(call) + kMemorySlack;
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
  plan.reason =
      fmt::format("{} elements in one call, the library takes {}; use a wider type with -d",
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

}  // namespace

SizePlan plan_size(const MemoryRequest& request, const Communicator& communicator, Bytes wanted) {
  SizePlan plan{
      .wanted = wanted,
      .footprint = request.collective->footprint(wanted, info(request.type).size, request.ranks),
      .out_of_place = request.out_of_place,
      .in_place = request.in_place};
  const auto unsupported = communicator.unsupported(
      {.collective = request.collective, .type = request.type, .op = request.op});
  if (unsupported) {
    plan.out_of_place = plan.in_place = false;
    plan.reason = *unsupported;
    return plan;
  }
  if (plan.footprint.count == 0) {
    plan.out_of_place = plan.in_place = false;
    plan.reason = fmt::format("{} is less than one element for each rank", format_bytes(wanted));
    return plan;
  }
  plan.slots = slots_for(request, plan.footprint);
  plan.segment = forced_segment(request, communicator, plan);
  if (plan.out_of_place || plan.in_place) shrink(request, communicator, plan);
  return plan;
}

}  // namespace busbar
