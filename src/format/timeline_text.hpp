// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "base/units.hpp"
#include "stats/time_histogram.hpp"
#include "stats/timeline.hpp"

namespace busbar {

/// "00:02:14" of seconds since the begin; with `tenths` "00:02:14.3".
[[nodiscard]] std::string clock_text(double seconds, bool tenths = false);

/// The events of a run in sentences, and what could not be detected; facts, not faults.
[[nodiscard]] std::vector<std::string> describe_events(const stats::Timeline& timeline,
                                                       const stats::TimelineEvents& events);

/// What checks prove: "2.1 TB checked, none wrong: fewer than 1.4e-12 errors per byte (95 %)".
[[nodiscard]] std::string describe_checks(Bytes checked, std::uint64_t wrong);

/// The 99.9th percentile with its interval, where there are enough samples.
[[nodiscard]] std::string describe_tail(const stats::TimeHistogram& times);

}  // namespace busbar
