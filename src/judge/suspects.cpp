// SPDX-License-Identifier: BSD-3-Clause
#include "judge/suspects.hpp"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "base/text.hpp"

namespace busbar::judge {
namespace {

using Names = std::vector<std::string>;

/// All are of one rule. Of two findings on the same nodes the worse stays, then the first.
void add_suspect(std::vector<Suspect>& suspects, Suspect suspect) {
  const auto same = [&](const Suspect& known) {
    return known.nodes == suspect.nodes && known.path == suspect.path;
  };
  Suspect& known = find_or_add(suspects, same, suspect);
  if (suspect.defect > known.defect) known = std::move(suspect);
}

Defect defect_of(const CheckResult& result) {
  return result.metric == Metric::None                    ? Defect::Fact
         : result.decided_by == DecidedBy::WrongData      ? Defect::WrongData
         : result.decided_by == DecidedBy::FailedLaunches ? Defect::FailedLaunches
                                                          : Defect::Slow;
}

/// A suspect of the rule and size of a row; the evidence begins with the size, but for launches
/// that failed, which have all sizes.
Suspect suspect(Names nodes, const CheckResult& row, const std::string& evidence) {
  const Defect defect = defect_of(row);
  const std::string size =
      defect == Defect::FailedLaunches ? "" : fmt::format(" {}", format_bytes(row.size));
  return {.nodes = std::move(nodes),
          .path = row.nodes.empty() ? row.instance : std::string(),
          .rule = row.rule,
          .evidence = fmt::format("{}{}: {}", row.collective, size, evidence),
          .defect = defect};
}

/// What is blamed by itself: nodes, of a pairwise set also links and paths of the fabric.
void add_members(std::vector<Suspect>& suspects, const PointResult& point, SetKind kind) {
  // What is too good is a mistake of the measurement: of whose, pairs do not show.
  const auto fails = [kind](const CheckedRow& row) {
    return row.outcome == Outcome::Fail && (kind != SetKind::Pairwise || row.is_low());
  };
  const auto first = std::ranges::find_if(point.rows, fails);
  if (point.none_stands_out && first != point.rows.end()) {
    Names all;
    for (const CheckedRow& row : filtered(point.rows, fails)) append(all, row.nodes);
    add_suspect(suspects, suspect(all, *first, "no node stands out: " + first->reason));
  }
  for (const std::vector<CheckedRow>* rows : {&point.rows, &point.extra}) {
    for (const CheckedRow& row : *rows) {
      if (!fails(row) || (point.none_stands_out && rows == &point.rows)) continue;
      add_suspect(suspects, suspect(row.nodes, row, row.reason));
    }
  }
}

}  // namespace

std::vector<Suspect> suspects_of(const RuleResult& judged) {
  std::vector<Suspect> suspects;
  if (judged.set.kind == SetKind::Whole || judged.set.kind == SetKind::Rails) return suspects;
  for (const PointResult& point : judged.points) add_members(suspects, point, judged.set.kind);
  return suspects;
}

std::vector<Suspect> suspects_of(std::span<const CheckResult> results) {
  std::vector<Suspect> suspects;
  for (const CheckResult& result : results) {
    if (result.outcome != Outcome::Fail) continue;
    suspects.push_back({.nodes = result.nodes,
                        .rule = result.rule,
                        .evidence = fmt::format("{}: {}", result.collective, result.reason),
                        .defect = defect_of(result)});
  }
  return suspects;
}

void drop_explained(std::vector<Suspect>& suspects) {
  const auto explains = [](const Suspect& node, const Suspect& link) {
    return node.nodes.size() == 1 && contains(link.nodes, node.nodes.front()) &&
           node.defect >= link.defect;
  };
  std::vector<Suspect> kept;
  for (const Suspect& one : suspects) {
    const bool explained =
        one.nodes.size() == 2 &&
        std::ranges::any_of(suspects, [&](const Suspect& other) { return explains(other, one); });
    if (!explained) kept.push_back(one);
  }
  std::ranges::stable_sort(kept, std::ranges::greater{}, &Suspect::defect);
  suspects = std::move(kept);
}

void add_log_names(std::vector<Suspect>& suspects, std::span<const Observation> observations) {
  for (Suspect& suspect : suspects) {
    if (suspect.defect != Defect::FailedLaunches) continue;
    const auto own = [&](const Observation& launch) {
      const bool named = suspect.nodes == Names{launch.unreachable};
      return launch.hung_or_crashed() && (named || launch.nodes == suspect.nodes);
    };
    const auto launch = std::ranges::find_if(observations, own);
    if (launch == observations.end() || launch->file.empty()) continue;
    const auto log = std::filesystem::path(launch->file).replace_extension(".log");
    if (!std::filesystem::exists(log)) continue;
    suspect.evidence += "; its log: " + log.filename().string();
  }
}

}  // namespace busbar::judge
