// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "judge/instances.hpp"
#include "judge/observation.hpp"
#include "judge/spec/specification.hpp"

namespace busbar::judge {

/// Which rows a rule asks for: one size of one collective on one instance.
struct SampleKey {
  const Expectation& rule;
  const DeviceSetRule& set;
  const Instance& instance;
  std::string collective{};
  Bytes size = 0;
};

/// What all launches of one size tell of one rule.
struct Sample {
  std::vector<double> values{};         ///< of launches that went well, in their order; GB/s or us
  std::vector<std::string> wrong{};     ///< data that were wrong, of any launch and attempt
  std::vector<std::string> failures{};  ///< launches that gave nothing, and why
  std::vector<std::string> errors{};    ///< rows that cannot be judged, and why
  std::vector<double> bounds_GBps{};    ///< the rows' own bounds
  bool two_levels = false;              ///< the samples of a launch have two levels
  bool unchecked = false;               ///< a row's data were not checked
  bool oversubscribed = false;
  bool fake = false;
  bool simulated = false;
  bool skipped_one_rank = false;  ///< it has a row of one rank, whose bus bandwidth is none
  std::size_t attempts = 0;
};

/// Gathers; `decide` tells which attempts give values. Wrong data count from every attempt.
[[nodiscard]] Sample gather(const SampleKey& key, std::span<const Observation> observations,
                            Decide decide);

/// The value of one launch by itself, whatever instance it is of: the median of its rows' values.
[[nodiscard]] std::optional<double> launch_value(const Observation& observation,
                                                 const SampleKey& key);

}  // namespace busbar::judge
