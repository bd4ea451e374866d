// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/enum_names.hpp"
#include "base/round_robin.hpp"
#include "judge/observation.hpp"
#include "judge/spec/specification.hpp"
#include "model/record.hpp"

namespace busbar::judge {

/// Sample standard deviation (n - 1) over mean; nothing for fewer than two values.
[[nodiscard]] std::optional<double> variation_of(std::span<const double> values);

struct TwoGroups {
  std::size_t low = 0;
  std::size_t high = 0;
  double low_middle = 0;
  double high_middle = 0;
};

/// Groups of two or more that are further apart than either is wide and than 1 % of the middle.
[[nodiscard]] std::optional<TwoGroups> two_groups_of(std::span<const double> values);

/// A row's value of a metric: GB/s or us; or why it has none that can be judged.
struct RowValue {
  std::optional<double> value{};
  std::string error{};
};

/// Bandwidth by another statistic than the median is that of the time's statistic: bytes over the
/// p99 time, not the p99 of bandwidths.
[[nodiscard]] RowValue value_of(const Record& record, Metric metric, Statistic statistic);

/// Which rows a rule asks for: one size of one collective on one instance.
struct SampleKey {
  const Rule& rule;
  const DeviceSetRule& set;
  const Instance& instance;
  std::string collective{};
  Bytes size = 0;

  /// Nodes of a pairwise set measure two by two.
  [[nodiscard]] SetShape shape() const {
    return shape_of(set, set.kind == SetKind::Pairwise ? 2 : instance.nodes.size());
  }
};

/// The keys of one collective and size: of each instance, which must outlive them.
[[nodiscard]] std::vector<SampleKey> keys_of(const Rule& rule, const DeviceSetRule& set,
                                             std::span<const Instance> instances,
                                             const std::string& collective, Bytes size);

/// Why rows are never a pass, from least to worst.
enum class Flaw { Unchecked, Oversubscribed, SameMachine, Fake, Simulated };

constexpr auto enum_names(Flaw) {
  return std::array{Named{Flaw::Unchecked, "data were not checked"},
                    Named{Flaw::Oversubscribed, "oversubscribed: ranks shared processors"},
                    Named{Flaw::SameMachine, "one machine: its nodes are names of one host"},
                    Named{Flaw::Fake, "fake: measured on no real GPU"},
                    Named{Flaw::Simulated, "simulated: predicted, not measured"}};
}

/// A launch that produced no data.
struct LaunchFailure {
  std::string reason{};
  std::string unreachable{};  ///< the node that did not answer, if that is the reason
  bool crashed = false;       ///< it was made, and hung or crashed
};

/// The values of all launches of one size for one rule.
struct Sample {
  std::vector<double> values{};      ///< of launches that went well, in their order; GB/s or us
  std::vector<std::string> wrong{};  ///< how data were wrong, of any launch and attempt
  std::vector<LaunchFailure> failures{};
  std::vector<std::string> errors{};   ///< rows that cannot be judged, and why
  std::optional<double> bound_GBps{};  ///< the least of the rows' own bounds
  std::set<Flaw> flaws{};
  bool two_levels = false;        ///< the samples of a launch have two levels
  bool skipped_one_rank = false;  ///< it has a row of one rank, whose bus bandwidth is none
  std::set<int> slowest_gpus{};   ///< of launches with a row for each GPU, which give the value
  bool is_ranked = false;         ///< its test is free of a scale: scatter is no reason to doubt it
  std::size_t attempts = 0;

  /// How many launches hung or crashed.
  [[nodiscard]] std::size_t crashed() const;
};

/// Converts a metric so that higher is better (times become 1/t), and back.
[[nodiscard]] double as_rate(double value, Metric metric);

/// Of the launches of all attempts.
[[nodiscard]] Sample gather(const SampleKey& key, std::span<const Observation> observations);

/// Two nodes, by number, that a row of a launch measured together.
struct MeasuredPair {
  NumberPair nodes{};
  std::size_t launch = 0;  ///< number within the table
  std::size_t round = 0;
  double value = 0;  ///< of the rule's metric
};

/// All pairs of a pairwise set for one size.
struct PairTable {
  std::size_t launches = 0;
  std::vector<MeasuredPair> pairs{};
  std::map<NumberPair, std::vector<std::string>> wrong{};   ///< how data were wrong
  std::map<NumberPair, std::vector<std::string>> errors{};  ///< rows without a value, and why
  Sample common{};  ///< flaws, the least bound, attempts; no values
};

/// Pairs of good launches, and wrong data of all: of confirmations, or the others; by any key.
[[nodiscard]] PairTable gather_pairs(const SampleKey& key,
                                     std::span<const Observation> observations,
                                     std::span<const std::string> nodes, bool confirmations);

}  // namespace busbar::judge
