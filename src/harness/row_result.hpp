// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "harness/options.hpp"
#include "harness/sampler.hpp"
#include "harness/set_bound.hpp"
#include "model/collective.hpp"
#include "model/record.hpp"

namespace busbar {

/// Adds a row's statistics to its record: times, interval, bandwidths. `ranks` and `size` of the
/// record are already there.
void add_statistics(Record& record, const Samples& samples, const Collective& collective);

/// Adds what the row's set can carry and how much of that the row came to, where there is a bound.
void add_bound(Record& record, const SetBound& bound, const BoundRow& row);

/// The flag of a row into which --inject-fault put a fault.
inline constexpr std::string_view kFaultInjected = "fault-injected";

/// The flag of a row of a device whose time is that of issuing its operations.
inline constexpr std::string_view kLaunchBound = "launch-bound";
/// Whether issuing an operation takes the host nearly as long as the row's time.
[[nodiscard]] bool is_launch_bound(const Record& record);

/// Adds a word to the record's flags.
void add_flag(Record& record, std::string_view flag);
[[nodiscard]] bool has_flag(const Record& record, std::string_view flag);

}  // namespace busbar
