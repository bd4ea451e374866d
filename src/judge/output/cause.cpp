// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/text.hpp"
#include "judge/output/describe.hpp"
#include "model/collective.hpp"

namespace busbar::judge {
namespace {

/// "node17", "the link h1 - h3", "uplink leaf2", "one of h1, h2 and h3".
std::string subject_of(const Suspect& suspect) {
  constexpr std::size_t kFew = 4;
  if (suspect.nodes.size() == 2) return "the " + suspect_title(suspect);
  if (suspect.nodes.size() < 2) return suspect_title(suspect);
  return suspect.nodes.size() <= kFew ? "one of " + join_and(suspect.nodes)
                                      : fmt::format("one of {} nodes", suspect.nodes.size());
}

std::string_view predicate_of(Defect defect) {
  switch (defect) {
    case Defect::WrongData: return "delivers wrong data";
    case Defect::FailedLaunches: return "hangs or crashes";
    case Defect::Fact: return "is not what the specification wants";
    case Defect::Slow: break;
  }
  return "is slow";
}

/// "its all-reduce of 1 GiB has 62.1 GB/s, 38 % below 99.9 (fleet median)"; empty where no value
/// was compared with another.
std::string comparison_text(const CheckResult& result) {
  constexpr double kPercent = 100;
  if (!finite(result.value) || !finite(result.ratio) || result.size == 0) return {};
  return fmt::format(
      "its {} of {} {} {} {}, {:.0f} % {} {} ({})", collective_name(result.collective),
      size_text(result.size), result.metric == Metric::Time ? "takes" : "has", figure(result.value),
      unit(result.metric), kPercent * std::abs(1 - *result.ratio),
      *result.ratio < 1 ? "below" : "above", figure(result.reference), result.reference_kind);
}

/// The figures of a slow suspect where it has a result of its own; else its evidence.
std::string why(const Suspect& suspect, const Acceptance& acceptance) {
  const auto own = std::ranges::find_if(acceptance.verdicts, [&](const CheckResult& result) {
    return result.outcome == Outcome::Fail && result.rule == suspect.rule &&
           !suspect.nodes.empty() && result.nodes == suspect.nodes;
  });
  if (own != acceptance.verdicts.end() && suspect.defect == Defect::Slow) {
    std::string text = comparison_text(*own);
    if (!text.empty()) return text;
  }
  return one_line(suspect.evidence);
}

/// "rule on instance: reason" of the first with the overall outcome, and how many more.
std::string worst_text(const Acceptance& acceptance) {
  const Outcome overall = acceptance.overall();
  const auto first = std::ranges::find(acceptance.verdicts, overall, &CheckResult::outcome);
  if (first == acceptance.verdicts.end()) return "Nothing that was asked for is in the files.";
  const std::size_t more = acceptance.count(overall) - 1;
  return fmt::format("{} on {}: {}{}.", first->rule, first->instance, one_line(first->reason),
                     more == 0 ? "" : fmt::format("; and {} more {}", more, name(overall)));
}

}  // namespace

std::string advice_text(const Suspect& suspect) {
  const std::size_t nodes = suspect.nodes.size();
  if (nodes > 2) return "measure them in pairs: no one of them stands out";
  switch (suspect.defect) {
    case Defect::WrongData:
      return "take it out of service at once, and run the vendor's diagnostics";
    case Defect::FailedLaunches:
      return "take it out, and read the log of its launch in the run's folder";
    case Defect::Fact: return "mend what differs, then run again";
    case Defect::Slow: break;
  }
  if (!suspect.path.empty()) return "check its cables and port errors; the nodes below it are good";
  if (nodes == 2) return "check cables and switch ports between the two; both nodes are good";
  return "take it out (bad.txt), check its ports, cables and clocks, then run again";
}

std::string cause_text(const Acceptance& acceptance) {
  constexpr std::size_t kMostNamed = 3;
  if (acceptance.verdicts.empty()) return "No rule was judged.";
  if (!acceptance.head.refused.empty()) {
    return fmt::format("Nothing was judged: {}.", one_line(acceptance.head.refused));
  }
  if (!acceptance.suspects.empty()) {
    const Suspect& first = acceptance.suspects.front();
    std::vector<std::string> others = mapped(acceptance.suspects, suspect_title);
    others.erase(others.begin());
    const std::size_t more = others.size();
    others.resize(std::min(more, kMostNamed));
    return fmt::format("{} {}: {}.{}", subject_of(first), predicate_of(first.defect),
                       why(first, acceptance),
                       more == 0 ? ""
                                 : fmt::format(" {} more to blame: {}{}.", more, join(others, ", "),
                                               more > kMostNamed ? ", ..." : ""));
  }
  switch (acceptance.overall()) {
    case Outcome::Fail:
      return fmt::format("{} {}", worst_text(acceptance), no_suspect_text(acceptance));
    case Outcome::Pass:
      return fmt::format(
          "{} on {} met: no node and no link is blamed.",
          acceptance.verdicts.size() == 1 ? "The one expectation" : "All expectations",
          counted(acceptance.nodes.size(), "node"));
    default: return worst_text(acceptance);
  }
}

}  // namespace busbar::judge
