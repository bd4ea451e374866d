// SPDX-License-Identifier: BSD-3-Clause
#include "bootstrap/step_position.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "base/text.hpp"

namespace busbar {
namespace {

using Positions = std::vector<RankPosition>;

std::pair<std::uint64_t, std::uint64_t> order(const RankPosition& rank) {
  return {rank.position->step, rank.position->point};
}

std::string point_text(const StepPosition& position) {
  if (position.point == 0) return "";
  const bool inside = position.point % 2 == 1;
  return fmt::format("{} operation {}", inside ? "in" : "after", (position.point + 1) / 2);
}

/// "rank 3 on h2, rank 4 on h2 and 5 more".
std::string names_of(const Positions& ranks) {
  constexpr std::size_t kNamed = 8;
  const auto named = [](const RankPosition& each) {
    return fmt::format("rank {} on {}", each.rank, each.host);
  };
  return join_some(mapped(ranks, named), kNamed);
}

/// "2 others wait in: ...", of ranks in ascending order of position.
std::string others_text(const Positions& others, const StepPosition* behind) {
  const bool one = others.size() == 1;
  const std::string who = one ? names_of(others) : fmt::format("{} others", others.size());
  const StepPosition& last = *others.back().position;
  const bool same_step = behind != nullptr && behind->step == last.step;
  const std::string where = same_step ? point_text(last) : "in: " + to_string(last);
  const bool together = order(others.front()) == order(others.back());
  return fmt::format("{} {} {}{}", who, one ? "waits" : "wait", where,
                     together ? "" : " or before that");
}

/// Of ranks that answer, in ascending order of position. Where others do not (`some_silent`), they
/// wait for those: it says little who came an operation further, or left a broadcast that the next
/// still waits in, so only a rank two steps back is behind.
std::string behind_text(const Positions& ranks, bool some_silent) {
  if (some_silent && ranks.front().position->step + 1 >= ranks.back().position->step) {
    return others_text(ranks, nullptr);
  }
  const auto is_behind = [&](const RankPosition& rank) {
    return some_silent ? rank.position->step == ranks.front().position->step
                       : order(rank) == order(ranks.front());
  };
  const auto first_other = std::ranges::find_if_not(ranks, is_behind);
  if (first_other == ranks.end()) {
    return fmt::format("none of the {} ranks that answer is behind: {}", ranks.size(),
                       to_string(*ranks.front().position));
  }
  const Positions behind(ranks.begin(), first_other);
  const StepPosition& where = *behind.front().position;
  return fmt::format("{} {} behind, {} for {:.0f} s; {}", names_of(behind),
                     behind.size() == 1 ? "is" : "are", to_string(where), where.idle_s,
                     others_text({first_other, ranks.end()}, &where));
}

std::vector<int> missing_ranks(const Positions& ranks, int of) {
  std::vector<int> missing;
  for (int rank = 0; rank < of; ++rank) {
    if (std::ranges::find(ranks, rank, &RankPosition::rank) == ranks.end()) missing.push_back(rank);
  }
  return missing;
}

}  // namespace

std::string to_string(const StepPosition& position) {
  const std::string step =
      one_line(std::string(position.text.data(), strnlen(position.text.data(), 128)));
  const std::string point = point_text(position);
  return point.empty() ? step : step + ", " + point;
}

std::string describe_stall(const std::vector<RankPosition>& ranks, int of) {
  Positions silent;
  Positions answering;
  for (const RankPosition& each : ranks) (each.position ? answering : silent).push_back(each);
  std::ranges::stable_sort(answering, {}, order);
  std::vector<std::string> parts;
  if (!silent.empty()) {
    parts.push_back(names_of(silent) + (silent.size() == 1 ? " does" : " do") + " not answer");
  }
  if (!answering.empty()) parts.push_back(behind_text(answering, !silent.empty()));
  const std::vector<int> missing = missing_ranks(ranks, of);
  if (!missing.empty()) {
    parts.push_back(fmt::format("ranks that could not be asked: {}", format_ranges(missing)));
  }
  return join(parts, "; ");
}

}  // namespace busbar
