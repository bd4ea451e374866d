// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/enum_names.hpp"
#include "base/units.hpp"

namespace busbar::judge {

/// None is that of facts; those after it are of a soak. They have no names.
enum class Metric {
  BusBandwidth,
  AlgorithmBandwidth,
  Time,
  None,
  Change,  ///< of the median time, in percent
  Recovery,
  Dips,
  WrongElements,
  FailedTurns
};
enum class Statistic { Median, Mean, Min, P90, P99, Max };
enum class RuleKind { Absolute, Theoretical, Baseline, Fleet };
enum class SetKind { PerNode, Pairwise, Rails, Whole };
enum class OnNoisy { Rerun, Inconclusive, Warn };
enum class CeilingModel { Hierarchical, Ring };

/// @name Names as a specification has them
/// @{
constexpr auto enum_names(Metric) {
  return std::array{Named{Metric::BusBandwidth, "busbw"},
                    Named{Metric::AlgorithmBandwidth, "algbw"}, Named{Metric::Time, "time_us"}};
}
constexpr auto enum_names(Statistic) {
  return std::array{Named{Statistic::Median, "median"}, Named{Statistic::Mean, "mean"},
                    Named{Statistic::Min, "min"},       Named{Statistic::P90, "p90"},
                    Named{Statistic::P99, "p99"},       Named{Statistic::Max, "max"}};
}
constexpr auto enum_names(RuleKind) {
  return std::array{Named{RuleKind::Absolute, "absolute"},
                    Named{RuleKind::Theoretical, "theoretical"},
                    Named{RuleKind::Baseline, "baseline"}, Named{RuleKind::Fleet, "fleet"}};
}
constexpr auto enum_names(SetKind) {
  return std::array{Named{SetKind::PerNode, "per_node"}, Named{SetKind::Pairwise, "pairwise"},
                    Named{SetKind::Rails, "rails"}, Named{SetKind::Whole, "whole"}};
}
constexpr auto enum_names(OnNoisy) {
  return std::array{Named{OnNoisy::Rerun, "rerun"}, Named{OnNoisy::Inconclusive, "inconclusive"},
                    Named{OnNoisy::Warn, "warn"}};
}
constexpr auto enum_names(CeilingModel) {
  return std::array{Named{CeilingModel::Hierarchical, "hierarchical"},
                    Named{CeilingModel::Ring, "ring"}};
}
using busbar::name;

/// @}

/// "GB/s" or "us"; of facts empty; of a soak "%", "s" or what is counted.
[[nodiscard]] constexpr std::string_view unit(Metric metric) {
  constexpr std::array<std::string_view, 9> kUnits{"GB/s", "GB/s", "us",       "",        "%",
                                                   "s",    "dips", "elements", "failures"};
  return kUnits.at(static_cast<std::size_t>(metric));
}
/// True for what a rule of a specification may ask for, each with a statistic over operations.
[[nodiscard]] constexpr bool is_of_rules(Metric metric) { return metric < Metric::None; }

/// Where something stands in the specification: both from 1, 0 where it does not stand there.
struct TextPlace {
  unsigned line = 0;
  unsigned column = 0;
  std::string file{};  ///< one that the specification is based on; empty: the specification itself
};

/// Facts, each with the values of which it must have one.
using Fingerprint = std::map<std::string, std::vector<std::string>>;
/// Variables with their values.
using VariableMap = std::map<std::string, std::string>;

/// Which system the specification is for.
struct SystemIdentity {
  std::string name{};
  /// gpu is a whole name, gpus_per_node and nics_per_node are numbers, others a part of a text.
  Fingerprint fingerprint{};
  std::vector<std::string> nodes{};  ///< by name; empty: those of the command line or of the files
  TextPlace fingerprint_place{};
};

/// What bounds are computed from.
struct CeilingRule {
  CeilingModel model = CeilingModel::Hierarchical;
  bool in_network_reduction = false;  ///< "measured": reductions may exceed the ring's ceiling
  std::string system{};               ///< of topo/systems, or a file: its graph gives the bounds
};

/// No machine runs more launches at the same time.
inline constexpr int kMostAtOnce = 1'000'000;

/// How it is measured.
struct RunContract {
  int launches = 0;      ///< fresh process launches: the unit of replication
  int min_launches = 0;  ///< fewer valid ones: INCONCLUSIVE
  int iterations = 0;    ///< timed operations of a launch; 0: until the statistics suffice
  int warmup = -1;       ///< untimed ones before; -1: until times are steady
  bool check_data = true;
  double timeout_s = 0;         ///< of one launch
  double reach_timeout_s = 30;  ///< of the first touch of a node
  std::string backend = "auto";
  bool same_machine = false;     ///< nodes may share one: else what is between them never passes
  std::optional<int> at_once{};  ///< most at the same time; absent: what the machine allows
};

/// Judged before any bound.
struct NoiseGate {
  double max_cv = 0;  ///< across launches, of the statistic
  OnNoisy on_noisy = OnNoisy::Inconclusive;
  int max_reruns = 0;
};

/// The earlier run that rules compare with.
struct BaselineRule {
  std::string run{};  ///< its folder, as it can be opened: relative to the specification's
  TextPlace place{};
};

/// Which devices of which nodes measure together.
struct DeviceSetRule {
  std::string id{};
  SetKind kind = SetKind::Whole;
  std::string gpus{};      ///< `--devices` of the executables; empty: all, or no GPUs
  int ranks_per_node = 0;  ///< always above 0: given, or of `gpus`, or of the fingerprint
  int partners = 6;        ///< Pairwise: of each node in a launch
  VariableMap env{};       ///< variables of its launches
  std::vector<std::string> backend_options{};  ///< words of their command line
  Fingerprint fingerprint{};  ///< facts that its launches must have, beside [system]'s
  TextPlace place{};
};

/// How many ranks and nodes a set has; no ranks where the number of nodes is not known.
struct SetShape {
  int ranks = 0;
  int nodes = 0;
  std::string gpus{};  ///< DeviceSetRule::gpus
};
/// The shape of so many of its nodes; on rails one rank of each, on a GPU that differs from rail to
/// rail.
[[nodiscard]] SetShape shape_of(const DeviceSetRule& set, std::size_t nodes);
[[nodiscard]] SetShape shape_of(const DeviceSetRule& set, const SystemIdentity& system);

/// Multiples of the reference; each is there only where the specification says so.
struct Bounds {
  std::optional<double> fail_below{};
  std::optional<double> warn_below{};
  std::optional<double> warn_above{};
  std::optional<double> fail_above{};
};

/// A failure that is known: reported as KNOWN until the end of that day.
struct KnownIssue {
  std::string reason{};
  std::string until{};               ///< "2026-12-01"
  std::vector<std::string> nodes{};  ///< who may fail; empty: all
};

/// What is expected of rows.
struct Rule {
  std::string id{};
  std::vector<std::string> collectives{};  ///< our names: "allreduce"
  std::string device_set{};                ///< a DeviceSetRule's id
  std::vector<Bytes> sizes{};              ///< rising
  std::string type = "float";
  bool in_place = false;
  Metric metric = Metric::BusBandwidth;
  Statistic statistic = Statistic::Median;
  RuleKind compare = RuleKind::Absolute;
  std::optional<double> value{};  ///< of Absolute: GB/s or us
  std::string source{};           ///< where the figures are from; one line
  Bounds bounds{};
  std::optional<double> max_cv{};  ///< instead of the noise gate's
  double min_robust_z = 0;         ///< Fleet: scaled MADs
  double max_fleet_mad = 0;        ///< Fleet: raw MAD over median
  std::optional<KnownIssue> known_issue{};
  std::vector<std::string> ignored{};  ///< keys that have no effect on such a set
  TextPlace place{};
  TextPlace size_place{};
  TextPlace value_place{};
};

/// What a fact of every node must be (machine/machine_fact.hpp): one of the limits is given.
struct FactRule {
  std::string id{};  ///< the fact's name, unless given
  std::string fact{};
  std::string instance = "*";         ///< a pattern of glob(7): which ports, GPUs, ...
  std::optional<double> delta_max{};  ///< how much a counter may rise while a run lasts
  std::optional<double> at_least{};   ///< the number that a value begins with
  std::vector<std::string> equals{};  ///< one of these texts
  std::string same{};                 ///< "fleet": what most nodes have
  std::string source{};
};

/// What a soak measures, and how much may change meanwhile: only what is given is limited.
struct SoakRule {
  std::vector<Bytes> sizes{};  ///< one
  int turn_s = 60;             ///< of one instance and collective, before the next has its turn
  std::optional<double> level_max{};      ///< lasting change of the median time; 0.05: 5 %
  std::optional<double> drift_max{};      ///< of a whole run
  std::optional<int> dips_max{};          ///< short falls of the rate
  std::optional<double> recover_s_max{};  ///< until the rate is back after any fall
};

/// A whole specification, after a profile was chosen.
struct Specification {
  std::string file{};               ///< for messages
  std::string profile{};            ///< quick, standard, full, or empty where the file has none
  std::vector<std::string> only{};  ///< the rules that were asked for by id; empty: all
  SystemIdentity system{};
  CeilingRule ceiling{};
  RunContract run{};
  NoiseGate noise{};
  std::optional<BaselineRule> baseline{};
  std::vector<DeviceSetRule> device_sets{};
  std::vector<Rule> rules{};
  std::vector<FactRule> facts{};
  std::optional<SoakRule> soak{};

  /// The set of an id; the reader has made sure that it is there.
  [[nodiscard]] const DeviceSetRule& device_set(std::string_view id) const;
  [[nodiscard]] bool needs_baseline() const;
};

/// As it was read: profile applied, ranges written out, defaults included; a missing value is null.
[[nodiscard]] std::string specification_json(const Specification& specification);

}  // namespace busbar::judge
