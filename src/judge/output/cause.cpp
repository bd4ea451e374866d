// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/text.hpp"
#include "judge/fleet/fabric_path.hpp"
#include "judge/output/describe.hpp"
#include "model/collective.hpp"

namespace busbar::judge {
namespace {

/// Whether the fact that is blamed counts how often a link went down.
bool is_flap(const Suspect& suspect, const Acceptance& acceptance) {
  constexpr std::array<std::string_view, 3> kFlaps{"net.carrier_changes", "ib.link_downed",
                                                   "ib.link_recovered"};
  return suspect.defect == Defect::Fact &&
         std::ranges::any_of(acceptance.verdicts, [&](const CheckResult& result) {
           return result.rule == suspect.rule && result.nodes == suspect.nodes &&
                  std::ranges::count(kFlaps, result.collective) > 0;
         });
}

/// Whether all else that both nodes of a link took part in is good, and there is something.
bool is_all_else_good(const Suspect& link, const Acceptance& acceptance) {
  return std::ranges::all_of(link.nodes, [&](const std::string& node) {
    const auto is_else = [&](const auto& one) {  // a result or a suspect
      return one.nodes != link.nodes && contains(one.nodes, node);
    };
    std::vector<CheckResult> results = filtered(acceptance.verdicts, is_else);
    std::erase_if(results, [](const CheckResult& one) { return one.of_fleet(); });
    return std::ranges::any_of(results,
                               [](const CheckResult& one) { return one.value.has_value(); }) &&
           std::ranges::all_of(
               results, [](const CheckResult& one) { return one.outcome <= Outcome::Warn; }) &&
           std::ranges::none_of(acceptance.suspects, is_else);
  });
}

/// "node17 is slow", "the link h1 - h3 delivers wrong data".
std::string charge(const Suspect& suspect, const Acceptance& acceptance) {
  const std::string subject =
      (suspect.nodes.size() == 2 ? "the " : "") + suspect_title(suspect) + " ";
  switch (suspect.defect) {
    case Defect::WrongData: return subject + "delivers wrong data";
    case Defect::FailedLaunches: return subject + "hangs or crashes";
    case Defect::Fact:
      return subject + (is_flap(suspect, acceptance) ? "has a link that flapped"
                                                     : "is not what the specification wants");
    case Defect::Slow: break;
  }
  return subject + (is_cut_name(suspect.path) ? "are slow" : "is slow");
}

/// "its all-reduce of 1 GiB reaches 62.1 GB/s; ..."; empty where the value misses no bound itself.
std::string comparison_text(const CheckResult& result) {
  const auto value = finite(result.value);
  const auto least = edge(result, result.bounds.fail_below);
  const auto most = edge(result, result.bounds.fail_above);
  const bool is_low = least && value < *least;
  if (!value || result.size == 0 || !(is_low || (most && value > *most))) return {};
  return fmt::format("its {} of {} {} {} {}; {} {} is {}", collective_name(result.collective),
                     size_text(result.size), result.metric == Metric::Time ? "takes" : "reaches",
                     figure(value), unit(result.metric), is_low ? "at least" : "at most",
                     figure(is_low ? least : most), is_low ? "required" : "allowed");
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

std::string defect_text(const Suspect& suspect, const Acceptance& acceptance) {
  if (suspect.defect != Defect::Fact) return std::string(name(suspect.defect));
  return is_flap(suspect, acceptance) ? "link flapped" : suspect.rule;
}

std::string advice_text(const Suspect& suspect, const Acceptance& acceptance) {
  const std::size_t nodes = suspect.nodes.size();
  if (nodes > 2) return "measure them in pairs: no one of them stands out";
  switch (suspect.defect) {
    case Defect::WrongData:
      return "take it out of service at once, and run the vendor's diagnostics";
    case Defect::FailedLaunches:
      return "take it out, and read the log of its launch in the run's folder";
    case Defect::Fact:
      return is_flap(suspect, acceptance)
                 ? "replace the cable or transceiver, or reseat it; then run again"
                 : "fix what differs, then run again";
    case Defect::Slow: break;
  }
  if (is_cut_name(suspect.path)) {
    return "check what these links share (an uplink or a switch); --levels finds out which";
  }
  if (!suspect.path.empty()) return "check its cables and port errors; the nodes below it are good";
  if (nodes == 2 && acceptance.nodes.size() == 2) {
    return "of two nodes it is unknown which end is at fault: measure each with a third node";
  }
  if (nodes == 2) {
    return fmt::format("check cables and switch ports between the two{}",
                       is_all_else_good(suspect, acceptance) ? "; all else of both nodes is good"
                                                             : ", and both nodes");
  }
  return "take it out (bad.txt), check its ports, cables and clocks, then run again";
}

std::string cause_text(const Acceptance& acceptance) {
  constexpr std::size_t kMostNamed = 3;
  if (acceptance.verdicts.empty()) return "No rule was judged.";
  if (!acceptance.head.refused.empty()) {
    return fmt::format("Nothing was judged: {}.", one_line(acceptance.head.refused));
  }
  const std::string silent = silent_text(silent_nodes(acceptance));
  if (!acceptance.suspects.empty()) {
    const Suspect& first = acceptance.suspects.front();
    auto others = mapped(worst_suspects(acceptance), [&](const Suspect& one) {
      return fmt::format("{} ({})", suspect_title(one), defect_text(one, acceptance));
    });
    others.erase(others.begin());
    std::vector<std::string> also;
    add_new(also, join_some(others, kMostNamed));
    add_new(also, silent);
    return fmt::format("{}: {}.{}", charge(first, acceptance), why(first, acceptance),
                       also.empty() ? "" : fmt::format(" Also: {}.", join(also, "; ")));
  }
  if (!silent.empty() && acceptance.overall() != Outcome::Fail) {
    return fmt::format("{}: {}.", silent, kSilentAdvice);
  }
  switch (acceptance.overall()) {
    case Outcome::Fail:
      return fmt::format("{} {}{}", worst_text(acceptance), no_suspect_text(acceptance),
                         silent.empty() ? "" : fmt::format(" {}.", silent));
    case Outcome::Pass:
      return fmt::format(
          "{} on {} met: no node and no link is blamed.",
          acceptance.verdicts.size() == 1 ? "The one expectation" : "All expectations",
          counted(acceptance.nodes.size(), "node"));
    default: return worst_text(acceptance);
  }
}

}  // namespace busbar::judge
