// SPDX-License-Identifier: BSD-3-Clause
#include "harness/evidence.hpp"

#include <nlohmann/json.hpp>

#include "harness/options.hpp"

namespace nlohmann {

/// What is not there is null.
template <class T>
struct adl_serializer<std::optional<T>> {
  static void to_json(json& to, const std::optional<T>& from) {
    to = from ? json(*from) : json(nullptr);
  }
  static void from_json(const json& from, std::optional<T>& to) {
    if (!from.is_null()) to = from.get<T>();
  }
};

}  // namespace nlohmann

namespace busbar {

// NOLINTBEGIN(readability-identifier-length,modernize-type-traits): the library's macros
// cppcheck-suppress unknownMacro
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Arrival, last, late_us)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Turn, alone_us, alone_p99_us, together_us, together_p99_us,
                                   load_alone, load_together)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(DataCheck, wrong, first_wrong)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Disturbances, minor_faults, involuntary_switches)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(LibraryChoice, algorithm, protocol, channels)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Evidence, times_us, arrivals, rank_times_us, start_skews_us,
                                   loads_us, enqueue_us, host_times_us, turns, operations,
                                   warmup_operations, batch, steady, stop, disturbances, skipped,
                                   failed, check, checkable, fault_injected, choice, finished_at,
                                   nodes, connect_s, segment_bytes, in_cache, registered, pages,
                                   device_set, bound_kind, bound_GBps)
// NOLINTEND(readability-identifier-length,modernize-type-traits)

std::string to_text(const Evidence& evidence) {
  return nlohmann::json(evidence).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

Evidence parse_evidence(std::string_view text) {
  return nlohmann::json::parse(text).get<Evidence>();
}

std::vector<Evidence> gather_evidence(Bootstrap& world, const GroupPlan& plan, std::size_t round,
                                      const Evidence& mine) {
  const std::vector<RankGroup>& groups = plan.rounds[round].groups;
  if (plan.kind == GroupPlan::Kind::World) return {mine};
  const auto leads = [&](const RankGroup& group) { return group.ranks.front() == world.rank(); };
  const auto texts = world.gather_texts(std::ranges::any_of(groups, leads) ? to_text(mine) : "");
  if (texts.empty()) return {};
  return mapped(groups, [&](const RankGroup& group) {
    return parse_evidence(texts[static_cast<std::size_t>(group.ranks.front())]);
  });
}

stats::StopReason stop_of(const Options& options, std::span<const Evidence> visits) {
  using stats::StopReason;
  if (options.visits == 1) return visits.back().stop;
  const auto samples = mapped(visits, &Evidence::times_us);
  double spent_s = 0;
  for (const Evidence& visit : visits) {
    const auto summary = stats::summarize(visit.times_us);
    spent_s += static_cast<double>(visit.operations + visit.warmup_operations) *
               (summary ? summary->mean : 0) / 1e6;
  }
  // One sample is not a row's.
  if (samples.size() == 1 && samples.front().size() < 2) spent_s = 0;
  const StopReason stop =
      stats::decide_visits(samples, options.visits, options.stop_limits(), spent_s);
  // Exactly -n operations are those of all visits together; the visits of variants are pairs.
  const bool all_made = options.operations || options.vary || !options.mix.empty();
  if (all_made && stop != StopReason::Visits) return StopReason::None;
  return options.operations ? StopReason::Count : stop;
}

}  // namespace busbar
