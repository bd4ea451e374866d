// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/enum_names.hpp"
#include "base/error.hpp"
#include "format/chart.hpp"
#include "judge/spec/specification.hpp"

namespace busbar::judge {

/// From harmless to worst. FAIL is worse than ERROR: a defect that was found stays found, whatever
/// else could not be measured.
enum class Outcome { Skip, Pass, Known, Warn, Inconclusive, Error, Fail };

constexpr auto enum_names(Outcome) {
  return std::array{Named{Outcome::Skip, "SKIP"},
                    Named{Outcome::Pass, "PASS"},
                    Named{Outcome::Known, "KNOWN"},
                    Named{Outcome::Warn, "WARN"},
                    Named{Outcome::Inconclusive, "INCONCLUSIVE"},
                    Named{Outcome::Error, "ERROR"},
                    Named{Outcome::Fail, "FAIL"}};
}

/// What decided an outcome, where a later step must know it; the reason is for people.
enum class DecidedBy {
  Other,
  WrongData,       ///< no tolerance, and no waiver
  FailedLaunches,  ///< they hung or crashed, and those of others did not: no tolerance either
  TooFewLaunches,
  Noisy,    ///< launches scattered too much: they may be launched again
  TooGood,  ///< beyond the bound on the fast side
};

/// CheckResult::instance of what is said of all instances together.
inline constexpr std::string_view kFleet = "fleet";

/// What one rule says of one size on one instance of a device set; of a rule of facts what it says
/// of a node, with the fact's name in place of the collective, no size and no metric.
struct CheckResult {
  std::string rule{};
  std::string device_set{};
  std::string instance{};  ///< "h1+h2", or kFleet
  std::vector<std::string> nodes{};
  std::string collective{};
  std::string type{};
  Bytes size = 0;
  Metric metric = Metric::BusBandwidth;
  Statistic statistic = Statistic::Median;
  std::vector<double> values{};   ///< of the launches that count, in their order
  std::optional<double> value{};  ///< median of them, GB/s or us
  std::optional<double> cv{};     ///< standard deviation (n - 1) over mean; two launches at least
  std::optional<double> reference{};
  std::string reference_kind{};   ///< "absolute", "ceiling: ...", "baseline FOLDER", "fleet median"
  std::optional<double> ratio{};  ///< value over reference
  Bounds bounds{};
  Outcome outcome = Outcome::Error;
  DecidedBy decided_by = DecidedBy::Other;
  std::string reason{};       ///< one line; empty only for PASS
  std::string unreachable{};  ///< the node that did not answer, where the reason says so
  std::size_t attempts = 0;

  /// Said of all instances together.
  [[nodiscard]] bool of_fleet() const { return instance == kFleet; }
};

/// What is held against a node or a link; a worse one explains the others.
enum class Defect { Fact, Slow, FailedLaunches, WrongData };

constexpr auto enum_names(Defect) {
  return std::array{Named{Defect::Fact, "a fact"}, Named{Defect::Slow, "slow"},
                    Named{Defect::FailedLaunches, "hung or crashed"},
                    Named{Defect::WrongData, "wrong data"}};
}

/// A node, a link or a path of the fabric that the rules blame.
struct Suspect {
  std::vector<std::string> nodes{};  ///< one: the node; two: the link between them;
                                     ///< more: a group in which none stands out
  std::string path{};                ///< "uplink leaf2": then there are no nodes
  std::string rule{};
  std::string evidence{};  ///< "5 of 5 pairs low, median 0.10 GB/s, 17 % of the fleet's"
  Defect defect = Defect::Slow;
};

enum class NodeState {
  Good,
  Suspect,  ///< it took part in what fails, and no other node explains it
  Failed,   ///< it is blamed by itself
  Inconclusive,
  NoData
};

constexpr auto enum_names(NodeState) {
  return std::array{Named{NodeState::Good, "good"}, Named{NodeState::Suspect, "suspect"},
                    Named{NodeState::Failed, "failed"},
                    Named{NodeState::Inconclusive, "inconclusive"},
                    Named{NodeState::NoData, "no data"}};
}

/// A node is good only if other nodes explain all its FAIL, ERROR and INCONCLUSIVE results.
struct NodeAccount {
  std::string node{};
  NodeState state = NodeState::NoData;
  std::string evidence{};
};

/// Facts of the judging itself, for every output.
struct AcceptanceHead {
  std::string version{};
  std::string judged_at{};       ///< "2026-11-21 12:30:00", local time
  long long judged_at_unix = 0;  ///< seconds
  std::string seed{};            ///< of the order of launches; empty for files
  std::vector<std::string>
      notes{};            ///< "oversubscribed: ...", files that no set wants, assumptions
  std::string refused{};  ///< the one cause for which every verdict is ERROR; empty: there is none
};

/// The results of a system.
struct Acceptance {
  AcceptanceHead head{};
  std::vector<CheckResult> verdicts{};  ///< in the order of rules, instances, collectives, sizes
  std::vector<Suspect> suspects{};
  std::vector<NodeAccount> nodes{};
  std::vector<CheckResult> pairs{};  ///< of small fleets, what two nodes had: for pictures
  Chart timeline{};                  ///< of a soak

  /// The worst outcome; ERROR if there is no result.
  [[nodiscard]] Outcome overall() const {
    const auto worst = std::ranges::max_element(verdicts, {}, &CheckResult::outcome);
    return worst == verdicts.end() ? Outcome::Error : worst->outcome;
  }
  [[nodiscard]] std::size_t count(Outcome outcome) const {
    return static_cast<std::size_t>(std::ranges::count(verdicts, outcome, &CheckResult::outcome));
  }
};

/// 0 PASS, KNOWN, WARN (1 with `strict`), 1 FAIL, 3 INCONCLUSIVE, 4 ERROR, 77 where all is SKIP.
[[nodiscard]] inline int exit_code_of(const Acceptance& acceptance, bool strict) {
  switch (acceptance.overall()) {
    case Outcome::Skip: return exit_code(Status::Skipped);
    case Outcome::Pass:
    case Outcome::Known: return exit_code(Status::Ok);
    case Outcome::Warn: return exit_code(strict ? Status::Wrong : Status::Ok);
    case Outcome::Inconclusive: return exit_code(Status::Unavailable);
    case Outcome::Fail: return exit_code(Status::Wrong);
    case Outcome::Error: break;
  }
  return exit_code(Status::Runtime);
}

}  // namespace busbar::judge
